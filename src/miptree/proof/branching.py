"""Kernel that searches depth first for a tree with few errors.

It decides point by point: a point is either sent to a leaf, which takes its class, or
given up as an error. From such decisions more follows. A leaf is closed to a point if
it has another class, or if a hyperplane on the way would have to keep the point apart
from points on its other side that are too near (``hull_distance.py``). Further down a
hyperplane has even more points to keep apart, so a closed leaf stays closed. A point to
which all leaves are closed is an error as well. Where the errors exceed the limit, the
search turns back.

Of the other points the one with the fewest open leaves is decided next. A point that
the hyperplanes at hand get right need not be decided: if no other is left, the search
ends with a tree. If it never does, no tree makes so few errors.

Mirror images are searched once: the first point to reach a node goes left there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.assignments import room_for, score_of, send, take_back
from miptree.proof.state import ERROR, EXHAUSTED, FOUND, OPEN, PAUSED, SearchState
from miptree.search.routing import copy_into
from miptree.utils.jit import UNCOUNTED, UNCOUNTED_KERNEL

_PRUNED, SOLVED = -1, -2
"""Instead of a point to decide next."""
_NOT_ASKED = -2.0
"""No distance, and no answer that a point cannot join."""


@njit(**UNCOUNTED)
def _is_right(s: SearchState, i: int, least: float) -> bool:
    """Tell whether the hyperplanes at hand classify a point with the margin."""
    n_branch = s.size.shape[0]
    node = 0
    while node < n_branch:
        score = score_of(s, node, i)
        if abs(score) < 0.5 * least:
            return False
        node = 2 * node + 1 + (score > 0)
    return s.label[node - n_branch] == s.y[i]


@njit(**UNCOUNTED)
def _open_to(s: SearchState, level: int, i: int, least: float) -> tuple[int, float]:
    """Return the leaves that may still take a point, as bits, and their total room.

    The level's ``open_leaves`` lose those that are closed.
    """
    n_branch, n_leaves = s.size.shape[0], len(s.label)
    # Each side of each node is asked once.
    asked = s.asked
    for node in range(n_branch):
        asked[node, 0] = asked[node, 1] = _NOT_ASKED
    mask = s.open_leaves[level, i]
    found, room = 0, 0.0
    for leaf in range(n_leaves):
        if mask >> leaf & 1 == 0:
            continue
        if s.label[leaf] >= 0 and s.label[leaf] != s.y[i]:
            s.open_leaves[level, i] &= ~(1 << leaf)
            continue
        node, narrowest, is_image = leaf + n_branch, np.inf, False
        while node > 0 and narrowest >= 0:
            parent, on_right = (node - 1) // 2, node % 2 == 0
            if on_right and s.size[parent, 0] == 0:
                is_image = True
            distance = asked[parent, 1 if on_right else 0]
            if distance == _NOT_ASKED:
                direction = 1 if on_right else -1
                distance = room_for(s, parent, direction, i, least)
                asked[parent, 1 if on_right else 0] = distance
            narrowest = min(narrowest, distance)
            node = parent
        if narrowest < 0:
            s.open_leaves[level, i] &= ~(1 << leaf)
        elif not is_image:
            found |= 1 << leaf
            room += narrowest
    return found, room


@njit(**UNCOUNTED)
def _costs_too_much(s: SearchState, most: float) -> bool:
    """Tell whether the decisions so far imply too many errors.

    Each subset has the errors proved or, if more, those made so far.
    """
    total = 0.0
    for g in range(len(s.group_bound)):
        total += max(s.group_bound[g], s.group_cost[g])
    if total <= most:
        return False
    s.turned_back[0] = min(s.turned_back[0], total)
    return True


@njit(**UNCOUNTED)
def _expand(s: SearchState, level: int, most: float, least: float) -> int:
    """Force errors and return the point to decide next: the one with least freedom.

    Returns _PRUNED if there are too many errors, SOLVED if no point is left.
    """
    best, fewest, least_room = SOLVED, 99, np.inf
    for i in range(len(s.y)):
        if s.place[i] != OPEN or _is_right(s, i, least):
            continue
        found, room = _open_to(s, level, i, least)
        if found == 0:
            s.place[i] = ERROR
            s.group_cost[s.group[i]] += s.weight[i]
            height = s.forced_at[level + 1]
            s.forced[height] = i
            s.forced_at[level + 1] = height + 1
            if _costs_too_much(s, most):
                return _PRUNED
            continue
        count = 0
        bits = found
        while bits:
            bits &= bits - 1
            count += 1
        if count < fewest or (count == fewest and room < least_room):
            best, fewest, least_room = i, count, room
            s.options[level] = found
    return best


@njit(**UNCOUNTED)
def _release(s: SearchState, level: int) -> None:
    """Undo the errors forced at a level."""
    for height in range(s.forced_at[level], s.forced_at[level + 1]):
        i = s.forced[height]
        s.place[i] = OPEN
        s.group_cost[s.group[i]] -= s.weight[i]
    s.forced_at[level + 1] = s.forced_at[level]


@njit(**UNCOUNTED_KERNEL)
def advance(
    s: SearchState, most: float, least: float, max_nodes: int
) -> tuple[int, int]:
    """Search on for some nodes; return (EXHAUSTED, FOUND or PAUSED, nodes).

    Parameters
    ----------
    s : SearchState
    most : float
        Errors that a tree may make. EXHAUSTED proves that none makes so few, and
        that every tree makes ``s.turned_back`` errors at least.
    least : float
        Distance of two hulls from which they count as separable.
    max_nodes : int
    """
    nodes = 0
    while True:
        level = s.level[0]
        if s.level[1]:
            if nodes >= max_nodes:
                return PAUSED, nodes
            nodes += 1
            if not enter(s, level, most, least):
                return FOUND, nodes
        if next_option(s, level, most, least):
            copy_into(s.open_leaves[level + 1], s.open_leaves[level])
            s.level[0], s.level[1] = level + 1, 1
        elif level == 0:
            return EXHAUSTED, nodes
        else:
            s.level[0] = level - 1


@njit(**UNCOUNTED)
def enter(s: SearchState, level: int, most: float, least: float) -> bool:
    """Begin a level; return False where nothing is left to decide."""
    s.level[1] = 0
    s.forced_at[level + 1] = s.forced_at[level]
    s.options[level] = 0
    point = _expand(s, level, most, least)
    s.chosen[level] = point
    s.error_left[level] = point >= 0
    if point < 0:
        s.options[level] = 0
    return point != SOLVED


@njit(**UNCOUNTED)
def next_option(s: SearchState, level: int, most: float, least: float) -> bool:
    """Decide a level's point in the next way; return False, undone, if none is left."""
    point = s.chosen[level]
    if point >= 0 and s.place[point] != OPEN:
        take_back(s, level, point)
    if s.options[level]:
        leaf = 0
        while s.options[level] >> leaf & 1 == 0:
            leaf += 1
        s.options[level] &= ~(1 << leaf)
        send(s, level, point, leaf, least)
        return True
    if s.error_left[level]:
        s.error_left[level] = 0
        s.place[point] = ERROR
        s.group_cost[s.group[point]] += s.weight[point]
        if not _costs_too_much(s, most):
            return True
        take_back(s, level, point)
    _release(s, level)
    return False
