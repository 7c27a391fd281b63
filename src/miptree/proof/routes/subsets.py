"""Subset splits: which feature they split, and which values go left.

Points that have the same value of the feature of a subset split go the same way there.
So the search branches on the feature of a subset split, and then on the side of values:
if one goes left, no point that has it comes to a leaf right of the split. That is all
that subset splits do. They have no LPs, as they lack no margin and have no norm.

Where all values go to one side the tree is one of a smaller structure. A best tree of
the fewest splits has points in every leaf, so that a node where a leaf is open to no
point is closed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.jit import INNER, UNCOUNTED
from miptree.proof.routes.record import (
    clear_bit,
    has_bit,
    set_bit,
    write_branch,
    write_feature,
    write_use,
    write_value,
)
from miptree.proof.routes.state import Data, Levels, Log
from miptree.proof.routes.uses import BY_USE, end_use_branch, refers_to_use
from miptree.utils.arrays import IntArray, WordArray

BY_LEAF, BY_FEATURE, BY_VALUE = 0, 1, 2
"""Kinds of branches: on the leaves of a point, on subset splits."""
_STEEPNESS = 8.0
"""As where points are branched on."""
_MANY = 1e-3
"""Of values that are as good to branch on, those of many points come first."""


@njit(**UNCOUNTED)
def leaf_count(determined: IntArray) -> int:
    """Return the number of leaves of a structure."""
    count = 0
    while 1 << count < determined.shape[1]:
        count += 1
    return count


@njit(**UNCOUNTED)
def clear(words: WordArray) -> None:
    """Make a set empty."""
    for k in range(len(words)):
        words[k] = 0


@njit(**UNCOUNTED)
def undecided(feature: IntArray) -> int:
    """Return the first subset split whose feature is open, -1 if there is none."""
    for split in range(len(feature)):
        if feature[split] < 0:
            return split
    return -1


@njit(**UNCOUNTED)
def restrict(
    data: Data, feature: IntArray, split: int, point: int, side: int, mask: IntArray
) -> None:
    """Send all points that have a point's value to a side of a subset split."""
    own = data.values[feature[split]]
    kept = ~data.subset_leaves[split, 1 - side]
    for i in range(len(mask)):
        if own[i] == own[point]:
            mask[i] &= kept


@njit(**UNCOUNTED)
def empty_point(mask: IntArray) -> int:
    """Return a point that has no leaf left, -1 if there is none."""
    for i in range(len(mask)):
        if mask[i] == 0:
            return i
    return -1


@njit(**UNCOUNTED)
def lacks_leaf(mask: IntArray, everything: int) -> bool:
    """Tell whether there is a leaf that is open to no point."""
    union = 0
    for i in range(len(mask)):
        union |= mask[i]
    return union != everything


@njit(**INNER)
def best_value(
    data: Data, mask: IntArray, feature: IntArray, split: int
) -> tuple[int, bool]:
    """Return a point whose value is best to branch on at a subset split, -1 if none is.

    Both sides of the split must be open to points of this value. The second answer is
    whether one of the sides is closed to one of them: then the value is forced.
    """
    n = len(mask)
    own, left, right = (
        data.values[feature[split]],
        data.subset_leaves[split, 0],
        data.subset_leaves[split, 1],
    )
    rise, is_open = np.zeros((n, 2)), np.zeros((n, 2), dtype=np.int64)
    first, count = np.full(n, -1), np.zeros(n)
    for i in range(n):
        value, M = own[i], mask[i]
        if first[value] < 0:
            first[value] = i
        count[value] += 1.0
        is_open[value, 0] |= M & left
        is_open[value, 1] |= M & right
        rise[value, 0] += data.least[i, M & ~right] - data.least[i, M]
        rise[value, 1] += data.least[i, M & ~left] - data.least[i, M]
    best, key = -1, np.inf
    for value in range(n):
        if is_open[value, 0] == 0 or is_open[value, 1] == 0:
            continue
        if max(rise[value, 0], rise[value, 1]) == np.inf:
            return first[value], True
        own_key = -_MANY * count[value] / n
        for side in range(2):
            own_key += np.exp(-_STEEPNESS * rise[value, side])
        if own_key < key:
            best, key = first[value], own_key
    return best, False


@njit(**UNCOUNTED)
def refers_to_branch(data: Data, levels: Levels, level: int) -> bool:
    """Tell whether the proof of a level refers to the branch that led to it."""
    up, n = level - 1, len(data.Z)
    kind, used = levels.branch_kind[up], levels.used[level]
    if kind == BY_LEAF:
        return has_bit(used, levels.branch_point[up])
    if kind == BY_FEATURE:
        return has_bit(used, n + levels.branch_split[up])
    if kind == BY_USE:
        return refers_to_use(data, levels, level)
    for i in range(n):
        if levels.mask[level, i] != levels.mask[up, i] and has_bit(used, i):
            return True
    return False


@njit(**UNCOUNTED)
def end_branch(
    data: Data, levels: Levels, level: int, log: Log, at: IntArray, record: bool,
    masks: IntArray,
) -> None:  # fmt: skip
    """Record a branch whose children are closed, and forget what only they refer to.

    Read backwards, the last child comes first.
    """
    used, point = levels.used[level], levels.branch_point[level]
    n, split = len(data.first_mask), levels.branch_split[level]
    kind, k = levels.branch_kind[level], levels.n_options[level]
    if kind == BY_LEAF:
        if record:
            for j in range(k):
                masks[j] = levels.option[level, k - 1 - j]
            write_branch(log, at, point, masks, k)
        if levels.mask[level, point] == data.first_mask[point]:
            clear_bit(used, point)
    elif kind == BY_FEATURE:
        if record:
            write_feature(log, at, split)
        clear_bit(used, n + split)
    elif kind == BY_USE:
        if record:
            write_use(log, at, split, levels.option[level, 0])
        end_use_branch(data, levels, level)
    else:
        if record:
            write_value(log, at, point, split)
        for i in range(n):
            if levels.mask[level, i] == data.first_mask[i]:
                clear_bit(used, i)
        set_bit(used, n + split)
