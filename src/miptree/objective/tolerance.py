"""Tolerances: when an objective value or a cost counts as equal to its lower bound."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import NamedTuple

from miptree.objective.bounds import REFUTED, Bound

OPTIMALITY_TOLERANCE = 1e-6
"""Part of the avoidable objective by which a proof that ends may be below a tree."""
COST_ROUNDING = 1e-9
"""Relative rounding of the cost of errors, a sum of given numbers, and no more."""
LAST_DIGITS = 1e-14
"""Relative rounding of a recounted number and a bound that are the same."""


_SMALL_GAP = 5e-4
"""A gap below this is written with one digit."""


class Leeway(NamedTuple):
    """How far below a tree's value a bound may be, and count as meeting it.

    Proofs of objectives that are real numbers end a little below the best value. That
    must not hide an error, whatever all trees cost anyway; and certificates say how
    much it is.

    Attributes
    ----------
    unavoidable : float
        What every tree costs, in units of the objective.
    cheapest : float
        What the cheapest error adds to the objective.
    """

    unavoidable: float = 0.0
    cheapest: float = 1.0

    def avoidable(self, objective: float) -> float:
        """Return the part of an objective value that not every tree costs."""
        return max(0.0, objective - self.unavoidable)

    def below(self, objective: float) -> float:
        """Return how far below an objective value its bound may be.

        Where no more than norms of hyperplanes are to be paid, next to nothing beside
        an error, it is a thousandth of these at most.
        """
        avoidable = self.avoidable(objective)
        size = min(max(avoidable, self.cheapest), 1000.0 * avoidable)
        return min(OPTIMALITY_TOLERANCE * size, 0.5 * self.cheapest)

    def meets(self, objective: float, bound: float) -> bool:
        """Tell whether an objective value is as low as its bound, to the leeway."""
        return objective - bound <= self.below(objective)

    def gap(self, objective: float, bound: float) -> float:
        """Return the relative gap of an objective >= 0; 0 if it meets the bound."""
        if self.meets(objective, bound):
            return 0.0
        return relative_gap(objective, bound)

    def believed(self, bound: Bound, value: float, otherwise: float = 0.0) -> Bound:
        """Lower a bound to the value of a tree, if it exceeds it by rounding only.

        A bound that a tree beats by more is wrong, and proves nothing: the bound
        ``otherwise`` takes its place.
        """
        rounding = max(self.below(value), COST_ROUNDING * abs(value))
        if bound.value - value > rounding:
            return Bound(otherwise, f"{REFUTED}{bound.proved_by}")
        return Bound(min(bound.value, value), bound.proved_by)


def cost_meets(cost: float, bound: float, cheapest: float = 1.0) -> bool:
    """Tell whether the cost of errors is as low as its bound, rounding aside.

    What counts as rounding is less than the cheapest error.
    """
    return cost - bound <= min(COST_ROUNDING * abs(cost), 0.5 * cheapest)


def counted_meets(cost: float, bound: float, unit: float, rounding: float) -> bool:
    """Tell whether a cost counted in whole units is as low as its bound.

    Only the rounding of the two floats is allowed for, and less than half a unit of it;
    where costs were rounded to whole units, twice as much as that may change a cost.
    """
    if rounding > 0:
        return cost - bound <= 2 * rounding + LAST_DIGITS * abs(cost)
    return cost_meets(cost, bound, unit) and cost - bound < unit / 2


def relative_gap(objective: float, bound: float) -> float:
    """Return (objective - bound) / objective for an objective >= 0."""
    return (objective - bound) / objective if objective > bound else 0.0


def percent(gap: float) -> str:
    """Write a gap in percent, rounded up: it is never said to be less than it is.

    Examples
    --------
    >>> percent(0.2381), percent(0.3), percent(0.0), percent(4.1e-7)
    ('23.9 %', '30 %', '0 %', '0.00005 %')
    """
    if 0 < gap < _SMALL_GAP:
        digits = Context(1, ROUND_CEILING).create_decimal(Decimal(100 * gap))
        return f"{digits:f} %"
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
