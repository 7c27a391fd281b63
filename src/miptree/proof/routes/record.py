"""Recording: events and entries, the last one first, and the trail of options."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.closing import boxed_point
from miptree.proof.routes.jit import UNCOUNTED
from miptree.proof.routes.places import place_of
from miptree.proof.routes.state import Data, Log, Trail
from miptree.proof.routes.trace import (
    BOX_LEFT,
    BOX_RIGHT,
    BRANCH,
    CLOSE,
    ENVELOPE,
    FEATURE,
    HARD,
    MARGIN,
    USE,
    VALUE,
)
from miptree.utils.arrays import FloatArray, IntArray, WordArray


@njit(**UNCOUNTED)
def has_bit(words: WordArray, i: int) -> bool:
    """Tell whether a point is in a set."""
    return (words[i >> 6] >> np.uint64(i & 63)) & np.uint64(1) != 0


@njit(**UNCOUNTED)
def set_bit(words: WordArray, i: int) -> None:
    """Put a point into a set."""
    words[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(**UNCOUNTED)
def clear_bit(words: WordArray, i: int) -> None:
    """Take a point out of a set."""
    words[i >> 6] &= ~(np.uint64(1) << np.uint64(i & 63))


@njit(**UNCOUNTED)
def write_close(
    data: Data, log: Log, at: IntArray, mask: IntArray, whole: IntArray,
    partner: IntArray, boxed: IntArray,
) -> None:  # fmt: skip
    """Append a closing and its entries. ``at`` counts events, masks and entries."""
    n, m = data.Z.shape
    first = at[2]
    for b in range(len(whole)):
        for i in range(n):
            for kind in range(2):
                amount = whole[b, i + kind * n]
                if amount == 0:
                    continue
                what, other = MARGIN if kind == 0 else HARD, -1
                sure = data.determined[0, mask[i]] | data.determined[1, mask[i]]
                if kind == 0 and (sure >> b) & 1 == 0:
                    cheap = data.cheap[i, mask[i]]
                    side = (data.determined[1, cheap] >> b) & 1
                    what, other = ENVELOPE, partner[b, side, i]
                entry = log.entry[at[2]]
                entry[0], entry[1] = place_of(i, b, what, other), amount
                at[2] += 1
        for k in range(m):
            if whole[b, 2 * n + k] == 0:
                continue
            i, s = boxed_point(boxed[b, k])
            what = BOX_LEFT if s > 0 else BOX_RIGHT
            entry = log.entry[at[2]]
            entry[0], entry[1] = place_of(i, b, what, -1), whole[b, 2 * n + k]
            at[2] += 1
    _write_event(log, at, CLOSE, -1, 0, at[2] - first)


@njit(**UNCOUNTED)
def write_branch(log: Log, at: IntArray, point: int, masks: IntArray, n: int) -> None:
    """Append a branch whose children, the last one first, have been written."""
    for k in range(n - 1, -1, -1):
        log.mask[at[1]] = masks[k]
        at[1] += 1
    _write_event(log, at, BRANCH, point, n, 0)


@njit(**UNCOUNTED)
def write_empty(log: Log, at: IntArray) -> None:
    """Append the closing of a node where a point has no leaf, or a leaf no point."""
    _write_event(log, at, CLOSE, -1, 0, 0)


@njit(**UNCOUNTED)
def write_feature(log: Log, at: IntArray, split: int) -> None:
    """Append a branch on the feature of a subset split."""
    _write_event(log, at, FEATURE, split, 0, 0)


@njit(**UNCOUNTED)
def write_value(log: Log, at: IntArray, point: int, split: int) -> None:
    """Append a branch on the side of a point's value at a subset split."""
    log.mask[at[1]] = split
    at[1] += 1
    _write_event(log, at, VALUE, point, 1, 0)


@njit(**UNCOUNTED)
def write_use(log: Log, at: IntArray, split: int, feature: int) -> None:
    """Append a branch on whether a hyperplane uses a feature."""
    log.mask[at[1]] = feature
    at[1] += 1
    _write_event(log, at, USE, split, 1, 0)


@njit(**UNCOUNTED)
def _write_event(
    log: Log, at: IntArray, kind: int, point: int, n_masks: int, n_entries: int
) -> None:
    event = log.event[at[0]]
    event[0], event[1], event[2], event[3] = kind, point, n_masks, n_entries
    at[0] += 1


@njit(**UNCOUNTED)
def keep_last_part(log: Log, at: IntArray, start: IntArray, part: IntArray) -> None:
    """Drop what was written from ``start`` up to ``part``; what follows moves up."""
    for k in range(3):
        shift = part[k] - start[k]
        if shift > 0:
            for row in range(part[k], at[k]):
                if k == 0:
                    for c in range(4):
                        log.event[row - shift, c] = log.event[row, c]
                elif k == 1:
                    log.mask[row - shift] = log.mask[row]
                else:
                    for c in range(2):
                        log.entry[row - shift, c] = log.entry[row, c]
            at[k] -= shift


@njit(**UNCOUNTED)
def multipliers_of(trail: Trail, record: int, end: int, n: int, q: FloatArray) -> None:
    """Write the multipliers by which an option of the trail was closed."""
    snap = trail.snapshot[record]
    i = trail.point[record]
    for b in range(q.shape[0]):
        for code in range(q.shape[1]):
            q[b, code] = trail.snap_q[snap, b, code]
    for row in range(trail.start[record], end):
        b = trail.change_split[row]
        q[b, i] += trail.change[row, 0]
        q[b, n + i] += trail.change[row, 1]
        for r in range(trail.snap_basis.shape[2]):
            q[b, trail.snap_basis[snap, b, r]] += trail.change[row, 2 + r]
