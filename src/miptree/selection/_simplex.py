"""Kernel that decides whether a point is a convex combination of others.

Find lambda >= 0 with ``sum_i lambda_i x_i + s = q``, ``sum_i lambda_i = 1`` and
``abs(s) <= box``: the LP (7) of one point at b = 1. A revised simplex minimises the
sum of infeasibilities over d + 1 rows. Columns are priced over a small pool of points
first; when none of the pool improves, one pass over all points either finds a column
or proves that the duals separate q strictly from all of them (Clarkson).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.selection._hull_columns import (
    FAILED,
    INSIDE,
    OUTSIDE,
    TOLERANCE,
    UNSURE,
    HullColumns,
)
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_GAIN = 1e-10
_TINY_STEP = 1e-12
_TINY_PIVOT = 1e-11
_UPDATES = 60
"""Pivots between two refactorisations."""
_BASIC, _AT_LOWER, _FIXED, _AT_UPPER = 9, -1, 0, 1


class Work(NamedTuple):
    """Arrays of one simplex, used again for the next point."""

    basis: IntArray
    """(m,): a point, or -1 - k for the slack of feature k."""
    slack_at: IntArray
    """(d,): where the slack of each feature is."""
    inverse: FloatArray
    value: FloatArray
    dual: FloatArray
    alpha: FloatArray
    scratch: FloatArray
    step_at: FloatArray
    step_row: IntArray
    step_side: IntArray
    gain_pool: FloatArray
    gain_all: FloatArray
    own: IntArray
    """Points taken in by passes over all points."""
    own_extreme: AnyArray
    """Which of them a direction certified as extreme."""
    counts: IntArray
    """Number of own points; updates since the last refactorisation."""


@njit(cache=True, nogil=True)
def new_work(n: int, d: int, n_pool: int, most_own: int) -> Work:
    """Arrays for points of d features."""
    m = d + 1
    return Work(
        np.zeros(m, np.int64), np.zeros(d, np.int64),
        np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros(m),
        np.zeros((m, 2 * m)), np.zeros(2 * m + 2),
        np.zeros(2 * m + 2, np.int64), np.zeros(2 * m + 2, np.int64),
        np.zeros(max(n_pool, 1)), np.zeros(n),
        np.zeros(most_own, np.int64), np.zeros(most_own, np.uint8),
        np.zeros(2, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True, fastmath=True)
def _gains(points: FloatArray, n: int, dual: FloatArray, gain: FloatArray) -> None:
    """gain_i = dual . (x_i, 1): how fast the infeasibility falls with lambda_i."""
    d = points.shape[0]
    for i in range(n):
        gain[i] = dual[d]
    for k in range(d):
        y = dual[k]
        if y != 0.0:
            row = points[k]
            for i in range(n):
                gain[i] += y * row[i]


@njit(cache=True, nogil=True)
def _refactor(work: Work, X: FloatArray) -> bool:
    """Invert the basis by Gauss-Jordan elimination; False if it is singular."""
    m = len(work.basis)
    d, W = m - 1, work.scratch
    W[:] = 0.0
    for c in range(m):
        g = work.basis[c]
        if g >= 0:
            for k in range(d):
                W[k, c] = X[g, k]
            W[d, c] = 1.0
        else:
            W[-1 - g, c] = 1.0
        W[c, m + c] = 1.0
    for c in range(m):
        p = c
        for r in range(c + 1, m):
            if abs(W[r, c]) > abs(W[p, c]):
                p = r
        if abs(W[p, c]) < 1e-13:
            return False
        for k in range(c, 2 * m):
            W[c, k], W[p, k] = W[p, k], W[c, k]
        over = 1.0 / W[c, c]
        for k in range(c, 2 * m):
            W[c, k] *= over
        for r in range(m):
            f = W[r, c]
            if r != c and f != 0.0:
                for k in range(c, 2 * m):
                    W[r, k] -= f * W[c, k]
    for r in range(m):
        for c in range(m):
            work.inverse[r, c] = W[r, m + c]
    work.counts[1] = 0
    return True


@njit(cache=True, nogil=True)
def _basic_values(work: Work, q: FloatArray, box: FloatArray) -> None:
    """Values of the basic variables for the right-hand side (q - slacks, 1)."""
    m = len(work.basis)
    for r in range(m):
        total = work.inverse[r, m - 1]
        for k in range(m - 1):
            at = work.slack_at[k]
            rest = q[k] if at == _BASIC else q[k] - at * box[k]
            total += work.inverse[r, k] * rest
        work.value[r] = total


@njit(cache=True, nogil=True)
def _infeasibility(work: Work, box: FloatArray) -> float:
    """Sum of the infeasibilities, and its duals."""
    m = len(work.basis)
    total = 0.0
    for c in range(m):
        work.dual[c] = 0.0
    for r in range(m):
        g, x = work.basis[r], work.value[r]
        low = 0.0 if g >= 0 else -box[-1 - g]
        sign = 0.0
        if x < low - TOLERANCE:
            total += low - x
            sign = -1.0
        elif g < 0 and x > -low + TOLERANCE:
            total += x + low
            sign = 1.0
        if sign != 0.0:
            for c in range(m):
                work.dual[c] += sign * work.inverse[r, c]
    return total


@njit(cache=True, nogil=True)
def _start_at_nearest(
    work: Work, columns: HullColumns, n_pool: int, j: int, box: FloatArray
) -> bool:
    """Basis of the nearest point of the pool and all slacks; False without one."""
    X, m = columns.X, len(work.basis)
    d = m - 1
    distance = work.gain_pool
    for i in range(n_pool):
        distance[i] = 0.0
    for k in range(d):
        x, row = X[j, k], columns.pool[k]
        for i in range(n_pool):
            distance[i] += (row[i] - x) ** 2
    best = -1
    for i in range(n_pool):
        if columns.pool_id[i] != j and (best < 0 or distance[i] < distance[best]):
            best = i
    if best < 0:
        return False
    g = columns.pool_id[best]
    work.inverse[:] = 0.0
    for k in range(d):
        work.inverse[k, k] = 1.0
        work.inverse[k, d] = -X[g, k]
        work.basis[k] = -1 - k
        work.slack_at[k] = _BASIC
    work.inverse[d, d] = 1.0
    work.basis[d] = g
    work.counts[1] = 0
    return True


@njit(cache=True, nogil=True)
def _best_pool_point(
    work: Work, columns: HullColumns, n_pool: int, j: int, least: float, random: int
) -> tuple[int, float, int]:
    """Point of the pool or of our own with the largest gain, -1 for none.

    A ``random`` state >= 0 asks for any improving one instead, against cycling.
    """
    gain, dual = work.gain_pool, work.dual
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


@njit(cache=True, nogil=True)
def _is_separated(work: Work, columns: HullColumns, j: int, box: FloatArray, top: float
                  ) -> bool:  # fmt: skip
    """Whether the duals put point j, with its box, strictly above the others' top."""
    d = len(work.dual) - 1
    own, width = work.dual[d], 0.0
    for k in range(d):
        own += work.dual[k] * columns.X[j, k]
        width += (box[k] + TOLERANCE) * abs(work.dual[k])
    return own - top > width


