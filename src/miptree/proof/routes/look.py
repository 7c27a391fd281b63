"""Look-ahead: what one step of the LPs gains if a point must take an option."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.routes.jit import SMALL, UNCOUNTED
from miptree.proof.routes.lp import bounds_of
from miptree.proof.routes.state import Data, Lps
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

LEAST_LACK = 1e-6
"""Points that lack less than this of a margin are satisfied."""
_LEAST_PIVOT = 1e-9
_LONGEST = 1e6


class Look(NamedTuple):
    """What the look-ahead of a pass finds; n points, B splits of m rows."""

    score: FloatArray
    """(B, n): scores of all points."""
    room: FloatArray
    """(2, B, m): how much the basic multipliers may fall, rise."""
    image: FloatArray
    """(m,): a point in terms of a split's basis."""
    entry: FloatArray
    """(n,): all points in terms of one column of a basis."""
    reach: FloatArray
    """(2, n): how far the column of each point may be raised, on the left, right."""
    gain: FloatArray
    """(n, B, 2): gain if a point must go to a side."""
    step: FloatArray
    """(n, B, 2): the step of its multipliers that gains it."""
    gap: FloatArray
    """(n,): what a costly leaf costs more than a cheap one."""
    line: FloatArray
    """(n, B + 1, 2): see :func:`~miptree.proof.routes.columns.write_lines`."""
    loss: FloatArray
    """(n,): what is lost without a point's envelope, infinite if more than a step."""


def make_look(n: int, m: int, n_splits: int) -> Look:
    """Return room for looks."""
    return Look(
        np.zeros((n_splits, n)),
        np.zeros((2, n_splits, m)),
        np.zeros(m),
        np.zeros(n),
        np.zeros((2, n)),
        np.zeros((n, n_splits, 2)),
        np.zeros((n, n_splits, 2)),
        np.zeros(n),
        np.zeros((n, n_splits + 1, 2)),
        np.zeros(n),
    )


@njit(**UNCOUNTED)
def prepare(data: Data, lps: Lps, look: Look, rho: float) -> None:
    """Write how much the basic multipliers may change."""
    n, m = data.Z.shape
    for b in range(len(lps.y)):
        for r in range(m):
            code = lps.basis[b, r]
            low, high = bounds_of(code, n, m, rho, lps.free[b], lps.cap[b], lps.over[b])
            look.room[0, b, r] = max(0.0, lps.q[b, code] - low)
            look.room[1, b, r] = max(0.0, high - lps.q[b, code])


@njit(**SMALL)
def write_image(
    Z: FloatArray, inverse: FloatArray, b: int, i: int, image: FloatArray
) -> None:
    """Write a point in terms of the basis of a split, for a column on the right."""
    m = len(image)
    for r in range(m):
        image[r] = 0.0
    for c in range(m):
        factor = Z[i, c]
        if factor != 0.0:
            for r in range(m):
                image[r] += inverse[b, c, r] * factor


@njit(**SMALL)
def write_reach(
    ZT: FloatArray, inverse: FloatArray, room: FloatArray, b: int,
    entry: FloatArray, reach: FloatArray,
) -> None:  # fmt: skip
    """Write how far the column of each point may be raised at a split, by its side.

    Row by row of the basis and without branches, so that several points are computed
    at once.
    """
    m, n = ZT.shape
    for i in range(n):
        reach[0, i] = reach[1, i] = _LONGEST
    for r in range(m):
        for i in range(n):
            entry[i] = 0.0
        for c in range(m):
            factor = inverse[b, c, r]
            if factor != 0.0:
                for i in range(n):
                    entry[i] += factor * ZT[c, i]
        fall, rise = room[0, b, r], room[1, b, r]
        for i in range(n):
            size = abs(entry[i])
            share = 1.0 / size
            on_left = (fall if entry[i] < 0.0 else rise) * share
            on_right = (rise if entry[i] < 0.0 else fall) * share
            is_nearer = (size > _LEAST_PIVOT) & (on_left < reach[0, i])
            reach[0, i] = on_left if is_nearer else reach[0, i]
            is_nearer = (size > _LEAST_PIVOT) & (on_right < reach[1, i])
            reach[1, i] = on_right if is_nearer else reach[1, i]


@njit(**UNCOUNTED)
def look_ahead(
    ZT: FloatArray,
    C: FloatArray,
    cheap: IntArray,
    determined: IntArray,
    mask: IntArray,
    inverse: FloatArray,
    q: FloatArray,
    place: IntArray,
    sign: AnyArray,
    score: FloatArray,
    room: FloatArray,
    entry: FloatArray,
    reach: FloatArray,
    gain: FloatArray,
    step: FloatArray,
    loss: FloatArray,
) -> None:
    """Write gains, steps and losses of all points that have more than one leaf."""
    for i in range(len(mask)):
        loss[i] = 0.0
    for b in range(len(inverse)):
        write_reach(ZT, inverse, room, b, entry, reach)
        for i in range(len(mask)):
            M = mask[i]
            if M & (M - 1) == 0:
                continue
            gain[i, b, 0] = gain[i, b, 1] = step[i, b, 0] = step[i, b, 1] = 0.0
            if ((determined[0, M] | determined[1, M]) >> b) & 1:
                continue
            amount, own = q[b, i], float(sign[b, i])
            for side in range(2):
                s = 2.0 * side - 1.0
                reduced = 1.0 - s * score[b, i]
                if reduced <= LEAST_LACK or not passes(
                    determined, cheap[i, M], b, side
                ):
                    continue
                span = C[i]
                if own == s:
                    if place[b, i] >= 0:
                        continue
                    span -= amount
                # Beyond its cap only the hard side goes on, from the wrong side.
                t = reach[side, i]
                if reduced <= 1.0:
                    t = min(t, span)
                step[i, b, side] = t
                gain[i, b, side] = t * reduced - max(0.0, t - span)
            if amount > 0.0 and own != 0.0 and loss[i] < np.inf:
                away = 0 if own > 0.0 else 1
                if place[b, i] >= 0 or reach[away, i] < amount - 1e-12:
                    loss[i] = np.inf
                else:
                    loss[i] += amount * (1.0 - own * score[b, i])


@njit(**SMALL)
def passes(determined: IntArray, leaves: int, b: int, side: int) -> bool:
    """Tell whether any of some leaves is on a side of a split."""
    leaf = 0
    while leaves >> leaf:
        if (leaves >> leaf) & 1 and (determined[side, 1 << leaf] >> b) & 1:
            return True
        leaf += 1
    return False


@njit(**SMALL)
def gain_at_leaf(
    determined: IntArray, gain: FloatArray, score: FloatArray, i: int, leaf: int,
    sure: int, value: FloatArray, least_split: float,
) -> tuple[float, float]:  # fmt: skip
    """Return what a point gains if it must go to a leaf, and the margins it lacks."""
    total, lacking = 0.0, 0.0
    for b in range(len(value)):
        if (sure >> b) & 1:
            continue
        for side in range(2):
            if (determined[side, 1 << leaf] >> b) & 1 == 0:
                continue
            lack = 1.0 - (2 * side - 1) * score[b, i]
            if lack > LEAST_LACK:
                lacking += lack
                raised = max(value[b] + gain[i, b, side], least_split)
                total += raised - max(value[b], least_split)
    return total, lacking
