"""What fixed splits prove by counting.

Wherever a fixed split is, no more rows come to its sides than those that it and the
fixed ones above it send there, and leaves are parts of these. A fixed split at the
root, and those right below other fixed ones, have the same rows in every tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from miptree.constraints.constraint import TreeOnRows
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.placed import PlacedSplit
from miptree.constraints.rules import Rules
from miptree.constraints.signs import Signs
from miptree.tree import LEAF, ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray


def why_fixed_impossible(rules: Rules, X: FloatArray) -> str | None:
    """Say why no tree has the fixed splits; None where counting does not tell."""
    for split in rules.fixed:
        for place in (2 * split.node + 1, 2 * split.node + 2):
            why = _why_too_few(rules, split.node, _may_reach(rules.fixed, place, X))
            if why is not None:
                return why
    top = _top_of(rules.fixed, X.shape[1])
    given = rules.population, rules.columns, rules.numbers
    view = TreeOnRows(top, top.apply(X), *given)
    for constraint in rules.constraints:
        if isinstance(constraint, Signs):  # the sides of these splits stay the same
            found = constraint.check(view)
            if not found.kept:
                return f"FixedSplit and {constraint.name}: {found.sentence}"
    return None


def _why_too_few(rules: Rules, node: int, rows: BoolArray) -> str | None:
    """Say why a side of a fixed split needs more than the rows that may come there."""
    if not rows.any():
        return (
            f"FixedSplit at node {node} has rows on one side only, of those that the "
            "fixed splits above it send there."
        )
    for constraint in rules.constraints:
        if isinstance(constraint, MinLeaf):
            size, least = constraint.sizes(rules.population)
            total = sum(int(n) for n in size[rows])
            if total < least:
                unit = Fraction(1) if constraint.rows else rules.population.unit
                return (
                    f"FixedSplit and MinLeaf: {constraint.asked}, but a side of the "
                    f"split at node {node} has {float(total * unit):.6g} at most."
                )
    return None


def _may_reach(fixed: Sequence[PlacedSplit], place: int, X: FloatArray) -> BoolArray:
    """Return which rows the fixed splits above a place let come there."""
    rows, splits = np.ones(len(X), dtype=bool), {split.node: split for split in fixed}
    while place:
        is_right, place = place % 2 == 0, (place - 1) // 2
        if place in splits:
            alone = _top_of([splits[place]._replace(node=0)], X.shape[1])
            rows &= alone.goes_right(X)[:, 0] == is_right
    return rows


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