@njit(cache=True, nogil=True)
def _best_of_all(
    work: Work, columns: HullColumns, j: int
) -> tuple[int, float, bool]:  # fmt: skip
    """Point of all the others with the largest gain, and whether it is extreme."""
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


@njit(cache=True, nogil=True)
def _column(work: Work, X: FloatArray, point: int, slack: int) -> None:
    """Alpha = inverse times the entering column."""
    m = len(work.basis)
    for r in range(m):
        if slack >= 0:
            work.alpha[r] = work.inverse[r, slack]
        else:
            total = work.inverse[r, m - 1]
            for k in range(m - 1):
                total += work.inverse[r, k] * X[point, k]
            work.alpha[r] = total


@njit(cache=True, nogil=True)
def _long_step(
    work: Work, box: FloatArray, sign: float, gain: float
) -> tuple[int, float, int]:
    """Row that leaves, step and side, where the infeasibility stops falling.

    The infeasibility is convex and piecewise linear in the step: its slope starts at
    -gain and rises by abs(alpha_r) where a basic variable becomes feasible or ceases
    to be. Passing breakpoints as long as the slope is negative saves many pivots.
    """
    n = 0
    for r in range(len(work.basis)):
        rate = -sign * work.alpha[r]
        if abs(rate) < _TINY_PIVOT:
            continue
        g, x = work.basis[r], work.value[r]
        low = 0.0 if g >= 0 else -box[-1 - g]
        high = np.inf if g >= 0 else box[-1 - g]
        for side in (-1, 1):
            bound = low if side < 0 else high
            if np.isinf(bound):
                continue
            # A bound is met on the way out, or on the way back into feasibility.
            leaves = rate * side > 0.0 and (x - bound) * side <= TOLERANCE
            returns = rate * side < 0.0 and (x - bound) * side > TOLERANCE
            if leaves or returns:
                work.step_at[n] = max(0.0, (bound - x) / rate)
                work.step_row[n], work.step_side[n] = r, side
                n += 1
    slope = -gain
    while n > 0:
        b = 0
        for t in range(1, n):
            ahead = work.step_at[t] - work.step_at[b]
            larger = abs(work.alpha[work.step_row[t]]) > abs(
                work.alpha[work.step_row[b]]
            )
            if ahead < -_TINY_STEP or (ahead <= _TINY_STEP and larger):
                b = t
        row = work.step_row[b]
        slope += abs(work.alpha[row])
        if slope >= -1e-14 or n == 1:
            return row, work.step_at[b], work.step_side[b]
        n -= 1
        work.step_at[b] = work.step_at[n]
        work.step_row[b] = work.step_row[n]
        work.step_side[b] = work.step_side[n]
    return -1, 0.0, 0


