"""Rows with whole costs, and what a leaf or a single split of them costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .deadline import check_time
from .nodes import Anchor
from .splits import Splits
from .values import Refused

CHUNK = 256
"""Sets of rows at a time."""
EXACT_IN_FLOAT32 = 1 << 24
NEVER = 1 << 60
"""A cost that no tree has."""


@dataclass(frozen=True, eq=False)
class Space:
    """Rows with whole costs, and all ways to split them.

    Attributes
    ----------
    grid : int array of shape (n, d)
    cost : int array of shape (n, Y)
        What each class costs for each row, the cheapest 0.
    count : int array of shape (n,)
        Rows of the data behind each, for the minimum leaf size.
    splits : Splits
    min_leaf : int
    deadline : float
        When to give up, by ``time.monotonic``.
    """

    grid: np.ndarray
    cost: np.ndarray
    count: np.ndarray
    splits: Splits
    min_leaf: int
    deadline: float

    def part(self, rows: np.ndarray) -> Space:
        """Return some of the rows, given by their numbers."""
        return replace(
            self,
            grid=self.grid[rows],
            cost=self.cost[rows],
            count=self.count[rows],
            splits=self.splits.of_rows(rows),
        )

    def leaf(self, with_minimum: bool) -> int:
        """Return what a single leaf costs."""
        if with_minimum and self.count.sum() < self.min_leaf:
            return NEVER
        return int(self.cost.sum(axis=0).min())

    @property
    def number(self) -> Any:
        """The floats in which all sums of costs, counts and penalties are exact."""
        largest = int(self.cost.sum()) + int(self.splits.penalty.max(initial=0))
        largest = max(largest, int(self.count.sum()))
        return np.float32 if largest < EXACT_IN_FLOAT32 else np.float64

    def left_of(self, anchor: Anchor) -> np.ndarray:
        """Return the rows that a root split sends left, all where there is none."""
        if any(column >= self.grid.shape[1] for column in anchor.columns):
            raise Refused("An anchor of the proof file names a column that is missing.")
        points = np.array(anchor.points, dtype=np.int64)
        sums = self.grid[:, list(anchor.columns)] @ points
        return np.asarray((sums <= anchor.threshold) | (not anchor.columns))


def best_stumps(space: Space, masks: np.ndarray, with_minimum: bool) -> np.ndarray:
    """Return the least cost of a leaf or one split, in sets of rows and outside.

    Parameters
    ----------
    space : Space
    masks : bool array of shape (a, n)
        The sets.
    with_minimum : bool
        Whether every leaf needs the minimum number of rows.

    Returns
    -------
    int array of shape (2, a)
        For the sets, and for all other rows.
    """
    starts = range(0, len(masks), CHUNK)
    parts = [_of_chunk(space, masks[s : s + CHUNK], with_minimum) for s in starts]
    return np.concatenate([np.zeros((2, 0), dtype=np.int64), *parts], axis=1)


def _of_chunk(space: Space, masks: np.ndarray, with_minimum: bool) -> np.ndarray:
    splits, number = space.splits, space.number
    minimum = space.min_leaf if with_minimum else 0
    classes = [_Sums(masks, column, number) for column in space.cost.T]
    rows = _Sums(masks, space.count, number)
    leaves = np.min([sums.totals for sums in classes], axis=0)
    best = np.where(rows.totals < minimum, np.inf, leaves)
    for block in splits.blocks(len(masks)):
        check_time(space.deadline)
        left = splits.left(block).astype(number)
        least = list(classes[0].quarters(left))
        for sums in classes[1:]:
            for so_far, cost in zip(least, sums.quarters(left), strict=True):
                np.minimum(so_far, cost, out=so_far)
        if minimum > 1:
            for cost, n in zip(least, rows.quarters(left), strict=True):
                cost[n < minimum] = np.inf
        penalty = splits.penalty[block].astype(number)[:, None]
        for side in range(2):
            cost = least[2 * side] + least[2 * side + 1] + penalty
            np.minimum(best[side], cost.min(axis=0, initial=np.inf), out=best[side])
    return np.where(np.isinf(best), NEVER, best).astype(np.int64)


class _Sums:
    """Sums of whole numbers of rows, in the parts that sets and splits make.

    Parameters
    ----------
    masks : bool array of shape (a, n)
        The sets.
    values : int array of shape (n,)
        What is added up.
    number : floating type
        In which the sums are exact.
    """

    def __init__(self, masks: np.ndarray, values: np.ndarray, number: Any) -> None:
        self.values = values.astype(number)
        self.inside = np.ascontiguousarray((masks * self.values).T)
        within = self.inside.sum(axis=0)
        self.totals = np.stack([within, self.values.sum() - within])

    def quarters(self, left: np.ndarray) -> Iterator[np.ndarray]:
        """Give (b, a) sums of four parts: left and right inside, then outside."""
        inside = left @ self.inside
        outside = (left @ self.values)[:, None] - inside
        yield inside
        yield self.totals[0] - inside
        yield outside
        yield self.totals[1] - outside
