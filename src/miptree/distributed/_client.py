"""The client's side of a distributed fit: the rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from miptree.control.clock import Clock
from miptree.control.interrupt import InterruptGuard
from miptree.data import learn_table
from miptree.data.labels import above_tolerance, checked_costs
from miptree.data.problem import Problem
from miptree.distributed import _partition
from miptree.distributed._dask import Partitions, first_error
from miptree.distributed._finish import fill_in
from miptree.distributed._frame import Columns, Frame, Summary
from miptree.estimator import OptimalTreeClassifier
from miptree.fit.layers import SELECT_SHARE
from miptree.fit.train import SEARCH_STALL, train
from miptree.mip.formulations.svm1 import one_cost_per_row
from miptree.search import SearchBudget, compile_kernels_within, search
from miptree.search.starts import cart_tree
from miptree.selection import (
    CoverSelection,
    HullSelection,
    Purpose,
    Selector,
    StratifiedSelection,
    adapted,
    select_rows,
)
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray

ELITE = 6
"""Trees of a round that are scored on all rows."""
PASSES = 4
"""Passes over the data that a further round and the end of the fit take."""


@dataclass
class Fitting:
    partitions: Partitions
    columns: Columns
    classifier: OptimalTreeClassifier
    max_rows: int
    clock: Clock
    n_iter: int = 0
    pass_seconds: float = 0.0
    interrupted: bool = False

    def run(self) -> OptimalTreeClassifier:
        """Do the rounds and fill the classifier."""
        with InterruptGuard() as self.guard:
            self._rounds()
            fill_in(self)
        return self.classifier

    def _rounds(self) -> None:
        compile_kernels_within(self.clock)
        self.plan = self.classifier._plan()
        self._look()
        self.sampled = self._rows(_partition.sample, self.share, self.plan.seed)
        if self.plan.formulation == "paper" and self.plan.solver != "search":
            one_cost_per_row(self.sampled)  # costs it cannot count fail before any work
        objective = self.classifier._objective(self.sampled, self.weight)
        self.plan = replace(self.plan, objective=objective)
        above_tolerance(self.sampled.weight)
        start = self._start_tree()
        self._keep(start, *self._count([start]))
        if not self._has_time():
            return
        rows = self._select()
        rounds = self.classifier.max_rounds
        for number in range(rounds):
            found = self._train(rows, self._turn(rounds - number))
            improved = self._take_best(found)
            if not self._has_time() or (number and not improved):
                break
            if number + 1 < rounds:
                rows = self._with_wrong_rows(rows, number)

    def _has_time(self) -> bool:
        """Whether another round may begin."""
        remaining = self.clock.remaining
        in_time = remaining is None or remaining > PASSES * self.pass_seconds
        return in_time and not self._wants_stop()

    def _wants_stop(self) -> bool:
        return self.interrupted or self.guard.requested

    def _turn(self, rounds_left: int) -> Clock:
        """Clock of the training of a round, less what the passes will take."""
        remaining = self.clock.remaining
        if remaining is None:
            return Clock(None)
        passes = (PASSES + 2 * (rounds_left - 1)) * self.pass_seconds
        return Clock(max(0.0, remaining - passes) / rounds_left)

    def _map(self, work: Any, *args: Any) -> list[Any]:
        """Do something with every partition; the longest such pass is noted."""
        began = self.clock.elapsed
        found = self.partitions.map(work, *args)
        self.pass_seconds = max(self.pass_seconds, self.clock.elapsed - began)
        return found

    def _look(self) -> None:
        """Check all partitions and learn ranges and classes."""
        found = self._map(_partition.summarise, self.columns)
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
        check_classification_targets(np.repeat(classes, 2))  # once is suspicious
        if len(classes) < 2:
            raise ValueError(
                f"y must hold at least 2 classes, got one class: {classes[0]!r}."
            )
        low = np.min([s.low for s in summaries], axis=0)
        high = np.max([s.high for s in summaries], axis=0)
        self.frame = self._frame(np.stack([low, high]), classes)
        self.n_rows = sum(s.n_rows for s in summaries)
        self.weight = sum(s.weight for s in summaries)
        self.class_weight = np.zeros(len(classes))
        for s in summaries:
            self.class_weight[np.searchsorted(classes, s.classes)] += s.class_weight
        self.share = min(1.0, self.max_rows / self.n_rows)

    def _frame(self, ends: FloatArray, classes: AnyArray) -> Frame:
        """What all partitions share, from the ends of the ranges."""
        clf, columns = self.classifier, self.columns
        table = learn_table(
            columns.cells(ends),
            np.ones(2),
            [name in columns.truths for name in columns.features],
            clf.categorical_encoding,
            clf.missing,
            clf.unknown,
        )
        costs = None
        if clf.cost_matrix is not None:
            costs = checked_costs(clf.cost_matrix, classes, clf._largest_cost())
        none = np.zeros(0)
        frame = Frame(
            columns, classes, table, none, none, costs, clf.max_features_per_split
        )
        # The scaling of all rows is that of these two.
        both = Problem.from_data(
            frame.numbers(ends),
            np.array([0, 1]),
            2,
            value_feature=table.value_feature,
        )
        return replace(frame, offset=both.offset, scale=both.scale)

    def _start_tree(self) -> ObliqueTree:
        if isinstance(self.plan.init, ObliqueTree):
            return self.plan.init
        return self.sampled.to_user(cart_tree(self.sampled, self.plan.depth))

    def _rows(self, work: Any, *args: Any) -> Problem:
        return self.frame.joined(self._map(work, self.frame, *args))

    def _select(self) -> Problem:
        """Rows for the first round."""
        selector = self._selector(min(self.share, 0.99), self.partitions.turns)
        if selector is None or self.share == 1.0:
            return self.sampled
        parts = self.partitions.map(_partition.select, self.frame, selector, self.tree)
        rows = self.frame.joined(parts)
        if rows.n_rows > 1.5 * self.max_rows:
            # What is extreme in all rows is extreme in its partition: select again.
            share = self.max_rows / rows.n_rows
            if isinstance(self.classifier.selection, str):
                selector = self._selector(share, 1) or selector
            else:  # whose share, whatever it is, the partitions have taken
                selector = StratifiedSelection(share, seed=self.plan.seed)
            chosen = select_rows(selector, rows, self.tree)
            rows = rows.subset(chosen.rows, chosen.weight)
        return rows

    def _selector(self, share: float, turns: int) -> Selector | None:
        """Selector of a share of the rows, of ``turns`` tables after each other."""
        given = self.classifier.selection
        if given is None or given in ("auto", "stratified"):
            return None  # the sample is stratified already
        if given == "hull":
            given = HullSelection.of_share(share)
        elif given == "cover":
            given = CoverSelection(share=share)
        elif isinstance(given, str) or not hasattr(given, "select"):
            raise ValueError(
                "Out of memory, selection must be 'hull', 'cover', 'stratified', "
                f"'auto' or a selector, got {given!r}."
            )
        seconds = self.clock.share(SELECT_SHARE / turns).remaining
        plan = self.plan
        purpose = Purpose(plan.objective, plan.depth, seconds, plan.max_iter)
        return adapted(given, purpose)

    def _with_wrong_rows(self, rows: Problem, number: int) -> Problem:
        """Half of the rows kept, and as many that the tree gets wrong on all rows."""
        right = self.counts[np.arange(len(self.counts)), self.tree.label]
        total = float(self.counts.sum() - right.sum())
        most = 0.5 * self.max_rows * self.weight / self.n_rows
        share = min(1.0, most / max(total, 1e-300))
        seed = self.plan.seed + number + 1
        wrong = self._map(_partition.wrong_rows, self.frame, self.tree, share, seed)
        if all(part is None for part in wrong):
            return rows
        if rows.n_rows > 0.5 * self.max_rows:
            half = StratifiedSelection(0.5, seed=seed).select(rows, self.tree)
            rows = rows.subset(half.rows)
        return self.frame.joined([rows, *wrong])

    def _train(self, rows: Problem, clock: Clock) -> list[ObliqueTree]:
        """Trees for the chosen rows, the best few."""
        plan = self.plan
        if plan.init != "auto":
            return [self._solve(rows, self.tree, clock)]
        starts = [rows.to_scaled(self.tree, plan.depth)]
        budget = SearchBudget(
            clock.share(0.5).remaining,
            plan.max_iter,
            None if (clock.limit, plan.max_iter) != (None, None) else SEARCH_STALL,
        )
        found = search(
            rows, plan.objective, plan.depth,
            budget=budget, seed=plan.seed, starts=starts, n_jobs=plan.n_jobs,
            should_stop=self._wants_stop,
        )  # fmt: skip
        self.n_iter += found.n_iter
        trees = [rows.to_user(tree) for tree in found.trees[:ELITE]]
        if plan.solver != "search" and not self._wants_stop():
            trees.append(self._solve(rows, trees[0], clock))
        return trees

    def _solve(self, rows: Problem, start: ObliqueTree, clock: Clock) -> ObliqueTree:
        """Tree of a solver from a start."""
        trained = train(rows, replace(self.plan, init=start), clock)
        self.interrupted = self.interrupted or trained.was_stopped
        self.n_iter += trained.n_iter
        return trained.tree

    def _take_best(self, trees: list[ObliqueTree]) -> bool:
        """Keep the tree whose errors cost least on all rows; whether it is new."""
        counted = self._count(trees)
        best = min(range(len(trees)), key=lambda i: self._cost(counted[i]))
        improved = self._cost(counted[best]) < self._cost(self.counts)
        if improved:
            self._keep(trees[best], counted[best])
        return improved

    def _keep(self, tree: ObliqueTree, counts: FloatArray) -> None:
        """Keep a tree, its leaves with the cheapest classes on all rows."""
        cheapest = self.frame.label_costs(counts).argmin(axis=1)
        label = np.where(counts.any(axis=1), cheapest, tree.label)
        self.tree, self.counts = replace(tree, label=label), counts

    def _count(self, trees: list[ObliqueTree]) -> list[FloatArray]:
        parts = self._map(_partition.count_classes, self.frame, trees)
        return [np.sum([part[i] for part in parts], axis=0) for i in range(len(trees))]

    def _cost(self, counts: FloatArray) -> float:
        """Cost of the errors of a tree whose leaves have their cheapest classes."""
        return float(self.frame.label_costs(counts).min(axis=1).sum())
