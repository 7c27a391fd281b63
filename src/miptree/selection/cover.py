"""A greedy cover: every dropped point is, within eps', a combination of kept ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.selection._directions import outward_order
from miptree.selection._point_pool import PointPool, blocks
from miptree.selection._points import DistinctPoints, checked_eps, checked_points
from miptree.selection.base import (
    Selection,
    TimedSelector,
    checked_eps_number,
    checked_share,
)
from miptree.selection.clusters import Cluster, for_each_cluster
from miptree.selection.stratified import StratifiedSelection
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

_BLOCK = 256
_WIDEST = 64.0


def greedy_cover(
    X: ArrayLike, eps: ArrayLike, n_jobs: int = 1, *, clock: Clock | None = None
) -> tuple[IntArray, sparse.csr_array]:
    """Choose rows that cover all others, and the weights that do it.

    Takes the points from the outside in, and keeps each one that the kept ones do not
    cover yet. Unlike the points with b = 0 of (7), which for eps > 0 may all be
    missing, the kept ones always cover the rest.

    Parameters
    ----------
    X : array-like of shape (n, d)
    eps : float or array-like of shape (d,)
        Difference allowed in each feature, in the units of X.
    n_jobs : int, default=1
    clock : Clock, optional
        When it is over, the points that are not decided are kept.

    Returns
    -------
    kept : int array
        Rows, each distinct point once, ascending.
    weights : csr_array of shape (n, n)
        Row j holds the convex combination of kept rows that is within eps of row j; a
        kept row stands for itself and its copies.
    """
    table = checked_points(X)
    box = checked_eps(eps, table.shape[1])
    points = DistinctPoints.of(table)
    n = len(points.first)
    if n == 1:
        pool = PointPool(np.zeros((1, 1)))
        pool.add(np.zeros(1, dtype=np.intp))
        return _in_rows(points, pool)
    pool = PointPool(points.Z, n_jobs, clock=clock)
    box = box[points.varies] / points.half_span
    order = outward_order(points.Z)
    pool.add(order[:1])
    for block in blocks(order[1:], _BLOCK):
        if pool.clock.is_over:
            break
        pool.decide(block, box)
        for point in pool.outside_of(block):
            pool.decide(np.array([point]), box)  # the pool has grown meanwhile
            pool.add(pool.outside_of(np.array([point])))
    dropped = pool.not_in(np.arange(n))
    pool.decide(dropped, box)
    pool.add(dropped[~pool.inside[dropped]])  # rounding or the clock lost them: keep
    return _in_rows(points, pool)


def _in_rows(
    points: DistinctPoints, pool: PointPool
) -> tuple[IntArray, sparse.csr_array]:
    """Translate the pool of distinct points into rows and weights."""
    kept = np.sort(pool.ids)
    pool.weight_on[kept], pool.weight[kept] = -1, 0.0
    pool.weight_on[kept, 0], pool.weight[kept, 0] = kept, 1.0
    weights = points.weights_of_rows(pool.weight_on, pool.weight)
    return np.sort(points.first[kept]), weights


@dataclass(frozen=True)
class CoverSelection(TimedSelector):
    """Per cluster, points that cover the others within eps', with their weights.

    Parameters
    ----------
    eps : float, default=0.5
        eps' in units of each feature's spread: its interquartile range over all rows,
        or its standard deviation where that is zero. Outliers do not stretch it.
    share : float, optional
        Most of the rows to keep; eps is doubled until the cover is that small.
    transfer : bool, default=True
        Whether a kept row carries the weights of the rows it stands for,
        w_i + sum_j w_j lambda_ji. A bound for the subset then holds for it only.
    seconds : float, optional
        Time for covering. Rows not decided by then are kept; where that is more than
        the share, rows are drawn as by :class:`StratifiedSelection` instead.
    n_jobs : int, default=1
        Jobs of joblib, over clusters and points.
    """

    eps: float = 0.5
    share: float | None = None
    transfer: bool = True
    n_jobs: int = 1

    def __post_init__(self) -> None:
        checked_eps_number(self.eps)
        if self.share is not None:
            checked_share("share", self.share)

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        clock, n_rows = self.started(), sum(len(c.rows) for c in clusters)
        most = n_rows if self.share is None else max(self.share * n_rows, len(clusters))
        found = self._cover(problem, clusters, self.eps, clock)
        eps = self.eps
        while len(found) > most and eps < _WIDEST and not clock.is_over:
            eps = max(2 * eps, 0.125)
            found = self._cover(problem, clusters, eps, clock)
        if len(found) > most and self.share is not None and clock.is_over:
            drawn = StratifiedSelection(self.share, reweight=self.transfer)
            return drawn.select(problem, tree, clusters)
        return found

    def _cover(
        self, problem: Problem, clusters: Sequence[Cluster], eps: float, clock: Clock
    ) -> Selection:
        """Cover the clusters, where a share is to be kept in a part of the time."""
        if self.share is not None:
            clock = clock.share(0.5)
        part = partial(self._part, problem, eps * robust_spread(problem.scaled), clock)
        return Selection.joined(for_each_cluster(part, clusters, self.n_jobs))

    def _part(
        self,
        problem: Problem,
        eps: FloatArray,
        clock: Clock,
        cluster: Cluster,
        n_jobs: int,
    ) -> Selection:
        X, own = problem.scaled[cluster.rows], problem.weight[cluster.rows]
        kept, weights = greedy_cover(X, eps, n_jobs, clock=clock)
        weight = (weights.T @ own)[kept] if self.transfer else own[kept]
        stands = np.asarray((weights > 0).sum(axis=0)).ravel()[kept] > 1
        return Selection(cluster.rows[kept], weight, stands)


def robust_spread(X: FloatArray) -> FloatArray:
    """Return (d,): interquartile range, or the standard deviation where it is zero."""
    low, high = np.percentile(X, [25, 75], axis=0)
    spread: FloatArray = np.where(high > low, high - low, X.std(axis=0))
    return spread
