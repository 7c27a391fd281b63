"""Kernels that assign points to leaves: ask if one may go there, send it, undo it."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.hull_distance import INSEPARABLE, first_basis, separate
from miptree.proof.state import ERROR, OPEN, SearchState
from miptree.search.routing import copy_into
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.jit import UNCOUNTED


@njit(**UNCOUNTED)
def score_of(s: SearchState, node: int, i: int) -> float:
    """Return the score of a point at a node: right if above 0, else left.

    Where a side of the node has no points yet, every point goes to the other side.
    """
    if s.size[node, 2] == 0:
        return -np.inf
    if s.size[node, 1] == 0:
        return np.inf
    d = s.X.shape[1]
    value = -s.plane[node, d]
    for j in range(d):
        value += s.plane[node, j] * s.X[i, j]
    return value


@njit(**UNCOUNTED)
def room_for(s: SearchState, node: int, direction: int, i: int, least: float) -> float:
    """Return the distance of a node's hulls if a point joins a side; -1: it cannot."""
    others = 1 if direction > 0 else 2
    if s.size[node, others] == 0:
        return s.X.shape[1] * 1.0
    size = s.size[node, 0]
    mine = 3 - others
    if s.size[node, mine] > 0 and direction * score_of(s, node, i) >= 0.5 * least:
        return s.distance[node]
    basis, inverse, weight = s.trial_basis, s.trial_inverse, s.trial_weight
    _start_basis(s, node, direction, i, basis, inverse, weight)
    s.members[node, size], s.side[node, size] = i, direction
    answer, distance = separate(
        s.X, s.members[node], s.side[node], size + 1, s.is_right, least,
        basis, inverse, weight, s.trial_plane,
    )  # fmt: skip
    return -1.0 if answer == INSEPARABLE else distance


@njit(**UNCOUNTED)
def _start_basis(
    s: SearchState,
    node: int,
    direction: int,
    i: int,
    basis: IntArray,
    inverse: FloatArray,
    weight: FloatArray,
) -> None:
    """Write the basis to start from when a point joins: the node's own, or a first."""
    if s.size[node, 1] > 0 and s.size[node, 2] > 0:
        copy_into(basis, s.basis[node])
        copy_into(inverse, s.inverse[node])
        copy_into(weight, s.hull_weight[node])
    else:
        other = s.members[node, 0]
        right, left = (i, other) if direction > 0 else (other, i)
        first_basis(s.X, right, left, basis, inverse, weight)


@njit(**UNCOUNTED)
def send(s: SearchState, level: int, i: int, leaf: int, least: float) -> None:
    """Send a point to a leaf.

    Where a hull LP stays undecided, the hyperplane keeps its place and may be wrong:
    that can only end the search too early with a tree, never with a proof.
    """
    n_branch = s.size.shape[0]
    s.place[i] = leaf
    s.leaf_size[leaf] += 1
    s.label[leaf] = s.y[i]
    node, k = leaf + n_branch, 0
    while node > 0:
        parent, on_right = (node - 1) // 2, node % 2 == 0
        copy_into(s.saved_basis[level, k], s.basis[parent])
        copy_into(s.saved_inverse[level, k], s.inverse[parent])
        copy_into(s.saved_weight[level, k], s.hull_weight[parent])
        copy_into(s.saved_plane[level, k], s.plane[parent])
        s.saved_distance[level, k] = s.distance[parent]
        direction = 1 if on_right else -1
        size = s.size[parent, 0]
        others = s.size[parent, 1 if on_right else 2]
        if others > 0:
            _start_basis(
                s, parent, direction, i,
                s.basis[parent], s.inverse[parent], s.hull_weight[parent],
            )  # fmt: skip
        s.members[parent, size], s.side[parent, size] = i, direction
        s.size[parent, 0] += 1
        s.size[parent, 2 if on_right else 1] += 1
        if others > 0:
            _, s.distance[parent] = separate(
                s.X, s.members[parent], s.side[parent], size + 1, s.is_right, least,
                s.basis[parent], s.inverse[parent], s.hull_weight[parent],
                s.plane[parent],
            )  # fmt: skip
        node, k = parent, k + 1


@njit(**UNCOUNTED)
def take_back(s: SearchState, level: int, i: int) -> None:
    """Undo the last decision on a point."""
    leaf = s.place[i]
    s.place[i] = OPEN
    if leaf == ERROR:
        s.group_cost[s.group[i]] -= s.weight[i]
        return
    n_branch = s.size.shape[0]
    s.leaf_size[leaf] -= 1
    if s.leaf_size[leaf] == 0:
        s.label[leaf] = -1
    node, k = leaf + n_branch, 0
    while node > 0:
        parent, on_right = (node - 1) // 2, node % 2 == 0
        s.size[parent, 0] -= 1
        s.size[parent, 2 if on_right else 1] -= 1
        copy_into(s.basis[parent], s.saved_basis[level, k])
        copy_into(s.inverse[parent], s.saved_inverse[level, k])
        copy_into(s.hull_weight[parent], s.saved_weight[level, k])
        copy_into(s.plane[parent], s.saved_plane[level, k])
        s.distance[parent] = s.saved_distance[level, k]
        node, k = parent, k + 1
