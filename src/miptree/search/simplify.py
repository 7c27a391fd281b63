"""Drop the splits of a heap tree that do not lower the objective."""

from __future__ import annotations

import numpy as np

from miptree.search.data import NO_PENALTIES, Penalties, SearchData
from miptree.search.line_svm1 import side_costs
from miptree.search.routing import score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_TOLERANCE = 1e-9


def simplify(
    data: SearchData, tree: HeapTree, penalties: Penalties = NO_PENALTIES
) -> HeapTree:
    """Tree without the splits whose removal does not raise the objective.

    A removed split has ``coef = 0`` and ``threshold = 1``, so that all points go left;
    if the right subtree is the better one it moves to the left. Nothing below a place
    that no point can reach is left standing.
    """
    tree = tree.copy()
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    for b in range(len(tree.threshold) - 1, -1, -1):
        _, costs = side_costs(data.points, tree, Z, penalties, b)
        now, left, right = costs.sum(axis=0)
        norm = penalties.l1_penalty * np.abs(tree.coef[:, : data.n_open]).sum(axis=1)
        left_norm = norm[_below(tree, 2 * b + 1)].sum()
        right_norm = norm[_below(tree, 2 * b + 2)].sum()
        left_change = left - now - norm[b] - right_norm
        right_change = right - now - norm[b] - left_norm
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
