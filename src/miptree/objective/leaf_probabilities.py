"""The probabilities of the classes in the leaves of a tree."""

from __future__ import annotations

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import leaf_weight
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

_USUAL_ROWS, _EVEN_ROWS = 3.0, 1.0
"""Rows added to each leaf: so many of the classes' shares of all rows, and so many of
equal shares. Chosen by log loss on development tables."""


def smoothed_frequencies(problem: Problem, tree: ObliqueTree) -> FloatArray:
    """Return (n_nodes, Y): class frequencies of the leaves, smoothed.

    The rows added have the mean weight of distinct rows, so weights and repeated rows
    agree, and the scale of the weights does not matter.
    """
    weight = leaf_weight(problem, tree.apply(problem.X), tree.n_nodes)
    return smoothed(weight, float(problem.weight.mean()))


def smoothed(weight: FloatArray, row: float) -> FloatArray:
    """Return (n_nodes, Y): frequencies with some rows added to each leaf.

    The class of most weight in a leaf stays the most probable one: where rows of usual
    shares would change that, only half as many are added as the leaf can bear.

    Parameters
    ----------
    weight : float array of shape (n_nodes, Y)
        Weight of each class in each leaf.
    row : float
        Weight of a row that is added.
    """
    usual = weight.sum(axis=0) / weight.sum()
    most = weight.argmax(axis=1)
    lead = weight.max(axis=1, keepdims=True) - weight
    pull = row * (usual - usual[most][:, None])
    bearable = np.full(weight.shape, np.inf)
    np.divide(lead, pull, out=bearable, where=pull > 0)
    least = bearable.min(axis=1, keepdims=True)
    added = np.where(least > _USUAL_ROWS, _USUAL_ROWS, least / 2)
    total = weight + row * (added * usual + _EVEN_ROWS / weight.shape[1])
    proba: FloatArray = total / total.sum(axis=1, keepdims=True)
    return proba
