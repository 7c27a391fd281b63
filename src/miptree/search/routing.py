"""Kernels: scores, routing, leaf labels and care points of a heap tree.

Every kernel takes the points as columns (``XT``, shape (d, n)): a score is then the
sum over the features in their order, as :mod:`miptree.tree` defines it, and still
runs at vector speed because the inner loop goes over the points. ``Z`` (B, n) holds
the scores of all points at all branch nodes; a point goes right iff its score is > 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.data import Points
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL, UNCOUNTED

_BLOCK = 2048


@njit(**INNER)
def copy_into(target: AnyArray, source: AnyArray) -> None:
    """Copy a vector or matrix element by element.

    ``target[:] = source`` would compile the message of a shape error along, which
    takes longer than a whole kernel.
    """
    from_flat, to_flat = source.reshape(-1), target.reshape(-1)
    for i in range(len(from_flat)):
        to_flat[i] = from_flat[i]


@njit(**UNCOUNTED)
def largest_size(values: FloatArray) -> float:
    """Return the largest absolute value, 0 of none."""
    largest = 0.0
    for i in range(len(values)):
        largest = max(largest, abs(values[i]))
    return largest


@njit(**INNER)
def places(mask: BoolArray) -> IntArray:
    """Return the places where a mask is true."""
    found, k = np.empty(len(mask), np.int64), 0
    for j in range(len(mask)):
        if mask[j]:
            found[k] = j
            k += 1
    return found[:k]


@njit(**UNCOUNTED)
def score_node(
    XT: FloatArray, coef: FloatArray, threshold: float, score: FloatArray
) -> None:
    """Write ``x @ coef - threshold`` of all points into ``score``."""
    d, n = XT.shape
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
        for i in range(start, stop):
            score[i] = 0.0
        for j in range(d):
            w = coef[j]
            if w != 0.0:
                for i in range(start, stop):
                    score[i] += w * XT[j, i]
        for i in range(start, stop):
            score[i] -= threshold


@njit(**KERNEL)
def score_tree(XT: FloatArray, coef: FloatArray, threshold: FloatArray) -> FloatArray:
    """Score all points at all branch nodes, reached or not: (B, n)."""
    Z = np.empty((coef.shape[0], XT.shape[1]))
    for b in range(coef.shape[0]):
        score_node(XT, coef[b], threshold[b], Z[b])
    return Z


@njit(**UNCOUNTED)
def leaf_below(Z: FloatArray, node: int, i: int) -> int:
    """Return the leaf number that point i reaches from a branch node or a leaf."""
    n_branch = Z.shape[0]
    while node < n_branch:
        node = 2 * node + 2 if Z[node, i] > 0.0 else 2 * node + 1
    return node - n_branch


@njit(**UNCOUNTED)
def point_cost(points: Points, i: int, k: int) -> float:
    """Return the cost of predicting class k for point i."""
    if points.cost.shape[0] > 0:
        return points.cost[i, k]
    return 0.0 if points.y[i] == k else points.weight[i]


@njit(**KERNEL)
def relabel(points: Points, tree: HeapTree, Z: FloatArray) -> float:
    """Give every leaf its cheapest class, in place, and return the total cost.

    A leaf keeps its class when that is among the cheapest.
    """
    _, y, weight, cost, _ = points
    n_branch, n = Z.shape
    n_classes = cost.shape[1]
    table = np.zeros((n_branch + 1, n_classes))
    for i in range(n):
        l = leaf_below(Z, 0, i)
        if cost.shape[0] > 0:
            for k in range(n_classes):
                table[l, k] += cost[i, k]
        else:
            table[l, y[i]] -= weight[i]
    total = 0.0
    if cost.shape[0] == 0:
        for i in range(n):
            total += weight[i]
    for l in range(n_branch + 1):
        best = tree.label[l]
        for k in range(n_classes):
            if table[l, k] < table[l, best] - 1e-12:
                best = k
        tree.label[l] = best
        total += table[l, best]
    return total


@njit(**KERNEL)
def points_at(Z: FloatArray, node: int) -> IntArray:
    """Return the numbers of the points that reach a node."""
    path = np.empty(16, np.int64)
    right = np.empty(16, np.bool_)
    length = 0
    child = node
    while child > 0:
        parent = (child - 1) // 2
        path[length] = parent
        right[length] = child == 2 * parent + 2
        length += 1
        child = parent
    index, m = np.empty(Z.shape[1], np.int64), 0
    for i in range(Z.shape[1]):
        here = True
        for q in range(length):
            if (Z[path[q], i] > 0.0) != right[q]:
                here = False
                break
        if here:
            index[m] = i
            m += 1
    return index[:m]


@njit(**KERNEL)
def care_points(
    points: Points, tree: HeapTree, Z: FloatArray, node: int
) -> tuple[IntArray, FloatArray]:
    """Find the points at a node whose cost depends on the side they take there.

    Returns their numbers, and for each its cost on the right less that on the left.
    """
    index = points_at(Z, node)
    gain, k = np.empty(len(index)), 0
    for i in index:
        left = tree.label[leaf_below(Z, 2 * node + 1, i)]
        right = tree.label[leaf_below(Z, 2 * node + 2, i)]
        if left != right:
            change = point_cost(points, i, right) - point_cost(points, i, left)
            if change != 0.0:
                index[k] = i
                gain[k] = change
                k += 1
    return index[:k], gain[:k]
