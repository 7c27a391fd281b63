"""What every constraint can do: check a tree by counting, and say what it found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from miptree.constraints.arguments import finite_number
from miptree.constraints.limit import AnyLimit
from miptree.constraints.population import Population
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, IntArray


class Finding(NamedTuple):
    """What a constraint found of a tree."""

    kept: bool
    """Whether the tree keeps it."""
    sentence: str
    """What was asked and what was counted, in plain words."""
    excess: float
    """How far the tree is from keeping it, 0 if it does."""


class CountedRate(NamedTuple):
    """A share of rows as it was counted, in whole weights."""

    name: str
    """Whose rate it is, such as a group."""
    hits: int
    total: int

    @property
    def share(self) -> float:
        """The rate, NaN of no rows."""
        return self.hits / self.total if self.total else float("nan")


@dataclass(frozen=True, eq=False)
class TreeOnRows:
    """A tree and where it sends the rows that are counted.

    Attributes
    ----------
    tree : ObliqueTree
        In the user's units.
    leaf : int array of shape (n,)
        Leaf of each row, by prediction.
    population : Population
        The rows.
    columns : tuple of str
        Name of the user's column behind each column that the tree reads.
    numbers : tuple of str
        The same, but empty texts for indicators and values of categories.
    """

    tree: ObliqueTree
    leaf: IntArray
    population: Population
    columns: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    @property
    def tally(self) -> AnyArray:
        """(n_nodes, C): whole weight of each cell at each node that is a leaf."""
        return self.population.tally(self.leaf, self.tree.n_nodes)


class Constraint(ABC):
    """A rule that a tree must keep; its subclasses are small frozen dataclasses.

    They check their own arguments when they are made. What depends on the data, such
    as whether a label exists, is told by a fit before it begins.
    """

    is_about_training: ClassVar[bool] = False
    """Whether it counts or adds up the training rows, and says nothing of others."""

    @property
    def name(self) -> str:
        """Name of the class, for messages."""
        return type(self).__name__

    @abstractmethod
    def check(self, view: TreeOnRows) -> Finding:
        """Check a tree exactly, by counting rows in whole numbers."""

    def limits(self, population: Population) -> list[AnyLimit]:
        """Return its limits on sums over leaves, none where it counts no labels."""
        return []

    def rates(self, view: TreeOnRows) -> list[CountedRate]:
        """Return the rates that it is about, none where it is about none."""
        return []


class CountingConstraint(Constraint):
    """A constraint on which rows get which labels: all of it is in its limits."""

    def limits(self, population: Population) -> list[AnyLimit]:
        """Return its limits on sums over leaves."""
        # There may be thousands, and a population is asked again for every tree.
        for constraint, limits in population.known_limits:
            if constraint is self:
                return limits
        limits = self._limits(population)
        population.known_limits.append((self, limits))
        return limits

    @abstractmethod
    def _limits(self, population: Population) -> list[AnyLimit]:
        """Work out its limits."""

    @abstractmethod
    def asked(self, population: Population) -> str:
        """Say what is asked, without a full stop."""

    @abstractmethod
    def counted(self, view: TreeOnRows) -> str:
        """Say what was counted, without a full stop."""

    def measured(self, view: TreeOnRows) -> float:
        """Return what its bound is about: a rate, a cost or the largest difference."""
        tally, label = view.tally, view.tree.label
        values = (limit.value(tally, label) for limit in self.limits(view.population))
        return float(max(map(abs, values), default=0))

    def check(self, view: TreeOnRows) -> Finding:
        """Check a tree exactly, by counting rows in whole numbers."""
        population, tally, label = view.population, view.tally, view.tree.label
        excess = max(
            (
                limit.excess(limit.value(tally, label))
                for limit in self.limits(population)
            ),
            default=Fraction(0),
        )
        verdict = "kept" if excess == 0 else "NOT kept"
        sentence = f"{self.asked(population)}: {verdict}, {self.counted(view)}."
        return Finding(excess == 0, sentence, float(excess))


def checked_bound(bound: object, who: str, name: str = "bound") -> float:
    """Return a bound on a rate, which must be a number in [0, 1]."""
    number = finite_number(bound)
    if number is None or not 0 <= number <= 1:
        raise ValueError(
            f"{name} of {who} must be a number in [0, 1], a share of rows, got "
            f"{bound!r}."
        )
    return number


def plain_label(label: Any, who: str) -> Any:
    """Return a label of NumPy's as Python's own, which texts and files show alike."""
    if np.ndim(label) or isinstance(label, (Mapping, Set)):
        raise ValueError(f"{who} takes one label, one of the classes, got {label!r}.")
    return label.item() if isinstance(label, (np.generic, np.ndarray)) else label


def share(hits: int, total: int, unit: Fraction) -> str:
    """Write a rate with what it was counted from."""
    if unit == 1:
        return f"{hits} of {total} = {hits / total:.4g}"
    return f"{float(hits * unit):.6g} of {float(total * unit):.6g} = {hits / total:.4g}"
