"""Probabilities of rows near a split: such a row counts to both sides in part.

The part that goes right at a split is the logistic function of the row's distance to
it, in units of the split's *blur*: the width of the zone where both sides count.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from miptree.data.problem import Problem
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

SEEN = 1e-6
"""Part by which the class of a leaf stays ahead: seen in single precision as well."""

_WIDTHS = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Widths to choose from, in mean distances of the rows to a split."""

_MOST_ROWS = 20_000
"""Rows by which a width is chosen, at most: more would not change it."""


def blurred(
    tree: ObliqueTree, X: FloatArray, proba: FloatArray, blur: FloatArray
) -> FloatArray:
    """Return (n, Y): the probabilities of the classes for each row.

    Parameters
    ----------
    tree : ObliqueTree
    X : float array of shape (n, n_features)
    proba : float array of shape (n_nodes, Y)
        Probabilities of the classes at each leaf. Where the class of a leaf is the most
        probable one there, it is so for each of its rows.
    blur : float array of shape (n_nodes,)
        Width of the zone at each split, in the unit of its scores. Where it is 0 a row
        counts to its own side alone.
    """
    leaf = tree.apply(X)
    if not blur.any():
        found: FloatArray = proba[leaf]
        return found
    return _mixed(tree, leaf, tree.goes_right(X), _distance(tree, X), proba, blur)


def suited_blur(problem: Problem, tree: ObliqueTree, proba: FloatArray) -> FloatArray:
    """Return (n_nodes,): the blur under which the training rows are most likely.

    It is one number times the mean distance of the rows to each split; 0 at a split by
    the values of a category, which no row is near to.
    """
    none = np.zeros(tree.n_nodes)
    if tree.n_nodes == 1:
        return none
    step = -(-len(problem.y) // _MOST_ROWS)
    X, y, weight = (
        problem.X[::step],
        problem.y[::step],
        problem.frequency_weight[::step],
    )
    if not weight.any():
        return none
    leaf, right, distance = tree.apply(X), tree.goes_right(X), _distance(tree, X)
    unit = none.copy()
    unit[~tree.is_leaf] = weight @ np.abs(distance) / weight.sum()
    n_values = len(problem.value_feature)
    unit[tree.coef[:, tree.n_features - n_values :].any(axis=1)] = 0.0
    choices = [none] + [width * unit for width in _WIDTHS]
    likelihood = [
        weight @ np.log(_mixed(tree, leaf, right, distance, proba, blur)[_at(y)])
        for blur in choices
    ]
    return choices[int(np.argmax(likelihood))]


def _at(y: IntArray) -> tuple[IntArray, IntArray]:
    return np.arange(len(y)), y


def _distance(tree: ObliqueTree, X: FloatArray) -> FloatArray:
    """Return (n, n_branch): scores less thresholds."""
    branch = ~tree.is_leaf
    distance: FloatArray = X @ tree.coef[branch].T - tree.threshold[branch]
    return distance


def _mixed(
    tree: ObliqueTree,
    leaf: IntArray,
    goes_right: BoolArray,
    distance: FloatArray,
    proba: FloatArray,
    blur: FloatArray,
) -> FloatArray:
    """Return (n, Y): those of the leaves, by the part of a row that gets there."""
    reach = np.zeros((tree.n_nodes, len(leaf)))
    reach[0] = 1.0
    for column, node in enumerate(np.flatnonzero(~tree.is_leaf)):
        part = goes_right[:, column].astype(np.float64)
        if blur[node] > 0:
            part = expit(distance[:, column] / blur[node])
        reach[tree.children_left[node]] = reach[node] * (1.0 - part)
        reach[tree.children_right[node]] = reach[node] * part
    mixed: FloatArray = reach[tree.is_leaf].T @ proba[tree.is_leaf]
    own = _at(tree.label[leaf])
    others = mixed.copy()
    others[own] = 0.0
    least = (1 + SEEN) * others.max(axis=1)
    is_first = proba.argmax(axis=1) == tree.label
    mixed[own] = np.where(is_first[leaf], np.maximum(mixed[own], least), mixed[own])
    mixed /= mixed.sum(axis=1, keepdims=True)
    return mixed
