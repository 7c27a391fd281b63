"""Which points of a cloud are convex combinations of the others: b of (7), exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from miptree.control.clock import Clock
from miptree.selection._extreme import cover_by_box, find_extreme
from miptree.selection._point_pool import PointPool
from miptree.selection._points import DistinctPoints, checked_eps, checked_points
from miptree.utils.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class HullMembership:
    """What :func:`hull_membership` found, row by row of X.

    Attributes
    ----------
    inside : bool array of shape (n,)
        b_j: whether the point is, to within eps in every feature, a convex combination
        of the other distinct points. Rows with the same point agree.
    extreme : int array of shape (n_extreme,)
        The extreme points of the hull (at eps = 0), each by its first row.
    weights : csr_array of shape (n, n)
        lambda: row j holds the weights that express point j, if inside. At eps = 0 they
        are on extreme points only, so T(lambda) = lambda.
    first : int array of shape (n,)
        First row that holds the same point: duplicates are one point.
    multiplicity : int array of shape (n,)
        Rows that hold the same point.
    n_unsure : int
        Points that were not decided, because they are on the boundary to within
        rounding or the clock was over; they count as not inside, so that they are
        kept.
    """

    inside: BoolArray
    extreme: IntArray
    weights: sparse.csr_array
    first: IntArray
    multiplicity: IntArray
    n_unsure: int


def hull_membership(
    X: ArrayLike,
    eps: ArrayLike = 0.0,
    n_jobs: int = 1,
    clock: Clock | None = None,
) -> HullMembership:
    """Decide for every point whether it is a convex combination of the others.

    Solves the LP (7) of the paper, point by point, by column generation over the
    extreme points: the optimum, 17 to some thousand times faster than one LP over all
    points each on the paper's sets. "Not inside" is certified by a strictly separating
    hyperplane, "inside" by the weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers. Identical rows are one point.
    eps : float or array-like of shape (d,), default=0
        eps' of the paper: difference allowed in each feature, in the units of X.
        Points may then stand for each other; see ``CoverSelection``.
    n_jobs : int, default=1
        Jobs of joblib (threads by preference); the result does not depend on them.
    clock : Clock, optional
        When it is over, the points that are not decided yet count as not inside.

    Notes
    -----
    Rounding is allowed for by 1e-9 of each feature's half range. A single huge outlier
    makes that large in the units of the other points.

    Examples
    --------
    >>> square = [[0, 0], [0, 2], [2, 0], [2, 2], [1, 1], [1, 0]]
    >>> found = hull_membership(square)
    >>> found.inside
    array([False, False, False, False,  True,  True])
    >>> found.weights[[5]].toarray()
    array([[0.5, 0. , 0.5, 0. , 0. , 0. ]])
    """
    table = checked_points(X)
    box = checked_eps(eps, table.shape[1])
    points = DistinctPoints.of(table)
    if len(points.first) == 1:
        pool = PointPool(np.zeros((1, 1)), n_jobs, True)
        return _record(points, pool, np.zeros(1, dtype=np.intp))
    pool = PointPool(points.full_rank(), n_jobs, True, clock)
    extreme = find_extreme(pool)
    box = box[points.varies] / points.half_span
    if box.any():
        pool = cover_by_box(pool, extreme, points.Z, box)
    return _record(points, pool, extreme)


def _record(
    points: DistinctPoints, pool: PointPool, extreme: IntArray
) -> HullMembership:
    """Translate the answers for distinct points into those for rows."""
    group = points.group
    weight_on = np.where(pool.inside[:, None], pool.weight_on, -1)
    weights = points.weights_of_rows(weight_on, pool.weight)
    return HullMembership(
        pool.inside[group],
        np.sort(points.first[extreme]),
        weights,
        points.first[group],
        np.bincount(group)[group],
        pool.n_unsure,
    )
