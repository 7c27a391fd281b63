"""The ranges of numeric columns, and the digits of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log10

import numpy as np

from miptree.data import Cells, Column, GridColumn, NumericalColumn
from miptree.utils.arrays import FloatArray

_MOST_PLACES = 300
"""Decimal places of a column, at most: float64 has no power of ten beyond."""
_FEWEST_PLACES, _MANY = -12, 10
"""Of so many different numbers up to 12 zeros at the end are their digits, too."""
_FINEST = 6
"""A range has at most about so many powers of 10 of steps by which a number moves."""


@dataclass(frozen=True)
class Limits:
    """Within what a column's number may be changed, and in which steps.

    Attributes
    ----------
    low, high : float
        Lowest and highest number.
    places : int
        Decimal places that numbers have; negative: so many zeros at the end.
    """

    low: float
    high: float
    places: int

    @property
    def width(self) -> float:
        """What a change by 1 means."""
        return self.high - self.low

    @property
    def step(self) -> float:
        """The least change that the digits allow."""
        return 10.0**-self.places

    @property
    def most_places(self) -> int:
        """Decimal places that a number may have to be kept as it is."""
        return max(self.places, _most_places(self.width))

    def holding(self, number: float) -> Limits:
        """Return the limits with digits for a number as well, if they are not many."""
        most = self.most_places
        return replace(self, places=_places(np.array([number]), self.places, most))

    def round(self, number: float) -> float:
        """Write a number with the digits of the column."""
        return round(number, self.places) + 0.0  # never -0.0

    def above(self, number: float) -> float:
        """Return the least number of the column's digits that is not below another."""
        nearest = self.round(number)
        return nearest if nearest >= number else self.round(nearest + self.step)

    def below(self, number: float) -> float:
        """Return the highest number of the column's digits that is below another."""
        nearest = self.round(number)
        return nearest if nearest < number else self.round(nearest - self.step)

    def inside(self) -> Limits:
        """Return limits that are themselves numbers of the column's digits."""
        low, high = self.above(self.low), self.round(self.high)
        if high > self.high:
            high = self.round(high - self.step)
        return replace(self, low=low, high=high)


def limits_of(
    columns: Sequence[Column], table: Sequence[Cells], is_background: bool
) -> dict[int, Limits]:
    """Learn the limits of numeric columns from rows; a column without is not known.

    The cut points of a grid are known of the model, so that without background rows
    they are within the limits, too.
    """
    found = {}
    for j, (column, cells) in enumerate(zip(columns, table, strict=True)):
        if not isinstance(column, (NumericalColumn, GridColumn)):
            continue
        numbers = np.array([]) if cells.numbers is None else cells.numbers
        numbers = numbers[~np.isnan(numbers)]
        if not is_background and isinstance(column, GridColumn) and column.cuts:
            below = float(f"{column.cuts[0] - column.unit:.12g}")
            numbers = np.concatenate([numbers, [below], column.cuts])
        if len(numbers) and 0 < numbers.max() - numbers.min() < np.inf:
            found[j] = _limits(numbers)
    return found


def _limits(numbers: FloatArray) -> Limits:
    low, high = float(numbers.min()), float(numbers.max())
    # A few numbers may all end in zeros by chance; many are so on purpose.
    least = _FEWEST_PLACES if len(np.unique(numbers)) >= _MANY else 0
    return Limits(low, high, _places(numbers, least, _most_places(high - low)))


def _places(numbers: FloatArray, least: int, most: int) -> int:
    """Return how many decimal places numbers have, between two limits."""
    for places in range(least, most):
        if (np.round(numbers, places) == numbers).all():
            return places
    return most


def _most_places(width: float) -> int:
    """Return how many decimal places make sense within a range."""
    return min(_MOST_PLACES, _FINEST - ceil(log10(width)))
