"""Subset splits: the best values of one categorical feature to send left.

With the subtrees below a node fixed, every point has a cost on the left and a cost on
the right, so each value of a feature goes to its cheaper side. Above two leaves the
pair of classes is free as well; trying all pairs makes the subset optimal there for any
number of classes.
"""

from __future__ import annotations

import numpy as np

from miptree.search.data import NO_PENALTIES, Penalties, SearchData
from miptree.search.line_svm1 import side_costs
from miptree.search.routing import score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_MOST_CLASSES = 40
"""Classes up to which all pairs of them are tried above two leaves."""
_LEAST_GAIN = 1e-9


def improve_by_subsets(
    data: SearchData, tree: HeapTree, penalties: Penalties
) -> HeapTree:
    """Return a tree with subset splits wherever one costs less than the old split."""
    tree = tree.copy()
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    for b in range(len(tree.threshold) - 1, -1, -1):
        index, costs = side_costs(data.points, tree, Z, penalties, b)
        if not len(index):
            continue
        value, left = min(
            (
                _best_values(data, tree, b, index, costs, feature)
                for feature in range(data.n_categorical)
            ),
            key=lambda found: found[0],
        )
        norm = penalties.l1_penalty * np.abs(tree.coef[b, : data.n_open]).sum()
        if value < costs[:, 0].sum() + norm - _LEAST_GAIN:
            set_subset(data, tree, b, left)
            here = slice(b, b + 1)
            Z[here] = score_tree(data.XT, tree.coef[here], tree.threshold[here])
    return tree


def random_subset(
    data: SearchData, tree: HeapTree, b: int, rng: np.random.Generator
) -> None:
    """Split node b by a random feature: its best values, or random ones; in place."""
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    index, costs = side_costs(data.points, tree, Z, NO_PENALTIES, b)
    feature = int(rng.integers(data.n_categorical))
    if rng.random() < 0.5:
        _, left = _best_values(data, tree, b, index, costs, feature)
    else:
        place = np.flatnonzero(data.value_feature == feature)
        left = place[rng.random(len(place)) < 0.5]
    set_subset(data, tree, b, left)


def set_subset(data: SearchData, tree: HeapTree, b: int, left: IntArray) -> None:
    """Send the values of these places left and all others right; in place."""
    tree.coef[b], tree.threshold[b] = 0.0, -1.0
    tree.coef[b, data.n_open + left] = -2.0


def _best_values(
    data: SearchData,
    tree: HeapTree,
    b: int,
    index: IntArray,
    costs: FloatArray,
    feature: int,
) -> tuple[float, IntArray]:
    """Find the best subset split of a feature: its cost, and the values that go left.

    ``index`` and ``costs`` are the points at node b and their side costs.
    """
    code = data.value_codes[feature, index]
    n_values = len(data.value_feature)
    above_leaves = 2 * b + 1 >= len(tree.threshold)
    if above_leaves and data.n_classes <= _MOST_CLASSES:
        of_class = np.zeros((n_values, data.n_classes))
        np.add.at(of_class, code, data.class_costs(index))
        pair = np.minimum(of_class[:, :, None], of_class[:, None, :]).sum(axis=0)
        one, two = np.unravel_index(pair.argmin(), pair.shape)
        left, right = of_class[:, one], of_class[:, two]
    else:
        sides = np.zeros((n_values, 2))
        np.add.at(sides, code, costs[:, 1:])
        left, right = sides.T
    # Values that no point here has cost nothing on either side: they go right.
    return float(np.minimum(left, right).sum()), np.flatnonzero(left < right)
