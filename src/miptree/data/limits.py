"""The range of a column of numbers, and how many digits its numbers have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, log10

import numpy as np

from miptree.utils.arrays import FloatArray

MOST_PLACES = 300
"""Decimal places of a column, at most: float64 has no power of ten beyond."""
FEWEST_PLACES = -303
"""Decimal places of a column, at least: no range that float64 holds is wider."""
_MOST_ZEROS = 12
"""Zeros at the end of numbers that are their digits, too, at most."""
_MANY = 10
"""A few numbers may all end in zeros by chance; so many are so on purpose."""
_FINEST = 6
"""A range has at most about so many powers of 10 of steps by which a number moves."""
_FIRST = 500
"""Numbers that are looked at first: mostly they show what the others need not."""


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
    def is_range(self) -> bool:
        """Whether there is room to move, and a number that says how much."""
        return self.step / 2 <= self.width < inf

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
        exact = _exact_places(np.array([number]), self.places, self.most_places)
        return replace(self, places=min(exact, default=self.most_places))

    def round(self, number: float) -> float:
        """Write a number with the digits of the column."""
        return round(number, self.places) + 0.0  # never -0.0

    def nearest(self, number: float) -> float:
        """Return a number of the column's digits within its limits that is near."""
        ends = self.inside()
        return min(max(self.round(number), ends.low), ends.high)

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


@dataclass(frozen=True)
class NumbersSeen:
    """What limits follow from: learnt of parts of the rows, and joined.

    Attributes
    ----------
    low, high : float
        Lowest and highest number.
    some : frozenset of float
        The different numbers, or as many of them as count.
    exact : frozenset of int
        Decimal places at which rounding changes no number, as far as they matter.
    """

    low: float
    high: float
    some: frozenset[float]
    exact: frozenset[int]

    @classmethod
    def of(cls, numbers: FloatArray) -> NumbersSeen:
        """Look at numbers, of which there is one at least and none is missing."""
        low, high = float(numbers.min()), float(numbers.max())
        some = np.unique(numbers[:_FIRST])
        if len(some) < _MANY:
            some = np.unique(numbers)
        most = _most_places(high - low)
        exact = _exact_places(numbers, -_MOST_ZEROS, most)
        return cls(low, high, frozenset(some[:_MANY].tolist()), frozenset(exact))

    @classmethod
    def joined(cls, parts: Sequence[NumbersSeen]) -> NumbersSeen:
        """Join what was seen of parts of the rows, of which there is one at least."""
        return cls(
            min(part.low for part in parts),
            max(part.high for part in parts),
            frozenset().union(*(part.some for part in parts)),
            frozenset.intersection(*(part.exact for part in parts)),
        )

    def limits(self) -> Limits:
        """Return the limits of all these numbers."""
        least = -_MOST_ZEROS if len(self.some) >= _MANY else 0
        most = _most_places(self.high - self.low)
        places = min((p for p in self.exact if least <= p < most), default=most)
        return Limits(self.low, self.high, places)


def learn_limits(numbers: FloatArray) -> Limits:
    """Return the limits of numbers, of which there is one at least."""
    return NumbersSeen.of(numbers).limits()


def _exact_places(numbers: FloatArray, least: int, most: int) -> list[int]:
    """List the decimal places, below the most, at which rounding changes nothing."""
    first = numbers[:_FIRST]
    places = range(least, most)
    with np.errstate(over="ignore", invalid="ignore"):
        maybe = [p for p in places if (np.round(first, p) == first).all()]
        if len(first) == len(numbers):
            return maybe
        return [p for p in maybe if (np.round(numbers, p) == numbers).all()]


def _most_places(width: float) -> int:
    """Return how many decimal places make sense within a range."""
    if width == 0.0:
        return MOST_PLACES
    if width == inf:
        return 0
    return min(MOST_PLACES, _FINEST - ceil(log10(width)))
