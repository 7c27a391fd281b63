"""The client's side of a distributed fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from miptree._clock import Clock
from miptree._typing import FloatArray
from miptree.bounds import Bound
from miptree.certify import certify
from miptree.distributed import _partition
from miptree.distributed._dask import Partitions, first_error, open_table
from miptree.distributed._partition import Columns, Frame, Summary
from miptree.estimator import OptimalTreeClassifier
from miptree.objective import Score
from miptree.problem import Problem
from miptree.progress import announce
from miptree.search import SearchBudget, compile_kernels, search
from miptree.search.starts import cart_tree
from miptree.selection import (
    CoverSelection,
    HullSelection,
    Selector,
    StratifiedSelection,
)
from miptree.train import SEARCH_STALL, Plan, train
from miptree.tree import ObliqueTree

ELITE = 6
"""Trees of a round that are scored on all rows."""


def fit(
    data: Any,
    target: str,
    client: Any = None,
    *,
    classifier: OptimalTreeClassifier | None = None,
    weights: str | None = None,
    drop: Sequence[str] = (),
    max_rows: int = 20_000,
) -> OptimalTreeClassifier:
    """Fit a tree to a table that need not fit into memory.

    Every partition is summarised and sampled where it lies. The client trains on the
    rows chosen, at most about ``max_rows``; its best trees are scored on all
    partitions, and the one whose errors cost least on *all* rows wins. Rows that it
    gets wrong join the next of ``classifier.max_rounds`` rounds.

    Parameters
    ----------
    data : dask DataFrame or str
        The table, or a pattern of Parquet or CSV files such as ``"parts/*.parquet"``.
        All columns but the target are features, and must be numbers.
    target : str
        Column of the class labels.
    client : distributed.Client, optional
        A Dask cluster; by default threads of this process, which hold a few
        partitions in memory at a time.
    classifier : OptimalTreeClassifier, optional
        Its parameters are used: depth, penalties, solver, start, limits, seed, and
        ``selection`` ("hull", "cover", "stratified" or a selector; by default a
        stratified sample). It is not changed; its callback is told of the end only.
    weights : str, optional
        Column of the weights of the rows.
    drop : sequence of str
        Columns to leave out.
    max_rows : int, default=20000
        Rows that the client trains on.

    Returns
    -------
    OptimalTreeClassifier
        Fitted. Its certificate counts the errors and the objective of all rows.

    Notes
    -----
    With ``time_limit=None`` and a ``max_iter`` the result depends on the data, the
    partitions and the seed alone: not on the client, the workers, or workers that
    were lost on the way.
    """
    classifier = clone(classifier or OptimalTreeClassifier())
    classifier._validate_params()
    clock = Clock(classifier.time_limit)
    if classifier.class_weight is not None:
        raise ValueError(
            "class_weight is not supported out of memory: multiply it into a column of "
            "weights, and name that with weights=..."
        )
    if max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {max_rows!r}.")
    table = open_table(data)
    names = [str(name) for name in table.columns]
    for name in (target, weights, *drop):
        if name is not None and name not in names:
            there = ", ".join(map(repr, names[:20]))
            raise ValueError(f"There is no column {name!r}; there are {there}.")
    table = table.drop(columns=list(drop))
    left_out = {target, weights, *drop}
    features = tuple(name for name in names if name not in left_out)
    if not features:
        raise ValueError("No column is left to learn from.")
    columns = Columns(features, target, weights)
    fitting = _Fitting(Partitions(table, client), columns, classifier, max_rows, clock)
    return fitting.run()


@dataclass
class _Fitting:
    partitions: Partitions
    columns: Columns
    classifier: OptimalTreeClassifier
    max_rows: int
    clock: Clock

    def run(self) -> OptimalTreeClassifier:
        """Do the rounds and fill the classifier."""
        compile_kernels()
        self.plan = self.classifier._plan()
        self._look()
        self.sampled = self._rows(_partition.sample, self.share, self.plan.seed)
        objective = self.classifier._objective(self.sampled, self.weight)
        self.plan = replace(self.plan, objective=objective)
        start, self.n_iter = self._start_tree(), 0
        self._keep(start, *self._count([start]))
        rows = self._select()
        rounds = self.classifier.max_rounds
        for number in range(rounds):
            found = self._train(rows, self.clock.share(0.8 / (rounds - number)))
            improved = self._take_best(found)
            if self.clock.is_over or (number and not improved):
                break
            if number + 1 < rounds:
                rows = self._with_wrong_rows(rows, number)
        return self._finished()

    def _look(self) -> None:
        """Check all partitions and learn ranges and classes."""
        found = self.partitions.map(_partition.summarise, self.columns)
        first_error(found)
        summaries: list[Summary] = [s for s in found if s.n_rows]
        if not summaries:
            raise ValueError("The table has no rows (of a weight above zero).")
        kinds = {s.classes.dtype.kind in "US" for s in summaries}
        if len(kinds) > 1:
            raise ValueError(
                f"Column {self.columns.target!r} holds text in some partitions and "
                "numbers in others. Convert it to one type."
            )
        classes = np.unique(np.concatenate([s.classes for s in summaries]))
        if len(classes) < 2:
            raise ValueError(
                f"y must hold at least 2 classes, got one class: {classes[0]!r}."
            )
        low = np.min([s.low for s in summaries], axis=0)
        high = np.max([s.high for s in summaries], axis=0)
        # The scaling of all rows is that of these two.
        ends = Problem.from_data(np.stack([low, high]), np.array([0, 1]), 2)
        self.frame = Frame(self.columns, classes, ends.offset, ends.scale)
        self.n_rows = sum(s.n_rows for s in summaries)
        self.weight = sum(s.weight for s in summaries)
        self.class_weight = np.zeros(len(classes))
        for s in summaries:
            self.class_weight[np.searchsorted(classes, s.classes)] += s.class_weight
        self.share = min(1.0, self.max_rows / self.n_rows)

    def _start_tree(self) -> ObliqueTree:
        if isinstance(self.plan.init, ObliqueTree):
            return self.plan.init
        return self.sampled.to_user(cart_tree(self.sampled, self.plan.depth))

    def _rows(self, work: Any, *args: Any) -> Problem:
        parts = self.partitions.map(work, self.frame, *args)
        return _partition.joined(parts, self.frame)

    def _select(self) -> Problem:
        """Rows for the first round."""
        selector = self._selector()
        if selector is None or self.share == 1.0:
            return self.sampled
        rows = self._rows(_partition.select, selector, self.tree)
        if rows.n_rows > 1.5 * self.max_rows:
            # What is extreme in all rows is extreme in its partition: select again.
            chosen = selector.select(rows, self.tree)
            rows = rows.subset(chosen.rows, chosen.weight)
        return rows

    def _selector(self) -> Selector | None:
        given, share = self.classifier.selection, min(self.share, 0.99)
        if given is None or given in ("auto", "stratified"):
            return None  # the sample is stratified already
        if given == "hull":
            return HullSelection(share, share)
        if given == "cover":
            return CoverSelection(share=share)
        if isinstance(given, str) or not hasattr(given, "select"):
            raise ValueError(
                "Out of memory, selection must be 'hull', 'cover', 'stratified', "
                f"'auto' or a selector, got {given!r}."
            )
        return given

    def _with_wrong_rows(self, rows: Problem, number: int) -> Problem:
        """Half of the rows kept, and as many that the tree gets wrong on all rows."""
        total = float(self.counts.sum() - self._right(self.counts))
        most = 0.5 * self.max_rows * self.weight / self.n_rows
        share = min(1.0, most / max(total, 1e-300))
        seed = self.plan.seed + number + 1
        wrong = self.partitions.map(
            _partition.wrong_rows, self.frame, self.tree, share, seed
        )
        if all(part is None for part in wrong):
            return rows
        if rows.n_rows > 0.5 * self.max_rows:
            half = StratifiedSelection(0.5, seed=seed).select(rows, self.tree)
            rows = rows.subset(half.rows)
        return _partition.joined([rows, *wrong], self.frame)

    def _train(self, rows: Problem, clock: Clock) -> list[ObliqueTree]:
        """Trees for the chosen rows, the best few."""
        plan = self.plan
        starts = [rows.to_scaled(self.tree, plan.depth)]
        budget = SearchBudget(
            clock.share(0.5).remaining,
            plan.max_iter,
            None if (clock.limit, plan.max_iter) != (None, None) else SEARCH_STALL,
        )
        found = search(
            rows, plan.objective, plan.depth,
            budget=budget, seed=plan.seed, starts=starts, n_jobs=plan.n_jobs,
        )  # fmt: skip
        self.n_iter += found.n_iter
        trees = [rows.to_user(tree) for tree in found.trees[:ELITE]]
        if plan.solver != "search":
            start = replace(plan, init=trees[0])
            trees.append(train(rows, start, clock).tree)
        return trees

    def _take_best(self, trees: list[ObliqueTree]) -> bool:
        """Keep the tree whose errors cost least on all rows; whether it is new."""
        counted = self._count(trees)
        best = max(range(len(trees)), key=lambda i: self._right(counted[i]))
        improved = self._right(counted[best]) > self._right(self.counts)
        if improved:
            self._keep(trees[best], counted[best])
        return improved

    def _keep(self, tree: ObliqueTree, counts: FloatArray) -> None:
        """Keep a tree, its leaves with the heaviest classes on all rows."""
        heaviest = np.where(counts.any(axis=1), counts.argmax(axis=1), tree.label)
        self.tree, self.counts = replace(tree, label=heaviest), counts

    def _count(self, trees: list[ObliqueTree]) -> list[FloatArray]:
        parts = self.partitions.map(_partition.count_classes, self.frame, trees)
        return [np.sum([part[i] for part in parts], axis=0) for i in range(len(trees))]

    def _right(self, counts: FloatArray) -> float:
        """Weight that a tree gets right when its leaves have their best classes."""
        return float(counts.max(axis=1).sum())

    def _finished(self) -> OptimalTreeClassifier:
        """The classifier with what fit sets, counted on all rows."""
        clf, tree, plan = self.classifier, self.tree, self.plan
        score = self._recount(tree)
        spare = max(0, len(self.class_weight) - 2**plan.depth)
        bound = max(
            Bound(0.0, "errors are not negative"),
            Bound(float(np.sort(self.class_weight)[:spare].sum()), "Proposition 1 (3)"),
            key=lambda b: b.value,
        )
        self._learn_columns()
        clf.certificate_ = self._certificate(plan, score, bound)
        clf.tree_ = tree
        clf.objective_ = clf.certificate_.objective
        clf.bound_, clf.gap_ = clf.certificate_.objective_bound, clf.certificate_.gap
        clf.status_ = "time_limit" if self.clock.is_over else "max_iter"
        if clf.certificate_.objective_optimal:
            clf.status_ = "optimal"
        clf.n_iter_ = self.n_iter
        clf.fit_time_ = self.clock.elapsed
        clf.trace_ = []
        announce("done", clf.fit_time_, score, clf.bound_, clf.trace_, clf._listeners())
        proba = self.counts + self.weight / self.n_rows
        clf._node_proba = proba / proba.sum(axis=1, keepdims=True)
        return clf

    def _learn_columns(self) -> None:
        """Let the classifier learn columns and classes from the sample, as in fit."""
        import pandas as pd

        rows = pd.DataFrame(self.sampled.X, columns=list(self.columns.features))
        labels = self.frame.classes[self.sampled.y]
        clf = self.classifier
        clf._problem_of(
            clf._rows(rows, labels, self.sampled.weight, clf._largest_cost())
        )

    def _recount(self, tree: ObliqueTree) -> Score:
        """(1a) of a tree on all rows."""
        largest = self.partitions.map(_partition.largest_scores, self.frame, tree)
        box = np.max(largest, axis=0, initial=0.0)
        found = self.partitions.map(
            _partition.recount, self.frame, tree, self.plan.objective, box
        )
        parts = [part for part in found if part is not None]
        cost, slack = sum(p.cost for p in parts), sum(p.slack for p in parts)
        l1, penalties = parts[0].l1, self.plan.objective
        return Score(
            sum(part.errors for part in parts),
            cost,
            sum(part.cost_at_margin for part in parts),
            slack,
            l1,
            cost + penalties.slack_penalty * slack + penalties.l1_penalty * l1,
        )

    def _certificate(self, plan: Plan, score: Score, bound: Bound) -> Any:
        """Certificate of all rows; the digest of the data stands for no table."""
        none = Problem.from_data(np.zeros((1, 1)), np.zeros(1, dtype=np.intp), 2)
        found = certify(
            none, plan.objective, plan.depth, self.tree, score, bound, bound, bound,
            self.clock.elapsed,
        )  # fmt: skip
        return replace(found, n_rows=self.n_rows, data_digest="partitioned")
