"""The arrangement of some points: all their splits by a hyperplane, as a binary tree.

The root stands for all hyperplanes. A point that some of them have on the left and
others on the right divides them: one child for each side. The sides of some points may
decide those of others (``hull_distance.py``): a point that cannot join a side without
bringing the hulls too near to each other is on the other side. A leaf leaves no point
open.

Of n points in d dimensions there are some n^d / d! leaves, so this is for few features.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.proof.assignments import room_for, send, take_back
from miptree.proof.state import (
    EXHAUSTED,
    FULL,
    OPEN,
    PAUSED,
    SearchState,
    begin_search,
    search_fits_memory,
)
from miptree.utils.arrays import FloatArray, IntArray, WordArray
from miptree.utils.jit import MINUS_ONE, ONE, UNCOUNTED, UNCOUNTED_KERNEL, ZERO

_MOST_NUMBERS = 5e7
"""Numbers in a tree: some 400 MB."""
_NODES_AT_A_TIME = 2000
"""Nodes between two looks at the clock."""
LEAF, EMPTY = -1, -2
"""Instead of a right child: no point is open, or one has no side left."""


class Arrangement(NamedTuple):
    """The tree. The left child of a node is the one after it.

    Attributes
    ----------
    side : (nodes, 2, words) uint64
        Points that all hyperplanes of a node have on the left, and on the right, as
        bits.
    right : (nodes,) int
        Right child, LEAF, or EMPTY where no hyperplane is left after all.
    """

    side: WordArray
    right: IntArray


class Growth(NamedTuple):
    """A tree that grows. One entry per level, except in the tree's own arrays."""

    side: WordArray
    right: IntArray
    node: IntArray
    """Node of a level."""
    divider: IntArray
    """Point that divides it."""
    tried: IntArray
    """Children begun."""
    began: IntArray
    """Points decided when the level began."""
    closed: IntArray
    """Points decided when all that follows was."""
    at: IntArray
    """(3,): number of nodes, level, and whether it has just been entered."""


def most_nodes(n: int, d: int) -> int:
    """Count the nodes that n points in general position have (Schlaefli, Cover)."""
    return 2 * sum(comb(n - 1, k) for k in range(d + 1)) - 1


def words_of(n: int) -> int:
    """Count the words of 64 bits for n points."""
    return (n + 63) // 64


def arrangement_fits_memory(n: int, d: int) -> bool:
    """Tell whether the tree can be held in memory, and the search that grows it."""
    is_tree_small = most_nodes(n, d) * (2 * words_of(n) + 1) < _MOST_NUMBERS
    return is_tree_small and search_fits_memory(n, d, 1)


def arrangement_of(
    X: FloatArray,
    min_distance: float,
    gives_up: Callable[[float], bool] = lambda share: False,
) -> Arrangement | None:
    """Return the tree of all splits of distinct points, or None if it was given up.

    Parameters
    ----------
    X : (n, d)
    min_distance : float
        The hulls of the two sides of a split are so far apart. A few splits may be
        among them whose hulls are slightly nearer.
    gives_up : callable
        It is asked now and then, with the share of the tree that has grown.
    """
    n, d = X.shape
    same = np.zeros(n, dtype=np.intp)
    search = begin_search(X, same, np.ones(n), 1, same, np.zeros(1))
    # Points nearly in special position may leave a few more than there should be.
    capacity = most_nodes(n, d) + n
    growth = _begin(n, capacity)
    outcome = PAUSED
    while outcome == PAUSED:
        if gives_up(growth.at[0] / capacity):
            return None
        outcome = grow(search, growth, min_distance, _NODES_AT_A_TIME)
    if outcome == FULL:
        return None
    n_nodes = growth.at[0]
    return Arrangement(growth.side[:n_nodes], growth.right[:n_nodes])


def _begin(n: int, capacity: int) -> Growth:
    """Make a tree that has not grown yet."""

    def zeros() -> IntArray:
        return np.zeros(n + 1, dtype=np.int64)

    return Growth(
        np.zeros((capacity, 2, words_of(n)), dtype=np.uint64),
        np.full(capacity, LEAF),
        zeros(), zeros(), zeros(), zeros(), zeros(),
        np.array([0, 0, 1]),
    )  # fmt: skip


@njit(**UNCOUNTED_KERNEL)
def grow(s: SearchState, g: Growth, least: float, max_nodes: int) -> int:
    """Grow on for some nodes; return EXHAUSTED (it has grown), PAUSED or FULL."""
    done = 0
    while True:
        level = g.at[1]
        if g.at[2]:
            if done == max_nodes:
                return PAUSED
            if g.at[0] == len(g.right):
                return FULL
            done += 1
            g.at[2] = 0
            _enter(s, g, level, least)
        if g.tried[level] < 2:
            take_back_to(s, g.closed[level])
            leaf = g.tried[level]
            g.tried[level] += 1
            send(s, s.size[0, 0], g.divider[level], leaf, least)
            g.at[1], g.at[2] = level + 1, 1
            continue
        take_back_to(s, g.began[level])
        if level == 0:
            return EXHAUSTED
        g.at[1] = level - 1


@njit(**UNCOUNTED)
def _enter(s: SearchState, g: Growth, level: int, least: float) -> None:
    """Make the node of a level: what its hyperplanes agree on, and who divides them."""
    g.began[level] = s.size[0, 0]
    g.divider[level] = _close(s, least)
    g.closed[level] = s.size[0, 0]
    g.tried[level] = 0 if g.divider[level] >= 0 else 2
    node = g.at[0]
    g.at[0] += 1
    g.node[level] = node
    # The right child of an inner node is known when it is made.
    g.right[node] = min(g.divider[level], LEAF)
    for k in range(s.size[0, 0]):
        i = s.members[0, k]
        g.side[node, s.place[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    if level > 0 and g.tried[level - 1] == 2:
        g.right[g.node[level - 1]] = node


@njit(**UNCOUNTED)
def _close(s: SearchState, least: float) -> int:
    """Decide the points that have one side left; return one that divides the others.

    That is the one with the most room on both sides: it divides most evenly.
    """
    divider, most = LEAF, -1.0
    for i in range(len(s.y)):
        if s.place[i] != OPEN:
            continue
        on_left = room_for(s, ZERO, MINUS_ONE, i, least)
        # Mirror images are one: the first point of all is on the left.
        on_right = -1.0 if s.size[0, 0] == 0 else room_for(s, ZERO, ONE, i, least)
        if on_left < 0 and on_right < 0:
            return EMPTY
        if on_left < 0 or on_right < 0:
            leaf = 1 if on_left < 0 else 0
            send(s, s.size[0, 0], i, leaf, least)
        elif min(on_left, on_right) > most:
            divider, most = i, min(on_left, on_right)
    return divider


@njit(**UNCOUNTED)
def take_back_to(s: SearchState, size: int) -> None:
    """Take back the points decided last."""
    while s.size[0, 0] > size:
        last = s.size[0, 0] - 1
        take_back(s, last, s.members[0, last])
