"""Costs as whole numbers of a unit, so that nothing is rounded unseen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

LARGEST_TOTAL = 1 << 50
"""Whole costs of all rows stay below: sums of float64 and int64 are then exact."""
FEATURES = 3
"""Most columns in a split."""


@dataclass(frozen=True, eq=False)
class WholeCosts:
    """Costs in whole units, less what every tree costs.

    Attributes
    ----------
    grid : int array of shape (m, d)
        The different rows.
    cost : int array of shape (m, Y)
        What each class costs for the rows of that grid, the cheapest 0.
    count : int array of shape (m,)
        How many rows they are.
    penalty : int array of shape (d,)
        What a grid column costs in a split.
    base : int
        What every tree costs.
    unit : Fraction
        Size of the unit.
    slip : Fraction
        How much more than its true cost a tree may seem to cost, by rounding.
    rounding : Fraction
        How far any cost of a tree in whole units may be from its true cost, 0 if
        nothing was rounded.
    by_row : int array of shape (n, Y)
        What each class costs for each row as it is in the data.
    """

    grid: np.ndarray
    cost: np.ndarray
    count: np.ndarray
    penalty: np.ndarray
    base: int
    unit: Fraction
    slip: Fraction
    rounding: Fraction
    by_row: np.ndarray

    def of_few_classes(self, n_leaves: int) -> int:
        """Return what trees of so many leaves cost at least, beyond the base.

        They predict no more classes than that, so all rows of the others are in error.
        Rows of the same numbers are taken one by one and together: either may say more.
        """
        together = _left_out(self.cost, n_leaves)
        least = self.by_row.min(axis=1)
        alone = _left_out(self.by_row - least[:, None], n_leaves) + int(least.sum())
        return max(together, alone - self.base)

    def true_bound(self, bound: int) -> Fraction:
        """Return what a tree costs at least, if here it costs ``bound`` at least."""
        return max(Fraction(0), (self.base + bound) * self.unit - self.slip)


def whole_costs(
    grid: np.ndarray,
    price: Sequence[tuple[Fraction, ...]],
    penalties: Sequence[Fraction],
    n_splits: int,
) -> WholeCosts:
    """Count costs in whole units, and put rows of the same numbers together."""
    often = Counter(price)
    total = sum((n * max(row) for row, n in often.items()), start=Fraction(0))
    total += n_splits * FEATURES * max(penalties, default=Fraction(0))
    unit = _unit({value for row in often for value in row} | set(penalties), total)
    whole = {row: tuple(round(value / unit) for value in row) for row in often}
    penalty = [round(value / unit) for value in penalties]
    slip = n_splits * FEATURES * _excess(penalties, penalty, unit)
    slip += sum(n * _excess(row, whole[row], unit) for row, n in often.items())
    pairs = [(penalties, penalty), *whole.items()]
    is_exact = all(
        n * unit == value
        for values, numbers in pairs
        for value, n in zip(values, numbers, strict=True)
    )
    rounding = Fraction(0) if is_exact else (len(price) + n_splits * FEATURES) * unit
    cells, place = np.unique(grid, axis=0, return_inverse=True)
    cost = np.zeros((len(cells), len(price[0])), dtype=np.int64)
    by_row = np.array([whole[row] for row in price], dtype=np.int64)
    np.add.at(cost, place.ravel(), by_row)
    least = cost.min(axis=1)
    return WholeCosts(
        cells,
        cost - least[:, None],
        np.bincount(place.ravel(), minlength=len(cells)),
        np.array(penalty, dtype=np.int64),
        int(least.sum()),
        unit,
        slip,
        rounding,
        by_row,
    )


def _left_out(cost: np.ndarray, n_leaves: int) -> int:
    """Return the least cost of the classes that get no leaf, if there are too many.

    A row whose cheapest class is never predicted costs the second cheapest at least.
    """
    spare = cost.shape[1] - n_leaves
    if spare <= 0:
        return 0
    second = np.partition(cost, 1, axis=1)[:, 1]
    of_class = np.zeros(cost.shape[1], dtype=np.int64)
    np.add.at(of_class, cost.argmin(axis=1), second)
    return int(np.sort(of_class)[:spare].sum())


def _unit(values: set[Fraction], total: Fraction) -> Fraction:
    """Return the largest unit of which all are multiples, or a power of two."""
    positive = [value for value in values if value > 0]
    if not positive:
        return Fraction(1)
    below = math.lcm(*(value.denominator for value in positive))
    unit = Fraction(math.gcd(*(int(value * below) for value in positive)), below)
    if total / unit < LARGEST_TOTAL:
        return unit
    unit = Fraction(1)
    while total / unit >= LARGEST_TOTAL:
        unit *= 2
    while total / unit < LARGEST_TOTAL // 2:
        unit /= 2
    return unit


def _excess(
    values: Sequence[Fraction], whole: Sequence[int], unit: Fraction
) -> Fraction:
    """Return by how much a rounded value exceeds the value at most, if it does."""
    pairs = zip(values, whole, strict=True)
    return max([n * unit - value for value, n in pairs] + [Fraction(0)])
