"""Drop the splits of a heap tree that do not lower the objective."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.data import SearchData
from miptree.search.line_svm1 import cost_below
from miptree.search.routing import points_at, score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.jit import KERNEL

_TOLERANCE = 1e-9


@njit(**KERNEL)
def _side_costs(
    Z: FloatArray,
    y: IntArray,
    weight: FloatArray,
    cost: FloatArray,
    label: IntArray,
    b: int,
    slack_penalty: float,
    margin: float,
) -> tuple[float, float, float]:
    """Cost of the points at node b: as they are, all sent left, all sent right."""
    index = np.empty(Z.shape[1], np.int64)
    m = points_at(Z, b, index)
    now, left, right = 0.0, 0.0, 0.0
    for q in range(m):
        i = index[q]
        now += cost_below(Z, y, weight, cost, label, b, i, slack_penalty, margin)
        left += cost_below(
            Z, y, weight, cost, label, 2 * b + 1, i, slack_penalty, margin
        )
        right += cost_below(
            Z, y, weight, cost, label, 2 * b + 2, i, slack_penalty, margin
        )
    return now, left, right


def simplify(
    data: SearchData,
    tree: HeapTree,
    slack_penalty: float = 0.0,
    l1_penalty: float = 0.0,
    margin: float = 0.0,
) -> HeapTree:
    """Tree without the splits whose removal does not raise the objective.

    A removed split has ``coef = 0`` and ``threshold = 1``, so that all points go left;
    if the right subtree is the better one it moves to the left. Nothing below a place
    that no point can reach is left standing.
    """
    tree = tree.copy()
    XT, y, weight, cost = data.points
    Z = score_tree(XT, tree.coef, tree.threshold)
    for b in range(len(tree.threshold) - 1, -1, -1):
        now, left, right = _side_costs(
            Z, y, weight, cost, tree.label, b, slack_penalty, margin
        )
        norm = l1_penalty * np.abs(tree.coef[:, : data.n_open]).sum(axis=1)
        left_norm, right_norm = (
            norm[_below(tree, 2 * b + 1)],
            norm[_below(tree, 2 * b + 2)],
        )
        left_change = left - now - norm[b] - right_norm.sum()
        right_change = right - now - norm[b] - left_norm.sum()
        if right_change < left_change and right_change <= _TOLERANCE:
            _move_right_to_left(tree, Z, b)
        elif left_change > _TOLERANCE:
            continue
        _switch_off(tree, Z, b)
    return tree


def _below(tree: HeapTree, top: int) -> IntArray:
    """Branch nodes of the subtree at a node, level by level; empty at a leaf."""
    n_branch, nodes, level = len(tree.threshold), [], [top]
    while level[0] < n_branch:
        nodes += level
        level = [child for b in level for child in (2 * b + 1, 2 * b + 2)]
    return np.array(nodes, dtype=np.intp)


def _leaves_below(tree: HeapTree, node: int) -> slice:
    """Leaf numbers of the subtree at a node."""
    n_branch = len(tree.threshold)
    first, last = node, node
    while first < n_branch:
        first, last = 2 * first + 1, 2 * last + 2
    return slice(first - n_branch, last - n_branch + 1)


def _move_right_to_left(tree: HeapTree, Z: FloatArray, b: int) -> None:
    """Copy the right subtree of a node onto its left one."""
    left, right = _below(tree, 2 * b + 1), _below(tree, 2 * b + 2)
    tree.coef[left], tree.threshold[left] = tree.coef[right], tree.threshold[right]
    Z[left] = Z[right]
    to, source = _leaves_below(tree, 2 * b + 1), _leaves_below(tree, 2 * b + 2)
    tree.label[to] = tree.label[source]


def _switch_off(tree: HeapTree, Z: FloatArray, b: int) -> None:
    """Send all points left at a node and clear the right subtree."""
    off = np.append(_below(tree, 2 * b + 2), b)
    tree.coef[off], tree.threshold[off], Z[off] = 0.0, 1.0, -1.0
    left, right = _leaves_below(tree, 2 * b + 1), _leaves_below(tree, 2 * b + 2)
    tree.label[right] = tree.label[left.start]
