"""The training rows before they are numbers.

A part of the rows learns a table of its own: in cross-validation nothing that is
learnt for a fold, not even how a gap is filled, may have seen the rows held out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.data import Cells, GridSpec, Table, learn_table
from miptree.data.checks import check_range
from miptree.data.groups import RowGroups
from miptree.data.labels import price_by_class
from miptree.data.problem import Problem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_FEWEST_LEVELS, _MOST_LEVELS = 3, 6
"""Different whole numbers that may be levels; of two, the number itself says all."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of a table with their classes, weights and costs.

    Attributes
    ----------
    cells : sequence of Cells
        The columns.
    categorical : sequence of bool
        Which of them are categorical.
    y : int array of shape (n,)
        Class indices.
    weight : float array of shape (n,)
        Weights >= 0.
    n_classes : int
    class_factor : float array of shape (Y,)
        Weights of the classes, which are in those of the rows.
    costs : float array of shape (Y, Y) or None
        What it costs to predict class k for a row of class j, by default 1.
    row_costs : float array of shape (n, Y) or None
        What it costs to predict class k for each row instead.
    groups : RowGroups or None
        Groups of the rows, where constraints count them.
    left_out : frozenset of str
        Names of columns that no split may use.
    directed : frozenset of str
        Names of columns that constraints read as numbers.
    """

    cells: Sequence[Cells]
    categorical: Sequence[bool]
    y: IntArray
    weight: FloatArray
    n_classes: int
    class_factor: FloatArray
    costs: FloatArray | None = None
    row_costs: FloatArray | None = None
    groups: RowGroups | None = None
    left_out: frozenset[str] = frozenset()
    directed: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.y)

    def check_ranges(self) -> None:
        """Refuse columns of too wide a range, unless no split may use them."""
        for cells in self.cells:
            if cells.numbers is not None and cells.name not in self.left_out:
                check_range(cells.name, cells.numbers[self.weight > 0])

    @property
    def class_price(self) -> FloatArray | None:
        """(Y,): what an error costs by the class of its row, if that alone decides."""
        if self.costs is None or self.row_costs is not None:
            return None
        return price_by_class(self.costs)

    @property
    def training_weight(self) -> FloatArray:
        """(n,): the weights, times the prices of errors where those are by class."""
        price = self.class_price
        return self.weight if price is None else self.weight * price[self.y]

    def take(self, rows: IntArray) -> TrainingRows:
        """Return some of the rows."""
        return replace(
            self,
            cells=[cells.take(rows) for cells in self.cells],
            y=self.y[rows],
            weight=self.weight[rows],
            row_costs=None if self.row_costs is None else self.row_costs[rows],
            groups=None if self.groups is None else self.groups.take(rows),
        )

    def with_levels(self) -> TrainingRows:
        """Read columns of few different whole numbers as categories."""
        mask = [
            known or (is_levels(cells) and cells.name not in self.directed)
            for cells, known in zip(self.cells, self.categorical, strict=True)
        ]
        return replace(self, categorical=mask)

    def learn_table(
        self, encoding: str, missing: str, unknown: str, grid: GridSpec | None = None
    ) -> Table:
        """Learn how the columns of these rows become numbers."""
        return learn_table(
            self.cells,
            self.training_weight,
            self.categorical,
            encoding,
            missing,
            unknown,
            grid,
            self.left_out,
        )

    def problem(self, table: Table, max_features: int | None = None) -> Problem:
        """Build the problem that the search and the MIP see."""
        # A row of weight zero may hold what the table has not learnt.
        kept = np.flatnonzero(self.weight > 0)
        rows = self if len(kept) == len(self) else self.take(kept)
        costs, price = rows.row_costs, self.class_price
        if costs is None and self.costs is not None and price is None:
            costs = self.costs[rows.y]
        problem = Problem.from_data(
            table.transform_cells(rows.cells),
            rows.y,
            self.n_classes,
            rows.training_weight,
            costs,
            table.value_feature,
            max_features,
            rows.groups,
        )
        first, n_unweighted = problem.source, len(self) - len(kept)
        source = None if first is None else kept[first]
        return replace(
            problem,
            source=source,
            n_unweighted=n_unweighted,
            class_price=price,
            blocks=table.open_blocks,
        )


Revision = Callable[[TrainingRows, AnyArray], tuple[TrainingRows, AnyArray]]
"""Function that replaces training rows and class labels before a fit."""


def unrevised(rows: TrainingRows, classes: AnyArray) -> tuple[TrainingRows, AnyArray]:
    """Return rows and class labels as they are."""
    return rows, classes


def is_levels(cells: Cells) -> bool:
    """Tell whether a column holds whole numbers, and few different ones."""
    if cells.numbers is None:
        return False
    levels = np.unique(cells.numbers[~np.isnan(cells.numbers)])
    few = _FEWEST_LEVELS <= len(levels) <= _MOST_LEVELS
    return few and bool((levels == np.round(levels)).all())
