"""Candidates' trees around splits of the user's own, which stay where they are.

Where such a split is the root, each side is grown on its own rows, in the candidate's
own way. Where it is further down, the candidate's tree decides how rows come there, in
one of its two forms: which side of a root is called left matters to a split below it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.constraints.placed import PlacedSplit, with_placed
from miptree.constraints.places import depth_of
from miptree.data.problem import Problem
from miptree.fit.layers import graft, subtree
from miptree.objective.leaf_labels import leaf_cost
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree
from miptree.tuning.candidates import ObliqueCandidate
from miptree.tuning.grow import Grower

_ROOTS = 2
"""Trees whose sides with a fixed split in them are grown anew."""


def grow_around(
    grower: Grower,
    splits: Sequence[PlacedSplit],
    candidates: Sequence[ObliqueCandidate],
) -> list[list[HeapTree]]:
    """Train each candidate around fixed splits; return its trees, or none.

    Best first, as :meth:`~miptree.tuning.grow.Grower.grow` does, which this is without
    fixed splits.
    """
    if not splits:
        return grower.grow(candidates)
    for split in splits:
        if split.node == 0:
            return _below(grower, split, splits, candidates)
    found = grower.grow(candidates)
    return [
        _with_sides(grower, splits, candidate, trees)
        for candidate, trees in zip(candidates, found, strict=True)
    ]


def _below(
    grower: Grower,
    root: PlacedSplit,
    splits: Sequence[PlacedSplit],
    candidates: Sequence[ObliqueCandidate],
) -> list[list[HeapTree]]:
    """Grow trees on both sides of a fixed root; the k-th best of each go together."""
    whole = with_placed(constant_tree(grower.part.problem, grower.depth), [root])
    if grower.depth == 1:
        return [[whole] for _ in candidates]
    left, right = (_side(grower, whole, splits, candidates, k) for k in (0, 1))
    grown = []
    for one, two in zip(left, right, strict=True):
        trees = [whole.copy() for _ in range(max(len(one), len(two)))]
        for number, tree in enumerate(trees):
            graft(tree, 1, one[min(number, len(one) - 1)])
            graft(tree, 2, two[min(number, len(two) - 1)])
        grown.append(trees)
    return grown


def _side(
    grower: Grower,
    whole: HeapTree,
    splits: Sequence[PlacedSplit],
    candidates: Sequence[ObliqueCandidate],
    side: int,
) -> list[list[HeapTree]]:
    """Train each candidate on a side of a root, 1 for right; at least one tree each."""
    problem, own = grower.part.problem, on_side(splits, side)
    none = with_placed(constant_tree(problem, grower.depth - 1), own)
    is_right = problem.scaled @ whole.coef[0] > whole.threshold[0]
    rows = np.flatnonzero(is_right == bool(side))
    if len(np.unique(problem.y[rows])) < 2:
        return [[none] for _ in candidates]
    grown = grow_around(grower.on_side(rows), own, candidates)
    return [trees or [none] for trees in grown]


def _with_sides(
    grower: Grower,
    splits: Sequence[PlacedSplit],
    candidate: ObliqueCandidate,
    trees: Sequence[HeapTree],
) -> list[HeapTree]:
    """Put fixed splits below the roots of trees; those of the cheapest errors first."""
    problem = grower.part.problem
    both = [form for tree in trees for form in (tree, mirrored(tree))]
    found = _cheapest_first(problem, [with_placed(form, splits) for form in both])
    if grower.depth > 2:  # else there is nothing below them
        for tree in [tree.copy() for tree in found[:_ROOTS]]:
            for side in (0, 1):
                if on_side(splits, side):
                    grown = _side(grower, tree, splits, [candidate], side)
                    graft(tree, 1 + side, grown[0][0])
            found.append(tree)
    return _cheapest_first(problem, found)


def on_side(splits: Sequence[PlacedSplit], side: int) -> list[PlacedSplit]:
    """Return the splits below a side of the root, by their places in its subtree."""
    found = []
    for split in splits:
        n_across = 2 ** depth_of(split.node)  # places of the same depth
        place = split.node - (n_across - 1)
        if n_across > 1 and place // (n_across // 2) == side:
            below = n_across // 2 - 1 + place % (n_across // 2)
            found.append(split._replace(node=below))
    return found


def mirrored(tree: HeapTree) -> HeapTree:
    """Return a tree whose root has its sides the other way round."""
    new = tree.copy()
    new.coef[0], new.threshold[0] = -tree.coef[0], -tree.threshold[0]
    for side in (1, 2):
        graft(new, 3 - side, subtree(tree, side))
    return new


def _cheapest_first(problem: Problem, trees: Sequence[HeapTree]) -> list[HeapTree]:
    """Sort trees by what their errors cost with the best labels."""

    def cost(tree: HeapTree) -> float:
        leaf = tree.leaf_of(problem.scaled)
        return float(leaf_cost(problem, leaf, len(tree.label)).min(axis=1).sum())

    return sorted(trees, key=cost)
