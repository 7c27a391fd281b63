"""Which columns the LPs have: those that the points' masks imply."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.inverse import refactor
from miptree.proof.routes.jit import INNER, SMALL, UNCOUNTED
from miptree.proof.routes.lp import FINE, move, reset, solve, value_of
from miptree.proof.routes.state import Data, Lps, Rows
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_TINY = 1e-11
_MOST_STEPS = 300
_MOST_AGE = 100
"""Steps after which an inverse is computed anew."""
_CAUTION = 1.0 - 4e-9
"""Caps of the LPs stay clear of those that closings allow."""
_LEAST_SHARE = 0.02
"""Envelopes that pay less than this share of their gap are not worth a column."""


@njit(**SMALL)
def copy_row(source: AnyArray, row: int, target: AnyArray, to: int) -> None:
    """Copy a row of an array to a row of another one."""
    for k in range(source.shape[1]):
        target[to, k] = source[row, k]


@njit(**UNCOUNTED)
def copy_lps(source: Rows, row: int, target: Rows, to: int) -> None:
    """Copy the LPs of a level; those at hand are the only row of their memory."""
    copy_row(source.floats, row, target.floats, to)
    copy_row(source.ints, row, target.ints, to)
    copy_row(source.flags, row, target.flags, to)


@njit(**UNCOUNTED)
def start_anew(lps: Lps) -> None:
    """Empty all LPs."""
    for b in range(len(lps.y)):
        reset(
            lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b], lps.q[b], lps.over[b]
        )
        lps.age[b, 0], lps.stale[b, 0] = 0, 1
    for i in range(lps.seen.shape[1]):
        lps.seen[0, i] = lps.chosen[0, i] = 0
        for b in range(len(lps.y)):
            lps.sign[b, i] = lps.hard[b, i] = 0
            lps.cap[b, i] = 0.0
            for side in range(2):
                lps.near[b, side, i], lps.partner[b, side, i] = np.inf, -1


@njit(**UNCOUNTED)
def solve_split(data: Data, lps: Lps, b: int, rho: float, goal: float) -> float:
    """Bring the LP of a split up to date; return its value."""
    Z = data.Z
    n, m = Z.shape
    if lps.stale[b, 0] == 0:
        return value_of(lps.q[b], n, m, data.box)
    if lps.age[b, 0] > _MOST_AGE:
        refactor(
            Z, data.box, lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b],
            lps.q[b], lps.sign[b], lps.over[b], lps.boxed[b], lps.matrix, lps.column,
        )  # fmt: skip
        lps.age[b, 0] = 0
    steps, is_solved = solve(
        Z, data.ZT, rho, lps.free[b], data.box, lps.inverse[b], lps.y[b], lps.basis[b],
        lps.place[b], lps.q[b], lps.sign[b], lps.hard[b], lps.cap[b], lps.over[b],
        lps.boxed[b], _MOST_STEPS, goal, lps.column, lps.score, lps.gains,
    )  # fmt: skip
    lps.age[b, 0] += steps
    lps.stale[b, 0] = 0 if is_solved else 1
    return value_of(lps.q[b], n, m, data.box)


@njit(**UNCOUNTED)
def lower_cap(lps: Lps, b: int, i: int, cap: float) -> None:
    """Give a column a lower cap; if its multiplier is above, the LP must be solved."""
    lps.cap[b, i] = cap
    if lps.q[b, i] > cap + _TINY and lps.over[b, i] == 0:
        lps.over[b, i], lps.stale[b, 0] = 1, 1
        row = lps.place[b, i]
        if row >= 0:
            for c in range(lps.y.shape[1]):
                lps.y[b, c] -= FINE * lps.inverse[b, c, row]


@njit(**UNCOUNTED)
def drop_column(data: Data, lps: Lps, b: int, i: int, rho: float) -> None:
    """Take a column of multiplier 0 out of the basis, or start the LP anew."""
    n, m = data.Z.shape
    row = lps.place[b, i]
    lps.stale[b, 0] = 1
    if lps.over[b, i] or lps.q[b, i] > 1e-7:
        reset(
            lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b], lps.q[b], lps.over[b]
        )
        return
    if row >= 0:
        best, size = -1, 1e-6
        for j in range(m - 1):
            if lps.place[b, 2 * n + j] < 0 and abs(lps.inverse[b, j, row]) > size:
                best, size = j, abs(lps.inverse[b, j, row])
        if best < 0:
            reset(
                lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b], lps.q[b],
                lps.over[b],
            )  # fmt: skip
            return
        for r in range(m):
            lps.column[r] = lps.inverse[b, best, r]
        move(
            2 * n + best, 1.0, -lps.y[b, best], 0.0, row, lps.column, rho,
            lps.free[b], lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b],
            lps.q[b], lps.cap[b], lps.over[b],
        )  # fmt: skip
    lps.q[b, i] = 0.0


@njit(**SMALL)
def wanted_side(data: Data, mask: int, i: int, b: int) -> tuple[int, bool]:
    """Return the sign of the side of a point's column, 0 without, and if it is sure."""
    for k in range(2):
        if (data.determined[k, mask] >> b) & 1:
            return 2 * k - 1, True
    cheap = data.cheap[i, mask]
    if data.following[i, mask] < np.inf:
        for k in range(2):
            if (data.determined[k, cheap] >> b) & 1:
                return 2 * k - 1, False
    return 0, False


