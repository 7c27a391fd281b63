"""From a table to a points tree with its certificate, within one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from miptree.control.clock import Clock
from miptree.data import Table
from miptree.data.columns import CategoricalColumn
from miptree.data.grid import GridSpec
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.points_family import suited_family
from miptree.fit.progress import FitCallback
from miptree.objective.bounds import Bound
from miptree.objective.penalties import Auto
from miptree.objective.points import PointsObjective
from miptree.objective.proved import Bounds
from miptree.points import Family, Found, PointsProblem, solve
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


@dataclass(frozen=True)
class PointsRules:
    """How rows become the problem of a points tree; see ``PointsTreeClassifier``.

    Attributes
    ----------
    grid : GridSpec
        How numbers are read.
    depth : int
    max_features, max_points : int or "auto"
        Limits of a split.
    signs : mapping from int to int
        1 or -1 for columns of X, by their places.
    min_leaf : int
        Fewest rows of a leaf.
    missing, unknown : str
        As of a table.
    """

    grid: GridSpec
    depth: int
    max_features: int | Auto = "auto"
    max_points: int | Auto = "auto"
    signs: Mapping[int, int] = field(default_factory=dict)
    min_leaf: int = 1
    missing: str = "fill"
    unknown: str = "majority"

    def learn(self, rows: TrainingRows) -> PointsData:
        """Learn grid, problem and family of splits from some rows alone."""
        table = rows.learn_table("onehot", self.missing, self.unknown, self.grid)
        problem = rows.problem(table)
        narrowed = suited_family(
            table, problem, self.max_features, self.max_points, self._signs(table)
        )
        return PointsData(table, problem, *narrowed, self)

    def _signs(self, table: Table) -> tuple[int, ...]:
        """Return the sign of each grid column; none where no column has one."""
        if not self.signs:
            return ()
        for place in self.signs:
            column, n_parts = table.columns[place], table.open_sources.count(place)
            if isinstance(column, CategoricalColumn) and n_parts > 1:
                raise ValueError(
                    f"signs names {column.name!r}, a category of {n_parts} values, "
                    "which have no order. Give signs of numbers only."
                )
        return tuple(self.signs.get(place, 0) for place in table.open_sources)


@dataclass(frozen=True, eq=False)
class PointsData:
    """Rows on their grid, and the splits that their tree may use.

    Attributes
    ----------
    table : Table
        Of grid columns.
    problem : Problem
        The rows, in grid values.
    family : Family
    left_out : str
        What the family leaves out as there would be too many splits; often empty.
    rules : PointsRules
    """

    table: Table
    problem: Problem
    family: Family
    left_out: str
    rules: PointsRules

    def column_penalty(self, by_source: FloatArray) -> FloatArray:
        """Return (d,): the penalty of each grid column, given those of X's columns."""
        return by_source[np.array(self.table.open_sources, dtype=np.intp)]

    def points_problem(self, column_penalty: FloatArray) -> PointsProblem:
        """Build the problem in whole numbers that the engine solves."""
        problem = self.problem
        return PointsProblem.of(
            problem.X,
            problem.y,
            problem.n_classes,
            problem.weight,
            problem.class_cost,
            problem.count,
            self.family,
            column_penalty,
            self.rules.min_leaf,
        )

    def objective(
        self, points: PointsProblem, column_penalty: FloatArray
    ) -> PointsObjective:
        """Return what trees are compared by, with the family in words."""
        family, problem = self.family, self.problem
        steps = np.array(family.steps)[family.columns]
        is_plain = problem.class_cost is None and np.array_equal(
            problem.weight, problem.count
        )
        return PointsObjective(
            tuple(column_penalty.tolist()),
            self.rules.depth,
            family.max_features,
            family.max_points,
            self.rules.min_leaf,
            float(points.unit),
            points.rounding,
            is_plain=is_plain,
            is_mixed=bool((steps == 1).any() and (steps > 1).any()),
            has_signs=any(family.signs),
            n_allowed=len(family.columns) if family.allowed else None,
        )


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
