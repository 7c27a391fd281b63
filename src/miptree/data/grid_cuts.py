"""The cut points that people would have chosen for a column of numbers."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from miptree.data.grid import MOST_CUTS, GridColumn, GridSpec
from miptree.data.quantiles import weighted_quantile
from miptree.data.units import NO_UNIT, GridUnit, finest, round_units
from miptree.utils.arrays import FloatArray
from miptree.utils.warn import warn

_TAIL = 0.025
"""Share of the rows at each end that gets no cut points of its own."""
_TAIL_OF_OTHERS = 0.25
"""The same among the values beside one that nearly all the rows have."""
_CROWD = 7
"""So many times its share of the rows crowd a step, those of one value aside."""
_MORE = (1, 2, 4)
"""How many times the steps a column may have, so that none is crowded."""


def learn_grid(
    name: str, numbers: FloatArray, weight: FloatArray, has_gaps: bool, spec: GridSpec
) -> GridColumn:
    """Choose the cut points of a column.

    Parameters
    ----------
    name : str
    numbers : float array of shape (n,)
        Without gaps; at least one.
    weight : float array of shape (n,)
        Above 0.
    has_gaps : bool
        Whether the column has gaps in other rows.
    spec : GridSpec
    """
    values, place = np.unique(numbers, return_inverse=True)
    found = _Values(values, np.bincount(place, weights=weight).astype(np.float64))
    fill = weighted_quantile(*found, 0.5)
    asked = spec.units.get(name)
    if asked is not None:
        unit = GridUnit.of(float(asked))
        factors = _asked_factors(name, found, unit, spec.steps)
    else:
        unit, factors = _round_factors(found, spec.steps)
    if not factors:
        # Of one value with gaps, the cut tells it from a missing one.
        tells = (len(values) > 1 or has_gaps) and asked is None
        cuts = tuple(values[-1:].tolist()) if tells else ()
        return GridColumn(name, cuts, 0.0, fill, has_gaps)
    if has_gaps:
        # One more below, or else a missing number could not be told from the lowest.
        factors = range(factors[0] - 1, factors[-1] + 1)
    cuts = tuple(unit.times(factor) for factor in factors)
    return GridColumn(name, cuts, unit.size, fill, has_gaps)


class _Values(NamedTuple):
    """The different numbers of a column, ascending, and the weight of each."""

    values: FloatArray
    weight: FloatArray

    def common_range(self) -> tuple[float, float]:
        """Return the lowest and highest value after rare ones were left out."""
        low, high = self._without(_TAIL)
        if low < high:
            return low, high
        # Nearly all rows have the same value: the others decide.
        beside = self.values != low
        ends = _Values(self.values[beside], self.weight[beside])
        low_end, high_end = ends._without(_TAIL_OF_OTHERS)
        return min(low, low_end), max(high, high_end)

    def _without(self, tail: float) -> tuple[float, float]:
        low = weighted_quantile(self.values, self.weight, tail)
        high = weighted_quantile(self.values, self.weight, 1 - tail)
        below = int(np.searchsorted(self.values, low, side="right")) - 1
        above = int(np.searchsorted(self.values, high))
        return float(self.values[below]), float(self.values[above])

    def range_for(self, unit: GridUnit, steps: int) -> tuple[float, float]:
        """Return the range that gets cuts: all values, where these are few units."""
        low, high = float(self.values[0]), float(self.values[-1])
        if (high - low) / unit.size <= steps:
            return low, high
        return self.common_range()

    def is_crowded(self, unit: GridUnit, factors: range, steps: int) -> bool:
        """Tell whether too many rows share a step, though their values differ."""
        cuts = [unit.times(factor) for factor in factors]
        step = np.searchsorted(cuts, self.values, side="right")
        heaviest = np.zeros(len(cuts) + 1)
        np.maximum.at(heaviest, step, self.weight)
        others = np.bincount(step, self.weight, len(cuts) + 1) - heaviest
        return bool(others.max() > _CROWD / steps * self.weight.sum())


def _asked_factors(name: str, found: _Values, unit: GridUnit, steps: int) -> range:
    """Return the factors of a unit that the user gave."""
    low, high = found.range_for(unit, steps)
    if unit.size < 2 * finest(low, high):
        raise ValueError(
            f"units gives {unit.size:g} for {name!r}, which is too fine for "
            f"numbers from {low:g} to {high:g}. Give a larger unit."
        )
    n_steps = (high - low) / unit.size
    if n_steps > MOST_CUTS:
        raise ValueError(
            f"units gives {unit.size:g} for {name!r}, which makes {n_steps:.6g} "
            f"steps, but at most {MOST_CUTS} are possible. Give a larger unit."
        )
    factors = unit.factors(low, high)
    if not factors and len(found.values) > 1:
        warn(
            f"units gives {unit.size:g} for {name!r}, of which no multiple lies "
            f"between its values {low:g} and {high:g}: the column is not used."
        )
    return factors


def _round_factors(found: _Values, steps: int) -> tuple[GridUnit, range]:
    """Choose a round unit and its factors; none for two values or less."""
    unit, factors = NO_UNIT, range(0)
    if len(found.values) > 2:
        for more in _MORE:
            unit, factors = _factors_between(found, more * steps)
            if not found.is_crowded(unit, factors, steps):
                break
    return unit, factors


def _factors_between(found: _Values, steps: int) -> tuple[GridUnit, range]:
    """Choose the first round unit that makes no more than about ``steps`` steps.

    Where all values are multiples of a larger one, such as whole numbers, it is that.
    """
    values, (low, high) = found.values, found.common_range()
    least = 2 * finest(low, high)
    if least == math.inf:
        return NO_UNIT, range(0)
    units = round_units(max(high / steps - low / steps, least))
    unit, largest = next(units), float(values[-1] / 2 - values[0] / 2)
    larger = takewhile(lambda unit: unit.size <= largest, units)
    exact = [unit for unit in (unit, *larger) if unit.divides(values)]
    if exact:
        return exact[-1], exact[-1].factors(*found.range_for(exact[-1], steps))
    factors = unit.factors(low, high)
    if not factors:  # one or two large steps may miss the range
        unit = next(round_units(max(high / 2.5 - low / 2.5, least)))
        factors = unit.factors(low, high)
    return unit, factors
