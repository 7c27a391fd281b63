"""The probabilities of the classes in the leaves of a tree."""

from __future__ import annotations

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.blurred import SEEN
from miptree.objective.leaf_labels import leaf_weight
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

_USUAL_ROWS, _EVEN_ROWS = 3.0, 1.0
"""Rows added to each leaf: so many of the classes' shares of all rows, and so many of
equal shares. Chosen by log loss on development tables."""


def smoothed_frequencies(problem: Problem, tree: ObliqueTree) -> FloatArray:
    """Return (n_nodes, Y): class frequencies of the leaves, smoothed.

    A row that is added has weight 1, or the mean weight of distinct rows if that is
    less: weights and repeated rows agree.
    """
    weight = leaf_weight(problem, tree.apply(problem.X), tree.n_nodes)
    if problem.class_price is not None:
        weight = weight / problem.class_price
    return smoothed(weight, tree.label, float(problem.frequency_weight.mean()))


def smoothed(weight: FloatArray, label: IntArray, mean: float) -> FloatArray:
    """Return (n_nodes, Y): frequencies with some rows added to each leaf.

    Where the class of a leaf has the most weight it stays the most probable one: where
    rows of usual shares would change that, only half as many are added as the leaf can
    bear.

    Parameters
    ----------
    weight : float array of shape (n_nodes, Y)
        Weight of each class in each leaf.
    label : int array of shape (n_nodes,)
        Class of each leaf.
    mean : float
        Mean weight of the rows. Those that are added have this one, at most 1.
    """
    row, each = min(1.0, mean), np.arange(len(weight))
    usual = weight.sum(axis=0) / weight.sum()
    ahead = weight[each, label][:, None] - weight
    has_most = (ahead >= -SEEN * weight.max(axis=1, keepdims=True)).all(axis=1)
    pull = row * (usual - usual[label][:, None])
    bearable = np.full(weight.shape, np.inf)
    np.divide(np.maximum(ahead, 0.0), pull, out=bearable, where=pull > 0)
    least = bearable.min(axis=1)
    is_too_much = has_most & (least <= _USUAL_ROWS)
    added = np.where(is_too_much, least / 2, _USUAL_ROWS)
    total = weight + row * (added[:, None] * usual + _EVEN_ROWS / weight.shape[1])
    first = (1 + SEEN) * total.max(axis=1)
    is_behind = has_most & (total.argmax(axis=1) != label)
    total[each[is_behind], label[is_behind]] = first[is_behind]  # ties, and rounding
    proba: FloatArray = total / total.sum(axis=1, keepdims=True)
    return proba
