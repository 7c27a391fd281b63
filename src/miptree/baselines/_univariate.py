"""Local search for univariate trees: the best split of one node after the other.

Bertsimas & Dunn solve OCT in practice by such a descent from many starts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import relabel
from miptree.search.starts import cart_tree, constant_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

N_STARTS = 30
_MAX_ROUNDS = 20


def univariate_trees(problem: Problem, depth: int, seed: int) -> Iterator[HeapTree]:
    """Yield trees whose errors cost least locally: from CART's, then random trees.

    ``seed`` draws the random trees and the order of the nodes.
    """
    rng = np.random.default_rng(seed)
    yield _descend(problem, cart_tree(problem, depth), rng)
    for _ in range(N_STARTS):
        yield _descend(problem, _random_tree(problem, depth, rng), rng)


def _random_tree(problem: Problem, depth: int, rng: np.random.Generator) -> HeapTree:
    heap = constant_tree(problem, depth)
    feature = rng.integers(problem.n_features, size=len(heap.threshold))
    row = rng.integers(problem.n_rows, size=len(heap.threshold))
    heap.coef[np.arange(len(feature)), feature] = 1.0
    heap.threshold[:] = problem.scaled[row, feature]
    return relabel(problem, heap)


def _descend(problem: Problem, heap: HeapTree, rng: np.random.Generator) -> HeapTree:
    """Improve node after node until no node can be improved alone."""
    best = _cost(problem, heap)
    for _ in range(_MAX_ROUNDS):
        for node in rng.permutation(len(heap.threshold)):
            heap = relabel(problem, _with_best_split(problem, heap, int(node)))
        cost = _cost(problem, heap)
        if not cost < best:
            break
        best = cost
    return heap


def _cost(problem: Problem, heap: HeapTree) -> float:
    return float(problem.error_cost(heap.label[heap.leaf_of(problem.scaled)]).sum())


def _with_best_split(problem: Problem, heap: HeapTree, node: int) -> HeapTree:
    """Return the tree with the least costly split at one node, all else as it is."""
    rows = _rows_at(problem, heap, node)
    if not len(rows):
        return heap
    X = problem.scaled[rows]
    order = np.argsort(X, axis=0, kind="stable")
    value = np.take_along_axis(X, order, axis=0)
    cost = _cost_of_cuts(problem, heap, node, rows, order)
    cost[np.vstack([value[1:] <= value[:-1], np.zeros((1, X.shape[1]), bool)])] = np.inf
    k, feature = np.unravel_index(int(cost.argmin()), cost.shape)
    heap = heap.copy()
    heap.coef[node] = 0.0
    if k == len(rows) - 1:
        heap.threshold[node] = 1.0  # all left
    else:
        heap.coef[node, feature] = 1.0
        low, high = value[k, feature], value[k + 1, feature]
        middle = 0.5 * (low + high)
        heap.threshold[node] = middle if middle < high else low
    return heap


def _rows_at(problem: Problem, heap: HeapTree, node: int) -> IntArray:
    """Return the rows that reach a node."""
    at = heap.leaf_of(problem.scaled) + len(heap.threshold)
    while at.max(initial=0) > node:
        at = np.where(at > node, (at - 1) // 2, at)
    return np.flatnonzero(at == node)


def _cost_of_cuts(
    problem: Problem, heap: HeapTree, node: int, rows: IntArray, order: IntArray
) -> FloatArray:
    """Return (rows, features): cost if the first k + 1 rows of a feature go left."""
    y, weight = problem.y[rows], problem.weight[rows]
    if 2 * node + 1 >= len(heap.threshold):  # above leaves, whose classes are free
        mass = np.zeros((len(rows), problem.n_classes))
        mass[np.arange(len(rows)), y] = weight
        left = np.cumsum(mass[order], axis=0)
        right = left[-1] - left
        kept = left.max(axis=2) + right.max(axis=2)
        total: FloatArray = weight.sum() - kept
        return total
    sides = [_labels_below(problem, heap, 2 * node + side, rows) for side in (1, 2)]
    goes_left, goes_right = (np.where(label != y, weight, 0.0) for label in sides)
    change = np.cumsum((goes_left - goes_right)[order], axis=0)
    return goes_right.sum() + change


def _labels_below(
    problem: Problem, heap: HeapTree, node: int, rows: IntArray
) -> IntArray:
    """Return the class that the subtree below a node gives to each row."""
    X, at = problem.scaled[rows], np.full(len(rows), node)
    while at[0] < len(heap.threshold):
        score = (X * heap.coef[at]).sum(axis=1)
        at = 2 * at + 1 + (score > heap.threshold[at])
    return heap.label[at - len(heap.threshold)]
