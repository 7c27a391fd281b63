"""From rows on a grid to a points tree with its certificate, within one clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.control.clock import Clock
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.points_data import PointsData
from miptree.fit.progress import FitCallback
from miptree.objective.bounds import EXHAUSTIVE, Bound
from miptree.objective.points import PointsObjective
from miptree.objective.proved import Bounds
from miptree.points import (
    Found,
    PointsProblem,
    compilers_for,
    make_ready,
    points_are_on_disk,
    solve,
)
from miptree.search.compiling import SECONDS_TO_LOAD, announced
from miptree.search.starts import constant_tree, grown_cart
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray
from miptree.utils.kernel_cache import COMPILE_ONCE
from miptree.utils.warn import warn

SHORT_SEARCH = 25
"""Root splits that a search for a tree looks at which needs no proof."""


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
    has_kernels: bool = field(default=True, init=False)

    @cached_property
    def best(self) -> Incumbent:
        """The best tree, at first the constant one, whose cost has no penalties."""
        problem, depth = self.data.problem, self.data.rules.depth
        tree = ObliqueTree.from_heap(constant_tree(problem, depth)).prune(problem.X)
        free = PointsObjective((0.0,) * problem.n_features, depth, 1, 1)
        bounds = Bounds.without_solver(problem, depth)
        score = free.evaluate(problem, tree)
        return Incumbent(tree, score, bounds, self.clock, self.listeners)

    def make_ready(self, by_source: FloatArray) -> None:
        """Compile the kernels where that was not done before on this machine.

        ``by_source`` are likely penalties of the columns of X: which integers hold all
        costs depends on them.
        """
        data = self.data
        points = data.points_problem(data.column_penalty(by_source))
        with announced(lambda: self.best.enter("compile")):
            make_ready(points, data.rules.depth)

    def make_ready_in_time(self, by_source: FloatArray) -> bool:
        """Do the same within the time limit, and tell whether it was done.

        Where kernels must be compiled and seconds are limited, another process does
        it. If the time is too short for that, warn, and search for no tree later.
        """
        points = self.data.points_problem(self.data.column_penalty(by_source))
        depth, clock = self.data.rules.depth, self.clock
        if clock.limit is not None and not points_are_on_disk(points, depth):
            self.best.enter("compile")
            compilers = compilers_for(points, depth)
            if not compilers.are_done_in_time(clock, SECONDS_TO_LOAD):
                self.has_kernels = False
                if not clock.stop.requested:
                    warn(_TOO_LATE)
                return False
        self.make_ready(by_source)
        return True

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
        best.enter("solve" if self.has_kernels else "start")

        def hear(found: Found) -> None:
            tree = self._tree(found.heap)
            best.offer(tree, objective.evaluate(data.problem, tree))
            bound = points.in_user_units(found.bound) - points.rounding
            best.raise_objective_bound(Bound(bound, EXHAUSTIVE))
            best.tell()

        if self.has_kernels:
            found = self._solved(points, hear, max_evaluations, keep_anchors)
        else:
            found = self._grown(points, objective)
        hear(found)
        self._keep(self._tree(found.heap), objective)
        # What was proved in rounded costs is not proved.
        best.ended = "unproved" if found.ended == "optimal" else found.ended
        best.n_iter = max(1, found.n_evaluated)
        fitted = best.end(data.problem, objective, data.rules.depth)
        return PointsResult(data, points, found, fitted)

    def _solved(
        self,
        points: PointsProblem,
        hear: Callable[[Found], None],
        max_evaluations: int | None,
        keep_anchors: bool,
    ) -> Found:
        """Search for the best tree."""
        clock = self.best.clock
        if self.best.is_stopped:  # before any tree: a short search is worth the wait
            clock, max_evaluations = Clock(), SHORT_SEARCH
        return solve(
            points,
            self.data.rules.depth,
            clock,
            hear,
            n_jobs=self.n_jobs,
            max_evaluations=max_evaluations,
            keep_anchors=keep_anchors,
        )

    def _grown(self, points: PointsProblem, objective: PointsObjective) -> Found:
        """Take the cheapest of CART's trees on the grid, which need no kernels.

        Their splits are plain conditions, and so points trees.
        """
        problem, depth = self.data.problem, self.data.rules.depth
        heaps = [constant_tree(problem, depth), *_cart_trees(self.data, points)]

        def cost(heap: HeapTree) -> float:
            return objective.evaluate(problem, self._tree(heap)).objective

        heap = min(heaps, key=cost)
        units = round(Fraction(cost(heap)) / points.unit) - points.offset
        ended = self.best.clock.ended or "time_limit"
        return Found(heap, units, -points.offset, 0, ended=ended)

    def _keep(self, tree: ObliqueTree, objective: PointsObjective) -> None:
        """Keep the engine's choice among equally good trees."""
        score = objective.evaluate(self.data.problem, tree)
        if score.objective == self.best.score.objective:
            self.best.tree, self.best.score = tree, score

    def _tree(self, heap: HeapTree) -> ObliqueTree:
        return ObliqueTree.from_heap(heap).prune(self.data.problem.X)


def _cart_trees(data: PointsData, points: PointsProblem) -> Iterator[HeapTree]:
    """Grow CART of each depth on the columns that splits may use."""
    allowed = np.array(data.family.columns, dtype=np.intp)
    X, n_columns = points.grid.T[:, allowed], len(points.grid)
    given = X, points.label, points.weight.astype(np.float64)
    for depth in range(1, data.rules.depth + 1 if len(allowed) else 1):
        # A row of these stands for one of the user at least.
        tree = grown_cart(*given, depth, data.rules.min_leaf)
        coef = np.zeros((len(tree.coef), n_columns))
        coef[:, allowed] = tree.coef
        whole = replace(tree, coef=coef, threshold=np.floor(tree.threshold))
        yield whole.to_heap(data.rules.depth)


_TOO_LATE = (
    "The search for a points tree was left out: its kernels are not compiled yet on "
    "this machine, and the time limit was too short for that. The tree is the best of "
    f"CART's on the grid. {COMPILE_ONCE}."
)


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
