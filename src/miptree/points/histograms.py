"""Kernels that add up the weights of rows up to every threshold of every direction.

Rows are sorted by class, and the sums of a direction f lie in a block of Y x n_bins[f],
one class after the other: loops over bins are then ones that a compiler vectorises.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.points.layout import Space
from miptree.utils.arrays import AnyArray
from miptree.utils.jit import INNER, UNCOUNTED


@njit(**UNCOUNTED)
def pays_by_cells(n_cells: int, n_directions: int, n_rows: int) -> bool:
    """Tell whether rows are counted in cells of the grid first, then in bins.

    One count serves all directions of the same columns, but every cell is then
    projected to the bins of each.
    """
    return n_directions * (n_rows - n_cells) > n_rows + n_cells


@njit(**UNCOUNTED)
def largest_cells(space: Space, n_rows: int) -> int:
    """Return the number of cells that the groups counted by cells need."""
    largest = 1
    for g in range(len(space.n_cells)):
        n_directions = space.group[g + 1] - space.group[g]
        if pays_by_cells(space.n_cells[g], n_directions, n_rows):
            largest = max(largest, space.n_cells[g])
    return largest


@njit(**INNER)
def class_ends(label: AnyArray, n_classes: int) -> AnyArray:
    """Return (Y + 1,): where the rows of each class begin, and the end."""
    ends = np.zeros(n_classes + 1, np.int64)
    for y in label:
        ends[y + 1] += 1
    for y in range(n_classes):
        ends[y + 1] += ends[y]
    return ends


@njit(**UNCOUNTED)
def count_rows(
    grid: AnyArray,
    column: AnyArray,
    points: AnyArray,
    low: int,
    weight: AnyArray,
    ends: AnyArray,
    n_bins: int,
    sums: AnyArray,
) -> None:
    """Add up the weights of each bin, class by class.

    The bin of a row is what its columns add up to at these points, less ``low``.
    """
    sums[: n_bins * (len(ends) - 1)] = 0
    p0, p1, p2 = points[0], points[1], points[2]
    q0, q1, q2 = grid[column[0]], grid[column[1]], grid[column[2]]
    for y in range(len(ends) - 1):
        # Indices are unsigned, as those may not be counted from the end.
        first = y * n_bins - low
        if p1 == 0:
            for i in range(ends[y], ends[y + 1]):
                sums[np.uint64(first + p0 * q0[i])] += weight[i]
        elif p2 == 0:
            for i in range(ends[y], ends[y + 1]):
                sums[np.uint64(first + p0 * q0[i] + p1 * q1[i])] += weight[i]
        else:
            for i in range(ends[y], ends[y + 1]):
                b = first + p0 * q0[i] + p1 * q1[i] + p2 * q2[i]
                sums[np.uint64(b)] += weight[i]


@njit(**UNCOUNTED)
def project_cells(
    steps: AnyArray,
    column: AnyArray,
    points: AnyArray,
    low: int,
    cells: AnyArray,
    n_bins: int,
    n_classes: int,
    sums: AnyArray,
) -> None:
    """Add up the cells of each bin, class by class."""
    sums[: n_bins * n_classes] = 0
    p0, p1, p2 = points[0], points[1], points[2]
    s0 = steps[column[0]]
    s1 = steps[column[1]] if p1 != 0 else 1
    s2 = steps[column[2]] if p2 != 0 else 1
    cell = 0
    for y in range(n_classes):
        first = y * n_bins - low
        for u in range(s0):
            for v in range(s1):
                b = first + p0 * u + p1 * v
                for _ in range(s2):
                    sums[np.uint64(b)] += cells[np.uint64(cell)]
                    cell += 1
                    b += p2


@njit(**UNCOUNTED)
def accumulate(sums: AnyArray, n_bins: int, n_classes: int) -> None:
    """Turn the weights of bins into weights up to each bin."""
    for y in range(n_classes):
        running = sums[0] * 0
        for b in range(y * n_bins, (y + 1) * n_bins):
            running += sums[np.uint64(b)]
            sums[np.uint64(b)] = running


@njit(**UNCOUNTED)
def bin_of(space: Space, f: int, grid: AnyArray, i: int) -> int:
    """Return the bin of row i in direction f."""
    b = -space.lowest[f]
    for k in range(3):
        b += space.points[f, k] * grid[space.column[f, k], i]
    return b


@njit(**UNCOUNTED)
def left_of(space: Space, f: int, b: int, grid: AnyArray, left: AnyArray) -> None:
    """Set which rows go left at bin b of direction f."""
    for i in range(grid.shape[1]):
        left[i] = bin_of(space, f, grid, i) <= b


@njit(**INNER)
def all_sums(
    space: Space, grid: AnyArray, weight: AnyArray, ends: AnyArray, sums: AnyArray
) -> None:
    """Set (M * Y,): weights up to every bin of all directions, class by class."""
    room = largest_cells(space, grid.shape[1]) * (len(ends) - 1)
    _add_up(space, grid, weight, ends, np.zeros(room, sums.dtype), sums)


@njit(**UNCOUNTED)
def _add_up(
    space: Space,
    grid: AnyArray,
    weight: AnyArray,
    ends: AnyArray,
    cells: AnyArray,
    sums: AnyArray,
) -> None:
    """Do that with room for cells."""
    n_rows, n_classes = grid.shape[1], len(ends) - 1
    for g in range(len(space.n_cells)):
        first, last, n_cells = space.group[g], space.group[g + 1], space.n_cells[g]
        by_cells = pays_by_cells(n_cells, last - first, n_rows)
        column, cell = space.column[first], space.cell_points[g]
        if by_cells:
            count_rows(grid, column, cell, 0, weight, ends, n_cells, cells)
        for f in range(first, last):
            column, points, low = space.column[f], space.points[f], space.lowest[f]
            n_bins = space.n_bins[f]
            own = sums[space.offset[f] * n_classes : space.offset[f + 1] * n_classes]
            if by_cells:
                project_cells(
                    space.steps, column, points, low, cells, n_bins, n_classes, own
                )
            else:
                count_rows(grid, column, points, low, weight, ends, n_bins, own)
            accumulate(own, n_bins, n_classes)
