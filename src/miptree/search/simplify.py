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
    """Return a tree without the splits whose removal does not raise the objective.

    A removed split has ``coef = 0`` and ``threshold = 1``, so that all points go left;
    if the right subtree is the better one it moves to the left. Splits that no point
    can reach are removed as well.
    """
    tree = tree.copy()
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    for b in range(len(tree.threshold) - 1, -1, -1):
        _, costs = side_costs(data.points, tree, Z, penalties, b)
        now, left, right = costs.sum(axis=0)
        norm = penalties.l1_penalty * np.abs(tree.coef[:, : data.n_open]).sum(axis=1)
        left_norm = norm[_subtree(tree, 2 * b + 1)[0]].sum()
        right_norm = norm[_subtree(tree, 2 * b + 2)[0]].sum()
        left_change = left - now - norm[b] - right_norm
        right_change = right - now - norm[b] - left_norm
        if right_change < left_change and right_change <= _TOLERANCE:
            _move_right_to_left(tree, Z, b)
        elif left_change > _TOLERANCE:
            continue
        _switch_off(tree, Z, b)
    return tree


def _subtree(tree: HeapTree, top: int) -> tuple[IntArray, IntArray]:
    """Return the branch nodes of the subtree at a node, and its leaf numbers."""
    n_branch, nodes, level = len(tree.threshold), [], [top]
    while level[0] < n_branch:
        nodes += level
        level = [child for b in level for child in (2 * b + 1, 2 * b + 2)]
    return np.array(nodes, dtype=np.intp), np.array(level) - n_branch


def _move_right_to_left(tree: HeapTree, Z: FloatArray, b: int) -> None:
    """Copy the right subtree of a node onto its left one."""
    left, left_leaves = _subtree(tree, 2 * b + 1)
    right, right_leaves = _subtree(tree, 2 * b + 2)
    tree.coef[left], tree.threshold[left] = tree.coef[right], tree.threshold[right]
    Z[left] = Z[right]
    tree.label[left_leaves] = tree.label[right_leaves]


def _switch_off(tree: HeapTree, Z: FloatArray, b: int) -> None:
    """Send all points left at a node and clear the right subtree."""
    right, right_leaves = _subtree(tree, 2 * b + 2)
    off = np.append(right, b)
    tree.coef[off], tree.threshold[off], Z[off] = 0.0, 1.0, -1.0
    first_left = _subtree(tree, 2 * b + 1)[1][0]
    tree.label[right_leaves] = tree.label[first_left]
