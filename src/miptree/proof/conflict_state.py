"""Room for a search of the points that have to be errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.proof.journal import Journal, begin_journal
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

NO_ERRORS_KNOWN = 2**62
"""More than any errors: the search has not turned back."""


class Conflicts(NamedTuple):
    """Room for the search: ``n`` points, ``d`` features, ``S`` systems."""

    X: FloatArray
    unit: IntArray
    """(n,): weight of each point in whole units."""
    points: IntArray
    """(n,): points of a question, in order."""
    plane: FloatArray
    """(S, d + 1): receives the hyperplanes."""
    stage: IntArray
    """(n,): number of a point's rank among the different ones."""
    room: IntArray
    """(n + 1,): errors left from the first point of a stage on."""
    reach: IntArray
    """(n + 1,): the least of them, up to a stage."""
    packed: IntArray
    """(n + 1,): errors of disjoint conflicts from a stage on."""
    is_in: BoolArray
    """(n,): whether a point is in question, and no error."""
    is_kept: BoolArray
    """(n,): whether a point must be none."""
    is_free: BoolArray
    """(n,): whether a point may be one."""
    gone: IntArray
    option: IntArray
    """(n + 1, d + 2): points of the conflict of a level that may be errors."""
    n_options: IntArray
    n_tried: IntArray
    turned_back: IntArray
    """(1,): fewest errors, above those allowed, at which the search turned back."""
    members: IntArray
    side: IntArray
    is_right: BoolArray
    basis: IntArray
    inverse: FloatArray
    weight: FloatArray
    """The hull LP."""
    point: FloatArray
    """(d,): room for a difference of two points."""
    conflict: IntArray
    """(d + 2,): points of the conflict found last."""
    n_found: IntArray
    """(1,): number found so far, in all questions."""
    most: IntArray
    """(1,): number at which every question is left undecided."""
    journal: Journal
    """Receives what is found, where a proof is recorded."""


def begin_conflicts(
    X: FloatArray, unit: IntArray, n_systems: int, n_words: int = 0
) -> Conflicts:
    """Make room for questions about some points, and for so many words of a journal."""
    n, d = X.shape

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    def none() -> BoolArray:
        return np.zeros(n, dtype=np.bool_)

    return Conflicts(
        X, unit, zeros(n), np.zeros((n_systems, d + 1)),
        zeros(n), zeros(n + 1), zeros(n + 1), zeros(n + 1),
        none(), none(), none(), zeros(n),
        zeros(n + 1, d + 2), zeros(n + 1), zeros(n + 1), zeros(1),
        zeros(n), zeros(n), none(),
        zeros(d + 2), np.zeros((d + 2, d + 2)), np.zeros(d + 2), np.zeros(d),
        zeros(d + 2), zeros(1), np.full(1, 2**62), begin_journal(d, n_words),
    )  # fmt: skip
