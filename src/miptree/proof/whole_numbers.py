"""Kernel that writes two convex combinations in whole numbers of few digits."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.jit import UNCOUNTED

_FINEST = 49
"""Binary places of the finest multipliers: they have less than 18 digits."""
_STEP = 5
"""Binary places that are added where coarser multipliers do not do."""


@njit(**UNCOUNTED)
def in_whole_numbers(
    X: FloatArray,
    basis: IntArray,
    weight: FloatArray,
    is_right: BoolArray,
    least: float,
    point: IntArray,
    times: IntArray,
    total: FloatArray,
    gap: FloatArray,
) -> int:
    """Write points and multipliers; return their number.

    Their combinations on the two sides are nearer to each other than ``least``. Where
    none are so near, 0 is returned. ``total`` and ``gap`` are room.
    """
    bits = 4
    while bits <= _FINEST:
        scale = 2.0**bits
        size = 0
        for row in range(len(basis)):
            i = basis[row]
            whole = np.int64(np.rint(max(weight[row], 0.0) * scale))
            if i < len(X) and whole > 0:
                point[size], times[size] = i, whole
                size += 1
        if _distance(X, point, times, size, is_right, total, gap) < least:
            return size
        bits += _STEP
    return 0


@njit(**UNCOUNTED)
def _distance(
    X: FloatArray,
    point: IntArray,
    times: IntArray,
    size: int,
    is_right: BoolArray,
    total: FloatArray,
    gap: FloatArray,
) -> float:
    """Return the distance of two combinations in whole numbers."""
    total[0] = total[1] = 0.0
    for p in range(size):
        total[1 if is_right[point[p]] else 0] += times[p]
    if total[0] <= 0.0 or total[1] <= 0.0:
        return np.inf
    for j in range(len(gap)):
        gap[j] = 0.0
    for p in range(size):
        i = point[p]
        share = times[p] / total[1 if is_right[i] else 0]
        for j in range(len(gap)):
            gap[j] += (share if is_right[i] else -share) * X[i, j]
    distance = 0.0
    for j in range(len(gap)):
        distance += abs(gap[j])
    return distance
