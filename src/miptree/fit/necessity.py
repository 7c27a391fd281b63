"""Which columns a points tree cannot do without: proved bounds on what that costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.points_words import told_apart
from miptree.control.clock import Clock
from miptree.fit.restricted import PointsFit
from miptree.points.alternatives import Restriction, sources_used
from miptree.utils.listed import Listed


@dataclass(frozen=True)
class Need:
    """What trees cost that do without a column, at a feature penalty of 0.

    Attributes
    ----------
    feature : str
        Name of the column; empty where trees may use all.
    cost : float
        Cost of the errors of the best tree found, the number of errors where each
        costs 1.
    bound : float
        No tree without the column costs less.
    is_proved : bool
        Whether that tree is proved to be the best.
    is_plain : bool
        Whether every error costs 1.
    """

    feature: str
    cost: float
    bound: float
    is_proved: bool
    is_plain: bool = True

    def __str__(self) -> str:
        who = f"Without {self.feature}" if self.feature else "With all columns"
        cost, bound = told_apart(self.cost, self.bound)
        if self.is_plain:
            least = f"no such tree makes fewer than {_errors(bound)}"
            found = f"the best one found makes {_errors(cost)}"
        else:
            least = f"no such tree has errors that cost less than {bound}"
            found = f"the errors of the best one found cost {cost}"
        if self.cost == 0 or self.bound == 0:
            return f"{who} {found}."
        return f"{who} {least}." if self.is_proved else f"{who} {least}; {found}."


def _errors(number: str) -> str:
    if number in ("0", "1"):
        return "no error" if number == "0" else "1 error"
    return f"{number} errors"


@dataclass(frozen=True, eq=False, repr=False)
class Necessity(Listed[Need]):
    """What trees cost without each of some columns, beside the best with all of them.

    It is a list of what is known of each column; printed it is a paragraph.

    Attributes
    ----------
    items : tuple of Need
        One for each column.
    with_all : Need
        The best tree that may use all columns.
    trees : str
        The family of trees that all of this is about.
    """

    with_all: Need
    trees: str

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns without which every tree is proved to be worse."""
        return tuple(n.feature for n in self.items if n.bound > self.with_all.cost)

    def sentences(self) -> list[str]:
        """Say which trees this is about, and what is known with and without columns."""
        about = f"Such a tree is a {self.trees}; features cost nothing."
        return [about, str(self.with_all), *map(str, self.items)]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def find_needs(fit: PointsFit, columns: Sequence[int], clock: Clock) -> Necessity:
    """Find the best trees that do without each of some columns.

    Parameters
    ----------
    fit : PointsFit
        Its penalties do not count: features cost nothing here.
    columns : sequence of int
        Places in X.
    clock : Clock
        Is shared among the columns.
    """
    by_source = np.zeros(len(fit.by_source))
    free = replace(fit, by_source=by_source, least=_least_errors(fit))
    n_left = 1 + len(columns)
    whole = free.best(Restriction(), clock.share(1 / n_left)).fitted
    best = whole.certificate
    needs = []
    for column in columns:
        n_left -= 1
        found = best
        if column in sources_used(fit.data.family, whole.tree):
            without = Restriction(without=frozenset((column,)))
            found = free.best(without, clock.share(1 / n_left)).fitted.certificate
        needs.append(_need(fit.names[column], found, best.objective_bound))
    with_all = _need("", best, best.objective_bound)
    # A tree that does without a column is one of all trees, too.
    cost = min([best.objective, *(need.cost for need in needs)])
    return Necessity(tuple(needs), replace(with_all, cost=cost), best.trees)


def _least_errors(fit: PointsFit) -> float:
    """Return a bound on errors that follows from one with penalties of features.

    It takes off the highest penalties that a tree can have, and is a whole number of
    units of cost.
    """
    data = fit.data
    n_uses = data.family.max_features * (2**data.rules.depth - 1)
    highest = n_uses * Fraction(repr(float(fit.by_source.max(initial=0.0))))
    least = max(Fraction(repr(float(fit.least))) - highest, Fraction(0))
    points = data.points_problem(np.zeros(data.problem.n_features))
    if points.rounding == 0:
        least = math.ceil(least / points.unit) * points.unit
    return float(least)


def _need(feature: str, found: Certificate, least: float) -> Need:
    """Say what is known of trees without a column; ``least`` is a bound for all."""
    return Need(
        feature,
        found.objective,
        max(found.objective_bound, least),
        found.objective_optimal,
        found.objective_terms == "errors",
    )
