"""Ways to fixed splits: the splits above one must do something, or it has no place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from miptree.constraints.placed import PlacedSplit
from miptree.tree import HeapTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_QUANTILES = (0.5, 0.25, 0.75)
"""Where thresholds are tried."""


def with_ways(
    scaled: FloatArray,
    heap: HeapTree,
    splits: Sequence[PlacedSplit],
    columns: Callable[[int], IntArray],
) -> HeapTree | None:
    """Return a tree in which rows reach both sides of every fixed split.

    Where a split above one does nothing, or leaves it with one side only, it becomes
    a split of one column. None where no such split does.

    Parameters
    ----------
    scaled : float array of shape (n, d)
        The rows.
    heap : HeapTree
        It has the fixed splits already.
    splits : sequence of PlacedSplit
    columns : callable
        Gives the columns that the split at a place may use.
    """
    tree, fixed = heap.copy(), {split.node for split in splits}
    for split in sorted(splits, key=lambda split: split.node):
        rows = np.arange(len(scaled))
        is_right = scaled @ split.scaled_coef > split.scaled_threshold
        for node, goes_right in _way(split.node):
            side = scaled[rows] @ tree.coef[node] > tree.threshold[node]
            if node not in fixed and not _smallest(side, is_right[rows], goes_right):
                cut = _best_cut(scaled[rows], is_right[rows], goes_right, columns(node))
                if cut is None:
                    return None
                tree.coef[node] = 0.0
                tree.coef[node, cut[0]], tree.threshold[node] = 1.0, cut[1]
                side = scaled[rows, cut[0]] > cut[1]
                fixed.add(node)  # a way to this split, which others must not close
            rows = rows[side == goes_right]
    return tree


def _way(node: int) -> list[tuple[int, bool]]:
    """Return the places above a node, and whether the way goes right there."""
    found = []
    while node:
        above = (node - 1) // 2
        found.append((above, node % 2 == 0))
        node = above
    return found[::-1]


def _smallest(side: BoolArray, is_right: BoolArray, goes_right: bool) -> int:
    """Count the least of the rows on both sides of a fixed split, and elsewhere."""
    there = side == goes_right
    right = int((there & is_right).sum())
    return min(right, int(there.sum()) - right, int((~there).sum()))


def _best_cut(
    scaled: FloatArray, is_right: BoolArray, goes_right: bool, columns: IntArray
) -> tuple[int, float] | None:
    """Return the column and threshold that leave most rows everywhere."""
    best, found = 0, None
    for column in columns:
        levels = np.sort(scaled[:, column])
        for quantile in _QUANTILES:
            place = int(quantile * (len(levels) - 1)) if len(levels) else 0
            higher = levels[place:][levels[place:] > levels[place]]
            if not len(higher):
                continue
            threshold = float(0.5 * (levels[place] + higher[0]))
            side = scaled[:, column] > threshold
            least = _smallest(side, is_right, goes_right)
            if least > best:
                best, found = least, (int(column), threshold)
    return found
