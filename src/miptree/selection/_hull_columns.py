"""What the hull kernel takes and answers; apart from it, as numba imports slowly."""

from __future__ import annotations

from typing import NamedTuple

from miptree.utils.arrays import FloatArray, IntArray

INSIDE, OUTSIDE, UNSURE, FAILED = 1, 0, 2, -1
"""Answers. UNSURE: neither feasible nor strictly separated, because of rounding."""

TOLERANCE = 1e-9
"""Feasibility, in units where every feature lies in [-1, 1]."""


class HullColumns(NamedTuple):
    """The points that may be combined."""

    X: FloatArray
    """(n, d): all points."""
    XT: FloatArray
    """(d, n): the same as columns."""
    pool: FloatArray
    """(d, n): the first ``n_pool`` columns are the points of the pool."""
    pool_id: IntArray
    """(n,): which points they are."""
    place: IntArray
    """(n,): place of each point in the pool, -1 outside."""