@njit(cache=True, nogil=True)
def _pivot(
    work: Work,
    box: FloatArray,
    leave: int,
    side: int,
    step: float,
    sign: float,
    point: int,
    slack: int,
) -> None:
    """Exchange a basic variable for the entering column."""
    m = len(work.basis)
    for r in range(m):
        work.value[r] -= step * sign * work.alpha[r]
    g = work.basis[leave]
    if g < 0:
        k = -1 - g
        work.slack_at[k] = side if box[k] > 0.0 else _FIXED
    if slack >= 0:
        work.basis[leave] = -1 - slack
        work.value[leave] = sign * (step - box[slack])
        work.slack_at[slack] = _BASIC
    else:
        work.basis[leave] = point
        work.value[leave] = step
    over = 1.0 / work.alpha[leave]
    for c in range(m):
        work.inverse[leave, c] *= over
    for r in range(m):
        a = work.alpha[r]
        if r != leave and a != 0.0:
            for c in range(m):
                work.inverse[r, c] -= a * work.inverse[leave, c]
    work.counts[1] += 1


@njit(cache=True, nogil=True)
def decide(
    j: int,
    columns: HullColumns,
    n_pool: int,
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
    columns, n_pool
        The points and the size of the pool.
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
    X, m = columns.X, len(work.basis)
    d, q = m - 1, columns.X[j]
    work.counts[0] = 0
    for r in range(m):
        warm = warm and work.basis[r] != j
    if not warm and not _start_at_nearest(work, columns, n_pool, j, box):
        return OUTSIDE
    _basic_values(work, q, box)
    stall, last, random = 0, np.inf, -1
    for _ in range(max_pivots):
        total = _infeasibility(work, box)
        if total == 0.0:
            if work.counts[1] == 0:
                return INSIDE
            if not _refactor(work, X):
                return FAILED
            _basic_values(work, q, box)
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
        point, gain, random = _best_pool_point(work, columns, n_pool, j, least, random)
        slack, sign = -1, 1.0
        for k in range(d):
            at = work.slack_at[k]
            if box[k] > 0.0 and at != _BASIC and -at * work.dual[k] > gain:
                gain, point, slack, sign = -at * work.dual[k], -1, k, float(-at)
        if point < 0 and slack < 0:
            if work.counts[1] > 0 and stall < 50 * m:
                # The duals decide now: they should be as exact as can be.
                if not _refactor(work, X):
                    return FAILED
                _basic_values(work, q, box)
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
        _column(work, X, point, slack)
        leave, step, side = _long_step(work, box, sign, gain)
        if slack >= 0 and (leave < 0 or 2.0 * box[slack] <= step):
            for r in range(m):
                work.value[r] -= 2.0 * box[slack] * sign * work.alpha[r]
            work.slack_at[slack] = -work.slack_at[slack]
            continue
        if leave < 0:
            return FAILED
        if abs(work.alpha[leave]) < TOLERANCE and work.counts[1] > 0:
            if not _refactor(work, X):
                return FAILED
            _basic_values(work, q, box)
            stall += 1
            continue
        _pivot(work, box, leave, side, step, sign, point, slack)
        if work.counts[1] >= _UPDATES:
            if not _refactor(work, X):
                return FAILED
            _basic_values(work, q, box)
    return FAILED


@njit(cache=True, nogil=True)
def decide_points(
    ids: IntArray,
    columns: HullColumns,
    n_pool: int,
    box: FloatArray,
    all_points: bool,
    warm: bool,
    with_weights: bool,
) -> tuple[IntArray, IntArray, AnyArray, IntArray, FloatArray, int]:
    """Decide some points, each from the basis of the one before.

    Returns
    -------
    answer : int array of shape (len(ids),)
        INSIDE or OUTSIDE; what stays UNSURE or FAILED in a second, wider attempt
        counts as OUTSIDE, so that the point is kept.
    found, found_extreme
        Points that passes over all points took in; which are certified extreme.
    weight_on, weight
        (len(ids), d + 1): points combined (-1 for none) and their weights.
    n_unsure : int
        Points that were kept for lack of a decision.
    """
    n, (n_points, d) = len(ids), columns.X.shape
    m = d + 1
    most_own = 64 + 8 * m if all_points else 1
    work = new_work(n_points if all_points else 1, d, n_pool, most_own)
    wider = box + 2.0 * TOLERANCE
    answer = np.zeros(n, np.int64)
    found = np.empty(n * most_own, np.int64)
    found_extreme = np.empty(n * most_own, np.uint8)
    width = m if with_weights else 0
    weight_on = np.full((n, width), -1, np.int64)
    weight = np.zeros((n, width))
    n_found, n_unsure, chained = 0, 0, False
    for p in range(n):
        j = ids[p]
        status = decide(
            j, columns, n_pool, box, all_points, chained, work, 200 + 60 * m
        )
        if status == FAILED:
            status = decide(
                j, columns, n_pool, box, all_points, False, work, 2000 + 200 * m
            )
        chained = warm and status == INSIDE
        if status == UNSURE or status == FAILED:
            status = decide(
                j, columns, n_pool, wider, all_points, False, work, 2000 + 200 * m
            )
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
    return answer, found[:n_found], found_extreme[:n_found], weight_on, weight, n_unsure
