"""Numbers that every database reads as the same float64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from miptree.utils.decimals import shortest_decimal

_LARGEST_POWER = 62
"""2**62 is the largest power of two that every database reads exactly."""
_MOST_PLACES = 15
"""10**15 is a power of ten that every database reads exactly."""


def sql_number(value: float) -> str:
    """Write a float64 so that every database reads the same float64."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    decimal = f"{size:.15g}"
    if Fraction(decimal) == Fraction(size) and "e" not in decimal:
        return f"{sign}{decimal}e0"
    # A decimal would have to be rounded, and SQLite, for one, does not always round to
    # the nearest float64. A whole number below 2**53 and a power of ten are exact, and
    # so their quotient is rounded once; a power of two does for all other numbers.
    digits, exponent = shortest_decimal(size)
    if digits < 2**53 and -_MOST_PLACES <= exponent < 0:
        return f"(CAST({sign}{digits} AS DOUBLE PRECISION) / {10**-exponent}e0)"
    whole, divisor = size.as_integer_ratio()
    shift = 1 - divisor.bit_length()
    while whole.bit_length() > 53:
        whole, shift = whole >> 1, shift + 1
    operator, left = ("*", shift) if shift > 0 else ("/", -shift)
    text = f"CAST({sign}{whole} AS DOUBLE PRECISION)"
    while left > 0:
        step = min(left, _LARGEST_POWER)
        text, left = f"{text} {operator} {2**step}e0", left - step
    return f"({text})"


def share_text(share: float) -> str:
    """Write a probability as people read it; its last bit does not matter."""
    return f"{np.format_float_positional(share, trim='0')}e0"
