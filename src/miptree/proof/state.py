"""The state of a search over where the points go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import BoolArray, FloatArray, IntArray

EXHAUSTED, PAUSED, FOUND, FULL = 0, 1, 2, 3
"""Why a kernel returned: all was tried, it may go on, a tree was found, no room."""
OPEN, ERROR = -1, -2
"""Instead of a leaf: not decided, and wrong."""
_MOST_DEPTH = 5
"""The leaves of a deeper tree are no bits of an integer."""
_MOST_NUMBERS = 5e7
"""Numbers in a state: some 400 MB."""


class SearchState(NamedTuple):
    """Everything a search is made of, so that it can be paused and resumed.

    ``n`` points, ``d`` features, ``B`` branch nodes, ``L`` leaves, depth ``D``. Arrays
    that begin with ``n + 1`` have one entry per level of the search.
    """

    X: FloatArray
    y: IntArray
    weight: FloatArray
    group: IntArray
    """(n,): number of the subset of each point; the subsets are disjoint."""
    group_bound: FloatArray
    """Proved errors of each subset."""
    group_cost: FloatArray
    """Errors so far in each subset."""
    turned_back: FloatArray
    """(1,): fewest errors, above those allowed, at which the search turned back."""

    place: IntArray
    """(n,): leaf of each point, open or error."""
    label: IntArray
    """(L,): class of each leaf, -1 before its first point."""
    leaf_size: IntArray
    """(L,): points sent to each leaf."""
    members: IntArray
    """(B, n): points sent through each node, in order."""
    side: IntArray
    """(B, n): +1 right, -1 left."""
    size: IntArray
    """(B, 3): number of members, of those on the left and on the right."""

    basis: IntArray
    inverse: FloatArray
    hull_weight: FloatArray
    plane: FloatArray
    distance: FloatArray
    """(B, ...): state of the hull LP of each node, its hyperplane and distance."""
    saved_basis: IntArray
    saved_inverse: FloatArray
    saved_weight: FloatArray
    saved_plane: FloatArray
    saved_distance: FloatArray
    """(n + 1, D, ...): the states that a level has changed."""
    trial_basis: IntArray
    trial_inverse: FloatArray
    trial_weight: FloatArray
    trial_plane: FloatArray
    """A hull LP of its own, for questions that change nothing."""
    is_right: BoolArray
    """(n,): room for the sides of the points in a hull LP."""
    asked: FloatArray
    """(B, 2): room for the answers about each side of each node."""

    open_leaves: IntArray
    """(n + 1, n): leaves open to a point, as bits."""
    chosen: IntArray
    """(n + 1,): point decided at a level."""
    options: IntArray
    """(n + 1,): leaves left to try there, as bits."""
    error_left: IntArray
    """(n + 1,): whether to try the error, too."""
    forced: IntArray
    """(n,): stack of points that are errors because all leaves are closed."""
    forced_at: IntArray
    """(n + 2,): its height when a level began."""
    level: IntArray
    """(2,): level, and whether it has just been entered."""

    @property
    def errors(self) -> float:
        """Errors that the decisions so far imply."""
        return float(np.maximum(self.group_bound, self.group_cost).sum())

    def tree(self) -> tuple[FloatArray, IntArray]:
        """Return the hyperplanes (coefficients, threshold) and the leaves' classes."""
        plane = self.plane.copy()
        # The first point of a node goes left. If nobody went right, all go left.
        plane[self.size[:, 2] == 0] = np.eye(plane.shape[1])[-1]
        return plane, np.maximum(self.label, 0)


def search_fits_memory(n: int, d: int, depth: int) -> bool:
    """Tell whether the state of a search can be held in memory."""
    return depth <= _MOST_DEPTH and (n + 1) * (n + depth * (d + 4) ** 2) < _MOST_NUMBERS


def begin_search(
    X: FloatArray,
    y: IntArray,
    weight: FloatArray,
    depth: int,
    group: IntArray,
    group_bound: FloatArray,
) -> SearchState:
    """Make the state of a fresh search."""
    n, d = X.shape
    n_branch, n_leaves, rows = 2**depth - 1, 2**depth, d + 2
    full = (1 << n_leaves) - 1

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    level = zeros(2)
    level[1] = 1
    return SearchState(
        np.ascontiguousarray(X), y.astype(np.int64), weight,
        group.astype(np.int64), group_bound, np.zeros(len(group_bound)),
        np.full(1, np.inf), np.full(n, OPEN), np.full(n_leaves, -1), zeros(n_leaves),
        zeros(n_branch, n), zeros(n_branch, n), zeros(n_branch, 3),
        zeros(n_branch, rows), np.zeros((n_branch, rows, rows)),
        np.zeros((n_branch, rows)), np.zeros((n_branch, d + 1)), np.zeros(n_branch),
        zeros(n + 1, depth, rows), np.zeros((n + 1, depth, rows, rows)),
        np.zeros((n + 1, depth, rows)), np.zeros((n + 1, depth, d + 1)),
        np.zeros((n + 1, depth)),
        zeros(rows), np.zeros((rows, rows)), np.zeros(rows), np.zeros(d + 1),
        np.zeros(n, dtype=np.bool_), np.zeros((n_branch, 2)),
        np.full((n + 1, n), full, dtype=np.int64), zeros(n + 1), zeros(n + 1),
        zeros(n + 1), zeros(n), zeros(n + 2), level,
    )  # fmt: skip
