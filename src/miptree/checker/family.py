"""The family of splits: which grid columns may be added up, and with which points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from .columns import ColumnRule
from .points_file import Limits
from .values import TooMuch

BESIDE_A_NUMBER = {
    1: (1, 4),
    2: (1, 2, 4, 5),
    3: (1, 2, 3, 4, 5, 10),
    4: (1, 2, 3, 4, 5, 10),
    5: (1, 2, 3, 4, 5, 10),
}
"""Points of a 0/1 column beside a number, for the most points of a number."""
MAX_DIRECTIONS = 5_000_000

Card = tuple[tuple[int, ...], tuple[int, ...]]
"""Columns of a split in ascending order, and their points."""


class Family:
    """The splits that trees are made of.

    Parameters
    ----------
    columns : sequence of ColumnRule
        The columns of the data.
    limits : Limits
        Most columns, most points, signs and allowed columns.
    """

    def __init__(self, columns: Sequence[ColumnRule], limits: Limits) -> None:
        self.limits = limits
        self.steps: list[int] = []
        self.source: list[int] = []
        self.is_category: list[bool] = []
        for number, column in enumerate(columns):
            self.steps += column.steps
            self.source += [number] * column.n_numbers
            self.is_category += [column.is_category] * column.n_numbers

    @property
    def usable(self) -> list[int]:
        """Grid columns that take part."""
        allowed = self.limits.allowed or (True,) * len(self.steps)
        return [j for j, n in enumerate(self.steps) if n >= 1 and allowed[j]]

    def cards(self) -> Iterator[Card]:
        """List all splits without their thresholds; the first points are positive."""
        number = 0
        for size in range(1, self.limits.max_features + 1):
            for columns in itertools.combinations(self.usable, size):
                for points in self._points(columns):
                    number += 1
                    if number > MAX_DIRECTIONS:
                        raise TooMuch("The family has too many splits to list here.")
                    if self._keeps_signs(columns, points):
                        yield columns, points

    def has(self, columns: tuple[int, ...], points: tuple[int, ...]) -> bool:
        """Tell whether a split, or its mirror image, is one of the family."""
        if not set(columns) <= set(self.usable):
            return False
        if not 1 <= len(columns) <= self.limits.max_features:
            return False
        turned = points if points[0] > 0 else tuple(-p for p in points)
        fits = turned in set(self._points(columns))
        return fits and self._keeps_signs(columns, points)

    def _points(self, columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        sources = [self.source[j] for j in columns]
        for a, b in itertools.combinations(range(len(columns)), 2):
            if sources[a] == sources[b] and not self.is_category[columns[a]]:
                return  # one number with gaps, read in two ways
        for points in self._sizes(columns):
            pairs = list(zip(sources, points, strict=True))
            if len(set(pairs)) == len(set(sources)):  # one value of a source: "or"
                yield points

    def _sizes(self, columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(columns) == 1:
            yield (1,)
            return
        most, signs = self.limits.max_points, (1, -1)
        is_yes_no = [self.steps[j] == 1 for j in columns]
        if len(columns) == 2 and any(is_yes_no):
            sizes = (1,) if all(is_yes_no) else BESIDE_A_NUMBER[most]
            for size, sign in itertools.product(sizes, signs):
                yield (size, sign) if is_yes_no[0] else (1, sign * size)
            return
        either = [sign * size for size in range(1, most + 1) for sign in signs]
        others = itertools.product(either, repeat=len(columns) - 1)
        for first, rest in itertools.product(range(1, most + 1), list(others)):
            if math.gcd(first, *rest) == 1:
                yield (first, *rest)

    def _keeps_signs(self, columns: tuple[int, ...], points: tuple[int, ...]) -> bool:
        """Tell whether points agree with all signs, or with none."""
        signs = self.limits.signs
        if not signs:
            return True
        sides = {
            signs[j] * (1 if p > 0 else -1)
            for j, p in zip(columns, points, strict=True)
        }
        return not {1, -1} <= sides
