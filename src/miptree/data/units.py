"""Units of a grid: decimals whose multiples are the cut points of a column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import FloatArray
from miptree.utils.decimals import shortest_decimal

_SMALLEST, _LARGEST = 1e-300, 1e300
"""There are no units below the one, and none for numbers above the other."""


class GridUnit(NamedTuple):
    """The decimal ``digits * 10**exponent``."""

    digits: int
    exponent: int

    @classmethod
    def of(cls, number: float) -> GridUnit:
        """Read a number as the decimal that people write for it."""
        return cls(*shortest_decimal(number))

    @property
    def size(self) -> float:
        """The unit itself."""
        return self.times(1)

    def times(self, factor: int) -> float:
        """Return a multiple, rounded once."""
        return float(f"{self.digits * factor}e{self.exponent}")

    def factors(self, low: float, high: float) -> range:
        """Return the factors of all multiples above one number and up to another."""
        return range(self._last_up_to(low) + 1, self._last_up_to(high) + 1)

    def _last_up_to(self, number: float) -> int:
        """Return the largest factor whose multiple is not above a number."""
        factor = math.floor(number / self.size)
        while self.times(factor) > number:
            factor -= 1
        while self.times(factor + 1) <= number:
            factor += 1
        return factor

    def divides(self, numbers: FloatArray) -> bool:
        """Tell whether all numbers are multiples."""
        whole = np.rint(numbers / self.size) * self.digits
        power = 10.0 ** abs(self.exponent)  # both are exact, up to 1e22
        with np.errstate(over="ignore"):
            multiples = whole * power if self.exponent > 0 else whole / power
        return bool((multiples == numbers).all())


NO_UNIT = GridUnit(0, 0)


def round_units(low: float) -> Iterator[GridUnit]:
    """Yield 1, 2 and 5 times the powers of ten from a number on."""
    for exponent in count(math.floor(math.log10(low))):
        for digits in (1, 2, 5):
            unit = GridUnit(digits, exponent)
            if unit.size >= low * (1 - 1e-9):
                yield unit


def finest(low: float, high: float) -> float:
    """Return the least unit whose multiples are different float64 in a range."""
    largest = max(abs(low), abs(high))
    return max(2 * math.ulp(largest), _SMALLEST) if largest < _LARGEST else math.inf


def is_grid(cuts: Sequence[float], unit: float) -> bool:
    """Tell whether cuts are consecutive multiples of a unit, or one without any."""
    if unit <= 0 or len(cuts) == 0:
        return unit >= 0 and len(cuts) <= 1
    if not unit >= finest(cuts[0], cuts[-1]):
        return False
    first, decimal = round(cuts[0] / unit), GridUnit.of(unit)
    return list(cuts) == [decimal.times(first + k) for k in range(len(cuts))]
