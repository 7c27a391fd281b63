"""Symmetry breaking: which of a tree's mirror images the compact models keep.

Negating a hyperplane and swapping the subtrees below it gives the same predictions at
the same objective (points on the hyperplane may go either way in the MIP). Of these
images the models keep the one in which

* sibling leaves have strictly increasing classes. Two siblings of one class need no
  split: dropping it lowers the objective;
* of the two subtrees below any other node but the root, the first leaf of the left
  one has no larger class than the first leaf of the right one;
* one chosen point goes left at the root. The root is a parent of leaves when D = 1,
  where the first rule alone is kept.

Put in order from the leaves up, a node's mirror image leaves the order below it as it
is, so that every tree has an image that obeys all of them.
"""

from __future__ import annotations

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.model import ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray


def left_point(problem: Problem, depth: int) -> int | None:
    """Return the row that stays left of the root, None where the rule is not valid."""
    return int(np.argmax(problem.weight)) if depth >= 2 else None


def add_class_order(builder: ModelBuilder, u: IntArray) -> None:
    """Add the rules about classes, on the indicators u of shape (L, Y).

    ``sum_{j <= k} u_right,j <= sum_{j < k} u_left,j`` for siblings and every class k:
    where the right leaf's class is k or below, the left one's is below k. For the
    first leaves of two subtrees the second sum is over ``j <= k``, too.
    """
    n_leaves, n_classes = u.shape
    up_to, below = np.tri(n_classes), np.tri(n_classes, k=-1)
    inner = np.array([_first_leaves(b, n_leaves) for b in _inner_nodes(n_leaves)], int)
    first, second = inner.reshape(-1, 2).T
    for tag, left, right, lower in (
        ("sibling order", u[0::2], u[1::2], below),
        ("subtree order", u[first], u[second], up_to),
    ):
        if len(left):
            at_most = (right[:, None, :], up_to[None, :, :])
            at_least = (left[:, None, :], -lower[None, :, :])
            builder.rows(tag, left.shape, at_most, at_least, upper=0)


def _inner_nodes(n_leaves: int) -> range:
    """Return the nodes, from below, that are neither the root nor parents of leaves."""
    return range((n_leaves - 1) // 2 - 1, 0, -1)


def _first_leaves(node: int, n_leaves: int) -> tuple[int, int]:
    """Return the first leaf of the left and of the right subtree of a node."""
    left, right = 2 * node + 1, 2 * node + 2
    while left < n_leaves - 1:
        left, right = 2 * left + 1, 2 * right + 1
    return left - (n_leaves - 1), right - (n_leaves - 1)


def canonical_image(
    heap: HeapTree, leaf: IntArray, n_classes: int, left_row: int | None
) -> tuple[HeapTree, IntArray]:
    """Return the image of a tree that obeys the rules, and the leaf of each row."""
    heap, leaf = heap.copy(), leaf.copy()
    n_branch, n_leaves = len(heap.threshold), len(heap.label)
    for node in range(n_branch // 2, n_branch):
        first = 2 * node + 1 - n_branch
        left, right = heap.label[first], heap.label[first + 1]
        if left == right:
            _drop_split(heap, leaf, node, n_classes)
        elif left > right:
            heap, leaf = _mirror(heap, leaf, node)
    for node in _inner_nodes(n_leaves):
        left, right = _first_leaves(node, n_leaves)
        if heap.label[left] > heap.label[right]:
            heap, leaf = _mirror(heap, leaf, node)
    if left_row is not None and leaf[left_row] >= n_leaves // 2:
        heap, leaf = _mirror(heap, leaf, 0)
    return heap, leaf


def _drop_split(heap: HeapTree, leaf: IntArray, node: int, n_classes: int) -> None:
    """Send all points of a parent of equal leaves to one, give the other a class."""
    first = 2 * node + 1 - len(heap.threshold)
    label = heap.label[first]
    heap.coef[node] = 0.0
    if label < n_classes - 1:
        heap.threshold[node], heap.label[first + 1] = 1.0, label + 1
        leaf[leaf == first + 1] = first
    else:
        heap.threshold[node], heap.label[first] = -1.0, label - 1
        leaf[leaf == first] = first + 1


def _mirror(heap: HeapTree, leaf: IntArray, node: int) -> tuple[HeapTree, IntArray]:
    """Negate a hyperplane and swap the subtrees below it."""
    n_branch = len(heap.threshold)
    source = np.arange(n_branch + len(heap.label))
    level = np.array([node])
    while 2 * level[0] + 1 < len(source):
        level = np.concatenate([2 * level + 1, 2 * level + 2])
        level.sort()
        source[level] = np.roll(level, len(level) // 2)
    coef, threshold = heap.coef.copy(), heap.threshold.copy()
    coef[node], threshold[node] = -coef[node], -threshold[node]
    branch, leaves = source[:n_branch], source[n_branch:] - n_branch
    image = HeapTree(coef[branch], threshold[branch], heap.label[leaves])
    # Rolling half a level is its own inverse, so source also says where rows went.
    return image, leaves[leaf]
