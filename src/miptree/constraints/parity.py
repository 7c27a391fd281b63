"""Fairness: the rates of groups differ by little. The names are fairlearn's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from miptree.constraints.constraint import (
    CountedRate,
    CountingConstraint,
    TreeOnRows,
    checked_bound,
    plain_label,
    share,
)
from miptree.constraints.limit import AnyLimit, Limit, Rate, Spread
from miptree.constraints.population import Population
from miptree.utils.arrays import BoolArray
from miptree.utils.decimals import as_written

VERSUS = ("overall", "pairs")
MOST_PAIRED = 6
"""Groups of which each pair has a limit: of more there would be too many pairs."""
_MOST_LISTED = 6
"""Groups whose rates a sentence lists."""


class Event(NamedTuple):
    """Rows on which the rates of groups are compared."""

    words: str
    """Which rows, to go after 'rate of ...', such as ' on rows of class 1'."""
    cells: BoolArray
    """(C,): their cells."""


class Family(NamedTuple):
    """The rates of an event within one control group."""

    overall: Rate
    groups: list[Rate]


@dataclass(frozen=True, kw_only=True)
class Parity(CountingConstraint):
    """Base of the constraints that compare the rates of groups.

    ``fit(X, y, sensitive_features=...)`` gives the groups; with ``control_features``
    they are compared within each control group. Rates count the sample weights, not
    those of ``class_weight``. A group without rows of an event has no rate there.
    """

    difference_bound: float
    versus: str = "overall"
    positive_label: Any = None

    def __post_init__(self) -> None:
        bound = checked_bound(self.difference_bound, self.name, "difference_bound")
        object.__setattr__(self, "difference_bound", bound)
        label = plain_label(self.positive_label, self.name)
        object.__setattr__(self, "positive_label", label)
        if self.versus not in VERSUS:
            raise ValueError(
                f"versus of {self.name} must be 'overall' or 'pairs', got "
                f"{self.versus!r}."
            )

    @abstractmethod
    def events(self, population: Population) -> list[Event]:
        """Return the events on which rates are compared."""

    def hits(self, population: Population) -> BoolArray:
        """Return (C, Y): which labels count at each cell, by default the positive."""
        hit = np.zeros((population.n_cells, population.n_classes), dtype=bool)
        hit[:, population.positive_index(self.positive_label, self.name)] = True
        return hit

    def what(self, population: Population) -> str:
        """Name the rates, such as 'rates of 1'."""
        k = population.positive_index(self.positive_label, self.name)
        return f"rates of {population.classes[k]!r}"

    def _limits(self, population: Population) -> list[AnyLimit]:
        """Return a limit for each group, or for each pair of groups."""
        most, found = as_written(self.difference_bound), list[AnyLimit]()
        for overall, groups in self._families(population):
            if self.versus == "pairs" and len(groups) > MOST_PAIRED:
                rates = (Limit.of_rate(population, rate) for rate in groups)
                found.append(Spread(f"groups of {overall.name}", tuple(rates), most))
                continue
            pairs: Iterable[tuple[Rate, Rate]] = combinations(groups, 2)
            if self.versus == "overall":
                pairs = ((rate, overall) for rate in groups)
            found += [Limit.of_difference(population, a, b, most) for a, b in pairs]
        return found

    def _families(self, population: Population) -> list[Family]:
        """Return the rates that are compared; they are asked for again and again."""
        for constraint, families in population.known_families:
            if constraint is self:
                return families
        families = list(self._found_families(population))
        population.known_families.append((self, families))
        return families

    def _found_families(self, population: Population) -> Iterator[Family]:
        grouping, hit = population.sensitive_groups(self.name), self.hits(population)
        control = population.groups.control
        names = ("",) if control is None else control.names
        for event in self.events(population):
            for c, name in enumerate(names):
                rows = event.cells & population.in_control(c)
                where = event.words + (f" in {name!r}" if control is not None else "")
                of_group = [
                    Rate(f"{group!r}{where}", rows & population.in_sensitive(g), hit)
                    for g, group in enumerate(grouping.names)
                ]
                there = [r for r in of_group if r.total(population) > 0]
                if there:
                    yield Family(Rate(f"all{where}", rows, hit), there)

    def rates(self, view: TreeOnRows) -> list[CountedRate]:
        """Return the rates of all groups and, after them, of all rows."""
        population, tally, label = view.population, view.tally, view.tree.label
        return [
            CountedRate(rate.name, *rate.counted(population, tally, label))
            for overall, groups in self._families(population)
            for rate in (*groups, overall)
        ]

    def asked(self, population: Population) -> str:
        """Say what is asked, without a full stop."""
        grouping = population.sensitive_groups(self.name)
        control = population.groups.control
        within = "" if control is None else f" within groups{control.of_columns}"
        other = "from the overall rate" if self.versus == "overall" else "pairwise"
        return (
            f"The {self.what(population)} of the groups{grouping.of_columns} differ "
            f"{other} by at most {self.difference_bound:.10g}{within}"
        )

    def counted(self, view: TreeOnRows) -> str:
        """Say the largest difference and the rates, without a full stop."""
        population, tally, label = view.population, view.tally, view.tree.label
        values = [abs(limit.value(tally, label)) for limit in self.limits(population)]
        largest = max(values, default=0)
        texts = []
        for overall, groups in self._families(population):
            counts = [rate.counted(population, tally, label) for rate in groups]
            listed = [(groups[g].name, counts[g]) for g in _telling(counts)]
            listed.append((overall.name, overall.counted(population, tally, label)))
            texts += [f"{name} {share(*n, population.unit)}" for name, n in listed]
            others = len(groups) - _MOST_LISTED
            if others > 0:
                named = "1 group" if others == 1 else f"{others} groups"
                texts[-1] += f", not listed: {named} between the lowest and the highest"
        if all(len(family.groups) < 2 for family in self._families(population)):
            texts.append("nothing is compared, as nowhere are rows of two groups")
        return f"by {float(largest):.4g} at most ({'; '.join(texts)})"


def _telling(counts: Sequence[tuple[int, int]]) -> list[int]:
    """Choose which of many groups to list: those of the lowest and highest rates."""
    if len(counts) <= _MOST_LISTED:
        return list(range(len(counts)))
    order = sorted(range(len(counts)), key=lambda g: Fraction(*counts[g]))
    return sorted(order[: _MOST_LISTED // 2] + order[-(_MOST_LISTED // 2) :])


@dataclass(frozen=True, kw_only=True)
class DemographicParity(Parity):
    """The rates of a label differ little from group to group.

    Parameters
    ----------
    difference_bound : float
        The largest difference, in [0, 1].
    versus : {"overall", "pairs"}, default="overall"
        Each group is compared with all rows, or with each other group.
    positive_label : object, optional
        The label; of two classes the second by default.

    Examples
    --------
    >>> DemographicParity(difference_bound=0.05)
    DemographicParity(difference_bound=0.05, versus='overall', positive_label=None)
    """

    def events(self, population: Population) -> list[Event]:
        """Return one event: all rows."""
        return [Event("", np.ones(population.n_cells, dtype=bool))]


@dataclass(frozen=True, kw_only=True)
class TruePositiveRateParity(Parity):
    """The rates of a label among the rows of that class differ little by group.

    Parameters
    ----------
    difference_bound : float
        The largest difference, in [0, 1].
    versus : {"overall", "pairs"}, default="overall"
        Each group is compared with all rows of the class, or with each other group.
    positive_label : object, optional
        The label; of two classes the second by default.
    """

    def events(self, population: Population) -> list[Event]:
        """Return one event: the rows of the class."""
        return [_rows_of_class(self, population)]


@dataclass(frozen=True, kw_only=True)
class FalsePositiveRateParity(Parity):
    """The rates of a label among the rows of other classes differ little by group.

    Parameters
    ----------
    difference_bound : float
        The largest difference, in [0, 1].
    versus : {"overall", "pairs"}, default="overall"
        Each group is compared with all rows of other classes, or with each other group.
    positive_label : object, optional
        The label; of two classes the second by default.
    """

    def events(self, population: Population) -> list[Event]:
        """Return one event: the rows of other classes."""
        return [_other_rows(self, population)]


@dataclass(frozen=True, kw_only=True)
class EqualizedOdds(Parity):
    """Both rates of a label, true and false positive ones, differ little by group.

    Parameters
    ----------
    difference_bound : float
        The largest difference, in [0, 1].
    versus : {"overall", "pairs"}, default="overall"
        Each group is compared with all such rows, or with each other group.
    positive_label : object, optional
        The label; of two classes the second by default.
    """

    def events(self, population: Population) -> list[Event]:
        """Return two events: the rows of the class, and those of others."""
        return [_rows_of_class(self, population), _other_rows(self, population)]


@dataclass(frozen=True, kw_only=True)
class ErrorRateParity(Parity):
    """The shares of misclassified rows differ little from group to group.

    Parameters
    ----------
    difference_bound : float
        The largest difference, in [0, 1].
    versus : {"overall", "pairs"}, default="overall"
        Each group is compared with all rows, or with each other group.
    positive_label : None
        Not needed: an error is an error. One that is given must be a class.
    """

    def events(self, population: Population) -> list[Event]:
        """Return one event: all rows."""
        return [Event("", np.ones(population.n_cells, dtype=bool))]

    def hits(self, population: Population) -> BoolArray:
        """Return (C, Y): which labels are errors at each cell."""
        if self.positive_label is not None:  # a rule on it may have been meant
            population.label_index(self.positive_label, self.name)
        labels = np.arange(population.n_classes)
        return np.asarray(labels[None, :] != population.label[:, None])

    def what(self, population: Population) -> str:
        """Name the rates."""
        return "error rates"


def _rows_of_class(constraint: Parity, population: Population) -> Event:
    k = population.positive_index(constraint.positive_label, constraint.name)
    words = f" on rows of class {population.classes[k]!r}"
    return Event(words, population.label == k)


def _other_rows(constraint: Parity, population: Population) -> Event:
    k = population.positive_index(constraint.positive_label, constraint.name)
    words = f" on rows not of class {population.classes[k]!r}"
    return Event(words, population.label != k)
