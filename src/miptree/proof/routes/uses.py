"""Few features: which ones a hyperplane uses, where it may not use all of them.

Every hyperplane with at most K features uses some feature, or it does not. So the
search branches on that: one child leaves the feature out, the other one keeps it as one
of the K. A hyperplane that keeps K features leaves out all others. In the LP of a split
the slack of a feature that is left out is free, and its closings need no balance there.

What a proof refers to, beside points: features that are left out, and, as one bit for a
hyperplane, all that it keeps, where these are why others are left out.
"""

from __future__ import annotations

from numba import njit

from miptree.proof.routes.jit import SMALL, UNCOUNTED
from miptree.proof.routes.lp import reset
from miptree.proof.routes.record import clear_bit, has_bit, set_bit
from miptree.proof.routes.state import EXCLUDED, KEPT, MAY_USE, Data, Levels, Lps
from miptree.utils.arrays import FloatArray, IntArray

BY_USE = 3
"""Kind of a branch, beside those of ``subsets``: on a feature of a hyperplane."""
_LEAST_USE = 1e-7
"""Smaller coefficients, at scores in units of the margin, are rounding."""


@njit(**SMALL)
def first_use(data: Data) -> int:
    """Return the first bit, of what a proof refers to, that is about features."""
    return len(data.Z) + len(data.subset_leaves)


@njit(**UNCOUNTED)
def follow_uses(data: Data, lps: Lps, use: IntArray) -> None:
    """Free the slacks of features that are left out, and of no others."""
    d = data.Z.shape[1] - 1
    for b in range(len(lps.y)):
        was_of_others = False
        for c in range(d):
            is_free = use[b * d + c] == EXCLUDED
            if is_free != lps.free[b, c]:
                lps.free[b, c], lps.stale[b, 0] = is_free, 1
                was_of_others = was_of_others or not is_free
        if was_of_others:  # in the LP of another branch it may be too large
            reset(
                lps.inverse[b], lps.y[b], lps.basis[b], lps.place[b], lps.q[b],
                lps.over[b],
            )  # fmt: skip


@njit(**UNCOUNTED)
def decide_use(
    data: Data, use: IntArray, split: int, feature: int, is_kept: bool
) -> None:
    """Leave a feature out at a split, or keep it, and leave out the rest after K."""
    d = data.Z.shape[1] - 1
    use[split * d + feature] = KEPT if is_kept else EXCLUDED
    n_kept = 0
    for c in range(split * d, (split + 1) * d):
        n_kept += use[c] == KEPT
    if n_kept == data.most_features:
        for c in range(split * d, (split + 1) * d):
            if use[c] == MAY_USE:
                use[c] = EXCLUDED


@njit(**UNCOUNTED)
def count_uses(y: FloatArray, use: IntArray, split: int) -> tuple[int, int]:
    """Return how many features a hyperplane uses, and the one to decide about first.

    That is the one of the largest coefficient that is neither kept nor left out, -1 if
    there is none.
    """
    d = y.shape[1] - 1
    count, first, largest = 0, -1, 0.0
    for c in range(d):
        state, size = use[split * d + c], abs(y[split, c])
        if state == EXCLUDED or size <= _LEAST_USE:
            continue
        count += 1
        if state == MAY_USE and size > largest:
            first, largest = c, size
    return count, first


@njit(**UNCOUNTED)
def refers_to_use(data: Data, levels: Levels, level: int) -> bool:
    """Tell whether the proof of a level refers to what its branch decided."""
    up, used, d = level - 1, levels.used[level], data.Z.shape[1] - 1
    split = levels.branch_split[up]
    first = first_use(data) + split * (d + 1)
    for c in range(d):
        now, before = levels.use[level, split * d + c], levels.use[up, split * d + c]
        bit = c if now == EXCLUDED else d
        if now != before and has_bit(used, first + bit):
            return True
    return False


@njit(**UNCOUNTED)
def end_use_branch(data: Data, levels: Levels, level: int) -> None:
    """Forget what only the children of a branch refer to.

    If a child refers to what it leaves out because it keeps K features, its parent
    refers to those of them that it keeps itself.
    """
    used, split, d = levels.used[level], levels.branch_split[level], data.Z.shape[1] - 1
    first = first_use(data) + split * (d + 1)
    keeps_any, refers = False, has_bit(used, first + d)
    for c in range(d):
        state = levels.use[level, split * d + c]
        keeps_any = keeps_any or state == KEPT
        if state != EXCLUDED and has_bit(used, first + c):
            clear_bit(used, first + c)
            refers = refers or c != levels.option[level, 0]
    if refers and keeps_any:
        set_bit(used, first + d)
    else:
        clear_bit(used, first + d)
