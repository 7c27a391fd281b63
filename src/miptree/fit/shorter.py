"""Coefficients of indicators in their cheapest form, which moves no training row.

Of the indicators of a categorical column exactly one is 1 in every training row. So a
number that is added to all of their coefficients, and to the threshold, changes no
side; but it changes the sum of their sizes, and so the objective.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.data.clear_splits import NEGLIGIBLE
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

_LEAST_GAIN = 1e-9
"""Part of the sizes by which they must fall at least."""
_MOST_TRIED = 3
"""Numbers that are tried for the indicators of a column at a split."""


def with_shorter_blocks(problem: Problem, tree: ObliqueTree) -> ObliqueTree:
    """Return a tree in the user's units with cheaper coefficients of indicators.

    No training row comes to another leaf, by prediction. Neither would it with a value
    of the column that training did not meet, none of whose indicators is 1. A split
    never gets more terms.
    """
    tried = {
        node: [block for block in problem.blocks if _shifts(tree.coef[node, block])]
        for node in np.flatnonzero(~tree.is_leaf).tolist()
    }
    if not any(tried.values()):
        return tree
    passes = tree.ancestors[tree.apply(problem.X)]  # which stays as it is
    for node, blocks in tried.items():
        here = problem.X[passes[:, node]]
        for block in blocks:
            if _is_full(here[:, block]):
                tree = _shortened(here, problem.X, tree, node, block)
    return tree


def _is_full(indicators: FloatArray) -> bool:
    """Tell whether exactly one indicator is 1 in every row."""
    is_set = (indicators == 1.0).sum(axis=1)
    return bool((is_set == 1).all() and (indicators.sum(axis=1) == 1.0).all())


def _shortened(
    X: FloatArray, all_rows: FloatArray, tree: ObliqueTree, node: int, block: IntArray
) -> ObliqueTree:
    """Return the tree with the cheapest form of a block at a node.

    ``X`` are the rows that come there: none of them may change its side. Neither may
    any of all rows with a value of the column that is not known: with it the row may
    come there, too.
    """
    rest = X @ _without(tree.coef[node], block)  # the score where no indicator is 1
    limit = tree.threshold[node]
    for shift in _shifts(tree.coef[node, block]):
        low, high = sorted((limit, limit + shift))
        if ((low < rest) & (rest <= high)).any():
            continue  # a row with an unknown value would change its side
        coef, threshold = tree.coef.copy(), tree.threshold.copy()
        coef[node, block] = _without_rounding(coef[node, block] + shift)
        threshold[node] += shift
        other = replace(tree, coef=coef, threshold=threshold)
        if _agree(tree, other, node, X) and _agree(
            tree, other, node, _without(all_rows, block)
        ):
            return other
    return tree


def _without(numbers: FloatArray, block: IntArray) -> FloatArray:
    """Return a copy in which the columns of a block are 0."""
    found = numbers.copy()
    found[..., block] = 0.0
    return found


def _agree(one: ObliqueTree, two: ObliqueTree, node: int, X: FloatArray) -> bool:
    """Tell whether two trees send each row to the same side at a node."""
    return np.array_equal(_sides(one, node, X), _sides(two, node, X))


def _sides(tree: ObliqueTree, node: int, X: FloatArray) -> IntArray:
    """Return the side of each row at a node, by prediction."""
    split = HeapTree(tree.coef[[node]], tree.threshold[[node]], np.arange(2))
    return ObliqueTree.from_heap(split).apply(X)


def _shifts(coef: FloatArray) -> list[float]:
    """List what makes coefficients smaller in sum and not more, the best first."""
    size, n_terms = np.abs(coef).sum(), np.count_nonzero(coef)
    found: list[tuple[float, float]] = []
    for value in np.unique(coef).tolist():
        shifted = _without_rounding(coef - value)
        new_size = float(np.abs(shifted).sum())
        is_better = new_size < size * (1 - _LEAST_GAIN)
        if is_better and np.count_nonzero(shifted) <= n_terms:
            found.append((new_size, -value))
    return [shift for _, shift in sorted(found)[:_MOST_TRIED]]


def _without_rounding(coef: FloatArray) -> FloatArray:
    """Return coefficients, 0 where they are left over from equal ones."""
    noise = NEGLIGIBLE * np.abs(coef).max()
    return np.where(np.abs(coef) <= noise, 0.0, coef)


def offer_shorter(best: Incumbent, problem: Problem, plan: Plan) -> None:
    """Offer the best tree with cheaper coefficients of indicators, if there are any."""
    tree = with_shorter_blocks(problem, best.tree)
    if tree is not best.tree:
        heap = problem.to_scaled(tree, plan.depth)
        best.offer(tree, plan.objective.evaluate(problem, tree), heap)
