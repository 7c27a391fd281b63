"""The work on one partition for a points tree: draw a sample, and count a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from miptree.distributed._frame import Frame
from miptree.distributed._partition import rows_of
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray


class Drawn(NamedTuple):
    """Rows of a sample."""

    X: FloatArray
    """Features, truth values as 0 and 1."""
    y: IntArray
    """Class indices."""
    weight: FloatArray


class Counted(NamedTuple):
    """The rows in the leaves of a tree."""

    weight: FloatArray
    """(n_nodes, Y): the weight of each class in each leaf."""
    rows: IntArray
    """(n_nodes, Y): the rows of each class in each leaf."""
    has_weights: bool
    """Whether the weight of some row is not 1."""


def draw(table: Any, number: int, frame: Frame, allotted: IntArray, seed: int) -> Drawn:
    """Draw at random so many rows of each class as are allotted to the partition.

    ``allotted`` is for all partitions, (n_partitions, Y).
    """
    X, codes, weight = rows_of(table, frame)
    rng = np.random.default_rng([seed, number])
    drawn = [
        rng.permutation(np.flatnonzero(codes == k))[:size]
        for k, size in enumerate(allotted[number].tolist())
    ]
    rows = np.sort(np.concatenate(drawn))
    return Drawn(X[rows], codes[rows], weight[rows])


def count(table: Any, number: int, frame: Frame, tree: ObliqueTree) -> Counted:
    """Count the rows of each class in each leaf of a tree."""
    X, codes, weight = rows_of(table, frame)
    shape = tree.n_nodes, len(frame.classes)
    total, rows = np.zeros(shape), np.zeros(shape, dtype=np.intp)
    if len(X):
        place = tree.apply(frame.numbers(X)), codes
        np.add.at(total, place, weight)
        np.add.at(rows, place, 1)
    return Counted(total, rows, bool((weight != 1).any()))
