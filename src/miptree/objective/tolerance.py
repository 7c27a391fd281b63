"""Tolerances: when an objective value or a cost counts as equal to its lower bound."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from miptree.objective.bounds import REFUTED, Bound

OPTIMALITY_TOLERANCE = 1e-6
"""Distance at which a recounted objective counts as meeting its bound, relative to the
objective or to the cost of an error (``error_scale``), whichever is more."""
COST_ROUNDING = 1e-9
"""The same for the cost of errors, a sum of given numbers: rounding, and no more."""


def error_scale(errors: int, cost: float, objective: float) -> float:
    """Return the number, at most 1, that a tolerance must be small against.

    It is the mean cost of an error; without errors a thousand times the objective, so
    that a tolerance of 1e-6 is a thousandth of it at most.
    """
    return min(1.0, cost / errors if errors else 1000.0 * objective)


def meets(objective: float, bound: float, scale: float = 1.0) -> bool:
    """Tell whether an objective value is as low as its bound, to the tolerance.

    ``scale`` is that of :func:`error_scale`: the tolerance may not hide an error.
    """
    return objective - bound <= OPTIMALITY_TOLERANCE * max(scale, abs(objective))


def cost_meets(cost: float, bound: float) -> bool:
    """Tell whether the cost of errors is as low as its bound, rounding aside."""
    return cost - bound <= COST_ROUNDING * abs(cost)


def counted_meets(cost: float, bound: float, unit: float, rounding: float) -> bool:
    """Tell whether a cost counted in whole units is as low as its bound.

    Only the rounding of the two floats is allowed for, and less than half a unit of it;
    where costs were rounded to whole units, twice as much as that may change a cost.
    """
    last_digits = 1e-14 * abs(cost)
    if rounding > 0:
        return cost - bound <= 2 * rounding + last_digits
    return cost_meets(cost, bound) and cost - bound < unit / 2


def relative_gap(objective: float, bound: float, scale: float = 1.0) -> float:
    """Return (objective - bound) / objective for an objective >= 0; 0 if they meet."""
    if meets(objective, bound, scale):
        return 0.0
    return (objective - bound) / objective


def percent(gap: float) -> str:
    """Write a gap in percent, rounded up: it is never said to be less than it is.

    Examples
    --------
    >>> percent(0.2381), percent(0.3), percent(0.0)
    ('23.9 %', '30 %', '0 %')
    """
    return f"{math.ceil(1000 * gap - 1e-9) / 10:g} %"


def rounded_down(number: float, digits: int = 6) -> str:
    """Write a bound rounded down, so that no more is said than is proved.

    What lies next to a number of so many digits, by rounding alone, is that number:
    bounds on what errors cost were lowered by ``COST_ROUNDING``.

    Examples
    --------
    >>> rounded_down(8.338399), rounded_down(2.9999999999999996), rounded_down(61.0)
    ('8.33839', '3', '61')
    """
    nearly = Decimal(number + 2 * 10.0 ** -(digits + 3) * abs(number))
    return f"{float(Context(digits, ROUND_FLOOR).create_decimal(nearly)):.{digits}g}"


def rounded_up(number: float, digits: int = 6) -> str:
    """Write the most that something can be, rounded up.

    Examples
    --------
    >>> rounded_up(8.33831111), rounded_up(61.0)
    ('8.33832', '61')
    """
    nearly = Decimal(number - 2 * 10.0 ** -(digits + 3) * abs(number))
    return f"{float(Context(digits, ROUND_CEILING).create_decimal(nearly)):.{digits}g}"


def believed(
    bound: Bound, value: float, scale: float = 1.0, otherwise: float = 0.0
) -> Bound:
    """Lower a bound to the value of a tree, if it exceeds it by rounding only.

    A bound that a tree beats by more is wrong, and proves nothing: the bound
    ``otherwise`` takes its place.
    """
    if not meets(bound.value, value, scale):
        return Bound(otherwise, f"{REFUTED}{bound.proved_by}")
    return Bound(min(bound.value, value), bound.proved_by)
