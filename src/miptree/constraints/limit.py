"""What all counting constraints come to: rates, and limits on sums over leaves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

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

    def terms(self, population: Population) -> AnyArray:
        """Return (C, Y): what the rate adds up of, by cell and label."""
        share = Fraction(1, population.whole_weight(self.base))
        terms = np.full(self.hit.shape, Fraction(0), dtype=object)
        terms[self.hit & self.base[:, None]] = share
        return terms


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower and an upper limit on a sum over the leaves of a tree.

    A leaf of label k adds, for each cell, the whole weight of its rows there times
    ``terms[cell, k]``.

    Attributes
    ----------
    name : str
        What is limited, in a few words.
    terms : object array of shape (C, Y)
        Fractions.
    lower, upper : Fraction or None
        The limits, None for none.
    """

    name: str
    terms: AnyArray
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
        return cls(rate.name, rate.terms(population), lower, upper)

    @classmethod
    def of_difference(
        cls, population: Population, one: Rate, other: Rate, most: Fraction
    ) -> Limit:
        """Limit the difference of two rates to either side."""
        terms = one.terms(population) - other.terms(population)
        return cls(f"{one.name} against {other.name}", terms, -most, most)

    @cached_property
    def whole(self) -> tuple[AnyArray, int]:
        """The terms as whole numbers over one denominator: exact sums are fast."""
        denominator = lcm(*(term.denominator for term in self.terms.flat))
        whole = np.array([int(term * denominator) for term in self.terms.flat], object)
        return whole.reshape(self.terms.shape), denominator

    @cached_property
    def floats(self) -> FloatArray:
        """The terms as floats, for the first look."""
        return self.terms.astype(np.float64)

    def of_leaves(self, tally: AnyArray) -> AnyArray:
        """Return (L, Y): what each leaf adds with each label, times the denominator."""
        return np.asarray(tally.astype(object) @ self.whole[0])

    def value(self, tally: AnyArray, label: IntArray) -> Fraction:
        """Return the sum for leaves with these labels."""
        total = sum(self.of_leaves(tally)[np.arange(len(label)), label], start=0)
        return Fraction(int(total), self.whole[1])

    def excess(self, value: Fraction) -> Fraction:
        """Return how far a sum is beyond its limits, 0 within them."""
        below = Fraction(0) if self.lower is None else self.lower - value
        above = Fraction(0) if self.upper is None else value - self.upper
        return max(Fraction(0), below, above)


def as_written(bound: float) -> Fraction:
    """Return a bound as the decimal that the user wrote.

    Read as a float, 0.3 would be a little less than three tenths.
    """
    return Fraction(repr(float(bound)))
