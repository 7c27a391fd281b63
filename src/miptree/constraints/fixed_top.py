"""What the fixed splits at the top of every tree prove by counting.

A fixed split at the root, and those right below other fixed ones, have the same rows in
every tree. The leaves of a tree are parts of the sides of these splits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.constraints.constraint import TreeOnRows
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.placed import PlacedSplit
from miptree.constraints.places import places_of
from miptree.constraints.rules import Rules
from miptree.constraints.signs import Signs
from miptree.tree import LEAF, ObliqueTree
from miptree.utils.arrays import FloatArray


def why_fixed_impossible(rules: Rules, X: FloatArray) -> str | None:
    """Say why no tree has the fixed splits; None where counting does not tell."""
    top = _top_of(rules.fixed, X.shape[1])
    leaf = top.apply(X)
    n_rows = np.bincount(leaf, minlength=top.n_nodes)
    if not n_rows[top.is_leaf].all():
        empty = int(np.flatnonzero(top.is_leaf & (n_rows == 0))[0])
        split = (places_of(top)[empty] - 1) // 2
        return (
            f"FixedSplit at node {split} has rows on one side only, of those that the "
            "fixed splits above it send there."
        )
    view = TreeOnRows(top, leaf, rules.population, rules.columns, rules.numbers)
    for constraint in rules.constraints:
        # A leaf has no more rows than its side; the sides of a split stay the same.
        if isinstance(constraint, (MinLeaf, Signs)):
            found = constraint.check(view)
            if not found.kept:
                return f"FixedSplit and {constraint.name}: {found.sentence}"
    return None


def _top_of(fixed: Sequence[PlacedSplit], n_features: int) -> ObliqueTree:
    """Return the tree of the fixed splits that have no other split above them."""
    splits = {split.node: split for split in fixed}
    places = [0]
    for place in places:  # which grows
        if place in splits:
            places += [2 * place + 1, 2 * place + 2]
    node = {place: number for number, place in enumerate(places)}
    coef, threshold = np.zeros((len(places), n_features)), np.zeros(len(places))
    for place in places:
        if place in splits:
            coef[node[place]] = splits[place].coef
            threshold[node[place]] = splits[place].threshold
    left = [node[2 * p + 1] if p in splits else LEAF for p in places]
    right = [node[2 * p + 2] if p in splits else LEAF for p in places]
    label = np.zeros(len(places), dtype=np.intp)
    return ObliqueTree(np.array(left), np.array(right), coef, threshold, label)
