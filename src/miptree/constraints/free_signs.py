"""Which signs coefficients may have, given where a tree sends the rows.

For a fixed routing and fixed labels, constraints on the directions of features are
constraints on the signs of coefficients. So the best hyperplanes remain LPs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.constraints.constraint import TreeOnRows
from miptree.constraints.features import AllowFeatures
from miptree.constraints.monotone import Monotone, leaves_below, listed_directions
from miptree.constraints.rules import Rules
from miptree.constraints.signs import Signs
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import BoolArray


class FreeSigns(NamedTuple):
    """Signs that coefficients may have, (B, d) each."""

    positive: BoolArray
    negative: BoolArray


def free_signs(rules: Rules, heap: HeapTree) -> FreeSigns:
    """Return the signs that keep the constraints, routing and labels being the same.

    Parameters
    ----------
    rules : Rules
    heap : HeapTree
        A tree in scaled units that keeps them.
    """
    tree = ObliqueTree.from_heap(heap)
    leaf = tree.apply(rules.scaled)
    view = TreeOnRows(tree, leaf, rules.population, rules.columns, rules.numbers)
    found = FreeSigns(*np.ones((2, *heap.coef.shape), dtype=bool))
    for constraint in rules.constraints:
        if isinstance(constraint, AllowFeatures):
            out = ~constraint.allowed(rules.columns)
            for node in range(len(heap.coef)):
                if constraint.is_about(node):
                    found.positive[node, out] = found.negative[node, out] = False
        if isinstance(constraint, (Monotone, Signs)):
            to_right, to_left = _free_sides(constraint, view)
            for name, sign in listed_directions(constraint):
                sides = (to_right, to_left) if sign > 0 else (to_left, to_right)
                for j in [j for j, known in enumerate(rules.numbers) if known == name]:
                    found.positive[:, j] &= sides[0]
                    found.negative[:, j] &= sides[1]
    return found


def _free_sides(
    constraint: Monotone | Signs, view: TreeOnRows
) -> tuple[BoolArray, BoolArray]:
    """Return (B,): whether a rising feature may lead right, and left, at each split."""
    nodes = np.flatnonzero(~view.tree.is_leaf)
    if isinstance(constraint, Signs):
        better = np.array(constraint.better_sides(view))[nodes]
        return better >= 0, better <= 0
    label = view.population.label_index(constraint.label, constraint.name)
    below, tree = leaves_below(view.tree), view.tree
    has_rows = np.bincount(view.leaf, minlength=tree.n_nodes) > 0
    right, left = np.ones((2, len(nodes)), dtype=bool)
    for place, node in enumerate(nodes):
        one, two = (
            tree.label[leaves[has_rows[leaves]]] == label
            for leaves in (
                below[tree.children_left[node]],
                below[tree.children_right[node]],
            )
        )
        right[place] = not one.any() or bool(two.all())
        left[place] = not two.any() or bool(one.all())
    return right, left
