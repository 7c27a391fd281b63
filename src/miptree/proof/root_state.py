"""The state of a search over the sides that points have at the root."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import FloatArray, IntArray


class RootState(NamedTuple):
    """Everything beside the root's hulls, so that the search can be paused and resumed.

    ``n`` points, ``d`` features. Arrays that begin with ``n + 1`` have one entry per
    level of the search. The two sides of the root come next.
    """

    wanted: IntArray
    """(2, n): side of a point below each side of the root: -1 left, 1 right, 0 if its
    class has no leaf there."""
    is_symmetric: bool
    """Whether the two sides of the root have the same classes."""
    rank: IntArray
    """(n,): errors known on a point's side when it came."""

    errors: IntArray
    """(n + 1, 2): errors at least, of points whose class has a leaf there."""
    lost: IntArray
    """(n + 1, 2): those of the others."""
    plane: FloatArray
    """(n + 1, 2, d + 1): splits that make few errors."""
    began: IntArray
    """(n + 1,): points decided when a level began."""
    closed: IntArray
    """(n + 1,): points decided when all that follows was."""
    chosen: IntArray
    """(n + 1,): point that divides a level."""
    n_tried: IntArray
    """(n + 1,): sides begun."""
    gain: IntArray
    """(n + 1, 2): errors that it adds on each side."""
    gain_plane: FloatArray
    """(n + 1, 2, d + 1): splits that make so many."""
    at: IntArray
    """(3,): level, whether it has just been entered, and errors of the tree found."""
    turned_back: IntArray
    """(1,): fewest errors, above those allowed, at which the search turned back."""

    systems: IntArray
    """(3, n): sides at the root and at the two nodes below it."""
    unknown: IntArray
    """(n,): zeros, the ranks of points in a question about all three splits."""
    tree: FloatArray
    """(3, d + 1): the tree found."""


def begin_roots(wanted: IntArray, is_symmetric: bool, d: int) -> RootState:
    """Make the state of a fresh search."""
    n = wanted.shape[1]

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    plane = np.zeros((n + 1, 2, d + 1))
    plane[0, :, d] = 1.0
    return RootState(
        wanted, is_symmetric, zeros(n),
        zeros(n + 1, 2), zeros(n + 1, 2), plane,
        zeros(n + 1), zeros(n + 1), zeros(n + 1), zeros(n + 1),
        zeros(n + 1, 2), np.zeros((n + 1, 2, d + 1)),
        np.array([0, 1, 0]), np.full(1, 2**62),
        zeros(3, n), zeros(n), np.zeros((3, d + 1)),
    )  # fmt: skip
