"""Numbers as the decimals that people write."""

from __future__ import annotations

from decimal import Decimal


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
