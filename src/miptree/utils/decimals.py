"""Numbers as the decimals that people write."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


def shortest_decimal(size: float) -> tuple[int, int]:
    """Return whole digits and an exponent: the shortest decimal of a float64.

    Parameters
    ----------
    size : float
        A finite number >= 0.

    Examples
    --------
    >>> shortest_decimal(0.25)
    (25, -2)
    >>> shortest_decimal(2000.0)
    (2, 3)
    """
    _, digits, exponent = Decimal(repr(size)).normalize().as_tuple()
    return int("".join(map(str, digits))), int(exponent)


def written_digits(number: float) -> tuple[int, int]:
    """Return whole digits, perhaps with zeros at the end, and an exponent, fast.

    They are those of a finite float >= 0 as it is written.
    """
    mantissa, _, power = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    return int(whole + fraction), int(power or 0) - len(fraction)


def as_written(number: float) -> Fraction:
    """Return a finite float as the decimal that the user wrote.

    Read as a float, 0.3 would be a little less than three tenths.
    """
    return Fraction(repr(float(number)))
