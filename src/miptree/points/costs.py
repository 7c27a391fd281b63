"""Costs as whole numbers of a unit, so that trees are compared without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from miptree.utils.arrays import AnyArray, FloatArray

_LARGEST_TOTAL = 1 << 50
"""Whole costs of all rows together stay below this: sums are exact, floats too."""
_LARGEST_DENOMINATOR = 1_000_000


@dataclass(frozen=True)
class Unit:
    """The unit in which costs are counted.

    Attributes
    ----------
    size : Fraction
        In the user's units.
    is_exact : bool
        Whether every cost is a whole number of units, as people mean it: 0.1 is a
        tenth and 2 / 3 two thirds, not the float64 next to it.
    """

    size: Fraction
    is_exact: bool

    @classmethod
    def of(cls, values: FloatArray, total: float) -> Unit:
        """Find the largest unit of which all values are whole numbers.

        Where it is so small that costs of ``total`` are out of reach for whole
        numbers, take a power of two instead, of which costs are rounded to multiples.
        """
        written = [_meant(v) for v in np.unique(values).tolist() if v]
        if not written:
            return cls(Fraction(1), True)
        below = math.lcm(*(value.denominator for value in written))
        above = math.gcd(*(int(value * below) for value in written))
        size = Fraction(above, below)
        if total / size < _LARGEST_TOTAL:
            return cls(size, True)
        power = math.frexp(total)[1] - _LARGEST_TOTAL.bit_length() + 1
        return cls(Fraction(2) ** power, False)

    def whole(self, values: FloatArray) -> AnyArray:
        """Return the values in units, rounded to int64."""
        distinct, place = np.unique(values, return_inverse=True)
        found = [round(_meant(v) / self.size) for v in distinct.tolist()]
        return np.array(found, dtype=np.int64)[place].reshape(values.shape)

    def rounding(self, values: FloatArray) -> FloatArray:
        """Return how much each value may differ from its whole number of units."""
        if self.is_exact:
            return np.zeros(values.shape)
        return np.full(values.shape, float(self.size))  # half of it, and float64's


def _meant(value: float) -> Fraction:
    """Return the decimal or the fraction of whole numbers that gives a float64.

    Weights such as those of ``class_weight="balanced"`` are quotients of counts.
    """
    decimal = Fraction(repr(value))
    if decimal.denominator <= _LARGEST_DENOMINATOR:
        return decimal
    quotient = decimal.limit_denominator(_LARGEST_DENOMINATOR)
    return quotient if float(quotient) == value else decimal
