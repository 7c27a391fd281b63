"""The arrays that the kernels read: directions and their thresholds, rows, totals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.points.family import Directions
from miptree.points.problem import PointsProblem
from miptree.utils.arrays import AnyArray, FloatArray


class Space(NamedTuple):
    """All splits: directions and thresholds.

    The possible sums of a direction f are its **bins**: bin b is the sum lowest[f] + b.
    Split number offset[f] + b sends the bins up to b left.
    """

    column: AnyArray
    """(F, 3) int32: grid columns of each direction."""
    points: AnyArray
    """(F, 3) int32: points for a step of each."""
    lowest: AnyArray
    """(F,) int64: least sum."""
    n_bins: AnyArray
    """(F,) int64: number of sums from the least to the largest."""
    offset: AnyArray
    """(F + 1,) int64: number of the first split of each direction."""
    direction: AnyArray
    """(M,) int32: direction of each split."""
    penalty: AnyArray
    """(F,): what a split with this direction costs."""
    shortness: FloatArray
    """(F,): 1 over the length of the points, which makes gaps comparable."""
    group: AnyArray
    """(G + 1,) int64: first direction of each set of columns."""
    n_cells: AnyArray
    """(G,) int64: combinations of the grid values of each set of columns."""
    cell_points: AnyArray
    """(G, 3) int32: points that number these combinations."""
    steps: AnyArray
    """(d,) int64: grid values of each column."""


class Rows(NamedTuple):
    """Some rows of a problem, sorted by class."""

    grid: AnyArray
    """(d, n) int16."""
    label: AnyArray
    """(n,) int32."""
    weight: AnyArray
    """(n,)."""
    copies: AnyArray
    """(n,) int64: rows of the user behind each."""

    def take(self, chosen: AnyArray) -> Rows:
        """Return some of them."""
        grid = np.ascontiguousarray(self.grid[:, chosen])
        return Rows(grid, self.label[chosen], self.weight[chosen], self.copies[chosen])


def space_of(problem: PointsProblem, dtype: type) -> Space:
    """Lay out the splits of a problem; costs are of the given type."""
    column, points, _ = problem.directions
    top = problem.grid.max(axis=1, initial=0).astype(np.int64)
    reach = points * top[column]
    lowest = np.minimum(reach, 0).sum(axis=1)
    n_bins = np.maximum(reach, 0).sum(axis=1) - lowest + 1
    offset = np.concatenate([[0], np.cumsum(n_bins)])
    number = np.arange(len(n_bins), dtype=np.int32)
    group = _groups(problem.directions)
    values = np.where(points != 0, top[column] + 1, 1)[group[:-1]]
    return Space(
        column,
        points,
        lowest.astype(np.int64),
        n_bins.astype(np.int64),
        offset.astype(np.int64),
        np.repeat(number, n_bins),
        problem.penalty.astype(dtype),
        1.0 / np.sqrt((points.astype(np.float64) ** 2).sum(axis=1)),
        group,
        values.prod(axis=1),
        _cell_points(values),
        top + 1,
    )


def _cell_points(values: AnyArray) -> AnyArray:
    """Return (G, 3): points that give every combination of values its own sum."""
    first, second = values[:, 1] * values[:, 2], values[:, 2]
    points = np.column_stack([first, second, np.ones_like(first)])
    # As for directions, columns that are not there have no points.
    points[:, 1:][values[:, 1:] == 1] = 0
    return points.astype(np.int32)


def rows_of(problem: PointsProblem, dtype: type) -> Rows:
    """Return all rows of a problem, sorted by class; weights are of the given type."""
    weight: AnyArray = problem.weight.astype(dtype)
    rows = Rows(problem.grid, problem.label, weight, problem.count)
    return rows.take(np.argsort(problem.label, kind="stable"))


def cost_type(problem: PointsProblem) -> type:
    """Return the integers that hold every cost: small ones are faster."""
    largest = problem.weight.sum() + 15 * problem.penalty.max(initial=0)
    return np.int32 if largest < 2**28 else np.int64


def _groups(directions: Directions) -> AnyArray:
    """Return where the directions of another set of columns begin, and the end."""
    used = np.where(directions.points != 0, directions.column, -1)
    new = (np.diff(used, axis=0) != 0).any(axis=1)
    first = np.flatnonzero(np.append(True, new)) if len(used) else np.zeros(0)
    return np.append(first, len(used)).astype(np.int64)
