"""The fixed splits of a fit, ready to be put into trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import frexp
from typing import NamedTuple

import numpy as np

from miptree.constraints.constraint import Constraint
from miptree.constraints.errors import NotOnTheseRowsError
from miptree.constraints.fixed_split import FixedSplit
from miptree.data.problem import Problem
from miptree.tree import HeapTree, ObliqueTree, rounding_error
from miptree.utils.arrays import FloatArray
from miptree.utils.exact import Exact


class PlacedSplit(NamedTuple):
    """A split that is the same in every tree, in both units."""

    node: int
    coef: FloatArray
    """(d,): in the user's units."""
    threshold: float
    scaled_coef: FloatArray
    scaled_threshold: float


def placed_splits(
    constraints: Sequence[Constraint], problem: Problem, numbers: Sequence[str]
) -> tuple[PlacedSplit, ...]:
    """Return the fixed splits among the constraints, for the rows of a problem.

    Their scores are brought into the box of (1a), [-1, 1], and nearly fill it. The
    factor is one by which no number is rounded, so that the split stays the same.
    """
    return tuple(
        _placed(constraint, problem, numbers)
        for constraint in constraints
        if isinstance(constraint, FixedSplit)
    )


def _placed(fixed: FixedSplit, problem: Problem, numbers: Sequence[str]) -> PlacedSplit:
    coef, threshold = fixed.hyperplane(numbers), fixed.threshold
    score = problem.X @ coef - threshold
    if (score <= 0).all() or (score > 0).all():
        raise NotOnTheseRowsError(
            f"FixedSplit at node {fixed.node} sends all rows to one side. "
            f"{fixed.asked}: give a threshold that rows are on both sides of."
        )
    factor = _exact_factor(np.append(coef, threshold), float(np.abs(score).max()))
    coef, threshold = coef * factor, threshold * factor
    _refuse_rounded(fixed.node, problem.X, coef, threshold)
    scaled = coef * problem.scale
    return PlacedSplit(
        fixed.node, coef, threshold, scaled, threshold - float(coef @ problem.offset)
    )


def _exact_factor(values: FloatArray, largest: float) -> float:
    """Return about 1 / largest, at most that, so that products are not rounded."""
    power = 2.0 ** -frexp(largest)[1]  # largest * power is in [0.5, 1)
    exact = [Fraction(value) for value in values.tolist()]
    for eighths in range(15, 8, -1):
        factor = eighths / 8 * power
        products = map(Fraction, (values * factor).tolist())
        if factor * largest <= 1 and all(
            product == Fraction(factor) * value
            for product, value in zip(products, exact, strict=True)
        ):
            return factor
    return power


def _refuse_rounded(
    node: int, X: FloatArray, coef: FloatArray, threshold: float
) -> None:
    """Refuse a split on which rows lie whose side is a matter of rounding."""
    limit = np.array([threshold])
    error = rounding_error(coef[None], limit, np.abs(X).max(axis=0))[0]
    near = X[np.abs(X @ coef - threshold) <= error]
    if not len(near):
        return
    labels = np.array([0, 0], dtype=np.intp)
    split = ObliqueTree.from_heap(HeapTree(coef[None], limit, labels))
    exact = Exact.of(near) @ Exact.of(coef[:, None]) - Exact.of(limit)
    right = np.array([whole > 0 for whole in exact.whole[:, 0]])
    n_unclear = int((split.goes_right(near)[:, 0] != right).sum())
    if n_unclear:
        raise NotOnTheseRowsError(
            f"FixedSplit at node {node} has {n_unclear} rows so near to it that "
            "rounding decides their side. Move its threshold a little."
        )


def with_placed(heap: HeapTree, splits: Sequence[PlacedSplit]) -> HeapTree:
    """Return a tree in scaled units that has the splits."""
    if not splits:
        return heap
    heap = heap.copy()
    for split in splits:
        heap.coef[split.node] = split.scaled_coef
        heap.threshold[split.node] = split.scaled_threshold
    return heap


def with_exact(tree: ObliqueTree, splits: Sequence[PlacedSplit]) -> ObliqueTree:
    """Return a complete tree in the user's units that has the very numbers given."""
    if not splits:
        return tree
    coef, threshold = tree.coef.copy(), tree.threshold.copy()
    for split in splits:
        coef[split.node], threshold[split.node] = split.coef, split.threshold
    return replace(tree, coef=coef, threshold=threshold)
