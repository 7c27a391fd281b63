"""What all counting constraints come to: rates, and limits on sums over leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

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

    def counted(
        self, population: Population, tally: AnyArray, label: IntArray
    ) -> tuple[int, int]:
        """Return the whole weights of the rows that count, and of all of them."""
        hits = tally * (self.hit & self.base[:, None])[:, label].T
        return int(hits.sum()), population.whole_weight(self.base)

    def terms(self, population: Population) -> tuple[AnyArray, int]:
        """Return (C, Y), what it adds up of, in parts of the number after it."""
        counts = (self.hit & self.base[:, None]).astype(object) * 1
        return counts, population.whole_weight(self.base)


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower and an upper limit on a sum over the leaves of a tree.

    A leaf of label k adds, for each cell, the whole weight of its rows there times
    ``whole[cell, k] / denominator``.

    Attributes
    ----------
    name : str
        What is limited, in a few words.
    whole : object array of shape (C, Y)
        Whole numbers: exact sums of these are fast.
    denominator : int
        The least one that they can have.
    lower, upper : Fraction or None
        The limits, None for none.
    """

    name: str
    whole: AnyArray
    denominator: int
    lower: Fraction | None
    upper: Fraction | None

    @classmethod
    def of_rate(
        cls,
        population: Population,
        rate: Rate,
        lower: Fraction | None,
        upper: Fraction | None,
    ) -> Limit:
        """Limit a rate."""
        return cls(rate.name, *_reduced(*rate.terms(population)), lower, upper)

    @classmethod
    def of_difference(
        cls, population: Population, one: Rate, other: Rate, most: Fraction
    ) -> Limit:
        """Limit the difference of two rates to either side."""
        first, total = one.terms(population)
        second, other_total = other.terms(population)
        both = lcm(total, other_total)
        whole = first * (both // total) - second * (both // other_total)
        name = f"{one.name} against {other.name}"
        return cls(name, *_reduced(whole, both), -most, most)

    @classmethod
    def of_costs(
        cls, name: str, costs: Sequence[Sequence[Fraction]], most: Fraction
    ) -> Limit:
        """Limit what labels cost in all, given the cost of each at each cell."""
        both = lcm(*(cost.denominator for of_cell in costs for cost in of_cell))
        whole = [[int(cost * both) for cost in of_cell] for of_cell in costs]
        return cls(name, *_reduced(np.array(whole, dtype=object), both), None, most)

    @cached_property
    def floats(self) -> FloatArray:
        """What a weight of 1 adds, in floats, for the first look."""
        return np.asarray(self.whole / self.denominator, dtype=np.float64)

    @cached_property
    def of_used(self) -> tuple[IntArray, AnyArray]:
        """The cells that add anything, and what they add."""
        used = np.flatnonzero((self.whole != 0).any(axis=1))
        return used, self.whole[used]

    def value(self, tally: AnyArray, label: IntArray) -> Fraction:
        """Return the sum for leaves with these labels."""
        used, whole = self.of_used
        total = (tally[:, used].astype(object) * whole[:, label].T).sum()
        return Fraction(int(total), self.denominator)

    def excess(self, value: Fraction) -> Fraction:
        """Return how far a sum is beyond its limits, 0 within them."""
        below = Fraction(0) if self.lower is None else self.lower - value
        above = Fraction(0) if self.upper is None else value - self.upper
        return max(Fraction(0), below, above)


def _reduced(whole: AnyArray, denominator: int) -> tuple[AnyArray, int]:
    """Return whole numbers and their denominator without common factors."""
    common = gcd(denominator, *whole.flat)
    return whole // common, denominator // common
