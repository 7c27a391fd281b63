"""The family of splits that points trees are made of: small scorecards.

A split adds up points of at most three grid columns, each a whole number of steps, and
compares the sum with a whole threshold. So a family holds finitely many **directions**
(which columns, how many points for a step of each) and each of them finitely many
thresholds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import AnyArray

MOST_FEATURES = 3
"""Columns that a split may add up."""
MOST_POINTS = 5
"""Points for a step of a number."""
INDICATOR_POINTS = {
    1: (1, 4),
    2: (1, 2, 4, 5),
    3: (1, 2, 3, 4, 5, 10),
    4: (1, 2, 3, 4, 5, 10),
    5: (1, 2, 3, 4, 5, 10),
}
"""Points of a 0/1 column beside one number, by the points of numbers."""

Points = tuple[int, ...]


class Directions(NamedTuple):
    """Scorecards without their thresholds; those of the same columns are neighbours."""

    column: AnyArray
    """(F, 3) int32: grid columns; those in unused places are worth no points."""
    points: AnyArray
    """(F, 3) int32: points for a step of each."""
    size: AnyArray
    """(F,) int32: number of columns."""

    def card(self, direction: int) -> tuple[tuple[int, ...], Points]:
        """Return the columns of a direction and their points."""
        size = int(self.size[direction])
        columns, points = self.column[direction, :size], self.points[direction, :size]
        return tuple(columns.tolist()), tuple(points.tolist())


@dataclass(frozen=True)
class Family:
    """Which scorecards a split may be; the tuples have an entry for each grid column.

    Attributes
    ----------
    steps : tuple of int
        Largest grid value. A column of 0 steps takes no part, one of 1 is an indicator.
    source : tuple of int
        Column of the user's table.
    is_category : tuple of bool
        Whether that is a category. Two columns of the same source meet in a split only
        if it is, and then with the same points: together they say "one of these".
    max_features : int
        Most columns in a split, 1 to 3.
    max_points : int
        Most points for a step of a number, 1 to 5.
    signs : tuple of int, optional
        1 and -1 for columns whose points must all point in that direction, or all in
        the opposite one; 0 for those that are free.
    allowed : tuple of bool, optional
        Which columns may be used, by default all.
    at_root : tuple of int, optional
        1 for columns of which the first split of a tree uses one at least, -1 for
        those that it does not use, 0 for the others.
    """

    steps: tuple[int, ...]
    source: tuple[int, ...]
    is_category: tuple[bool, ...]
    max_features: int = 2
    max_points: int = 1
    signs: tuple[int, ...] = ()
    allowed: tuple[bool, ...] = ()
    at_root: tuple[int, ...] = ()

    @property
    def columns(self) -> list[int]:
        """The grid columns that take part."""
        allowed = self.allowed or (True,) * len(self.steps)
        return [j for j, s in enumerate(self.steps) if s > 0 and allowed[j]]

    @property
    def adds_up_values(self) -> bool:
        """Whether two columns stand for values of the same category."""
        sources = [self.source[j] for j in self.columns if self.is_category[j]]
        return len(set(sources)) < len(sources)

    def directions(self) -> Directions:
        """List all directions, those of one column first."""
        cards = [
            (columns, points)
            for size in range(1, self.max_features + 1)
            for columns in itertools.combinations(self.columns, size)
            for points in self._points(columns)
            if self._fits_signs(columns, points)
        ]
        column = np.zeros((len(cards), MOST_FEATURES), dtype=np.int32)
        points = np.zeros((len(cards), MOST_FEATURES), dtype=np.int32)
        for place in range(MOST_FEATURES):
            has = [f for f, (columns, _) in enumerate(cards) if len(columns) > place]
            column[has, place] = [cards[f][0][place] for f in has]
            points[has, place] = [cards[f][1][place] for f in has]
        size = np.array([len(columns) for columns, _ in cards], dtype=np.int32)
        return Directions(column, points, size)

    def roots(self, directions: Directions) -> AnyArray | None:
        """Return (F,) bool: which directions a root may have; None for all."""
        if not self.at_root:
            return None
        asked = np.array(self.at_root)
        found = np.where(directions.points != 0, asked[directions.column], 0)
        is_about = (found > 0).any(axis=1) | (asked <= 0).all()
        may_be: AnyArray = np.logical_and((found >= 0).all(axis=1), is_about)
        return may_be

    # ------------------------------------------------------------------- points

    def _points(self, columns: tuple[int, ...]) -> Iterator[Points]:
        """Give the points that some columns may have, the first of them positive."""
        if self._has_twins(columns):
            return
        steps = [self.steps[j] for j in columns]
        if len(columns) == 1:
            yield (1,)
        elif len(columns) == 2 and min(steps) == 1:
            yield from self._with_indicator(columns)
        else:
            for points in _primitive(len(columns), self.max_points):
                if self._is_one_of(columns, points):
                    yield points

    def _has_twins(self, columns: tuple[int, ...]) -> bool:
        """Tell whether two columns are one number with gaps, read in two ways."""
        numbers = [self.source[j] for j in columns if not self.is_category[j]]
        return len(set(numbers)) < len(numbers)

    def _with_indicator(self, columns: tuple[int, ...]) -> Iterator[Points]:
        first, second = (self.steps[j] == 1 for j in columns)
        sizes = (1,) if first and second else INDICATOR_POINTS[self.max_points]
        for size, sign in itertools.product(sizes, (1, -1)):
            points = (size, sign) if first else (1, sign * size)
            if self._is_one_of(columns, points):
                yield points

    def _is_one_of(self, columns: tuple[int, ...], points: Points) -> bool:
        """Tell whether indicators of one category have the same points."""
        given: dict[int, int] = {}
        return all(
            given.setdefault(self.source[j], p) == p
            for j, p in zip(columns, points, strict=True)
        )

    def _fits_signs(self, columns: tuple[int, ...], points: Points) -> bool:
        if not self.signs:
            return True
        agreed = [self.signs[j] * p for j, p in zip(columns, points, strict=True)]
        return min(agreed) >= 0 or max(agreed) <= 0


def _primitive(size: int, most: int) -> list[Points]:
    """List points up to a size without a common divisor, the first positive."""
    either = [p for p in range(-most, most + 1) if p]
    given = itertools.product(range(1, most + 1), *[either] * (size - 1))
    return [points for points in given if math.gcd(*points) == 1]
