"""Arguments and answers of the hull kernel; apart from it, as numba imports slowly."""

from __future__ import annotations

from typing import NamedTuple

from miptree.utils.arrays import AnyArray, FloatArray, IntArray

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
    n_pool: int
    """Number of points in the pool."""


class Decided(NamedTuple):
    """Answers of the kernel for some points.

    Attributes
    ----------
    answer : int array of shape (n,)
        INSIDE or OUTSIDE; what stays UNSURE or FAILED in a second, wider attempt
        counts as OUTSIDE, so that the point is kept.
    found, found_extreme : arrays
        Points that passes over all points took in; which are certified extreme.
    weight_on, weight : arrays of shape (n, d + 1) or (n, 0)
        Points combined (-1 for none) and their weights.
    n_unsure : int
        Points that were kept for lack of a decision.
    """

    answer: IntArray
    found: IntArray
    found_extreme: AnyArray
    weight_on: IntArray
    weight: FloatArray
    n_unsure: int
