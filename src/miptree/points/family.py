"""The family of splits that points trees are made of: small scorecards.

A split adds up points of at most three grid columns, each a whole number of steps, and
compares the sum with a whole threshold. So a family holds finitely many **directions**
(which columns, how many points for a step of each) and each of them finitely many
thresholds.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from miptree.objective.points import INDICATOR_POINTS
from miptree.utils.arrays import AnyArray, BoolArray

MOST_FEATURES = 3
"""Columns that a split may add up."""
MOST_POINTS = 5
"""Points for a step of a number."""

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
        parts = [self._of_size(size) for size in range(1, self.max_features + 1)]
        column, points = (np.concatenate(part) for part in zip(*parts, strict=True))
        size = np.count_nonzero(points, axis=1).astype(np.int32)
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

    def _of_size(self, size: int) -> tuple[AnyArray, AnyArray]:
        """Return (m, 3) columns and (m, 3) points of the directions of a size."""
        some = itertools.combinations(self.columns, size)
        flat = np.fromiter(itertools.chain.from_iterable(some), dtype=np.int32)
        sets = flat.reshape(-1, size)
        given = np.array(_candidates(size, self.max_points), dtype=np.int32)
        place, choice = np.nonzero(self._fitting(sets, given))
        column = np.zeros((len(place), MOST_FEATURES), dtype=np.int32)
        points = np.zeros((len(place), MOST_FEATURES), dtype=np.int32)
        column[:, :size], points[:, :size] = sets[place], given[choice]
        return column, points

    def _fitting(self, sets: AnyArray, given: AnyArray) -> BoolArray:
        """Tell which points (p, size) each set of columns (c, size) may have."""
        fits = np.ones((len(sets), len(given)), dtype=np.bool_)
        source, is_category = np.array(self.source), np.array(self.is_category)
        for a, b in itertools.combinations(range(sets.shape[1]), 2):
            same = source[sets[:, a]] == source[sets[:, b]]
            # Values of one category have the same points; a number with gaps, which
            # is read in two ways, is used once.
            fits &= ~same[:, None] | (given[:, a] == given[:, b])
            fits[same & ~is_category[sets[:, a]]] = False
        is_indicator = np.array(self.steps)[sets] == 1
        if sets.shape[1] == 2:
            fits &= _of_pairs(given, self.max_points)[is_indicator @ (2, 1)]
        if self.signs:
            agreed = np.array(self.signs)[sets][:, None, :] * given
            fits &= (agreed >= 0).all(axis=2) | (agreed <= 0).all(axis=2)
        return fits


def _candidates(size: int, most: int) -> list[Points]:
    """List points that columns may have, the first of them positive."""
    found: list[Points] = [(1,)]
    if size > 1:
        found = _primitive(size, most)
    if size == 2:
        beside = itertools.product(INDICATOR_POINTS[most], (1, -1))
        found += [pair for p, s in beside for pair in ((p, s), (1, s * p))]
    return list(dict.fromkeys(found))


def _of_pairs(given: AnyArray, most: int) -> BoolArray:
    """Return (4, p): which points two columns may have, by how many are indicators.

    The rows are for none, the second only, the first only, and both.
    """
    size = np.abs(given)
    is_one, is_beside = size == 1, np.isin(size, INDICATOR_POINTS[most])
    return np.array(
        [
            (size <= most).all(axis=1),
            is_one[:, 0] & is_beside[:, 1],
            is_beside[:, 0] & is_one[:, 1],
            is_one.all(axis=1),
        ]
    )


def _primitive(size: int, most: int) -> list[Points]:
    """List points up to a size without a common divisor, the first positive."""
    either = [p for p in range(-most, most + 1) if p]
    given = itertools.product(range(1, most + 1), *[either] * (size - 1))
    return [points for points in given if math.gcd(*points) == 1]
