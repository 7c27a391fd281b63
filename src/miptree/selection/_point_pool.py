"""A growing pool of points, and other points decided against it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
from joblib import delayed

from miptree.control.clock import Clock
from miptree.control.threads import on_threads
from miptree.selection._hull_columns import (
    INSIDE,
    OUTSIDE,
    UNSURE,
    Decided,
    HullColumns,
)
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_CHUNK = 256
"""Points that share a chain of warm starts, whatever the number of jobs."""
_FEW = 16
"""Points up to which a stop need not be heard before all of them are decided."""
_UNDECIDED = -1


class PointPool:
    """Points as columns of the LPs, and what is known of all points.

    Parameters
    ----------
    Z : float array of shape (n, d)
        Distinct points, features in about [-1, 1].
    n_jobs : int
        Jobs of joblib; the result does not depend on it.
    with_weights : bool
        Whether to keep the weights.
    clock : Clock, optional
        When it is over, points are left unsure.

    Attributes
    ----------
    answer : int array of shape (n,)
        INSIDE or OUTSIDE, once decided.
    weight_on, weight : arrays of shape (n, d + 1)
        Points that express an inside point (-1 for none), and their weights.
    n_unsure : int
        Points that rounding or the clock left undecided; they count as outside.
    """

    def __init__(
        self,
        Z: FloatArray,
        n_jobs: int = 1,
        with_weights: bool = True,
        clock: Clock | None = None,
    ) -> None:
        n, d = Z.shape
        self.n_jobs, self.with_weights = n_jobs, with_weights
        self.clock = clock or Clock()
        self.Z = np.ascontiguousarray(Z)
        self.ZT = np.ascontiguousarray(Z.T)
        self.n_pool = self.n_unsure = 0
        self._columns: FloatArray = np.empty((d, min(n, 1024)))
        self._ids: IntArray = np.empty(n, dtype=np.int64)
        self._place: IntArray = np.full(n, -1, dtype=np.int64)
        self.answer = np.full(n, _UNDECIDED, dtype=np.int64)
        width = d + 1 if with_weights else 0
        self.weight_on: IntArray = np.full((n, width), -1, dtype=np.int64)
        self.weight: FloatArray = np.zeros((n, width))

    @property
    def ids(self) -> IntArray:
        """Points of the pool."""
        return self._ids[: self.n_pool]

    @property
    def inside(self) -> BoolArray:
        """(n,): whether a point is a combination of others."""
        return self.answer == INSIDE

    def outside_of(self, points: IntArray) -> IntArray:
        """Return those of the points that are decided to be outside."""
        return points[self.answer[points] == OUTSIDE]

    def not_in(self, points: IntArray) -> IntArray:
        """Return those of the points that are not in the pool."""
        return points[self._place[points] < 0]

    def decide(
        self,
        points: IntArray,
        box: FloatArray | None = None,
        *,
        all_points: bool = False,
        warm: bool = False,
    ) -> tuple[IntArray, IntArray]:
        """Decide points and note answers and weights.

        Parameters
        ----------
        box : float array of shape (d,), optional
            Difference allowed in each feature.
        all_points : bool
            Whether points outside the pool may help.
        warm : bool
            Whether neighbours in ``points`` are likely to be close.

        Returns
        -------
        found, extreme : int array
            Points outside the pool that helped; those of them certified extreme.
        """
        if not len(points):
            return points, points
        box = np.zeros(self.Z.shape[1]) if box is None else box
        columns = HullColumns(
            self.Z, self.ZT, self._columns, self._ids, self._place, self.n_pool
        )
        chunks, how = list(blocks(points, _CHUNK)), (box, all_points, warm)
        # A thread that looks at the clock for the kernel would take longer than few do.
        few = nullcontext(np.zeros(1, dtype=np.uint8))
        with few if len(points) < _FEW else self.clock.flag() as stop:
            results = on_threads(self.n_jobs)(
                delayed(_decide_chunk)(
                    chunk, columns, *how, self.with_weights, self.clock, stop
                )
                for chunk in chunks
            )
        for chunk, decided in zip(chunks, results, strict=True):
            self.answer[chunk] = decided.answer
            self.weight_on[chunk] = decided.weight_on
            self.weight[chunk] = decided.weight
            self.n_unsure += decided.n_unsure
        found = np.concatenate([decided.found for decided in results])
        extreme = np.concatenate([decided.found_extreme for decided in results]) > 0
        return np.unique(found), found[extreme]

    def add(self, points: IntArray) -> None:
        """Take points into the pool; those in it stay."""
        new = self.not_in(points)
        end, room = self.n_pool + len(new), self._columns.shape[1]
        if end > room:
            size = min(max(2 * room, end), len(self.Z))
            self._columns = np.pad(self._columns, ((0, 0), (0, size - room)))
        self._columns[:, self.n_pool : end] = self.ZT[:, new]
        self._ids[self.n_pool : end] = new
        self._place[new] = np.arange(self.n_pool, end)
        self.n_pool = end

    def remove(self, point: int) -> None:
        """Take a point out of the pool."""
        hole, last = self._place[point], self.n_pool - 1
        moved = self._ids[last]
        self._columns[:, hole] = self._columns[:, last]
        self._ids[hole], self._place[moved] = moved, hole
        self._place[point] = -1
        self.n_pool = last


def _decide_chunk(
    points: IntArray,
    columns: HullColumns,
    box: FloatArray,
    all_points: bool,
    warm: bool,
    with_weights: bool,
    clock: Clock,
    stop: BoolArray,
) -> Decided:
    """Decide some points, unless the clock is over."""
    if clock.is_over:
        return _unsure(len(points), box.size + 1 if with_weights else 0)
    from miptree.selection._hull_kernel import decide_points

    return decide_points(points, columns, box, all_points, warm, with_weights, stop)


def _unsure(n: int, width: int) -> Decided:
    """Return what the kernel answers when it can tell nothing."""
    none = np.zeros(0, dtype=np.int64)
    answer = np.full(n, UNSURE, dtype=np.int64)
    no_weight = np.full((n, width), -1, dtype=np.int64)
    return Decided(answer, none, none, no_weight, np.zeros((n, width)), n)


def blocks(points: IntArray, size: int) -> Iterator[IntArray]:
    """Yield the points in runs of a size."""
    return (points[begin : begin + size] for begin in range(0, len(points), size))
