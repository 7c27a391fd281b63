"""What to branch on: options are closed on the way, points compared."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.columns import follow_points, restore_split
from miptree.proof.routes.jit import INNER, SMALL, UNCOUNTED
from miptree.proof.routes.look import LEAST_LACK, Look, gain_at_leaf
from miptree.proof.routes.options import (
    NO_ENVELOPE,
    ROOM,
    SAFETY,
    SOLVED,
    TO_LEAF,
    bound_trial,
    close_option,
    take_snapshot,
    write_options,
)
from miptree.proof.routes.state import Data, Lps, Trail
from miptree.proof.routes.subsets import leaf_count
from miptree.utils.arrays import FloatArray, IntArray

_NEARNESS = 0.05
"""Points near to others that want other leaves are better to branch on."""
_STEEPNESS_AHEAD, STEEPNESS = 80.0, 12.0
"""Branching minimises the sum over options of exp(-steepness * gain / T), an estimate
of the nodes below. The look-ahead knows but a part of each gain, so that it avoids
points with an option of none; where the options are solved, their sum counts."""


@njit(**UNCOUNTED)
def examine(
    data: Data, lps: Lps, look: Look, trail: Trail, count: IntArray, mask: IntArray,
    only: int, total: float, goal: float, closed: int, value: FloatArray,
    least_split: float, best_key: FloatArray, best: IntArray,
) -> tuple[int, int, int]:  # fmt: skip
    """Close options of points; list those that are best to branch on.

    Returns how many options are closed, how many points are listed, and a point that
    has none left, or one to be examined once more, or -1. A point that loses its last
    cheap leaf loses its envelope, on which other closings of this pass may rely: so
    that is done at last, for one point (``only``).
    """
    determined, gain, score = data.determined, look.gain, look.score
    n_best, again, n_leaves = 0, -1, leaf_count(determined)
    steepness = _STEEPNESS_AHEAD / goal
    first, end = (0, len(mask)) if only < 0 else (only, only + 1)
    for i in range(first, end):
        M = mask[i]
        if M & (M - 1) == 0:
            continue
        cheap, gap = data.cheap[i, M], data.following[i, M] - data.least[i, M]
        sure = determined[0, M] | determined[1, M]
        key, least_lacking = _NEARNESS * data.apart[i], np.inf
        if M & ~cheap:
            if total + gap - look.loss[i] >= goal:
                if closed == 0:
                    take_snapshot(lps, trail, count)
                closed += 1
                close_option(data, lps, look, trail, count, i, M & ~cheap, NO_ENVELOPE)
                mask[i] = cheap
            else:
                key += np.exp(-steepness * max(0.0, gap - look.loss[i]))
        for leaf in range(n_leaves):
            if (cheap >> leaf) & 1 == 0:
                continue
            worth, lacking = gain_at_leaf(
                determined, gain, score, i, leaf, sure, value, least_split
            )
            least_lacking = min(least_lacking, lacking)
            if total + worth < goal:
                key += np.exp(-steepness * worth)
                continue
            is_envelope = mask[i] != 1 << leaf and mask[i] & cheap == 1 << leaf
            if is_envelope and only < 0 and _has_envelope(lps, i, sure):
                again = i
                continue
            if closed == 0:
                take_snapshot(lps, trail, count)
            closed += 1
            close_option(data, lps, look, trail, count, i, 1 << leaf, TO_LEAF)
            mask[i] &= ~(1 << leaf)
        if mask[i] == 0:
            return closed, n_best, i
        if least_lacking > LEAST_LACK:
            key -= 1e-5 * min(least_lacking, 5.0)
            n_best = insert(key, i, best_key, best, n_best)
    return closed, n_best, again


@njit(**SMALL)
def insert(key: float, i: int, best_key: FloatArray, best: IntArray, count: int) -> int:
    """Insert a point into the list of those of least keys; return its new length."""
    if count == len(best):
        if key >= best_key[count - 1]:
            return count
        count -= 1
    at = count
    while at > 0 and best_key[at - 1] > key:
        best_key[at], best[at] = best_key[at - 1], best[at - 1]
        at -= 1
    best_key[at], best[at] = key, i
    return count + 1


@njit(**INNER)
def try_options(
    data: Data, lps: Lps, kept: Lps, trail: Trail, count: IntArray,
    look: Look, mask: IntArray, i: int, T: float, total: float, least_split: float,
    rho: float, option: IntArray,
) -> tuple[float, int]:  # fmt: skip
    """Solve the LPs of all options of a point; return its key and what was closed.

    The envelopes of the other points stay as they are, which is valid, and quicker.
    ``kept`` holds the LPs of the node, to which they return.
    """
    n_splits = len(lps.y)
    M, key, closed = mask[i], _NEARNESS * data.apart[i], 0
    n_options = write_options(data, M, i, option)
    base = 0.0
    for k in range(len(mask)):
        base += data.least[k, mask[k]]
    gain, trial = np.zeros(len(option)), np.empty(n_splits)
    changed, now_sure = np.full(1, i), np.empty(1, dtype=np.int64)
    for k in range(n_options):
        bits = option[k]
        mask[i] = bits
        for b in range(n_splits):
            follow_points(data, lps, b, mask, changed, rho, now_sure)
        rise = data.least[i, bits] - data.least[i, M]
        worth = bound_trial(data, lps, base + rise, T, least_split, rho, trial)
        if worth >= T * (1.0 + SAFETY) and count[2] + ROOM < len(trail.snap_q):
            take_snapshot(lps, trail, count)
            close_option(data, lps, look, trail, count, i, bits, SOLVED)
            closed |= bits
        else:
            key += np.exp(-STEEPNESS / T * max(0.0, worth - total))
        gain[k] = worth
        for b in range(n_splits):
            is_same = lps.sign[b, i] == kept.sign[b, i]
            if not is_same or lps.hard[b, i] != kept.hard[b, i] or kept.stale[b, 0]:
                restore_split(kept, lps, b, i)
    mask[i] = M & ~closed
    # The most promising option first: trees are found sooner, and lower the threshold.
    for k in range(1, n_options):
        at = k
        while at > 0 and gain[at - 1] > gain[at]:
            gain[at - 1], gain[at] = gain[at], gain[at - 1]
            option[at - 1], option[at] = option[at], option[at - 1]
            at -= 1
    return key, closed


@njit(**SMALL)
def _has_envelope(lps: Lps, i: int, sure: int) -> bool:
    for b in range(len(lps.y)):
        if (sure >> b) & 1 == 0 and lps.q[b, i] > 0.0:
            return True
    return False
