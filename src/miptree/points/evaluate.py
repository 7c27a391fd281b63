"""Kernels that find the best split of both sides of a root split, exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.points.histograms import (
    bin_of,
    count_bins,
    count_cells,
    largest_cells,
    pays_by_cells,
    project_cells,
)
from miptree.points.layout import Rows, Space
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.jit import INNER, KERNEL

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


class Reach(NamedTuple):
    """Weight of the rows of each side up to each split, (M,) each."""

    left: AnyArray
    right: AnyArray


@njit(**KERNEL)
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

    Only rows of the smaller side are counted; ``total``, of :func:`all_bins`, gives
    the others.
    """
    n_classes = len(total) // space.offset[-1]
    n_rows, n_left = len(left), left.sum()
    small = 0 if 2 * n_left <= n_rows else 1  # which side is the smaller one
    chosen = np.flatnonzero(left == (small == 0))
    grid = np.empty((rows.grid.shape[0], len(chosen)), rows.grid.dtype)
    for j in range(len(grid)):
        for i in range(len(chosen)):
            grid[j, i] = rows.grid[j, chosen[i]]
    label, weight = rows.label[chosen], rows.weight[chosen]
    classes = _class_weights(rows, left, n_classes)
    _begin(classes, rows, left, min_leaf, sides)
    widest = space.n_bins.max() * n_classes
    hist, rest = np.empty(widest, total.dtype), np.empty(widest, total.dtype)
    cells = np.empty(largest_cells(space, len(chosen)) * n_classes, total.dtype)
    near, far = (reach.left, reach.right) if small == 0 else (reach.right, reach.left)
    for g in range(len(space.group) - 1):
        first, last = space.group[g], space.group[g + 1]
        by_cells = pays_by_cells(space, g, len(chosen))
        if by_cells:
            count_cells(space, first, grid, label, weight, n_classes, cells)
        for f in range(first, last):
            if by_cells:
                project_cells(space, f, cells, n_classes, hist)
            else:
                count_bins(space, f, grid, label, weight, n_classes, hist)
            start = space.offset[f] * n_classes
            for k in range(space.n_bins[f] * n_classes):
                rest[k] = total[start + k] - hist[k]
            _side(space, f, hist, classes, small, rows, left, min_leaf, near, sides)
            _side(space, f, rest, classes, 1 - small, rows, left, min_leaf, far, sides)


@njit(**INNER)
def _class_weights(rows: Rows, left: AnyArray, n_classes: int) -> AnyArray:
    """Return (2, Y): weight of each class on the left and on the right."""
    found = np.zeros((2, n_classes), rows.weight.dtype)
    for i in range(len(left)):
        found[0 if left[i] else 1, rows.label[i]] += rows.weight[i]
    return found


@njit(**INNER)
def _begin(
    classes: AnyArray, rows: Rows, left: AnyArray, min_leaf: int, sides: Sides
) -> None:
    """Begin with a leaf on each side."""
    count = np.zeros(2, np.int64)
    for i in range(len(left)):
        count[0 if left[i] else 1] += rows.copies[i]
    for side in range(2):
        cost = classes[side].sum() - classes[side].max()
        sides.bound[side] = cost
        # Where a side is empty there is no split, and all rows may be one leaf.
        is_small = 0 < count[side] < min_leaf and count[1 - side] > 0
        sides.cost[side] = np.iinfo(sides.cost.dtype).max // 4 if is_small else cost
        sides.gap[side] = 0.0
        sides.split[side, 0] = NO_SPLIT


@njit(**INNER)
def _side(
    space: Space,
    f: int,
    hist: AnyArray,
    classes: AnyArray,
    side: int,
    rows: Rows,
    left: AnyArray,
    min_leaf: int,
    reach: AnyArray,
    sides: Sides,
) -> None:
    """Take in the best threshold of direction f on one side."""
    least = _least_cost(hist, space.n_bins[f], classes[side], reach, space.offset[f])
    least += space.penalty[f]
    sides.bound[side] = min(sides.bound[side], least)
    if least > sides.cost[side]:
        return
    count = np.empty(0, np.int64)
    if min_leaf > 1:
        count = np.zeros(space.n_bins[f], np.int64)
        for i in range(len(left)):
            if left[i] == (side == 0):
                count[bin_of(space, f, rows.grid, i)] += rows.copies[i]
    _widest(space, f, hist, classes[side], count, min_leaf, side, sides)


@njit(**INNER)
def _least_cost(
    hist: AnyArray, n_bins: int, classes: AnyArray, reach: AnyArray, offset: int
) -> int:
    """Return the least cost of a threshold; set the weight up to each of them."""
    n_classes = len(classes)
    if n_classes == 2:
        l0, l1 = hist[0] * 0, hist[0] * 0
        r0, r1 = classes[0], classes[1]
        least = r0 + r1
        for b in range(n_bins):
            l0 += hist[2 * b]
            l1 += hist[2 * b + 1]
            reach[offset + b] = l0 + l1
            least = min(least, min(l0, l1) + min(r0 - l0, r1 - l1))
        return least
    total = classes.sum()
    least = total
    below = np.zeros(n_classes, hist.dtype)
    for b in range(n_bins):
        s, most, other = hist[0] * 0, hist[0] * 0, hist[0] * 0
        for y in range(n_classes):
            c = below[y] + hist[b * n_classes + y]
            below[y] = c
            s += c
            most = max(most, c)
            other = max(other, classes[y] - c)
        reach[offset + b] = s
        least = min(least, total - most - other)
    return least


@njit(**INNER)
def _widest(
    space: Space,
    f: int,
    hist: AnyArray,
    classes: AnyArray,
    count: AnyArray,
    min_leaf: int,
    side: int,
    sides: Sides,
) -> None:
    """Keep the cheapest threshold of direction f, and of equal ones the widest gap."""
    n_classes, n_bins = len(classes), space.n_bins[f]
    below = np.zeros(n_classes, hist.dtype)
    total, before, n_below, n_all = classes.sum(), -1, 0, count.sum()
    for b in range(n_bins):
        here = hist[0] * 0
        for y in range(n_classes):
            here += hist[b * n_classes + y]
        if here > 0:
            large = min_leaf <= 1 or min(n_below, n_all - n_below) >= min_leaf
            if before >= 0 and large:
                most, other = hist[0] * 0, hist[0] * 0
                for y in range(n_classes):
                    most = max(most, below[y])
                    other = max(other, classes[y] - below[y])
                cost = total - most - other + space.penalty[f]
                gap = (b - before) * space.shortness[f]
                best = sides.cost[side]
                is_wider = gap > sides.gap[side] and sides.split[side, 0] != NO_SPLIT
                if cost < best or (cost == best and is_wider):
                    sides.cost[side], sides.gap[side] = cost, gap
                    sides.split[side, 0] = f
                    sides.split[side, 1], sides.split[side, 2] = before, b
            for y in range(n_classes):
                below[y] += hist[b * n_classes + y]
            before = b
        if min_leaf > 1:
            n_below += count[b]
