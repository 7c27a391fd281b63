"""Limits on the rate of a label, and on what predictions cost in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from miptree.constraints.arguments import finite_number
from miptree.constraints.constraint import (
    CountedRate,
    CountingConstraint,
    TreeOnRows,
    checked_bound,
    plain_label,
    share,
)
from miptree.constraints.errors import NotOnTheseRowsError
from miptree.constraints.limit import AnyLimit, Limit, Rate
from miptree.constraints.population import Population
from miptree.utils.decimals import as_written

ROWS = ("all", "negatives", "positives")
LARGEST_COST = 1e100
"""Costs up to which sums over all rows are no infinite floats."""


@dataclass(frozen=True)
class _RateConstraint(CountingConstraint):
    """Base of the limits on a rate."""

    label: Any
    bound: float
    on: str = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", checked_bound(self.bound, self.name))
        object.__setattr__(self, "label", plain_label(self.label, self.name))
        if self.on not in ROWS:
            raise ValueError(
                f"on of {self.name} must be one of {', '.join(map(repr, ROWS))}, got "
                f"{self.on!r}."
            )

    def _rate(self, population: Population) -> Rate:
        k = population.label_index(self.label, self.name)
        is_label = population.label == k
        base = {"all": is_label | True, "positives": is_label, "negatives": ~is_label}
        rows = base[self.on]
        if population.whole_weight(rows) == 0:
            raise NotOnTheseRowsError(
                f"{self.name} is about the {self.on} of {self.label!r}, of which there "
                "are no rows."
            )
        hit = np.zeros((population.n_cells, population.n_classes), dtype=bool)
        hit[:, k] = True
        return Rate(f"rate of {self.label!r} on {_rows_words(self)}", rows, hit)

    def rates(self, view: TreeOnRows) -> list[CountedRate]:
        """Return the one rate."""
        rate, population = self._rate(view.population), view.population
        found = rate.counted(population, view.tally, view.tree.label)
        return [CountedRate(rate.name, *found)]

    def counted(self, view: TreeOnRows) -> str:
        """Say which rate was counted."""
        rate = self._rate(view.population)
        found = rate.counted(view.population, view.tally, view.tree.label)
        return f"it is {share(*found, view.population.unit)}"


@dataclass(frozen=True)
class MaxRate(_RateConstraint):
    """The share of rows that get a label is at most a bound.

    Parameters
    ----------
    label : object
        One of the classes.
    bound : float
        The largest rate, in [0, 1].
    on : {"all", "negatives", "positives"}, default="all"
        Of which rows: all of them (how many are treated), those of other classes (the
        false-positive rate) or those of the class itself (recall).

    Examples
    --------
    >>> MaxRate("yes", 0.05, on="negatives")
    MaxRate(label='yes', bound=0.05, on='negatives')
    """

    def _limits(self, population: Population) -> list[AnyLimit]:
        """Return the one limit."""
        rate = self._rate(population)
        return [Limit.of_rate(population, rate, None, as_written(self.bound))]

    def asked(self, population: Population) -> str:
        """Say what is asked, without a full stop."""
        return f"The {self._rate(population).name} is at most {self.bound:.10g}"


@dataclass(frozen=True)
class MinRate(_RateConstraint):
    """The share of rows that get a label is at least a bound.

    Parameters
    ----------
    label : object
        One of the classes.
    bound : float
        The smallest rate, in [0, 1].
    on : {"all", "negatives", "positives"}, default="all"
        Of which rows: all of them, those of other classes, or those of the class
        itself (recall).

    Examples
    --------
    >>> MinRate("sick", 0.95, on="positives")
    MinRate(label='sick', bound=0.95, on='positives')
    """

    def _limits(self, population: Population) -> list[AnyLimit]:
        """Return the one limit."""
        rate = self._rate(population)
        return [Limit.of_rate(population, rate, as_written(self.bound), None)]

    def asked(self, population: Population) -> str:
        """Say what is asked, without a full stop."""
        return f"The {self._rate(population).name} is at least {self.bound:.10g}"


@dataclass(frozen=True)
class MaxCost(CountingConstraint):
    """What the predictions cost in all, on the training rows, is at most a bound.

    Parameters
    ----------
    bound : float
        The budget, in units of the costs for rows of weight 1.
    costs : table of shape (n_classes, n_classes), optional
        ``costs[j][k]`` is what it costs to predict class k for a row of class j, in the
        order of the classes; here the diagonal need not be 0. By default the fit's
        ``cost_matrix``, or 1 for every error.

    Examples
    --------
    Treating a row, class 1, costs 10, and 500 may be spent:

    >>> MaxCost(500, costs=[[0, 10], [0, 10]])
    MaxCost(bound=500.0, costs=((0.0, 10.0), (0.0, 10.0)))
    """

    is_about_training: ClassVar[bool] = True

    bound: float
    costs: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        bound = finite_number(self.bound)
        if bound is None or not 0 <= bound <= LARGEST_COST:
            raise ValueError(
                "bound of MaxCost must be a finite number >= 0, at most "
                f"{LARGEST_COST:g}, got {self.bound!r}."
            )
        object.__setattr__(self, "bound", bound)
        if self.costs is not None:
            object.__setattr__(self, "costs", _checked_costs(self.costs))

    def _limits(self, population: Population) -> list[AnyLimit]:
        """Return the one limit."""
        costs = self._costs(population)
        unit = population.unit
        of_cells = [[as_written(c) * unit for c in costs[j]] for j in population.label]
        name = "the cost of the predictions"
        return [Limit.of_costs(name, of_cells, as_written(self.bound))]

    def _costs(self, population: Population) -> Sequence[Sequence[float]]:
        n_classes = population.n_classes
        if self.costs is not None:
            if len(self.costs) != n_classes:
                raise ValueError(
                    f"costs of MaxCost must have a row and a column for each of the "
                    f"{n_classes} classes, got {len(self.costs)} rows."
                )
            return self.costs
        if population.costs is not None:
            given: list[list[float]] = population.costs.tolist()
            return given
        return [[float(j != k) for k in range(n_classes)] for j in range(n_classes)]

    def asked(self, population: Population) -> str:
        """Say what is asked, without a full stop."""
        what = "errors"
        if self.costs is not None:
            rows = (", ".join(f"{cost:.10g}" for cost in row) for row in self.costs)
            what = f"predictions ({'; '.join(rows)} for each row)"
        return f"The cost of the {what} is at most {self.bound:.10g}"

    def counted(self, view: TreeOnRows) -> str:
        """Say what was counted, without a full stop."""
        (limit,) = self.limits(view.population)
        value: Fraction = limit.value(view.tally, view.tree.label)
        return f"it is {float(value):.10g}"


def _checked_costs(costs: Any) -> tuple[tuple[float, ...], ...]:
    try:
        table = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):  # texts, or rows of several lengths
        raise ValueError(
            "costs of MaxCost must be a table of numbers, a row and a column for each "
            f"class, got {costs!r:.80}."
        ) from None
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            "costs of MaxCost must have a row and a column for each class, got shape "
            f"{table.shape}."
        )
    if not ((table >= 0) & (table <= LARGEST_COST)).all():
        raise ValueError(
            f"costs of MaxCost must hold finite numbers >= 0, at most {LARGEST_COST:g}."
        )
    return tuple(map(tuple, table.tolist()))


def _rows_words(constraint: _RateConstraint) -> str:
    if constraint.on == "all":
        return "all rows"
    which = "rows of that class" if constraint.on == "positives" else "other rows"
    return which
