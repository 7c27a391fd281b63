"""Kernels that find the best split of both sides of a root split, exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.points.histograms import (
    accumulate,
    bin_of,
    class_ends,
    count_rows,
    largest_cells,
    pays_by_cells,
    project_cells,
)
from miptree.points.layout import Rows, Space
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.jit import INNER, UNCOUNTED

NO_SPLIT = -1
"""Direction of a node that is a leaf."""


class Sides(NamedTuple):
    """The best leaf or single split of the left (0) and the right (1) side."""

    bound: AnyArray
    """(2,): least cost, whatever the size of the leaves."""
    cost: AnyArray
    """(2,): least cost with leaves that are large enough."""
    gap: FloatArray
    """(2,): width of the gap that the split lies in; of equal splits the widest."""
    split: AnyArray
    """(2, 3) int64: direction, last bin on the left, first on the right."""
    weight: AnyArray
    """(2, Y): weight of each class."""


class Reach(NamedTuple):
    """Weight of the rows of each side up to each split, (M,) each."""

    left: AnyArray
    right: AnyArray


class Counted(NamedTuple):
    """The rows of one side, class by class, and room to add them up."""

    grid: AnyArray
    weight: AnyArray
    ends: AnyArray
    """(Y + 1,): where the rows of each class begin, and the end."""
    sums: AnyArray
    """(B * Y,): weights up to each bin of a direction."""
    rest: AnyArray
    """The same of the other side."""
    most: AnyArray
    """(2, B)"""
    cells: AnyArray


@njit(**INNER)
def evaluate(
    space: Space,
    rows: Rows,
    total: AnyArray,
    left: AnyArray,
    min_leaf: int,
    reach: Reach,
    sides: Sides,
) -> None:
    """Find the best leaf or split of the rows that go left, and of the others.

    Only rows of the smaller side are counted; ``total``, of :func:`all_sums` for all
    rows, gives the others.
    """
    _begin(rows, left, min_leaf, sides)
    small = 0 if 2 * left.sum() <= len(left) else 1  # which side is the smaller one
    counted = _counted(space, rows, total, left == (small == 0), sides.weight.shape[1])
    _try_splits(space, rows, counted, total, left, min_leaf, reach, small, sides)


@njit(**INNER)
def _counted(
    space: Space, rows: Rows, total: AnyArray, is_chosen: AnyArray, n_classes: int
) -> Counted:
    """Return the rows of a side, and room to add up those of any direction."""
    chosen, widest = np.flatnonzero(is_chosen), space.n_bins.max()
    grid = np.empty((rows.grid.shape[0], len(chosen)), rows.grid.dtype)
    for j in range(len(grid)):
        for i in range(len(chosen)):
            grid[j, i] = rows.grid[j, chosen[i]]
    return Counted(
        grid,
        rows.weight[chosen],
        class_ends(rows.label[chosen], n_classes),
        np.empty(widest * n_classes, total.dtype),
        np.empty(widest * n_classes, total.dtype),
        np.empty((2, widest), total.dtype),
        np.empty(largest_cells(space, len(chosen)) * n_classes, total.dtype),
    )


@njit(**UNCOUNTED)
def _try_splits(
    space: Space,
    rows: Rows,
    counted: Counted,
    total: AnyArray,
    left: AnyArray,
    min_leaf: int,
    reach: Reach,
    small: int,
    sides: Sides,
) -> None:
    """Try all splits of both sides, of which the smaller one is counted."""
    grid, weight, ends, sums, rest, most, cells = counted
    near, far = (reach.left, reach.right) if small == 0 else (reach.right, reach.left)
    on_near, on_far = sides.weight[small], sides.weight[1 - small]
    n_classes, n_chosen = len(ends) - 1, len(weight)
    for g in range(len(space.n_cells)):
        first, last, n_cells = space.group[g], space.group[g + 1], space.n_cells[g]
        by_cells = pays_by_cells(n_cells, last - first, n_chosen)
        column, cell = space.column[first], space.cell_points[g]
        if by_cells:
            count_rows(grid, column, cell, 0, weight, ends, n_cells, cells)
        for f in range(first, last):
            column, points, low = space.column[f], space.points[f], space.lowest[f]
            n_bins, penalty = space.n_bins[f], space.penalty[f]
            start, end = space.offset[f], space.offset[f + 1]
            if by_cells:
                project_cells(
                    space.steps, column, points, low, cells, n_bins, n_classes, sums
                )
            else:
                count_rows(grid, column, points, low, weight, ends, n_bins, sums)
            accumulate(sums, n_bins, n_classes)
            own = total[start * n_classes : end * n_classes]
            for k in range(len(own)):
                rest[k] = own[k] - sums[k]
            here = penalty + _least_cost(sums, on_near, near[start:end], most)
            there = penalty + _least_cost(rest, on_far, far[start:end], most)
            sides.bound[small] = min(sides.bound[small], here)
            sides.bound[1 - small] = min(sides.bound[1 - small], there)
            # Of equal splits the first stays, which has the fewest columns.
            if here < sides.cost[small]:
                _keep(space, f, sums, near, rows, left, min_leaf, small, sides)
            if there < sides.cost[1 - small]:
                _keep(space, f, rest, far, rows, left, min_leaf, 1 - small, sides)


@njit(**INNER)
def _begin(rows: Rows, left: AnyArray, min_leaf: int, sides: Sides) -> None:
    """Begin with a leaf on each side."""
    sides.weight[:] = 0
    copies = np.zeros(2, np.int64)
    for i in range(len(left)):
        side = 0 if left[i] else 1
        sides.weight[side, rows.label[i]] += rows.weight[i]
        copies[side] += rows.copies[i]
    for side in range(2):
        cost = sides.weight[side].sum() - sides.weight[side].max()
        sides.bound[side] = cost
        # Where a side is empty there is no split, and all rows may be one leaf.
        is_small = 0 < copies[side] < min_leaf and copies[1 - side] > 0
        sides.cost[side] = np.iinfo(sides.cost.dtype).max // 4 if is_small else cost
        sides.gap[side] = 0.0
        sides.split[side, 0] = NO_SPLIT


@njit(**UNCOUNTED)
def _least_cost(
    sums: AnyArray, classes: AnyArray, upto: AnyArray, most: AnyArray
) -> int:
    """Return the least cost of a threshold; set the weight up to each of them."""
    if len(classes) == 2:
        return _least_of_two(sums, classes[0], classes[1], upto)
    n_bins, total = len(upto), classes.sum()
    on_left, on_right = most[0, :n_bins], most[1, :n_bins]
    for b in range(n_bins):
        upto[b] = sums[b]
        on_left[b] = sums[b]
        on_right[b] = classes[0] - sums[b]
    for y in range(1, len(classes)):
        own, whole = sums[y * n_bins : (y + 1) * n_bins], classes[y]
        for b in range(n_bins):
            upto[b] += own[b]
            on_left[b] = max(on_left[b], own[b])
            on_right[b] = max(on_right[b], whole - own[b])
    least = total
    for b in range(n_bins):
        least = min(least, total - on_left[b] - on_right[b])
    return least


@njit(**UNCOUNTED)
def _least_of_two(sums: AnyArray, all_0: int, all_1: int, upto: AnyArray) -> int:
    """Do the same for two classes."""
    n_bins = len(upto)
    first, second = sums[:n_bins], sums[n_bins : 2 * n_bins]
    least = all_0 + all_1
    for b in range(n_bins):
        upto[b] = first[b] + second[b]
        cost = min(first[b], second[b]) + min(all_0 - first[b], all_1 - second[b])
        least = min(least, cost)
    return least


@njit(**INNER)
def _keep(
    space: Space,
    f: int,
    sums: AnyArray,
    reach: AnyArray,
    rows: Rows,
    left: AnyArray,
    min_leaf: int,
    side: int,
    sides: Sides,
) -> None:
    """Keep the cheapest threshold of direction f, and of equal ones the widest gap."""
    upto = reach[space.offset[f] : space.offset[f + 1]]
    copies = np.zeros(len(upto), np.int64)
    if min_leaf > 1:
        for i in range(len(left)):
            if left[i] == (side == 0):
                copies[bin_of(space, f, rows.grid, i)] += rows.copies[i]
    n_bins, classes = len(upto), sides.weight[side]
    total, before, n_below, n_all = classes.sum(), -1, 0, copies.sum()
    for b in range(n_bins):
        if upto[b] > (upto[b - 1] if b > 0 else 0):  # the bin holds rows
            is_large = min_leaf <= 1 or min(n_below, n_all - n_below) >= min_leaf
            if before >= 0 and is_large:
                on_left, on_right = total * 0, total * 0
                for y in range(len(classes)):
                    below = sums[y * n_bins + before]
                    on_left = max(on_left, below)
                    on_right = max(on_right, classes[y] - below)
                cost = total - on_left - on_right + space.penalty[f]
                gap = (b - before) * space.shortness[f]
                best = sides.cost[side]
                is_wider = gap > sides.gap[side] and sides.split[side, 0] != NO_SPLIT
                if cost < best or (cost == best and is_wider):
                    sides.cost[side], sides.gap[side] = cost, gap
                    sides.split[side, 0] = f
                    sides.split[side, 1], sides.split[side, 2] = before, b
            before = b
        if min_leaf > 1:
            n_below += copies[b]
