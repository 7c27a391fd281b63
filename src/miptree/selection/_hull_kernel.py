"""Kernel that decides whether a point is a convex combination of others.

It solves the LP of ``_simplex.py``. Columns are priced over a small pool of points
first; when none of the pool improves, one pass over all points either finds a column
or proves that the duals separate q strictly from all of them (Clarkson).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.selection._hull_columns import (
    FAILED,
    INSIDE,
    OUTSIDE,
    TOLERANCE,
    UNSURE,
    Decided,
    HullColumns,
)
from miptree.selection._simplex import (
    BASIC,
    Entering,
    Work,
    basic_values,
    infeasibility,
    long_step,
    new_work,
    pivot,
    refactor,
    start_at_nearest,
    write_column,
)
from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.jit import KERNEL, UNCOUNTED_KERNEL

_GAIN = 1e-10
_UPDATES = 60
"""Pivots between two refactorisations."""


@njit(**KERNEL, fastmath=True)
def _gains(points: FloatArray, n: int, dual: FloatArray, gain: FloatArray) -> None:
    """Write gain_i = dual . (x_i, 1): how fast infeasibility falls with lambda_i."""
    d = points.shape[0]
    for i in range(n):
        gain[i] = dual[d]
    for k in range(d):
        y = dual[k]
        if y != 0.0:
            row = points[k]
            for i in range(n):
                gain[i] += y * row[i]


@njit(**UNCOUNTED_KERNEL)
def _best_pool_point(
    work: Work, columns: HullColumns, j: int, least: float, random: int
) -> tuple[int, float, int]:
    """Return the point of the pool, or of our own, with the largest gain; -1: none.

    A ``random`` state >= 0 asks for any improving one instead, against cycling.
    """
    gain, dual, n_pool = work.gain_pool, work.dual, columns.n_pool
    _gains(columns.pool, n_pool, dual, gain)
    if 0 <= columns.place[j] < n_pool:
        gain[columns.place[j]] = -np.inf
    point, best, eligible = -1, least, 0
    for i in range(n_pool):
        if random < 0:
            if gain[i] > best:
                point, best = columns.pool_id[i], gain[i]
        elif gain[i] > least:
            eligible += 1
            random = (random * 1103515245 + 12345) & 0x7FFFFFFF
            if random % eligible == 0:
                point, best = columns.pool_id[i], gain[i]
    d = len(dual) - 1
    for t in range(work.counts[0]):
        g = work.own[t]
        total = dual[d]
        for k in range(d):
            total += dual[k] * columns.X[g, k]
        if total > best:
            point, best = g, total
    return point, best, random


@njit(**UNCOUNTED_KERNEL)
def _is_separated(
    work: Work, columns: HullColumns, j: int, box: FloatArray, top: float
) -> bool:
    """Tell whether the duals put point j, with its box, above the others' top."""
    d = len(work.dual) - 1
    own, width = work.dual[d], 0.0
    for k in range(d):
        own += work.dual[k] * columns.X[j, k]
        width += (box[k] + TOLERANCE) * abs(work.dual[k])
    return own - top > width


@njit(**UNCOUNTED_KERNEL)
def _best_of_all(work: Work, columns: HullColumns, j: int) -> tuple[int, float, bool]:
    """Return the other point with the largest gain, that gain, and if it is extreme."""
    gain, n, d = work.gain_all, len(columns.X), len(work.dual) - 1
    _gains(columns.XT, n, work.dual, gain)
    own = gain[j]
    gain[j] = -np.inf
    point, best, second = 0, -np.inf, own
    for i in range(n):
        if gain[i] > best:
            second = max(second, best)
            point, best = i, gain[i]
        elif gain[i] > second:
            second = gain[i]
    size = 0.0
    for k in range(d):
        size += abs(work.dual[k])
    return point, best, best - second > TOLERANCE * size


