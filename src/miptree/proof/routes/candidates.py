"""Trees that a search of a structure came upon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.data.problem import Problem
from miptree.proof.routes.structures import Structure
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


def heap_of(
    problem: Problem,
    structure: Structure,
    coef: FloatArray,
    threshold: FloatArray,
    depth: int,
    left_values: Sequence[IntArray] = (),
) -> HeapTree:
    """Return the complete tree of a depth with the splits of a structure.

    Parameters
    ----------
    problem : Problem
    structure : Structure
    coef, threshold : float arrays of shapes (n_splits, n_open) and (n_splits,)
        Hyperplanes in scaled units.
    depth : int
        Depth of the tree; where the structure has no split, all points go left.
    left_values : sequence of n_splits int arrays
        Places of the values that go left at each subset split.
    """
    full = np.zeros((structure.n_splits, problem.n_features))
    full[:, : coef.shape[1]] = coef
    for split in np.flatnonzero(structure.is_subset).tolist():
        full[split, problem.n_open + left_values[split]] = -2.0
    threshold = np.where(structure.is_subset, -1.0, threshold)
    n_branch = 2**depth - 1
    heap = HeapTree(
        np.zeros((n_branch, problem.n_features)),
        np.ones(n_branch),
        np.zeros(n_branch + 1, dtype=np.intp),
    )
    _fill(heap, structure, full, threshold, 0, np.arange(len(structure.label)))
    return problem.into_box(heap)


def split_of(side: AnyArray, leaves: IntArray) -> int:
    """Return the split that has exactly these leaves below it, on both sides."""
    below = side[:, leaves]
    parts = (below != 0).all(axis=1) & (below.min(axis=1) != below.max(axis=1))
    return int(np.flatnonzero(parts)[0])


def _fill(
    heap: HeapTree,
    structure: Structure,
    coef: FloatArray,
    threshold: FloatArray,
    node: int,
    leaves: IntArray,
) -> None:
    """Write the subtree of some leaves at a node of the heap."""
    n_branch = len(heap.threshold)
    if len(leaves) == 1:
        first, last = node, node
        while first < n_branch:
            first, last = 2 * first + 1, 2 * last + 2
        heap.label[first - n_branch : last - n_branch + 1] = structure.label[leaves[0]]
        return
    split = split_of(structure.side, leaves)
    heap.coef[node] = coef[split]
    heap.threshold[node] = threshold[split]
    for child, side in ((2 * node + 1, -1), (2 * node + 2, 1)):
        part = leaves[structure.side[split, leaves] == side]
        _fill(heap, structure, coef, threshold, child, part)
