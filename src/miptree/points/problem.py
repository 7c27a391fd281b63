"""The rows and splits of a points tree, all in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from miptree.data.merging import identical_rows
from miptree.points.costs import Unit
from miptree.points.family import MOST_FEATURES, Directions, Family
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray

MOST_SPLITS = 15
"""Splits of a tree of depth 4, the deepest."""
_FINER, _SMALL_TOTAL = 1 << 8, 1 << 40
"""Parts of a unit, where rows need a weight that hardly counts, and the costs up to
which one unit is not such a weight."""


@dataclass(frozen=True, eq=False)
class PointsProblem:
    """Training rows on a grid, with one label and one whole weight each.

    Any costs can be put like this: a row whose classes cost c_k, the least of them 0,
    stands for one row of each label k with the weight max(c) - c_k. What a tree costs
    then differs from the sum of these weights in error by a constant, the offset.

    Attributes
    ----------
    grid : int16 array of shape (d, n)
        Steps of each grid column.
    label : int32 array of shape (n,)
    weight : int64 array of shape (n,)
        What an error costs, in units.
    count : int64 array of shape (n,)
        Rows of the user behind each, for the minimum leaf size.
    n_classes : int
    directions : Directions
    penalty : int64 array of shape (F,)
        What the columns of each direction cost in a split, in units.
    min_leaf : int
        Fewest rows of the user in a leaf.
    unit : Fraction
        Size of a unit in the user's costs.
    rounding : float
        How much the cost of a tree may differ by rounding, in the user's costs.
    offset : int
        Added to what a tree costs here gives its cost, in units.
    """

    grid: AnyArray
    label: AnyArray
    weight: AnyArray
    count: AnyArray
    n_classes: int
    directions: Directions
    penalty: AnyArray
    min_leaf: int = 1
    unit: Fraction = Fraction(1)
    rounding: float = 0.0
    offset: int = 0

    @classmethod
    def of(
        cls,
        grid: AnyArray,
        y: IntArray,
        n_classes: int,
        weight: FloatArray,
        class_cost: FloatArray | None,
        count: IntArray,
        family: Family,
        column_penalty: FloatArray,
        min_leaf: int = 1,
    ) -> PointsProblem:
        """Build the problem of rows on a grid.

        Parameters
        ----------
        grid : array of shape (n, d)
            Whole numbers from 0 to ``family.steps``.
        y : int array of shape (n,)
            Class indices.
        n_classes : int
        weight : float array of shape (n,)
            What an error costs, unless ``class_cost`` says so.
        class_cost : float array of shape (n, n_classes) or None
            What it costs to predict each class for each row, its weight included.
        count : int array of shape (n,)
            Rows behind each, for the minimum leaf size.
        family : Family
            The splits to choose from.
        column_penalty : float array of shape (d,)
            What it costs that a split uses a column.
        min_leaf : int
            Fewest rows in a leaf.
        """
        costs = weight[:, None] if class_cost is None else class_cost
        total = float(costs.max(axis=1).sum()) + float(column_penalty.sum())
        unit = Unit.of(np.append(costs.ravel(), column_penalty), max(total, 1.0))
        rounding = float(unit.rounding(costs).max(axis=1).sum())
        rounding += (
            MOST_SPLITS
            * MOST_FEATURES
            * float(unit.rounding(column_penalty).max(initial=0.0))
        )
        whole, penalty = unit.whole(costs), unit.whole(column_penalty)
        if class_cost is None:
            whole = np.where(y[:, None] == np.arange(n_classes), 0, whole)
        size = unit.size
        is_idle = whole.max(axis=1) == whole.min(axis=1)
        if min_leaf > 1 and is_idle.any():
            # No class is better for these rows, but they count for the size of leaves.
            finer = _FINER if int(whole.max(axis=1).sum()) < _SMALL_TOTAL else 1
            whole, penalty, size = whole * finer, penalty * finer, size / finer
        source, label, gain, offset = _as_labels(whole, is_idle & (min_leaf > 1))
        # A row counts once, however many labels stand for it.
        rows = np.zeros(len(source), dtype=np.int64)
        _, first = np.unique(source, return_index=True)
        rows[first] = count[source[first]]
        merged = _merge(np.asarray(grid)[source], label, gain, rows)
        directions = family.directions()
        in_use = directions.points != 0
        return cls(
            *merged,
            n_classes,
            directions,
            (penalty[directions.column] * in_use).sum(axis=1),
            min_leaf,
            size,
            rounding,
            offset,
        )

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.label)

    def in_user_units(self, cost: int) -> float:
        """Return a cost that was counted here in the user's units."""
        return float((cost + self.offset) * self.unit)


def _as_labels(
    cost: AnyArray, is_idle: BoolArray
) -> tuple[IntArray, IntArray, AnyArray, int]:
    """Return row, label and weight of the rows that stand for given costs.

    Rows for which all classes cost the same vanish; of those that are ``idle`` one
    stands there for each label, of weight 1. The last is what every tree costs besides
    the weights of those in error.
    """
    worst = cost.max(axis=1)
    gain = worst[:, None] - cost
    gain[is_idle] = 1
    source, label = np.nonzero(gain)
    offset = worst.sum() - gain.sum() + is_idle.sum()
    return source, label, gain[source, label], int(offset)


def _merge(
    grid: AnyArray, label: IntArray, weight: AnyArray, count: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Add up identical rows of the same label; their order depends on nothing else."""
    first, group = identical_rows(
        np.column_stack([grid, label]).astype(np.float64, order="C")
    )
    total = np.zeros((2, len(first)), dtype=np.int64)
    np.add.at(total[0], group, weight)
    np.add.at(total[1], group, count)
    columns = np.ascontiguousarray(grid[first].T.astype(np.int16))
    return columns, label[first].astype(np.int32), total[0], total[1]
