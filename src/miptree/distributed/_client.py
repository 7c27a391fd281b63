"""The client's side of a distributed fit: the rounds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.control.clock import Clock, interruptible
from miptree.data.labels import above_tolerance, checked_costs
from miptree.data.problem import Problem
from miptree.distributed import _partition
from miptree.distributed._cells import CountedRows
from miptree.distributed._dask import Partitions
from miptree.distributed._finish import finished
from miptree.distributed._frame import Columns, Frame
from miptree.distributed._overview import Overview
from miptree.estimator import OptimalTreeClassifier
from miptree.fit.incumbent import Incumbent
from miptree.fit.job import ITERATIONS
from miptree.fit.layers import SELECT_SHARE
from miptree.fit.plan import Plan
from miptree.fit.train import train_incumbent
from miptree.mip.formulations.paper import one_cost_per_row
from miptree.objective import Score
from miptree.objective.bounds import NO_ERRORS, Bound
from miptree.objective.penalties import largest_cost, suited_objective
from miptree.objective.proved import Bounds
from miptree.search import compile_kernels_within, search
from miptree.search.starts import cart_tree
from miptree.selection import (
    CoverSelection,
    HullSelection,
    SelectionContext,
    Selector,
    StratifiedSelection,
    adapted,
    select_rows,
)
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

ELITE = 6
"""Trees of a round that are scored on all rows."""
PASSES = 4
"""Passes over the data that a further round and the end of the fit take."""


@dataclass
class Fitting:
    """A distributed fit: what it is given, and what it has found so far.

    Attributes
    ----------
    partitions, columns, classifier, max_rows, clock
        What it is given.
    pass_seconds : float
        Seconds of the longest pass over the data so far.
    plan : Plan
        What the parameters ask for.
    seen : Overview
        Ranges, classes and weights of all rows.
    frame : Frame
        How partitions are read.
    share : float
        Part of all rows that the client may hold.
    sampled : Problem
        A stratified sample of all rows.
    best : Incumbent
        The best tree so far, its errors counted on all rows.
    counts : float array of shape (n_nodes, Y)
        Weight of each class in each of its leaves.
    """

    partitions: Partitions
    columns: Columns
    classifier: OptimalTreeClassifier
    max_rows: int
    clock: Clock
    pass_seconds: float = field(default=0.0, init=False)
    plan: Plan = field(init=False)
    seen: Overview = field(init=False)
    frame: Frame = field(init=False)
    share: float = field(init=False)
    sampled: Problem = field(init=False)
    best: Incumbent = field(init=False)
    counts: FloatArray = field(init=False)

    def run(self) -> OptimalTreeClassifier:
        """Do the rounds and fit the classifier."""
        with interruptible(self.clock) as self.clock:
            self._rounds()
            return self.classifier.adopt(*finished(self))

    def _rounds(self) -> None:
        clf = self.classifier
        compile_kernels_within(self.clock)
        penalties = (clf.slack_penalty, clf.l1_penalty, clf.margin)
        self.plan = Plan.of(clf, suited_objective(*penalties))
        self._look()
        self.sampled = self._rows(_partition.sample, self.share, self.plan.seed)
        if self.plan.formulation == "paper" and self.plan.solver != "search":
            one_cost_per_row(self.sampled)  # costs it cannot count fail before any work
        objective = suited_objective(*penalties, self.sampled, self.seen.weight)
        self.plan = replace(self.plan, objective=objective)
        above_tolerance(self.sampled.weight)
        start, score = self._begin(self._start_tree())
        zero = Bound(0.0, NO_ERRORS)
        self.best = Incumbent(start, score, Bounds(zero, zero, zero, 0.0), self.clock)
        if not self._has_time():
            return
        rows, rounds = self._select(), self._n_rounds
        for number in range(rounds):
            found = self._train(rows, self._turn(rounds - number))
            improved = self._take_best(found)
            if not self._has_time() or (number and not improved):
                break
            if number + 1 < rounds:
                rows = self._with_wrong_rows(rows, number)

    def _begin(self, start: ObliqueTree) -> tuple[ObliqueTree, Score]:
        """Count a first tree on all rows and return it with its best labels."""
        (self.counts,) = self._count([start])
        return self._labelled(start, self.counts), self._score(self.counts)

    @property
    def _n_rounds(self) -> int:
        return int(self.classifier.max_rounds)

    @property
    def free_choice(self) -> tuple[ObliqueTree, FloatArray] | None:
        """The best tree that need not keep constraints, None where there are none."""
        return None

    def bound_by_rules(self, tree: ObliqueTree) -> tuple[float, CountedRows | None]:
        """Return what errors cost at least where constraints are kept, by the rows.

        0 and None where there are no constraints.
        """
        return 0.0, None

    def certified(
        self,
        certificate: Certificate,
        tree: ObliqueTree,
        rows: CountedRows | None,
        free: Score,
        bound: float,
    ) -> Certificate:
        """Add to a certificate what is counted of constraints."""
        return certificate

    def _has_time(self) -> bool:
        """Tell whether another round may begin."""
        remaining = self.clock.remaining
        in_time = remaining is None or remaining > PASSES * self.pass_seconds
        if not in_time:
            self.best.ended = "time_limit"
        return in_time and not self.best.is_stopped

    def _turn(self, rounds_left: int) -> Clock:
        """Return the clock of a round's training, less what the passes will take."""
        remaining = self.clock.remaining
        if remaining is not None:
            passes = (PASSES + 2 * (rounds_left - 1)) * self.pass_seconds
            remaining = max(0.0, remaining - passes) / rounds_left
        return Clock(remaining, stop=self.clock.stop)

    def _map(self, work: Any, *args: Any) -> list[Any]:
        """Do ``work`` on every partition; note the seconds of the longest pass."""
        began = self.clock.elapsed
        found = self.partitions.map(work, *args)
        self.pass_seconds = max(self.pass_seconds, self.clock.elapsed - began)
        return found

    def _look(self) -> None:
        """Check all partitions and learn ranges and classes."""
        clf = self.classifier
        found = self._map(_partition.summarise, self.columns)
        self.seen = seen = Overview.of(found, self.columns)
        costs = None
        if clf.cost_matrix is not None:
            most = largest_cost(clf.slack_penalty, clf.margin)
            costs = checked_costs(clf.cost_matrix, seen.classes, most)
        table = seen.learn_table(clf.categorical_encoding, clf.missing, clf.unknown)
        self.frame = seen.frame(table, costs, clf.max_features_per_split)
        self.share = min(1.0, self.max_rows / seen.n_rows)

    def _start_tree(self) -> ObliqueTree:
        if isinstance(self.plan.init, ObliqueTree):
            return self.plan.init
        return self.sampled.to_user(cart_tree(self.sampled, self.plan.depth))

    def _rows(self, work: Any, *args: Any) -> Problem:
        return self.frame.joined(self._map(work, self.frame, *args))

    def _select(self) -> Problem:
        """Choose the rows of the first round."""
        selector = self._selector(min(self.share, 0.99), self.partitions.turns)
        if selector is None or self.share == 1.0:
            return self.sampled
        parts = self.partitions.map(
            _partition.select, self.frame, selector, self.best.tree
        )
        rows = self.frame.joined(parts)
        if rows.n_rows > 1.5 * self.max_rows:
            # What is extreme in all rows is extreme in its partition: select again.
            share = self.max_rows / rows.n_rows
            if isinstance(self.classifier.selection, str):
                selector = self._selector(share, 1) or selector
            else:  # whose share, whatever it is, the partitions have taken
                selector = StratifiedSelection(share, seed=self.plan.seed)
            chosen = select_rows(selector, rows, self.best.tree)
            rows = rows.subset(chosen.rows, chosen.weight)
        return rows

    def _selector(self, share: float, turns: int) -> Selector | None:
        """Return the selector of a share of the rows, None for the sample as it is.

        A worker calls it ``turns`` times, once for each of its partitions.
        """
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
        plan, clock = self.plan, self.clock.share(SELECT_SHARE / turns)
        context = SelectionContext(plan.objective, plan.depth, clock, plan.max_iter)
        return adapted(given, context)

    def _with_wrong_rows(self, rows: Problem, number: int) -> Problem:
        """Keep half of the rows, and add as many that the tree gets wrong."""
        tree = self.best.tree
        right = self.counts[np.arange(len(self.counts)), tree.label]
        total = float(self.counts.sum() - right.sum())
        most = 0.5 * self.max_rows * self.seen.weight / self.seen.n_rows
        share = min(1.0, most / max(total, 1e-300))
        seed = self.plan.seed + number + 1
        wrong = self._map(_partition.wrong_rows, self.frame, tree, share, seed)
        if all(part is None for part in wrong):
            return rows
        if rows.n_rows > 0.5 * self.max_rows:
            half = StratifiedSelection(0.5, seed=seed).select(rows, tree)
            rows = rows.subset(half.rows)
        return self.frame.joined([rows, *wrong])

    def _train(self, rows: Problem, clock: Clock) -> list[ObliqueTree]:
        """Train on the chosen rows; return the best few trees."""
        plan = self.plan
        if plan.init != "auto":
            return [self._solve(rows, self.best.tree, clock)]
        no_limit = (clock.limit, plan.max_iter) == (None, None)
        stall = int(ITERATIONS.after(self.best.n_iter)) if no_limit else None
        found = search(
            rows,
            plan.objective,
            plan.depth,
            clock=clock.share(0.5).counting(plan.max_iter, stall),
            seed=plan.seed,
            starts=[rows.to_scaled(self.best.tree, plan.depth)],
            n_jobs=plan.n_jobs,
        )
        self.best.n_iter += found.n_iter
        self.best.note_end(found.stopped)
        trees = [rows.to_user(tree) for tree in found.trees[:ELITE]]
        if plan.solver != "search" and not self.best.is_stopped:
            trees.append(self._solve(rows, trees[0], clock))
        return trees

    def _solve(self, rows: Problem, start: ObliqueTree, clock: Clock) -> ObliqueTree:
        """Return the tree that a solver finds from a start."""
        trained = train_incumbent(rows, replace(self.plan, init=start), clock)
        self.best.n_iter += trained.n_iter
        self.best.note_end(trained.ended)
        return trained.tree

    def _take_best(self, trees: list[ObliqueTree]) -> bool:
        """Offer the tree whose errors cost least on all rows; return if it is kept."""
        counted = self._count(trees)
        scores = [self._score(counts) for counts in counted]
        best = min(range(len(trees)), key=lambda i: scores[i].objective)
        counts = counted[best]
        improved = self.best.offer(self._labelled(trees[best], counts), scores[best])
        if improved:
            self.counts = counts
        return improved

    def _labelled(self, tree: ObliqueTree, counts: FloatArray) -> ObliqueTree:
        """Give the leaves their cheapest classes on all rows."""
        cheapest = self.frame.label_costs(counts).argmin(axis=1)
        return replace(tree, label=np.where(counts.any(axis=1), cheapest, tree.label))

    def _count(self, trees: list[ObliqueTree]) -> list[FloatArray]:
        parts = self._map(_partition.count_classes, self.frame, trees)
        return [np.sum([part[i] for part in parts], axis=0) for i in range(len(trees))]

    def _score(self, counts: FloatArray) -> Score:
        """Return the cost of a tree whose leaves have their cheapest classes."""
        cost = float(self.frame.label_costs(counts).min(axis=1).sum())
        return Score(0, cost, cost, 0.0, 0.0, cost)
