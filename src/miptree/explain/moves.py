"""What a row's cell may become, and what that costs."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TypeAlias

from miptree.data import CategoricalColumn, Column, GridColumn, Value
from miptree.data.columns import OF_NUMBERS
from miptree.data.limits import Limits

FILLED_IN = 1.0
"""Cost of a missing number that is filled in, besides how unusual the number is."""
_MOST_WHOLE = 10_000
"""Steps of a range up to which a number is changed by whole steps from the start."""


@dataclass(frozen=True)
class Options:
    """A cell that becomes one of some values; the first is what it is.

    Attributes
    ----------
    column : int
    values : tuple
    costs : tuple of float
        What each of them costs, 0 for the first.
    """

    column: int
    values: tuple[Value, ...]
    costs: tuple[float, ...]

    def cost(self, value: Value) -> float:
        """Return what it costs that the cell gets a value."""
        return self.costs[self.values.index(value)]


@dataclass(frozen=True)
class Slide:
    """A number that moves within its limits.

    Attributes
    ----------
    column : int
    cell : float or None
        What it is, None where it is missing.
    start : float
        Where moves are measured from: the cell if it is within the limits, else the
        nearest number that is; where it is missing, the number that the tree reads
        instead, with the digits of the column.
    limits : Limits
    weight : float
        Cost of a move by the whole range.
    """

    column: int
    cell: float | None
    start: float
    limits: Limits
    weight: float

    @property
    def is_switched(self) -> bool:
        """Whether to move at all is a choice of its own: the cell is not the start."""
        return self.cell != self.start

    @property
    def is_whole(self) -> bool:
        """Whether it moves by whole steps; else it moves freely and is rounded."""
        is_on_step = self.limits.round(self.start) == self.start
        return is_on_step and self.limits.width <= _MOST_WHOLE * self.limits.step

    @property
    def unit(self) -> float:
        """The move that a variable of 1 means."""
        return self.limits.step if self.is_whole else self.limits.width

    @property
    def fixed_cost(self) -> float:
        """What it costs to come to the start."""
        if self.cell is None:
            return FILLED_IN * self.weight
        return self.weight * abs(self.cell - self.start) / self.limits.width

    def cost(self, value: Value) -> float:
        """Return what it costs that the cell gets a value."""
        if value == self.cell or value is None:
            return 0.0
        moved = abs(float(value) - self.start) / self.limits.width
        return self.fixed_cost + self.weight * moved


Move: TypeAlias = Options | Slide


def is_free(move: Move) -> bool:
    """Tell whether a number has so many steps that it moves freely and is rounded."""
    return isinstance(move, Slide) and not move.is_whole


def move_of(
    j: int, column: Column, cell: Value, limits: Limits | None, weight: float
) -> Move | None:
    """Return what a cell may become; None where it can only stay.

    A value that is there does not become a missing one: to withhold something is not
    what a change means.

    Parameters
    ----------
    j : int
        Place of the column.
    column : Column
    cell : Value
    limits : Limits, optional
        Of a number; None where they are not known.
    weight : float
        What the cost of the column's changes is multiplied by.
    """
    if isinstance(column, CategoricalColumn):
        others = [v for v in column.values if v is not None and v != cell]
        costs = (0.0, *[weight] * len(others))
        return Options(j, (cell, *others), costs) if others else None
    if limits is None or not isinstance(column, OF_NUMBERS):
        return None
    if cell is None:
        slide = Slide(j, None, limits.nearest(column.fill), limits, weight)
    else:
        start = number = float(cell)
        if limits.low <= number <= limits.high:
            limits = limits.holding(number)
        else:
            start = limits.nearest(number)
        slide = Slide(j, number, start, limits, weight)
    return _cells(column, slide) if isinstance(column, GridColumn) else slide


def _cells(column: GridColumn, slide: Slide) -> Options | None:
    """Return the nearest number of each step of a grid that the limits leave."""
    ends, values = slide.limits.inside(), list[Value]([slide.cell])
    own = bisect_right(column.cuts, slide.start)
    for step in range(len(column.cuts) + 1):
        found = slide.start
        if step > own:
            found = slide.limits.above(column.cuts[step - 1])
        elif step < own:
            found = slide.limits.below(column.cuts[step])
        found = min(max(found, ends.low), ends.high)
        if found != slide.cell and bisect_right(column.cuts, found) == step:
            values.append(found)
    costs = tuple(slide.cost(value) for value in values)
    return Options(slide.column, tuple(values), costs) if len(values) > 1 else None
