"""What all counting constraints come to: rates, and limits on sums over leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TypeAlias

import numpy as np

from miptree.constraints.population import Population
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rate:
    """The share of some rows for which a tree predicts something.

    Attributes
    ----------
    name : str
        Whose rate it is, such as a group.
    base : bool array of shape (C,)
        Cells of the rows that it is about.
    hit : bool array of shape (C, Y)
        Which labels count at the rows of each cell.
    """

    name: str
    base: BoolArray
    hit: BoolArray

    @cached_property
    def cells(self) -> IntArray:
        """Numbers of the cells of the rows that it is about."""
        return np.flatnonzero(self.base)

    def total(self, population: Population) -> int:
        """Return the whole weight of the rows that it is about."""
        return sum(population.total[cell] for cell in self.cells)

    def counted(
        self, population: Population, tally: AnyArray, label: IntArray
    ) -> tuple[int, int]:
        """Return the whole weights of the rows that count, and of all of them."""
        hits = tally[:, self.cells] * self.hit[self.cells][:, label].T
        return int(hits.sum()), self.total(population)

    def terms(self, population: Population) -> tuple[IntArray, AnyArray, int]:
        """Return cells, what each adds (U, Y), in parts of the number after it."""
        counts = self.hit[self.cells].astype(object) * 1
        return self.cells, counts, self.total(population)


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower and an upper limit on a sum over the leaves of a tree.

    A leaf of label k adds, for each cell, the whole weight of its rows there times
    ``whole[cell, k] / denominator``.

    Attributes
    ----------
    name : str
        What is limited, in a few words.
    cells : int array of shape (U,)
        The cells that add anything: of many groups each knows its own alone.
    whole : object array of shape (U, Y)
        Whole numbers: exact sums of these are fast.
    denominator : int
        The least one that they can have.
    lower, upper : Fraction or None
        The limits, None for none.
    """

    name: str
    cells: IntArray
    whole: AnyArray
    denominator: int
    lower: Fraction | None
    upper: Fraction | None

    @classmethod
    def of_rate(
        cls,
        population: Population,
        rate: Rate,
        lower: Fraction | None = None,
        upper: Fraction | None = None,
    ) -> Limit:
        """Limit a rate."""
        return cls(rate.name, *_reduced(*rate.terms(population)), lower, upper)

    @classmethod
    def of_difference(
        cls, population: Population, one: Rate, other: Rate, most: Fraction
    ) -> Limit:
        """Limit the difference of two rates to either side."""
        first, added, total = one.terms(population)
        second, taken, other_total = other.terms(population)
        both, cells = lcm(total, other_total), np.union1d(first, second)
        whole = np.zeros((len(cells), added.shape[1]), dtype=object)
        whole[np.searchsorted(cells, first)] += added * (both // total)
        whole[np.searchsorted(cells, second)] -= taken * (both // other_total)
        name = f"{one.name} against {other.name}"
        return cls(name, *_reduced(cells, whole, both), -most, most)

    @classmethod
    def of_costs(
        cls, name: str, costs: Sequence[Sequence[Fraction]], most: Fraction
    ) -> Limit:
        """Limit what labels cost in all, given the cost of each at each cell."""
        both = lcm(*(cost.denominator for of_cell in costs for cost in of_cell))
        whole = [[int(cost * both) for cost in of_cell] for of_cell in costs]
        given = np.arange(len(costs)), np.array(whole, dtype=object), both
        return cls(name, *_reduced(*given), None, most)

    @property
    def sums(self) -> tuple[Limit, ...]:
        """The sums that its value is made of: itself alone."""
        return (self,)

    def of_sums(self, values: Iterable[FloatArray]) -> FloatArray:
        """Return its value, given those of its sums."""
        (value,) = values
        return value

    @cached_property
    def floats(self) -> FloatArray:
        """(U, Y): what a weight of 1 adds, in floats, for the first look."""
        return np.asarray(self.whole / self.denominator, dtype=np.float64)

    def of_leaves(self, weight: FloatArray) -> FloatArray:
        """Return (L, Y): what leaves of each label add, given their cells' weights."""
        return np.asarray(weight[:, self.cells] @ self.floats)

    def value(self, tally: AnyArray, label: IntArray) -> Fraction:
        """Return the sum for leaves with these labels."""
        added = tally[:, self.cells].astype(object) * self.whole[:, label].T
        return Fraction(int(added.sum()), self.denominator)

    def excess(self, value: Fraction) -> Fraction:
        """Return how far a sum is beyond its limits, 0 within them."""
        below = Fraction(0) if self.lower is None else self.lower - value
        above = Fraction(0) if self.upper is None else value - self.upper
        return max(Fraction(0), below, above)


@dataclass(frozen=True, eq=False)
class Spread:
    """A limit on the difference of the largest and the smallest of many rates.

    It says what a limit on the difference of each pair says: k groups have k rates, but
    k * k pairs of them.

    Attributes
    ----------
    name : str
        What is limited, in a few words.
    sums : tuple of Limit
        The rates, without limits of their own.
    upper : Fraction
        The largest difference.
    """

    name: str
    sums: tuple[Limit, ...]
    upper: Fraction

    @property
    def lower(self) -> None:
        """No lower limit: a difference may be 0."""
        return

    def of_sums(self, values: Iterable[FloatArray]) -> FloatArray:
        """Return its value, given those of its sums, one after the other."""
        rest = iter(values)
        high = low = next(rest)
        for value in rest:
            high, low = np.maximum(high, value), np.minimum(low, value)
        return np.asarray(high - low)

    def value(self, tally: AnyArray, label: IntArray) -> Fraction:
        """Return the difference for leaves with these labels."""
        rates = [rate.value(tally, label) for rate in self.sums]
        return max(rates) - min(rates)

    def excess(self, value: Fraction) -> Fraction:
        """Return how far a difference is beyond the limit, 0 within it."""
        return max(Fraction(0), value - self.upper)


AnyLimit: TypeAlias = Limit | Spread


def _reduced(
    cells: IntArray, whole: AnyArray, denominator: int
) -> tuple[IntArray, AnyArray, int]:
    """Return cells that add anything, and what, without common factors."""
    used = (whole != 0).any(axis=1)
    common = gcd(denominator, *whole.flat)
    return cells[used], whole[used] // common, denominator // common
