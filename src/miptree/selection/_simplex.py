"""Steps of the simplex method for one point as a convex combination of others.

Find lambda >= 0 with ``sum_i lambda_i x_i + s = q``, ``sum_i lambda_i = 1`` and
``abs(s) <= box``: the LP (7) of one point at b = 1. A revised simplex minimises the
sum of infeasibilities over d + 1 rows. ``_hull_kernel.py`` chooses the columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.selection._hull_columns import TOLERANCE, HullColumns
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.jit import KERNEL, UNCOUNTED_KERNEL

_TINY_STEP = 1e-12
_TINY_PIVOT = 1e-11
BASIC, _FIXED = 9, 0
"""Where a slack is, beside -1 for its lower and 1 for its upper limit."""


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


class Entering(NamedTuple):
    """Column that enters the basis.

    Attributes
    ----------
    point, slack : int
        The point, or the feature of the slack; the other one is -1.
    sign : float
        Direction in which its value changes.
    """

    point: int
    slack: int
    sign: float


@njit(**KERNEL)
def new_work(n: int, d: int, n_pool: int, most_own: int) -> Work:
    """Make the arrays for points of d features."""
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


@njit(**UNCOUNTED_KERNEL)
def _invert(work: Work, X: FloatArray) -> bool:
    """Invert the basis by Gauss-Jordan elimination; return False if it is singular."""
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


@njit(**UNCOUNTED_KERNEL)
def basic_values(work: Work, q: FloatArray, box: FloatArray) -> None:
    """Compute the basic variables for the right-hand side (q - slacks, 1)."""
    m = len(work.basis)
    for r in range(m):
        total = work.inverse[r, m - 1]
        for k in range(m - 1):
            at = work.slack_at[k]
            rest = q[k] if at == BASIC else q[k] - at * box[k]
            total += work.inverse[r, k] * rest
        work.value[r] = total


@njit(**UNCOUNTED_KERNEL)
def refactor(work: Work, X: FloatArray, q: FloatArray, box: FloatArray) -> bool:
    """Invert the basis anew and compute its values; return False if it is singular."""
    if not _invert(work, X):
        return False
    basic_values(work, q, box)
    return True


@njit(**UNCOUNTED_KERNEL)
def infeasibility(work: Work, box: FloatArray) -> float:
    """Return the sum of the infeasibilities; write its duals."""
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


@njit(**UNCOUNTED_KERNEL)
def start_at_nearest(work: Work, columns: HullColumns, j: int) -> bool:
    """Start from the pool's nearest point and all slacks; return False without one."""
    n_pool, X, m = columns.n_pool, columns.X, len(work.basis)
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
        work.slack_at[k] = BASIC
    work.inverse[d, d] = 1.0
    work.basis[d] = g
    work.counts[1] = 0
    return True


@njit(**UNCOUNTED_KERNEL)
def write_column(work: Work, X: FloatArray, entering: Entering) -> None:
    """Compute alpha, the inverse times the entering column."""
    point, slack, m = entering.point, entering.slack, len(work.basis)
    for r in range(m):
        if slack >= 0:
            work.alpha[r] = work.inverse[r, slack]
        else:
            total = work.inverse[r, m - 1]
            for k in range(m - 1):
                total += work.inverse[r, k] * X[point, k]
            work.alpha[r] = total


@njit(**UNCOUNTED_KERNEL)
def long_step(
    work: Work, box: FloatArray, sign: float, gain: float
) -> tuple[int, float, int]:
    """Return the row that leaves, step and side, where the infeasibility stops falling.

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


@njit(**UNCOUNTED_KERNEL)
def pivot(
    work: Work, box: FloatArray, entering: Entering, leave: int, side: int, step: float
) -> None:
    """Exchange the basic variable of a row for the entering column."""
    point, slack, sign = entering
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
        work.slack_at[slack] = BASIC
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
