"""The user's own splits, with the numbers that the user gave.

A fitted tree holds a multiple of them, whose scores fit (1a). Texts show the numbers
themselves; what computes, computes with those of the tree.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.classifiers.predictor import TreePredictor
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.places import places_of
from miptree.constraints.rules import number_names
from miptree.tree import ObliqueTree


def own_splits(model: TreePredictor) -> dict[int, FixedSplit]:
    """Return the splits that constraints fixed, by their nodes in the tree."""
    fixed = {
        constraint.node: constraint
        for constraint in getattr(model, "constraints_", ())
        if isinstance(constraint, FixedSplit)
    }
    if not fixed:
        return {}
    tree = model.tree_
    return {
        node: fixed[place]
        for node, place in enumerate(places_of(tree))
        if place in fixed and not tree.is_leaf[node]
    }


def own_factors(model: TreePredictor) -> dict[int, float]:
    """Return by what the numbers of the tree are multiples of those given, by node."""
    names, found = number_names(model.table_), {}
    for node, split in own_splits(model).items():
        given = split.hyperplane(names)
        used = int(np.flatnonzero(given)[0])
        found[node] = float(model.tree_.coef[node, used] / given[used])
    return found


def with_own_numbers(model: TreePredictor, tree: ObliqueTree) -> ObliqueTree:
    """Return a tree, perhaps a rounded one, with the numbers that were given."""
    found = own_splits(model)
    if not found:
        return tree
    coef, threshold = tree.coef.copy(), tree.threshold.copy()
    for node, split in found.items():
        coef[node] = split.hyperplane(number_names(model.table_))
        threshold[node] = split.threshold
    return replace(tree, coef=coef, threshold=threshold)
