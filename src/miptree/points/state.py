"""The state of a search over root splits, made and read from Python."""

from __future__ import annotations

import numpy as np

from miptree.points.evaluate import NO_SPLIT, Reach, Sides
from miptree.points.known import BEST, N_EVALUATED, N_SHARES, State
from miptree.points.layout import Rows, Space
from miptree.points.roots import fill_totals, impurities
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, IntArray

_MOST_SUMS = 4096
"""Different sums of penalties that are told apart; of more any cost counts."""
UNREACHED = 1 << 60
"""Cost before the first tree."""


def begin_state(
    space: Space, rows: Rows, n_classes: int, sums: AnyArray, grain: int
) -> State:
    """Return the state in which nothing is evaluated and all splits are live."""
    n_splits, n_rows = int(space.offset[-1]), len(rows.label)
    dtype = rows.weight.dtype
    number = np.zeros(9, dtype=np.int64)
    number[BEST], number[N_SHARES] = UNREACHED, 1
    state = State(
        number,
        np.full(1, -np.inf),
        np.full((3, 3), NO_SPLIT, dtype=np.int64),
        np.zeros(len(space.n_bins), dtype=np.int32),
        np.zeros(n_splits, dtype=dtype),
        np.zeros(n_splits, dtype=dtype),
        np.zeros(n_splits, dtype=dtype),
        np.zeros(n_splits + 1, dtype=np.int32),
        Reach(np.zeros(n_splits, dtype=dtype), np.zeros(n_splits, dtype=dtype)),
        Sides(
            np.zeros(2, dtype=dtype),
            np.zeros(2, dtype=dtype),
            np.zeros(2),
            np.zeros((2, 3), dtype=np.int64),
            np.zeros((2, n_classes), dtype=dtype),
        ),
        np.zeros(n_rows, dtype=np.bool_),
        np.zeros(n_splits * n_classes, dtype=dtype),
        sums,
        np.array([grain], dtype=np.int64),
    )
    fill_totals(space, rows, state)
    return state


def purest(space: Space, state: State, n_starts: int) -> AnyArray:
    """Return the live splits of least Gini impurity, one for each set of columns."""
    impurity = np.full(len(space.n_cells), np.inf)
    split = np.zeros(len(space.n_cells), dtype=np.int64)
    impurities(space, state, impurity, split)
    order = np.argsort(impurity, kind="stable")[:n_starts]
    return split[order][impurity[order] < np.inf]


def is_open(state: State, root: int) -> bool:
    """Tell whether a root split has rows on both sides and was not evaluated."""
    return bool(state.bound_left[root] < np.iinfo(state.bound_left.dtype).max // 4)


def evaluated(state: State) -> AnyArray:
    """Return the root splits that were evaluated, in order."""
    return state.order[: state.number[N_EVALUATED]]


def penalty_sums(penalty: AnyArray, n_splits: int) -> AnyArray:
    """Return what so many splits may cost in penalties; empty if too many values."""
    values, sums = np.unique(np.append(penalty, 0)), np.zeros(1, dtype=np.int64)
    for _ in range(n_splits):
        sums = np.unique(np.add.outer(sums, values))
        if len(sums) > _MOST_SUMS:
            return np.zeros(0, dtype=np.int64)
    return sums


# -------------------------------------------------------------------------- trees


def heap_of(space: Space, rows: Rows, n_classes: int, splits: AnyArray) -> HeapTree:
    """Return the tree of given splits, with the cheapest label at every leaf.

    ``splits`` (2**D - 1, 3) holds direction, last bin on the left and first on the
    right of each node, as the kernels write them.
    """
    coef = np.zeros((len(splits), len(space.steps)))
    threshold = np.zeros(len(splits))
    for node, (f, before, after) in enumerate(splits.tolist()):
        if f != NO_SPLIT:
            np.add.at(coef[node], space.column[f], space.points[f])
            threshold[node] = space.lowest[f] + (before + after) // 2
    return labelled(HeapTree(coef, threshold, _no_labels(len(splits))), rows, n_classes)


def labelled(heap: HeapTree, rows: Rows, n_classes: int) -> HeapTree:
    """Give every leaf its cheapest label."""
    weight = np.zeros((len(heap.label), n_classes), dtype=np.int64)
    leaf = leaves_of(heap, rows)
    np.add.at(weight, (leaf, rows.label), rows.weight)
    return heap._replace(label=weight.argmax(axis=1))


def leaves_of(heap: HeapTree, rows: Rows) -> IntArray:
    """Return the leaf 0 .. 2**D - 1 of each row."""
    return heap.leaf_of(rows.grid.T.astype(np.float64))


def leaf_tree(n_columns: int, label: int, depth: int) -> HeapTree:
    """Return the tree that has one class for all rows."""
    n_nodes = 2**depth - 1
    return HeapTree(
        np.zeros((n_nodes, n_columns)),
        np.zeros(n_nodes),
        np.full(n_nodes + 1, label, dtype=np.intp),
    )


def joined(root: HeapTree, left: HeapTree, right: HeapTree) -> HeapTree:
    """Return the tree of a root, of depth 1, and two subtrees of the same depth."""
    coef, threshold = [root.coef], [root.threshold]
    for level in range(left.depth):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        coef += [left.coef[nodes], right.coef[nodes]]
        threshold += [left.threshold[nodes], right.threshold[nodes]]
    label = np.concatenate([left.label, right.label])
    return HeapTree(np.concatenate(coef), np.concatenate(threshold), label)


def _no_labels(n_nodes: int) -> IntArray:
    return np.zeros(n_nodes + 1, dtype=np.intp)
