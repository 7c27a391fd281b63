"""Float arrays as exact integers over one power of two: sums without rounding.

Every finite float64 is a whole number times a power of two, so products, sums and
comparisons of them are exact in Python's integers, at the speed of an object array.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from miptree.utils.arrays import AnyArray, BoolArray, FloatArray

_MANTISSA_BITS = 53


@dataclass(frozen=True, eq=False)
class Exact:
    """An array of rational numbers ``whole * 2**exponent``.

    Parameters
    ----------
    whole : object array
        Python integers.
    exponent : int
        Power of two that they share.
    """

    whole: AnyArray
    exponent: int

    @classmethod
    def of(cls, values: FloatArray) -> Exact:
        """Return the numbers that these finite floats stand for."""
        mantissa, power = np.frexp(np.asarray(values, dtype=np.float64))
        digits = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64)
        used = digits != 0
        lowest = int(power[used].min()) if used.any() else 0
        shift = np.where(used, power - lowest, 0)
        whole = np.empty(digits.shape, dtype=object)
        pairs = zip(digits.ravel().tolist(), shift.ravel().tolist(), strict=True)
        whole.ravel()[:] = [digit << places for digit, places in pairs]
        return cls(whole, lowest - _MANTISSA_BITS)

    @property
    def unit(self) -> Fraction:
        """The power of two."""
        return Fraction(2) ** self.exponent

    def __getitem__(self, index: Any) -> Exact:
        return Exact(np.asarray(self.whole[index], dtype=object), self.exponent)

    def __matmul__(self, other: Exact) -> Exact:
        product = np.asarray(self.whole @ other.whole, dtype=object)
        return Exact(product, self.exponent + other.exponent)

    def __sub__(self, other: Exact) -> Exact:
        low = min(self.exponent, other.exponent)
        return Exact(self._at(low) - other._at(low), low)

    def times(self, other: Exact) -> Exact:
        """Multiply number by number."""
        product = np.asarray(self.whole * other.whole, dtype=object)
        return Exact(product, self.exponent + other.exponent)

    def __abs__(self) -> Exact:
        return Exact(np.abs(self.whole), self.exponent)

    def _at(self, exponent: int) -> AnyArray:
        shifted: AnyArray = self.whole * (1 << (self.exponent - exponent))
        return shifted

    def is_below(self, bound: Fraction) -> BoolArray:
        """Tell where a number is smaller than the bound."""
        bound = bound / self.unit
        return np.asarray(self.whole * bound.denominator < bound.numerator, dtype=bool)

    def is_above(self, bound: Fraction) -> BoolArray:
        """Tell where a number is larger than the bound."""
        return Exact(-self.whole, self.exponent).is_below(-bound)

    def sum(self) -> Fraction:
        """Return the sum of all numbers."""
        return sum(self.whole.flat, start=0) * self.unit

    def max(self) -> Fraction:
        """Return the largest number, 0 of none."""
        return max(self.whole.flat, default=0) * self.unit

    def min(self) -> Fraction:
        """Return the smallest number, 0 of none."""
        return min(self.whole.flat, default=0) * self.unit


_SPLITTER = 2.0**27 + 1.0
"""Divides a float into two halves whose products are exact."""


def less_products(
    total: FloatArray, factors: FloatArray, values: FloatArray
) -> FloatArray:
    """Return (B,): ``total - factors @ values``, each rounded once, at the end.

    Parameters
    ----------
    total : float array of shape (B,)
    factors : float array of shape (B, d)
    values : float array of shape (d,)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = factors * values
        (a, b), (c, e) = _halves(factors), _halves(values)
        rest = ((a * c - product) + a * e + b * c) + b * e
    if not (np.isfinite(product).all() and np.isfinite(rest).all()):
        plain: FloatArray = total - factors @ values
        return plain
    terms = np.column_stack([total, -product, -rest]).tolist()
    return np.array([math.fsum(row) for row in terms])


def _halves(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first and the last digits of floats, half of them each."""
    shifted = _SPLITTER * numbers
    first = shifted - (shifted - numbers)
    return first, numbers - first
