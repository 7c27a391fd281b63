"""The extreme points of a cloud, and every other point as a combination of them."""

from __future__ import annotations

import numpy as np

from miptree.selection._directions import extreme_seeds, outward_order
from miptree.selection._hull_columns import OUTSIDE
from miptree.selection._point_pool import PointPool, blocks
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_SMALLEST_BLOCK, _LARGEST_BLOCK = 64, 4096


def find_extreme(pool: PointPool) -> IntArray:
    """Decide all points of an empty pool and return the extreme ones.

    Every point is decided against the pool; only when that does not suffice does one
    pass over all points look for a point to take in. So the LPs are as small as the
    hull, and weights fall on extreme points by construction.
    """
    seeds, certain = extreme_seeds(pool.Z, pool.clock)
    certified = np.zeros(len(pool.Z), dtype=bool)
    certified[certain] = True
    pool.add(seeds)
    _decide_all(pool, certified)
    _clean(pool, certified)
    extreme = np.sort(pool.ids)
    pool.answer[extreme] = OUTSIDE
    if pool.with_weights:
        _weigh_on(pool, extreme)
    return np.sort(pool.ids)


def cover_by_box(
    pool: PointPool, extreme: IntArray, Z: FloatArray, box: FloatArray
) -> PointPool:
    """Decide the extreme points again, in units Z and with a box around each.

    All points are columns: what was inside the hull may be what is left of it. The
    others are inside as before. Returns the pool with all answers.
    """
    boxed = PointPool(Z, pool.n_jobs, pool.with_weights, pool.clock)
    boxed.add(extreme)
    boxed.answer[:], boxed.n_unsure = pool.answer, pool.n_unsure
    width = pool.weight.shape[1]
    boxed.weight_on[:, :width], boxed.weight[:, :width] = pool.weight_on, pool.weight
    for points in blocks(extreme, _LARGEST_BLOCK):
        found, _ = boxed.decide(points, box, all_points=True)
        boxed.add(found)
    return boxed


def _decide_all(pool: PointPool, certified: BoolArray) -> None:
    """Decide the points outside the pool, the outer ones first."""
    order, begin, size = outward_order(pool.Z), 0, _SMALLEST_BLOCK
    while begin < len(order):
        points = pool.not_in(order[begin : begin + size])
        begin += size
        if not len(points):
            continue
        found, extreme = pool.decide(points, all_points=True, warm=True)
        outside = pool.outside_of(points)
        certified[outside] = certified[extreme] = True
        pool.add(outside)
        pool.add(found)
        few = len(outside) + len(found) < 0.05 * len(points)
        size = int(1.5 * size) if few else size // 2
        size = min(max(size, _SMALLEST_BLOCK), _LARGEST_BLOCK)


def _clean(pool: PointPool, certified: BoolArray) -> None:
    """Drop points of the pool that are no extreme points, such as ties."""
    doubtful = pool.ids[~certified[pool.ids]]
    pool.decide(doubtful)
    for point in doubtful[pool.inside[doubtful]]:
        # One at a time: two of them must not stand for each other.
        pool.decide(np.array([point]))
        if pool.inside[point]:
            pool.remove(int(point))


def _weigh_on(pool: PointPool, extreme: IntArray) -> None:
    """Give the points weights on the extreme points alone (T(lambda) = lambda)."""
    is_extreme = np.zeros(len(pool.Z) + 1, dtype=bool)
    is_extreme[extreme] = is_extreme[-1] = True  # -1 stands for no point
    astray = ~is_extreme[pool.weight_on].all(axis=1)
    astray |= (pool.weight_on < 0).all(axis=1)
    for points in blocks(np.flatnonzero(astray & pool.inside), _LARGEST_BLOCK):
        pool.decide(points, warm=True)
        pool.add(pool.outside_of(points))  # only rounding can lose one: keep it