@njit(**UNCOUNTED_KERNEL)
def decide(
    j: int,
    columns: HullColumns,
    box: FloatArray,
    all_points: bool,
    warm: bool,
    work: Work,
    max_pivots: int,
) -> int:
    """Decide point j; after INSIDE the basis holds its weights.

    Parameters
    ----------
    j : int
        The point; it is never a column of itself.
    columns : HullColumns
        The points and the pool.
    box : float array of shape (d,)
        Largest difference allowed in each feature.
    all_points : bool
        Whether points outside the pool may be taken in.
    warm : bool
        Whether the basis of the last call is a start.
    work : Work
    max_pivots : int

    Returns
    -------
    int
        INSIDE, OUTSIDE, UNSURE or FAILED (numerical trouble).
    """
    X, m, n_pool = columns.X, len(work.basis), columns.n_pool
    d, q = m - 1, columns.X[j]
    work.counts[0] = 0
    for r in range(m):
        warm = warm and work.basis[r] != j
    if not warm and not start_at_nearest(work, columns, j):
        return OUTSIDE
    basic_values(work, q, box)
    stall, last, random = 0, np.inf, -1
    for _ in range(max_pivots):
        total = infeasibility(work, box)
        if total == 0.0:
            if work.counts[1] == 0:
                return INSIDE
            if not refactor(work, X, q, box):
                return FAILED
            stall += 1
            continue
        stall = stall + 1 if total > last - 1e-13 else 0
        last = total
        if stall > 2 * m and random < 0:
            random = (j * 2654435761 + 12345) & 0x7FFFFFFF
        elif stall == 0:
            random = -1
        largest = 0.0
        for k in range(d):
            largest = max(largest, abs(work.dual[k]))
        least = _GAIN * (1.0 + largest)
        point, gain, random = _best_pool_point(work, columns, j, least, random)
        slack, sign = -1, 1.0
        for k in range(d):
            at = work.slack_at[k]
            if box[k] > 0.0 and at != BASIC and -at * work.dual[k] > gain:
                gain, point, slack, sign = -at * work.dual[k], -1, k, float(-at)
        if point < 0 and slack < 0:
            if work.counts[1] > 0 and stall < 50 * m:
                # The duals decide now: they should be as exact as can be.
                if not refactor(work, X, q, box):
                    return FAILED
                stall += 1
                continue
            if not all_points:
                top = -np.inf
                for i in range(n_pool):
                    top = max(top, work.gain_pool[i])
                separated = _is_separated(work, columns, j, box, top)
                return OUTSIDE if separated else UNSURE
            point, gain, extreme = _best_of_all(work, columns, j)
            if _is_separated(work, columns, j, box, gain):
                return OUTSIDE
            known = 0 <= columns.place[point] < n_pool
            for t in range(work.counts[0]):
                known = known or work.own[t] == point
            if known or gain <= least:
                return UNSURE
            if work.counts[0] == len(work.own):
                return FAILED
            work.own[work.counts[0]] = point
            work.own_extreme[work.counts[0]] = extreme
            work.counts[0] += 1
            stall, last = 0, np.inf
        entering = Entering(point, slack, sign)
        write_column(work, X, entering)
        leave, step, side = long_step(work, box, sign, gain)
        if slack >= 0 and (leave < 0 or 2.0 * box[slack] <= step):
            for r in range(m):
                work.value[r] -= 2.0 * box[slack] * sign * work.alpha[r]
            work.slack_at[slack] = -work.slack_at[slack]
            continue
        if leave < 0:
            return FAILED
        if abs(work.alpha[leave]) < TOLERANCE and work.counts[1] > 0:
            if not refactor(work, X, q, box):
                return FAILED
            stall += 1
            continue
        pivot(work, box, entering, leave, side, step)
        if work.counts[1] >= _UPDATES and not refactor(work, X, q, box):
            return FAILED
    return FAILED


@njit(**KERNEL)
def decide_points(
    ids: IntArray,
    columns: HullColumns,
    box: FloatArray,
    all_points: bool,
    warm: bool,
    with_weights: bool,
    stop: BoolArray,
) -> Decided:
    """Decide some points; where they are ``warm``, each from the basis of the last.

    Points that are left when ``stop[0]`` becomes true stay unsure.
    """
    n, (n_points, d) = len(ids), columns.X.shape
    m = d + 1
    most_own = 64 + 8 * m if all_points else 1
    most_pivots = 2000 + 200 * m
    work = new_work(n_points if all_points else 1, d, columns.n_pool, most_own)
    wider = box + 2.0 * TOLERANCE
    answer = np.zeros(n, np.int64)
    found = np.empty(n * most_own, np.int64)
    found_extreme = np.empty(n * most_own, np.uint8)
    width = m if with_weights else 0
    weight_on = np.full((n, width), -1, np.int64)
    weight = np.zeros((n, width))
    n_found, n_unsure, chained = 0, 0, False
    for p in range(n):
        if stop[0]:
            answer[p:] = UNSURE
            n_unsure += n - p
            break
        j = ids[p]
        status = decide(j, columns, box, all_points, chained, work, 200 + 60 * m)
        if status == FAILED:
            status = decide(j, columns, box, all_points, False, work, most_pivots)
        chained = warm and status == INSIDE
        if status == UNSURE or status == FAILED:
            status = decide(j, columns, wider, all_points, False, work, most_pivots)
            if status == UNSURE or status == FAILED:
                n_unsure += 1
                status = OUTSIDE
        answer[p] = status
        if status == INSIDE and with_weights:
            for r in range(m):
                if work.basis[r] >= 0 and work.value[r] > 1e-12:
                    weight_on[p, r] = work.basis[r]
                    weight[p, r] = work.value[r]
        for t in range(work.counts[0]):
            found[n_found] = work.own[t]
            found_extreme[n_found] = work.own_extreme[t]
            n_found += 1
    return Decided(
        answer, found[:n_found], found_extreme[:n_found], weight_on, weight, n_unsure
    )
