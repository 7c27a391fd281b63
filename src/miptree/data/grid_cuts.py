"""The cut points that people would have chosen for a column of numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import count, takewhile
from typing import NamedTuple

import numpy as np

from miptree.data.grid import MOST_CUTS, GridColumn, GridSpec
from miptree.data.quantiles import weighted_quantile
from miptree.utils.arrays import FloatArray
from miptree.utils.decimals import shortest_decimal

_TAIL = 0.025
"""Share of the rows at each end that gets no cut points of its own."""
_TAIL_OF_OTHERS = 0.25
"""The same among the values beside one that nearly all the rows have."""
_SMALLEST, _LARGEST = 1e-300, 1e300
"""There are no units below the one, and none for numbers above the other."""


class Unit(NamedTuple):
    """The decimal ``digits * 10**exponent``."""

    digits: int
    exponent: int

    @classmethod
    def of(cls, number: float) -> Unit:
        """Read a number as the decimal that people write for it."""
        return cls(*shortest_decimal(number))

    def times(self, factor: int) -> float:
        """Return a multiple, rounded once."""
        return float(f"{self.digits * factor}e{self.exponent}")

    def factors(self, low: float, high: float) -> range:
        """Return the factors of all multiples above one number and up to another."""
        return range(self._last_up_to(low) + 1, self._last_up_to(high) + 1)

    def _last_up_to(self, number: float) -> int:
        """Return the largest factor whose multiple is not above a number."""
        factor = math.floor(number / self.times(1))
        while self.times(factor) > number:
            factor -= 1
        while self.times(factor + 1) <= number:
            factor += 1
        return factor

    def divides(self, numbers: FloatArray) -> bool:
        """Tell whether all numbers are multiples."""
        whole = np.rint(numbers / self.times(1)) * self.digits
        power = 10.0 ** abs(self.exponent)  # both are exact, up to 1e22
        with np.errstate(over="ignore"):
            multiples = whole * power if self.exponent > 0 else whole / power
        return bool((multiples == numbers).all())


_NO_UNIT = Unit(0, 0)


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
    total = np.bincount(place, weights=weight).astype(np.float64)
    fill = weighted_quantile(values, total, 0.5)
    unit, factors = _factors(name, values, total, spec)
    if not factors:
        # Of one value with gaps, the cut tells it from a missing one.
        tells = (len(values) > 1 or has_gaps) and name not in spec.units
        cuts = tuple(values[-1:].tolist()) if tells else ()
        return GridColumn(name, cuts, 0.0, fill, has_gaps)
    if has_gaps:
        # One more below, or else a missing number could not be told from the lowest.
        factors = range(factors[0] - 1, factors[-1] + 1)
    cuts = tuple(unit.times(factor) for factor in factors)
    return GridColumn(name, cuts, unit.times(1), fill, has_gaps)


def is_grid(cuts: Sequence[float], unit: float) -> bool:
    """Tell whether cuts are consecutive multiples of a unit, or one without any."""
    if unit <= 0 or len(cuts) == 0:
        return unit >= 0 and len(cuts) <= 1
    if not unit >= _finest(cuts[0], cuts[-1]):
        return False
    first, decimal = round(cuts[0] / unit), Unit.of(unit)
    return list(cuts) == [decimal.times(first + k) for k in range(len(cuts))]


def _factors(
    name: str, values: FloatArray, weight: FloatArray, spec: GridSpec
) -> tuple[Unit, range]:
    """Choose a unit, and the factors that make cuts of it; none for two values."""
    asked = spec.units.get(name)
    if asked is not None:
        unit = Unit.of(float(asked))
        return unit, _asked_factors(name, values, weight, unit, spec.steps)
    if len(values) <= 2:
        return _NO_UNIT, range(0)
    return _round_factors(values, weight, spec.steps)


def _asked_factors(
    name: str, values: FloatArray, weight: FloatArray, unit: Unit, steps: int
) -> range:
    """Return the factors of a unit that the user gave."""
    low, high = _range(values, weight, unit, steps)
    if unit.times(1) < 2 * _finest(low, high):
        raise ValueError(
            f"units gives {unit.times(1):g} for {name!r}, which is too fine for "
            f"numbers from {low:g} to {high:g}. Give a larger unit."
        )
    n_steps = (high - low) / unit.times(1)
    if n_steps > MOST_CUTS:
        raise ValueError(
            f"units gives {unit.times(1):g} for {name!r}, which makes {n_steps:.6g} "
            f"steps, but at most {MOST_CUTS} are possible. Give a larger unit."
        )
    factors = unit.factors(low, high)
    if not factors and len(values) > 1:
        warnings.warn(
            f"units gives {unit.times(1):g} for {name!r}, of which no multiple lies "
            f"between its values {low:g} and {high:g}: the column is not used.",
            UserWarning,
            stacklevel=2,
        )
    return factors


def _round_factors(
    values: FloatArray, weight: FloatArray, steps: int
) -> tuple[Unit, range]:
    """Choose the first round unit that makes no more than about ``steps`` steps.

    Where all values are multiples of a larger one, such as whole numbers, it is that.
    """
    low, high = _common_range(values, weight)
    finest = 2 * _finest(low, high)
    if finest == math.inf:
        return _NO_UNIT, range(0)
    units = _round_units(max(high / steps - low / steps, finest))
    unit, largest = next(units), float(values[-1] / 2 - values[0] / 2)
    larger = takewhile(lambda unit: unit.times(1) <= largest, units)
    exact = [unit for unit in (unit, *larger) if unit.divides(values)]
    if exact:
        return exact[-1], exact[-1].factors(*_range(values, weight, exact[-1], steps))
    factors = unit.factors(low, high)
    if not factors:  # one or two large steps may miss the range
        unit = next(_round_units(max(high / 2.5 - low / 2.5, finest)))
        factors = unit.factors(low, high)
    return unit, factors


def _round_units(low: float) -> Iterator[Unit]:
    """Yield 1, 2 and 5 times the powers of ten from a number on."""
    for exponent in count(math.floor(math.log10(low))):
        for digits in (1, 2, 5):
            unit = Unit(digits, exponent)
            if unit.times(1) >= low * (1 - 1e-9):
                yield unit


def _finest(low: float, high: float) -> float:
    """Return the least unit whose multiples are different float64 in a range."""
    largest = max(abs(low), abs(high))
    return max(2 * math.ulp(largest), _SMALLEST) if largest < _LARGEST else math.inf


def _range(
    values: FloatArray, weight: FloatArray, unit: Unit, steps: int
) -> tuple[float, float]:
    """Return the range that gets cuts: all values, where these are few units."""
    low, high = float(values[0]), float(values[-1])
    if (high - low) / unit.times(1) <= steps:
        return low, high
    return _common_range(values, weight)


def _common_range(values: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the lowest and highest value after rare ones were left out."""
    low, high = _without_tails(values, weight, _TAIL)
    if low < high:
        return low, high
    # Nearly all rows have the same value: the others decide.
    beside = values != low
    ends = _without_tails(values[beside], weight[beside], _TAIL_OF_OTHERS)
    return min(low, ends[0]), max(high, ends[1])


def _without_tails(
    values: FloatArray, weight: FloatArray, tail: float
) -> tuple[float, float]:
    """Return two of the ascending values, between which all but the tails lie."""
    low = weighted_quantile(values, weight, tail)
    high = weighted_quantile(values, weight, 1 - tail)
    below = int(np.searchsorted(values, low, side="right")) - 1
    return float(values[below]), float(values[np.searchsorted(values, high)])
