"""Subset splits: the best values of one categorical feature to send left.

With the subtrees below a node fixed, every point costs so much on the left and so much
on the right, so each value of a feature goes to its cheaper side. Above two leaves the
pair of classes is free as well; trying all pairs makes the subset optimal there for any
number of classes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.data import SearchData
from miptree.search.line_svm1 import cost_below
from miptree.search.routing import points_at, score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.jit import KERNEL

_MOST_CLASSES = 40
"""Classes up to which all pairs of them are tried above two leaves."""
_LEAST_GAIN = 1e-9

Penalties = tuple[float, float, float]
"""slack_penalty, l1_penalty and margin; zeros for the plain cost of errors."""


@njit(**KERNEL)
def side_costs(
    Z: FloatArray,
    y: IntArray,
    weight: FloatArray,
    cost: FloatArray,
    label: IntArray,
    b: int,
    slack_penalty: float,
    margin: float,
) -> tuple[IntArray, FloatArray]:
    """Points at node b, and what each costs as it is, on the left, on the right."""
    index = np.empty(Z.shape[1], np.int64)
    m = points_at(Z, b, index)
    costs = np.empty((3, m))
    for q in range(m):
        for k, node in enumerate((b, 2 * b + 1, 2 * b + 2)):
            costs[k, q] = cost_below(
                Z, y, weight, cost, label, node, index[q], slack_penalty, margin
            )
    return index[:m], costs


def improve_by_subsets(
    data: SearchData, tree: HeapTree, penalties: Penalties = (0.0, 0.0, 0.0)
) -> HeapTree:
    """Tree with subset splits wherever one costs less than the split that is there."""
    if not data.n_categorical:
        return tree
    tree = tree.copy()
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    for b in range(len(tree.threshold) - 1, -1, -1):
        points, now = _costs(data, tree, Z, b, penalties)
        if not len(points):
            continue
        found = min(
            (
                (*_best_values(data, tree, b, points, now, feature), feature)
                for feature in range(data.n_categorical)
            ),
            key=lambda best: best[0],
        )
        norm = penalties[1] * np.abs(tree.coef[b, : data.n_open]).sum()
        if found[0] < now[0].sum() + norm - _LEAST_GAIN:
            set_subset(data, tree, b, found[1])
            here = slice(b, b + 1)
            Z[here] = score_tree(data.XT, tree.coef[here], tree.threshold[here])
    return tree


def random_subset(
    data: SearchData, tree: HeapTree, b: int, rng: np.random.Generator
) -> None:
    """Split node b by a random feature: its best values, or random ones; in place."""
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    points, now = _costs(data, tree, Z, b, (0.0, 0.0, 0.0))
    feature = int(rng.integers(data.n_categorical))
    if rng.random() < 0.5:
        _, left = _best_values(data, tree, b, points, now, feature)
    else:
        place = np.flatnonzero(data.value_feature == feature)
        left = place[rng.random(len(place)) < 0.5]
    set_subset(data, tree, b, left)


def set_subset(data: SearchData, tree: HeapTree, b: int, left: IntArray) -> None:
    """Send the values of these places left and all others right; in place."""
    tree.coef[b], tree.threshold[b] = 0.0, -1.0
    tree.coef[b, data.n_open + left] = -2.0


def _costs(
    data: SearchData, tree: HeapTree, Z: FloatArray, b: int, penalties: Penalties
) -> tuple[IntArray, FloatArray]:
    _, y, weight, cost = data.points
    slack_penalty, _, margin = penalties
    return side_costs(Z, y, weight, cost, tree.label, b, slack_penalty, margin)


def _best_values(
    data: SearchData,
    tree: HeapTree,
    b: int,
    points: IntArray,
    costs: FloatArray,
    feature: int,
) -> tuple[float, IntArray]:
    """Cost of the best subset split of a feature, and the values that go left."""
    code = data.codes[feature, points]
    n_values = len(data.value_feature)
    above_leaves = 2 * b + 1 >= len(tree.threshold)
    if above_leaves and data.n_classes <= _MOST_CLASSES:
        of_class = np.zeros((n_values, data.n_classes))
        np.add.at(of_class, code, data.class_costs(points))
        pair = np.minimum(of_class[:, :, None], of_class[:, None, :]).sum(axis=0)
        one, two = np.unravel_index(pair.argmin(), pair.shape)
        left, right = of_class[:, one], of_class[:, two]
    else:
        sides = np.zeros((n_values, 2))
        np.add.at(sides, code, costs[1:].T)
        left, right = sides.T
    # Values that no point here has cost nothing on either side: they go right.
    return float(np.minimum(left, right).sum()), np.flatnonzero(left < right)
