"""From rows on a grid to a points tree with its certificate, within one clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree.control.clock import Clock
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.points_data import PointsData
from miptree.fit.progress import FitCallback
from miptree.objective.bounds import Bound
from miptree.objective.points import PointsObjective
from miptree.objective.proved import Bounds
from miptree.points import Found, PointsProblem, solve
from miptree.search.compiling import announced, compile_within
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray

PROVED_BY = "exhaustive search with anchor bounds"
"""What proves a bound, in certificates."""
SHORT_SEARCH = 25
"""Root splits that a search for a tree looks at which needs no proof."""
_FEW = 10
"""Rows that suffice to compile the kernels."""


@dataclass
class PointsTraining:
    """One fit of a points tree; ``best`` is there before the penalties are known.

    Parameters
    ----------
    data : PointsData
    clock : Clock
        Clock of the fit.
    listeners : sequence of callables
        Told of progress; a true answer of one stops the training.
    n_jobs : int
        Threads of the engine.
    """

    data: PointsData
    clock: Clock
    listeners: Sequence[FitCallback] = ()
    n_jobs: int = 1

    @cached_property
    def best(self) -> Incumbent:
        """The best tree, at first the constant one, whose cost has no penalties."""
        problem, depth = self.data.problem, self.data.rules.depth
        tree = ObliqueTree.from_heap(constant_tree(problem, depth)).prune(problem.X)
        free = PointsObjective((0.0,) * problem.n_features, depth, 1, 1)
        bounds = Bounds.without_solver(problem, depth)
        score = free.evaluate(problem, tree)
        return Incumbent(tree, score, bounds, self.clock, self.listeners)

    def make_ready(self) -> None:
        """Compile the kernels where that was not done before on this machine."""
        data, best = self.data, self.best
        problem = data.problem
        few = replace(
            data,
            problem=problem.subset(np.arange(min(_FEW, problem.n_rows))),
            family=replace(data.family, max_features=1),
        )
        points = few.points_problem(np.zeros(problem.n_features))

        def use(compiles: Callable[[], object]) -> None:
            with announced(compiles):
                solve(points, data.rules.depth, Clock(), max_evaluations=1)

        compile_within(best.clock, use, lambda: best.enter("compile"))

    def run(
        self,
        by_source: FloatArray,
        max_evaluations: int | None = None,
        keep_anchors: bool = False,
    ) -> PointsResult:
        """Find the best tree at given penalties of the columns of X.

        Parameters
        ----------
        by_source : float array
            What it costs that a split uses each column of X.
        max_evaluations : int, optional
            Most root splits to look at, a budget that does not depend on speed.
        keep_anchors : bool
            Whether to keep what a proof file needs.
        """
        data, best = self.data, self.best
        penalty = data.column_penalty(by_source)
        points = data.points_problem(penalty)
        objective = data.objective(points, penalty)
        clock = best.clock
        if best.is_stopped:  # before any tree: a short search is worth the wait
            clock, max_evaluations = Clock(), SHORT_SEARCH
        best.enter("solve")

        def hear(found: Found) -> None:
            tree = self._tree(found.heap)
            best.offer(tree, objective.evaluate(data.problem, tree))
            bound = points.in_user_units(found.bound) - points.rounding
            best.raise_objective_bound(Bound(bound, PROVED_BY))
            best.tell()

        found = solve(
            points,
            data.rules.depth,
            clock,
            hear,
            n_jobs=self.n_jobs,
            max_evaluations=max_evaluations,
            keep_anchors=keep_anchors,
        )
        hear(found)
        self._keep(self._tree(found.heap), objective)
        # What was proved in rounded costs is not proved.
        best.ended = "unproved" if found.ended == "optimal" else found.ended
        best.n_iter = max(1, found.n_evaluated)
        fitted = best.end(data.problem, objective, data.rules.depth)
        return PointsResult(data, points, found, fitted)

    def _keep(self, tree: ObliqueTree, objective: PointsObjective) -> None:
        """Keep the engine's choice among equally good trees."""
        score = objective.evaluate(self.data.problem, tree)
        if score.objective == self.best.score.objective:
            self.best.tree, self.best.score = tree, score

    def _tree(self, heap: HeapTree) -> ObliqueTree:
        return ObliqueTree.from_heap(heap).prune(self.data.problem.X)


@dataclass(frozen=True, eq=False)
class PointsResult:
    """What a training of a points tree leaves behind.

    Attributes
    ----------
    data : PointsData
    points : PointsProblem
        The problem that was solved.
    found : Found
        What the engine found.
    fitted : FittedTree
    """

    data: PointsData
    points: PointsProblem
    found: Found
    fitted: FittedTree