@njit(**INNER)
def follow_masks(data: Data, lps: Lps, mask: IntArray, rho: float) -> None:
    """Make the columns of all points whose masks have changed."""
    n = len(data.Z)
    changed, now_sure = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        if lps.seen[0, i] != mask[i]:
            lps.seen[0, i] = mask[i]
            changed[count] = i
            count += 1
    for b in range(len(lps.y)):
        follow_points(data, lps, b, mask, changed[:count], rho, now_sure)
        for i in now_sure[:count]:
            if i >= 0:
                _come_near(data.distance, lps, b, (lps.sign[b, i] + 1) // 2, i)


@njit(**UNCOUNTED)
def follow_points(
    data: Data, lps: Lps, b: int, mask: IntArray, changed: IntArray, rho: float,
    now_sure: IntArray,
) -> None:  # fmt: skip
    """Make the columns of some points at a split; write which are sure now, else -1.

    Other points may take those for partners; that is left to the caller.
    """
    must_solve = False
    for i in changed:
        if lps.sign[b, i] != 0:
            if wanted_side(data, mask[i], i, b)[0] != lps.sign[b, i]:
                lower_cap(lps, b, i, 0.0)
                must_solve = must_solve or lps.over[b, i] == 1
    if must_solve:
        solve_split(data, lps, b, rho, np.inf)
    for k in range(len(changed)):
        i = changed[k]
        now_sure[k] = -1
        side, sure = wanted_side(data, mask[i], i, b)
        if lps.sign[b, i] != 0 and lps.sign[b, i] != side:
            drop_column(data, lps, b, i, rho)
        lps.sign[b, i] = side
        if sure and lps.hard[b, i] == 0:
            lps.stale[b, 0] = 1
            lps.hard[b, i], lps.cap[b, i] = 1, data.C[i]
            now_sure[k] = i


@njit(**SMALL)
def restore_split(source: Lps, target: Lps, b: int, i: int) -> None:
    """Bring back the LP of a split in which only the column of point i was changed."""
    m = source.inverse.shape[1]
    for c in range(m):
        for r in range(m):
            target.inverse[b, c, r] = source.inverse[b, c, r]
    copy_row(source.y, b, target.y, b)
    copy_row(source.q, b, target.q, b)
    copy_row(source.basis, b, target.basis, b)
    copy_row(source.place, b, target.place, b)
    copy_row(source.over, b, target.over, b)
    copy_row(source.boxed, b, target.boxed, b)
    target.cap[b, i], target.sign[b, i] = source.cap[b, i], source.sign[b, i]
    target.hard[b, i] = source.hard[b, i]
    target.age[b, 0], target.stale[b, 0] = source.age[b, 0], source.stale[b, 0]


@njit(**SMALL)
def _come_near(distance: FloatArray, lps: Lps, b: int, side: int, p: int) -> None:
    """Let a point that is surely on a side be the partner of those near to it."""
    for i in range(len(distance)):
        if distance[p, i] < lps.near[b, side, i]:
            lps.near[b, side, i], lps.partner[b, side, i] = distance[p, i], p


@njit(**UNCOUNTED)
def write_lines(
    C: FloatArray,
    least: FloatArray,
    following: FloatArray,
    cheap: IntArray,
    determined: IntArray,
    mask: IntArray,
    near: FloatArray,
    partner: IntArray,
    rho: float,
    chosen: IntArray,
    gap: FloatArray,
    line: FloatArray,
) -> None:
    """Write how the envelope of each point depends on the budget of its splits.

    A point can lack at most ``min_k (line[i, k, 0] * budget + line[i, k, 1])`` of its
    margins at its splits (see :func:`~miptree.proof.routes.closing.most_missing`).
    """
    n_splits = len(near)
    for i in range(len(mask)):
        M = mask[i]
        chosen[0, i] = 0
        gap[i] = following[i, M] - least[i, M]
        if gap[i] == np.inf:
            continue
        on_right = determined[1, cheap[i, M]]
        both = on_right | determined[0, cheap[i, M]]
        splits = both & ~(determined[0, M] | determined[1, M])
        chosen[0, i] = splits
        reach = 0.0
        for b in range(n_splits):
            if (splits >> b) & 1:
                reach = max(reach, near[b, (on_right >> b) & 1, i] / rho)
        for k in range(n_splits + 1):
            line[i, k, 0] = np.inf
            if reach == np.inf or (k > 0 and (splits >> (k - 1)) & 1 == 0):
                continue
            u = reach
            if k > 0:
                u = max(u, 1.0 / C[partner[k - 1, (on_right >> (k - 1)) & 1, i]])
            ends = 0.0
            for b in range(n_splits):
                if (splits >> b) & 1:
                    p = partner[b, (on_right >> b) & 1, i]
                    ends += max(0.0, 1.0 - u * C[p])
            line[i, k, 0], line[i, k, 1] = u, ends


@njit(**SMALL)
def cap_of(
    i: int, splits: int, C: float, gap: float, rest: float, lower: FloatArray,
    line: FloatArray, box: float,
) -> float:  # fmt: skip
    """Return the cap of a point's envelope, 0 if it is not worth a column."""
    budget, count = rest - gap, 0
    for b in range(len(lower)):
        if (splits >> b) & 1:
            count += 1
        else:
            budget -= lower[b]
    budget = max(budget, 0.0)
    most = count * (1.0 + box)
    for k in range(len(lower) + 1):
        if line[i, k, 0] < np.inf:
            most = min(most, line[i, k, 0] * budget + line[i, k, 1])
    if most * C <= gap:
        return C * _CAUTION
    if most * _LEAST_SHARE > 1.0:
        return 0.0
    return gap / most * _CAUTION


@njit(**UNCOUNTED)
def set_caps(
    lps: Lps, b: int, C: FloatArray, gap: FloatArray, rest: float, lower: FloatArray,
    line: FloatArray, box: float, growth: float,
) -> None:  # fmt: skip
    """Set the caps of all envelopes' columns of a split.

    A cap is raised only if it grows by a factor: each costs a step.
    """
    chosen, sign, hard, cap = lps.chosen, lps.sign, lps.hard, lps.cap
    for i in range(len(C)):
        if sign[b, i] == 0 or hard[b, i]:
            continue
        new = 0.0
        if (chosen[0, i] >> b) & 1:
            new = cap_of(i, chosen[0, i], C[i], gap[i], rest, lower, line, box)
        if new > cap[b, i] * growth:
            if lps.q[b, i] >= cap[b, i] - _TINY:
                lps.stale[b, 0] = 1
            cap[b, i] = new
        elif new < cap[b, i]:
            lower_cap(lps, b, i, new)
