"""A race of selections, decided by the objective value of their trees on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search import improve, search
from miptree.search.api import tree_value
from miptree.selection.algorithm1 import HullSelection
from miptree.selection.balanced import BalancedSelection
from miptree.selection.base import (
    Selection,
    SelectionContext,
    Selector,
    TimedSelector,
    adapted,
    checked_share,
    select_rows,
)
from miptree.selection.clusters import Cluster
from miptree.selection.cover import CoverSelection
from miptree.selection.stratified import StratifiedSelection, UniformSelection
from miptree.tree import HeapTree, ObliqueTree

_ELITE = 6
"""Trees of a search that are valued on all rows."""
_IMPROVE_ITER = 5
"""Iterations on all rows from the best of them."""
_SMALL_CLUSTER = 100
"""Largest cluster up to which a balanced selection is tried; it takes long."""


@dataclass(frozen=True)
class AutoSelection(TimedSelector):
    """Tries selections of at most a share of the rows and takes the best.

    For each, a short search trains trees on the rows chosen; the best of them on *all*
    rows is improved shortly on all rows, and the selection whose tree is then best
    wins. No selection is best on all data. The trees go on as ``Selection.trees``.

    Parameters
    ----------
    share : float, default=0.1
        Most of the rows that a selection may keep, in (0, 1).
    depth : int, optional
        Depth of the trees, by default that of the training, or of the tree given.
    max_iter : int, default=30
        Iterations of each search, at most as many as the training has.
    seconds : float, optional
        Time for the whole race; candidates that it does not suffice for are left out.
    candidates : tuple of Selector, optional
        By default a random sample, three stratified ones, a capped hull, a cover
        and, where clusters are small, a balanced selection.
    objective : Svm1Objective, optional
        What the trees minimise, by default that of the training, or the errors.
    completed : callable, optional
        The rows trained on when these are chosen; by default these.
    seed : int, default=0
    n_jobs : int, default=1
    """

    share: float = 0.1
    depth: int | None = None
    max_iter: int = 30
    candidates: tuple[Selector, ...] | None = None
    objective: Svm1Objective | None = None
    completed: Callable[[Selection], Selection] | None = None
    seed: int = 0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        checked_share("share", self.share)

    def adapted(self, context: SelectionContext) -> AutoSelection:
        """Race for the trees and within the time of a context."""
        most = self.max_iter if context.max_iter is None else context.max_iter
        return replace(
            self,
            max_iter=min(self.max_iter, most),
            depth=context.depth,
            clock=context.clock,
            objective=context.objective,
            completed=context.completed,
        )

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        clock, depth = self.started(), self.depth or max(tree.depth, 1)
        # One row of each cluster is always kept.
        most = self.share * problem.n_rows + len(clusters)
        raced: list[tuple[float, HeapTree, Selection]] = []
        too_large: list[Selection] = []
        candidates = self._candidates(clusters)
        for number, candidate in enumerate(candidates):
            if raced and clock.is_over:
                break
            turn = clock.share(1.0 / (len(candidates) - number))
            context = SelectionContext(self.objective, depth, turn.share(0.5))
            selector = adapted(candidate, context)
            chosen = select_rows(selector, problem, tree, clusters)
            if len(chosen) > most:
                too_large.append(chosen)
                continue
            raced.append((*self._best_tree(problem, chosen, depth, turn), chosen))
        if not raced:
            return min(too_large, key=len)
        raced.sort(key=lambda entry: entry[0])
        trees = tuple(problem.to_user(heap) for _, heap, _ in raced)
        return replace(raced[0][2], trees=trees)

    def _candidates(self, clusters: Sequence[Cluster]) -> tuple[Selector, ...]:
        if self.candidates is not None:
            return self.candidates
        share, seed, n_jobs = self.share, self.seed, self.n_jobs
        balanced: tuple[Selector, ...] = ()
        if max(len(cluster.rows) for cluster in clusters) <= _SMALL_CLUSTER:
            balanced = (BalancedSelection(seed=seed, n_jobs=n_jobs),)
        return (
            UniformSelection(share, seed),
            # Small samples differ much from each other.
            *(StratifiedSelection(share, seed=seed + i) for i in range(3)),
            HullSelection.of_share(share, n_jobs),
            CoverSelection(share=share, n_jobs=n_jobs),
            *balanced,
        )

    def _best_tree(
        self, problem: Problem, chosen: Selection, depth: int, clock: Clock
    ) -> tuple[float, HeapTree]:
        """Train a tree on a choice; return its objective value on all rows, and it."""
        rows = chosen if self.completed is None else self.completed(chosen)
        subset = problem.subset(rows.rows, rows.weight)
        found = search(
            subset,
            self.objective,
            depth,
            clock=clock.share(0.5).counting(self.max_iter),
            seed=self.seed,
            n_jobs=self.n_jobs,
        )
        elite = [
            problem.to_scaled(subset.to_user(tree), depth)
            for tree in found.trees[:_ELITE]
        ]
        best = min(elite, key=lambda tree: tree_value(problem, self.objective, tree))
        clock = clock.counting(_IMPROVE_ITER)
        better, value = improve(problem, self.objective, best, self.seed, clock=clock)
        return value, better
