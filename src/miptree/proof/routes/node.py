"""One node of the search: bound it, close options of points, choose a branch."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.branching import examine, try_options
from miptree.proof.routes.closing import closing
from miptree.proof.routes.columns import copy_lps, follow_masks, start_anew
from miptree.proof.routes.jit import INNER, UNCOUNTED
from miptree.proof.routes.look import Look, look_ahead, prepare
from miptree.proof.routes.lp import write_scores
from miptree.proof.routes.options import (
    GROWTH,
    ROOM,
    SAFETY,
    bound_node,
    write_options,
)
from miptree.proof.routes.state import Data, Lps, Rows, Trail
from miptree.proof.routes.uses import first_use
from miptree.utils.arrays import FloatArray, IntArray, WordArray

PRUNED, CONFLICT, BRANCHED, OPEN = 0, 1, 2, 3
_MOST_PASSES = 60
_MOST_TRIED, _LEAST_TRIED, _NEAR = 32, 6, 0.3
"""Points whose options are solved before one is branched on; and how many they are
where less than this part of the threshold is missing: few nodes come below."""


@njit(**INNER)
def process(
    data: Data, lps: Lps, kept: Lps, here: Rows, scratch: Rows, look: Look,
    trail: Trail,
    count: IntArray, mask: IntArray, use: IntArray, T: float, least_split: float,
    rho: float,
    whole: IntArray, used: WordArray, option: IntArray, answer: FloatArray,
) -> tuple[int, int, int]:  # fmt: skip
    """Work on a node; return what became of it, the point branched on, its options.

    ``answer`` receives the proved value of a node that is pruned or cannot be
    branched on, the key of the point branched on and the bound of the LPs; ``option``
    receives the masks of the children. ``lps`` and ``kept`` are views of ``here`` and
    ``scratch``.
    """
    n = len(data.Z)
    n_splits = len(lps.y)
    value = np.zeros(n_splits)
    best_key = np.empty(_MOST_TRIED)
    best = np.zeros(_MOST_TRIED, dtype=np.int64)
    tried = np.zeros(len(option), dtype=np.int64)
    is_anew, closed, pick = False, np.int64(0), np.int64(-1)
    least_key, total = np.inf, 0.0
    for _ in range(_MOST_PASSES):
        if closed and count[2] + ROOM >= len(trail.snap_q):
            break  # no room for another pass
        base = 0.0
        for i in range(n):
            base += data.least[i, mask[i]]
        follow_masks(data, lps, mask, rho)
        total = bound_node(
            data, lps, mask, base, T, least_split, rho, value, look.gap, look.line,
            GROWTH,
        )  # fmt: skip
        if total >= T:
            answer[0] = _closing(data, lps, mask, use, T, least_split, rho, whole, used)
            if answer[0] >= T:
                return PRUNED, -1, 0
            if not is_anew:
                is_anew = True
                start_anew(lps)
                continue
            total = answer[0]
        for b in range(n_splits):
            write_scores(data.ZT, lps.y[b], look.score[b])
        prepare(data, lps, look, rho)
        look_ahead(
            data.ZT, data.C, data.cheap, data.determined, mask, lps.inverse, lps.q,
            lps.place, lps.sign, look.score, look.room, look.entry, look.reach,
            look.gain, look.step, look.loss,
        )  # fmt: skip
        goal = T * (1.0 + SAFETY)
        only, zero = np.int64(-1), np.int64(0)
        pick = only
        closed, n_best, last = examine(
            data, lps, look, trail, count, mask, only, total, goal, zero,
            value, least_split, best_key, best,
        )  # fmt: skip
        if last >= 0 and mask[last] != 0:
            closed, _, _ = examine(
                data, lps, look, trail, count, mask, last, total, goal, closed,
                value, least_split, best_key, best,
            )  # fmt: skip
        if last >= 0 and mask[last] == 0:
            return CONFLICT, last, 0
        if closed:
            continue
        least_key = np.inf
        if T - total < _NEAR * T:
            n_best = min(n_best, _LEAST_TRIED)
        copy_lps(here, 0, scratch, 0)
        for k in range(n_best):
            key, shut = try_options(
                data, lps, kept, trail, count, look, mask, best[k], T, total,
                least_split, rho, tried,
            )  # fmt: skip
            if shut:
                if mask[best[k]] == 0:
                    return CONFLICT, best[k], 0
                closed, pick = np.int64(1), best[k]
                if mask[pick] & data.cheap[pick, mask[pick] | shut] == 0:
                    break  # its envelope is gone, on which other closings rely
                continue
            if key < least_key:
                least_key, pick = key, best[k]
                for j in range(len(option)):
                    option[j] = tried[j]
        if closed == 0:
            break
    answer[1], answer[2] = least_key, total
    if closed and (pick < 0 or mask[pick] & (mask[pick] - 1) == 0):
        pick = _any_open(mask)
    if pick < 0:
        answer[0] = _closing(data, lps, mask, use, T, least_split, rho, whole, used)
        return OPEN, -1, 0
    n_options = write_options(data, mask[pick], pick, tried)
    if closed:
        for j in range(len(option)):
            option[j] = tried[j]
    return BRANCHED, int(pick), n_options


@njit(**UNCOUNTED)
def _any_open(mask: IntArray) -> int:
    for i in range(len(mask)):
        if mask[i] & (mask[i] - 1):
            return i
    return -1


@njit(**UNCOUNTED)
def _closing(
    data: Data, lps: Lps, mask: IntArray, use: IntArray, T: float, least_split: float,
    rho: float, whole: IntArray, used: WordArray,
) -> float:  # fmt: skip
    """Recount what the multipliers of the LPs at hand prove."""
    return closing(
        data.Z, data.least, data.following, data.cheap, data.root_cost, data.C,
        data.distance, data.determined, rho, data.box, data.unavoidable, least_split, T,
        mask, use, lps.q, lps.partner, lps.boxed, whole, used, first_use(data), 1,
    )  # fmt: skip
