"""Moves of the iterated search: refit a hyperplane, split by values, shake the tree."""

from __future__ import annotations

import numpy as np

from miptree.search.category_splits import random_subset
from miptree.search.data import SearchData
from miptree.search.node_refit import refit_node
from miptree.search.perturb import perturb
from miptree.search.rng import random_state
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_P_REFIT = 0.8
_P_SUBSET = 0.3
"""How often a node gets a subset split, where there are categorical features."""
_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1)
_SIZES = (0.05, 0.2, 0.5, 1.0)


def random_move(
    data: SearchData, tree: HeapTree, rng: np.random.Generator, p_sparse: float
) -> HeapTree:
    """Change a copy of a tree at random; the line search repairs it afterwards.

    A refit uses few features with probability ``p_sparse``, otherwise all of them.
    """
    tree = tree.copy()
    if data.n_categorical and (not data.n_open or rng.random() < _P_SUBSET):
        random_subset(data, tree, int(rng.integers(len(tree.threshold))), rng)
        return tree
    if rng.random() >= _P_REFIT:
        shake(data, tree, rng)
        return tree
    if rng.random() < 0.3:
        shake(data, tree, rng)
    if rng.random() < 0.15:
        tree.label[rng.integers(len(tree.label))] = rng.integers(data.n_classes)
    b = int(rng.integers(len(tree.threshold)))
    features = np.arange(data.n_open)
    if data.max_features is not None or rng.random() < p_sparse:
        features = few_features(tree.coef[b, : data.n_open], rng)[: data.max_features]
    ridge, random_weights = float(rng.choice(_RIDGES)), bool(rng.random() < 0.8)
    state = random_state(rng)
    refit_node(data.points, tree, b, features, ridge, random_weights, state)
    return tree


def few_features(coef: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw up to four features, about half of them in use by the hyperplane."""
    used = coef != 0
    chance = 1.0 / len(coef) + used / max(1, used.sum())
    size = min(len(coef), int(rng.integers(1, 5)))
    return rng.choice(len(coef), size, replace=False, p=chance / chance.sum())


def shake(data: SearchData, tree: HeapTree, rng: np.random.Generator) -> None:
    """Perturb a tree at random, in place."""
    kind = int(rng.choice(4, p=(0.35, 0.25, 0.25, 0.15)))
    size = float(rng.choice(_SIZES))
    perturb(data.points, tree, kind, size, random_state(rng))
