"""Columns of numbers read on a coarse grid of round units, as points trees need them.

The grid value of a number is how many of the stored cut points are not above it. Cut
points are decimals (0.6, not 3 * 0.2) that were rounded once, so whoever compares a
number with the same constants, in whatever language, gets the same whole number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from miptree.data.cells import Cells
from miptree.data.checks import read_numbers
from miptree.data.limits import Limits
from miptree.utils.arrays import FloatArray

MOST_CUTS = 1000
"""Cut points of a column."""


@dataclass(frozen=True)
class GridColumn:
    """A column of numbers read on a grid.

    A column with gaps becomes two: in one a missing number counts as the lowest, in
    the other as the highest.

    Attributes
    ----------
    name : str
    cuts : tuple of float
        Strictly ascending; consecutive multiples of ``unit``. The grid value of x is
        the number of cuts <= x, so 0 to len(cuts). None in a column of one value.
    unit : float
        0.0 where there is none: the one cut is a value of the column.
    fill : float
        Stands for a missing number where training had none: the weighted median.
    has_gaps : bool
        Whether training rows had gaps.
    limits : Limits or None
        Range and digits of the training rows' numbers; None where a file did not
        tell them.
    """

    name: str
    cuts: tuple[float, ...]
    unit: float
    fill: float
    has_gaps: bool
    limits: Limits | None = None

    @property
    def open_names(self) -> list[str]:
        """Names of its grid columns."""
        if not self.has_gaps:
            return [self.name]
        return [f"{self.name} (missing lowest)", f"{self.name} (missing highest)"]

    @property
    def open_steps(self) -> list[int]:
        """Largest value of each of its grid columns."""
        return [len(self.cuts)] * (1 + self.has_gaps)

    def open_part(self, cells: Cells, allow_missing: bool) -> FloatArray:
        """Return (n, 1 or 2): the grid values, which are whole numbers."""
        filled, missing = read_numbers(
            cells, self.name, self.fill, self.has_gaps, allow_missing
        )
        value = np.searchsorted(self.cuts, filled, side="right").astype(np.float64)
        if not self.has_gaps:
            return value[:, None]
        twins = [np.where(missing, end, value) for end in (0.0, len(self.cuts))]
        return np.column_stack(twins)


@dataclass(frozen=True)
class GridSpec:
    """What is asked of a grid.

    Attributes
    ----------
    steps : int
        About how many steps a column has between its rare lowest and highest values.
    units : mapping from str to float
        Units of columns by name; the others get round ones.
    """

    steps: int = 20
    units: Mapping[str, float] = field(default_factory=dict)

    def check(self, table: Sequence[Cells], categorical: Sequence[bool]) -> None:
        """Refuse units of columns that are not there, or of no use."""
        names = [cells.name for cells in table]
        texts = {n for n, text in zip(names, categorical, strict=True) if text}
        for name, unit in self.units.items():
            if name not in names:
                raise ValueError(
                    f"units names {name!r}, which is no column; there are "
                    f"{', '.join(map(repr, names[:20]))}."
                )
            if name in texts:
                raise ValueError(
                    f"units names {name!r}, which holds categories. Give units of "
                    "numbers only."
                )
            number = isinstance(unit, (Real, np.number)) and not isinstance(unit, bool)
            if not number or not 0 < float(unit) < np.inf:
                raise ValueError(
                    f"units gives {unit!r} for {name!r}. Give a finite number above 0."
                )
