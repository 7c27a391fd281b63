"""Repairs a routing whose leaves are too small: shift a split, or take it away."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from miptree.constraints.leaves import leaf_sizes
from miptree.data.problem import Problem
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


def with_full_leaves(
    problem: Problem, heap: HeapTree, size: AnyArray, least: Fraction
) -> list[HeapTree]:
    """Return trees near a given one, in scaled units, whose leaves hold enough.

    The split above a leaf that is too small is shifted until the leaf holds enough, or
    taken away. One tree is made either way; none is returned where neither helps.
    """
    found = []
    for shift in (True, False):
        tree: HeapTree | None = heap.copy()
        for _ in range(2 * len(heap.label)):
            if tree is None:
                break
            small = _small_leaf(problem, tree, size, least)
            if small is None:
                found.append(tree)
                break
            tree = _enlarged(problem, tree, small, size, least, shift)
    return found


def _small_leaf(
    problem: Problem, heap: HeapTree, size: AnyArray, least: Fraction
) -> int | None:
    """Return the number of a leaf that holds some rows, but not enough."""
    in_leaf = leaf_sizes(size, heap.leaf_of(problem.scaled), len(heap.label))
    small = [l for l, n in enumerate(in_leaf) if 0 < n < least]
    return small[0] if small else None


def _enlarged(
    problem: Problem,
    heap: HeapTree,
    leaf: int,
    size: AnyArray,
    least: Fraction,
    shift: bool,
) -> HeapTree | None:
    """Change the last split on the way to a leaf that other rows leave by."""
    of_row, n_branch = heap.leaf_of(problem.scaled), len(heap.threshold)
    node = n_branch + leaf
    while node > 0:
        to_right, node = node % 2 == 0, (node - 1) // 2
        rows = np.flatnonzero(_is_below(of_row + n_branch, node))
        total = sum(int(n) for n in size[rows])
        score = problem.scaled[rows] @ heap.coef[node]
        mine = (score > heap.threshold[node]) == to_right
        if mine.all():
            continue  # a split that does nothing
        can_shift = shift and total >= 2 * least
        if can_shift and not problem.is_subset_split(heap.coef[[node]])[0]:
            cut = _cut(score if not to_right else -score, size[rows], least)
            if cut is not None:
                heap.threshold[node] = cut if not to_right else -cut
                return heap
        heap.coef[node] = 0.0
        heap.threshold[node] = -1.0 if not to_right else 1.0  # all to the other side
        return heap
    return None


def _is_below(leaf: IntArray, node: int) -> AnyArray:
    """Tell which leaves, by their heap numbers, are below a node."""
    above = leaf.copy()
    while (above > node).any():
        above = np.where(above > node, (above - 1) // 2, above)
    return np.asarray(above == node)


def _cut(score: FloatArray, size: AnyArray, least: Fraction) -> float | None:
    """Return the lowest threshold with enough rows at or below it, and above it."""
    order = np.argsort(score, kind="stable")
    score, below = score[order], np.cumsum(size[order])
    total = below[-1]
    for k in range(len(score) - 1):
        if below[k] >= least and score[k] < score[k + 1]:
            return (
                0.5 * (score[k] + score[k + 1]) if total - below[k] >= least else None
            )
    return None
