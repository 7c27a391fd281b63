"""Kernels that count how rows fall into the bins of the directions."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.points.layout import Space
from miptree.utils.arrays import AnyArray
from miptree.utils.jit import INNER, KERNEL


@njit(**INNER)
def pays_by_cells(space: Space, group: int, n_rows: int) -> bool:
    """Tell whether rows are counted in cells of the grid first, then in bins.

    One count serves all directions of the same columns, but every cell is then
    projected to the bins of each.
    """
    first, last = space.group[group], space.group[group + 1]
    n_cells = _n_cells(space, first)
    return (last - first) * (n_rows - n_cells) > n_rows + n_cells


@njit(**INNER)
def _n_cells(space: Space, f: int) -> int:
    n_cells = 1
    for k in range(3):
        if space.points[f, k] != 0:
            n_cells *= space.steps[space.column[f, k]]
    return n_cells


@njit(**INNER)
def largest_cells(space: Space, n_rows: int) -> int:
    """Return the number of cells that the groups counted by cells need."""
    largest = 1
    for g in range(len(space.group) - 1):
        if pays_by_cells(space, g, n_rows):
            largest = max(largest, _n_cells(space, space.group[g]))
    return largest


@njit(**INNER)
def count_cells(
    space: Space,
    f: int,
    grid: AnyArray,
    label: AnyArray,
    weight: AnyArray,
    n_classes: int,
    cells: AnyArray,
) -> None:
    """Add up the weights of each cell of f's columns, class by class."""
    cells[: _n_cells(space, f) * n_classes] = 0
    q0 = grid[space.column[f, 0]]
    if space.points[f, 1] == 0:
        for i in range(len(label)):
            cells[q0[i] * n_classes + label[i]] += weight[i]
        return
    q1 = grid[space.column[f, 1]]
    s1 = space.steps[space.column[f, 1]]
    if space.points[f, 2] == 0:
        for i in range(len(label)):
            cells[(q0[i] * s1 + q1[i]) * n_classes + label[i]] += weight[i]
        return
    q2 = grid[space.column[f, 2]]
    s2 = space.steps[space.column[f, 2]]
    for i in range(len(label)):
        cell = (q0[i] * s1 + q1[i]) * s2 + q2[i]
        cells[cell * n_classes + label[i]] += weight[i]


@njit(**INNER)
def project_cells(
    space: Space, f: int, cells: AnyArray, n_classes: int, hist: AnyArray
) -> None:
    """Add up the cells of each bin of direction f."""
    hist[: space.n_bins[f] * n_classes] = 0
    p0, p1, p2 = space.points[f, 0], space.points[f, 1], space.points[f, 2]
    s0 = space.steps[space.column[f, 0]]
    s1 = space.steps[space.column[f, 1]] if p1 != 0 else 1
    s2 = space.steps[space.column[f, 2]] if p2 != 0 else 1
    cell = 0
    for u in range(s0):
        for v in range(s1):
            b = p0 * u + p1 * v - space.lowest[f]
            for _ in range(s2):
                for y in range(n_classes):
                    hist[b * n_classes + y] += cells[cell + y]
                cell += n_classes
                b += p2


@njit(**INNER)
def count_bins(
    space: Space,
    f: int,
    grid: AnyArray,
    label: AnyArray,
    weight: AnyArray,
    n_classes: int,
    hist: AnyArray,
) -> None:
    """Add up the weights of each bin of direction f, class by class."""
    hist[: space.n_bins[f] * n_classes] = 0
    p0, p1, p2 = space.points[f, 0], space.points[f, 1], space.points[f, 2]
    low = space.lowest[f]
    q0 = grid[space.column[f, 0]]
    if p1 == 0:
        for i in range(len(label)):
            hist[(q0[i] - low) * n_classes + label[i]] += weight[i]
        return
    q1 = grid[space.column[f, 1]]
    if p2 == 0:
        for i in range(len(label)):
            b = p0 * q0[i] + p1 * q1[i] - low
            hist[b * n_classes + label[i]] += weight[i]
        return
    q2 = grid[space.column[f, 2]]
    for i in range(len(label)):
        b = p0 * q0[i] + p1 * q1[i] + p2 * q2[i] - low
        hist[b * n_classes + label[i]] += weight[i]


@njit(**INNER)
def bin_of(space: Space, f: int, grid: AnyArray, i: int) -> int:
    """Return the bin of row i in direction f."""
    b = -space.lowest[f]
    for k in range(3):
        b += space.points[f, k] * grid[space.column[f, k], i]
    return b


@njit(**KERNEL)
def left_of(space: Space, f: int, b: int, grid: AnyArray, left: AnyArray) -> None:
    """Set which rows go left at bin b of direction f."""
    for i in range(grid.shape[1]):
        left[i] = bin_of(space, f, grid, i) <= b


@njit(**KERNEL)
def all_bins(
    space: Space,
    grid: AnyArray,
    label: AnyArray,
    weight: AnyArray,
    n_classes: int,
    total: AnyArray,
) -> None:
    """Set (M * Y,): weights of all bins of all directions, class by class."""
    n_rows = len(label)
    cells = np.zeros(largest_cells(space, n_rows) * n_classes, total.dtype)
    for g in range(len(space.group) - 1):
        first, last = space.group[g], space.group[g + 1]
        by_cells = pays_by_cells(space, g, n_rows)
        if by_cells:
            count_cells(space, first, grid, label, weight, n_classes, cells)
        for f in range(first, last):
            hist = total[space.offset[f] * n_classes : space.offset[f + 1] * n_classes]
            if by_cells:
                project_cells(space, f, cells, n_classes, hist)
            else:
                count_bins(space, f, grid, label, weight, n_classes, hist)
