"""Kernels that search as :mod:`branching` does, one step at a time, and say why.

A leaf is closed to a point for a reason that a stranger can check: a convex combination
of points on each side of a split that are too near to each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.assignments import room_for
from miptree.proof.branching import enter, next_option
from miptree.proof.state import SearchState
from miptree.proof.whole_numbers import in_whole_numbers
from miptree.search.routing import copy_into
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.jit import UNCOUNTED, UNCOUNTED_KERNEL


class Reasons(NamedTuple):
    """Reasons why sides of splits are closed to a point, as many as there may be.

    ``L`` leaves, ``r = d + 2`` points of a reason.
    """

    split: IntArray
    """(L,): number of the split of each reason."""
    side: IntArray
    """(L,): 0 left, 1 right."""
    size: IntArray
    """(L,): number of points."""
    point: IntArray
    """(L, r)."""
    times: IntArray
    """(L, r): their multipliers, whole numbers."""
    total: FloatArray
    """(2,): room for the sums of a side's multipliers."""
    gap: FloatArray
    """(d,): room for the difference of two combinations."""


def room_for_reasons(n_leaves: int, d: int) -> Reasons:
    """Return room for the reasons of a point."""

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    of_leaf = zeros(n_leaves), zeros(n_leaves), zeros(n_leaves)
    tables = zeros(n_leaves, d + 2), zeros(n_leaves, d + 2)
    return Reasons(*of_leaf, *tables, np.zeros(2), np.zeros(d))


@njit(**UNCOUNTED_KERNEL)
def enter_level(s: SearchState, most: float, least: float) -> bool:
    """Force errors at a level, and choose its point; return False if none is left."""
    return enter(s, s.level[0], most, least)


@njit(**UNCOUNTED_KERNEL)
def leave_level(s: SearchState, most: float, least: float) -> bool:
    """Go on to the next level to enter; return False if there is none."""
    while True:
        level = s.level[0]
        if next_option(s, level, most, least):
            copy_into(s.open_leaves[level + 1], s.open_leaves[level])
            s.level[0], s.level[1] = level + 1, 1
            return True
        if level == 0:
            return False
        s.level[0] = level - 1


@njit(**UNCOUNTED_KERNEL)
def find_reasons(
    s: SearchState, i: int, options: int, least: float, found: Reasons
) -> int:
    """Find why all leaves but the options are closed to a point.

    Returns the number of reasons; -1 if there is none for some leaf.
    """
    n_branch, n_leaves = s.size.shape[0], len(s.label)
    n_found = 0
    for leaf in range(n_leaves):
        is_open = options >> leaf & 1 == 1
        has_other = s.label[leaf] >= 0 and s.label[leaf] != s.y[i]
        if is_open or has_other or _is_image(s, leaf):
            continue
        node, is_closed = leaf + n_branch, False
        while node > 0 and not is_closed:
            parent, side = (node - 1) // 2, 1 - node % 2
            for k in range(n_found):
                if found.split[k] == parent and found.side[k] == side:
                    is_closed = True
            node = parent
        node = leaf + n_branch
        while node > 0 and not is_closed:
            parent, side = (node - 1) // 2, 1 - node % 2
            direction = 1 if side == 1 else -1
            if room_for(s, parent, direction, i, least) < 0:
                found.split[n_found], found.side[n_found] = parent, side
                is_closed = _write_reason(s, least, found, n_found)
                n_found += is_closed
            node = parent
        if not is_closed:
            return -1
    return n_found


@njit(**UNCOUNTED)
def _is_image(s: SearchState, leaf: int) -> bool:
    """Tell whether a leaf is right of a split that no point has come to."""
    node = leaf + s.size.shape[0]
    while node > 0:
        parent = (node - 1) // 2
        if node % 2 == 0 and s.size[parent, 0] == 0:
            return True
        node = parent
    return False


@njit(**UNCOUNTED)
def _write_reason(s: SearchState, least: float, found: Reasons, k: int) -> bool:
    """Write the combinations that were last found."""
    found.size[k] = in_whole_numbers(
        s.X, s.trial_basis, s.trial_weight, s.is_right, least,
        found.point[k], found.times[k], found.total, found.gap,
    )  # fmt: skip
    return bool(found.size[k] > 0)
