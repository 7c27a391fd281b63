"""Training rows on the grid of a points tree, learnt from these rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from miptree.data import Table
from miptree.data.columns import CategoricalColumn
from miptree.data.grid import GridSpec
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.points_family import suited_family
from miptree.objective.penalties import Auto
from miptree.objective.points import PointsObjective
from miptree.points import Family, PointsProblem
from miptree.points.alternatives import Restriction
from miptree.utils.arrays import FloatArray


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

    def learn_table(self, rows: TrainingRows) -> Table:
        """Learn the grid from some rows alone."""
        return rows.learn_table("onehot", self.missing, self.unknown, self.grid)

    def learn(self, rows: TrainingRows, table: Table | None = None) -> PointsData:
        """Learn problem and family of splits, and unless it is given the grid."""
        table = self.learn_table(rows) if table is None else table
        return self.data(table, rows.problem(table))

    def data(self, table: Table, problem: Problem) -> PointsData:
        """Return rows that were read, and the family of their splits."""
        narrowed = suited_family(
            table, problem, self.max_features, self.max_points, self.signs_of(table)
        )
        return PointsData(table, problem, *narrowed, self)

    def signs_of(self, table: Table) -> tuple[int, ...]:
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
    restriction : str
        What else is asked of the trees, in words; the family may know of it.
    asked : Restriction or None
        The same as values.
    """

    table: Table
    problem: Problem
    family: Family
    left_out: str
    rules: PointsRules
    restriction: str = ""
    asked: Restriction | None = None

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
        return PointsObjective(
            tuple(column_penalty.tolist()),
            self.rules.depth,
            family.max_features,
            family.max_points,
            self.rules.min_leaf,
            float(points.unit),
            points.rounding,
            is_plain=not problem.has_costs,
            is_mixed=bool((steps == 1).any() and (steps > 1).any()),
            has_categories=family.adds_up_values,
            has_signs=any(family.signs),
            n_allowed=len(family.columns) if family.allowed else None,
            restriction=self.restriction,
        )
