"""The data as float64 numbers that make every tree at most as costly as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..data import Rows
from ..values import Refused
from .file import Objective

WHOLE = 1 << 50
"""Whole costs of all points stay below, so that their sums are exact."""
MOST_DOUBLINGS = 900
SMALL = 2.0**-48
"""Thirty-two times the rounding of one operation: more than all of a formula."""


class Points(NamedTuple):
    """Rows of equal x and equal values, put together.

    Attributes
    ----------
    X : float array of shape (n, d)
        In the user's units.
    values : int array of shape (n, categories)
        Of the categories that are split by subsets.
    place : list of n int
        Number of the first row of each in the data, from 0: its name in the file.
    weight : list of n Fraction
    price : list of n tuples of Fraction
        What each class costs.
    """

    X: np.ndarray
    values: np.ndarray
    place: list[int]
    weight: list[Fraction]
    price: list[tuple[Fraction, ...]]


def merged(rows: Rows) -> Points:
    """Put rows of equal x and values together; weights and costs are added up."""
    X = rows.numbers.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    number: dict[bytes, int] = {}
    first: list[int] = []
    weight: list[Fraction] = []
    price: list[list[Fraction]] = []
    for i, x in enumerate(X):
        key = x.tobytes() + rows.values[i].tobytes()
        point = number.setdefault(key, len(first))
        if point == len(first):
            first.append(i)
            weight.append(Fraction(0))
            price.append([Fraction(0)] * len(rows.price[i]))
        weight[point] += rows.weight[i]
        price[point] = [a + b for a, b in zip(price[point], rows.price[i], strict=True)]
    place = [rows.place[i] for i in first]
    values = rows.values[first]
    return Points(X[first], values, place, weight, [tuple(p) for p in price])


@dataclass(frozen=True, eq=False)
class Numbers:
    """The points of a part, in units of the margin.

    Attributes
    ----------
    x : float array of shape (n, d)
        Scaled to [0, 1]; each is off by less than 2**-51.
    values : int array of shape (n, categories)
        Of the categories that are split by subsets.
    cost : int array of shape (n, Y)
        What each class costs, in whole units, rounded down.
    unit : float
        A power of two.
    slack : float array of shape (n,)
        C_i, what a unit of missing margin costs, rounded down.
    rho : float
        What a unit of norm costs, rounded down.
    box : float
        Largest score, rounded up.
    threshold : float
        T. All that follows holds for trees whose objective is below it.
    norm : float
        Largest norm of a split, rounded up: what the classes of the points leave of T
        is all that norms can cost.
    least : float
        What a hyperplane costs at least. It parts two points, and their scores differ
        by at most its norm, so it costs rho * norm + C * max(0, 2 - norm) or more.
    """

    x: np.ndarray
    values: np.ndarray
    cost: np.ndarray
    unit: float
    slack: np.ndarray
    rho: float
    box: float
    threshold: float
    norm: float
    least: float

    def some(self, chosen: Sequence[int], threshold: float) -> Numbers:
        """Return the numbers of some of the points, for trees below a threshold."""
        slack, cost = self.slack[chosen], self.cost[chosen]
        base = _base(cost, self.unit)
        return replace(
            self,
            x=self.x[chosen],
            values=self.values[chosen],
            cost=cost,
            slack=slack,
            **_limits(threshold, base, self.rho, slack),
        )


def numbers_of(
    points: Points,
    chosen: Sequence[int],
    objective: Objective,
    share: Fraction,
    threshold: float,
) -> Numbers:
    """Return the numbers of some points, which get a share of the norms' price."""
    doublings = _doublings(points.price)
    prices = [
        [math.floor(value * Fraction(2) ** doublings) for value in points.price[i]]
        for i in chosen
    ]
    cost, unit = np.array(prices, dtype=np.int64), 2.0**-doublings
    price = objective.slack_penalty * objective.margin
    slack = np.array([below(price * points.weight[i]) for i in chosen])
    rho = below(objective.l1_penalty * objective.margin * share)
    if rho <= 0:
        raise Refused("'l1_penalty' of the proof file is too small.")
    box = above(1 / objective.margin)
    return Numbers(
        x=scaled(points.X)[list(chosen)],
        values=points.values[list(chosen)],
        cost=cost,
        unit=unit,
        slack=slack,
        rho=rho,
        box=box,
        **_limits(threshold, _base(cost, unit), rho, slack),
    )


def _base(cost: np.ndarray, unit: float) -> Fraction:
    """Return what points cost in any tree: their cheapest classes."""
    return int(cost.min(axis=1).sum()) * Fraction(unit)


def _limits(
    threshold: float, base: Fraction, rho: float, slack: np.ndarray
) -> dict[str, float]:
    """Return what holds of the splits of all trees cheaper than a threshold.

    What their points cost anyway leaves the rest for norms.
    """
    left = max(Fraction(0), Fraction(threshold) - base)
    norm = above(left / Fraction(rho))
    return {
        "threshold": threshold,
        "norm": norm,
        "least": 2 * min(rho, float(slack.min())),
    }


def scaled(X: np.ndarray) -> np.ndarray:
    """Scale every feature to [0, 1], a constant one to 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span).all():
        raise Refused("A column of the data has a range that is too large.")
    return np.asarray((X - low) / np.where(span > 0, span, 1.0))


def _doublings(prices: Sequence[tuple[Fraction, ...]]) -> int:
    """Return how often costs can be doubled until they add up to about WHOLE."""
    total = sum((max(price) for price in prices), start=Fraction(0))
    if total >= 2**MOST_DOUBLINGS:
        raise Refused("The costs of the proof file are too large.")
    doublings = -MOST_DOUBLINGS
    if total > 0:
        size = total.numerator.bit_length() - total.denominator.bit_length() + 1
        doublings = WHOLE.bit_length() - 1 - size  # total < 2**size
    return max(-MOST_DOUBLINGS, min(MOST_DOUBLINGS, doublings))


def below(number: Fraction) -> float:
    """Return the largest float64 that is not above a number."""
    found = _nearest(number)
    return found if Fraction(found) <= number else float(np.nextafter(found, -np.inf))


def above(number: Fraction) -> float:
    """Return the smallest float64 that is not below a number."""
    return -below(-number)


def _nearest(number: Fraction) -> float:
    try:
        found = float(number)
    except OverflowError:
        found = np.inf
    if abs(found) > 1e300:
        raise Refused("A number of the proof file is too large or too small.")
    return found
