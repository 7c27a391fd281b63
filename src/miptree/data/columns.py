"""What is known of each column of a table, and how its cells become numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from miptree.data.cells import Cells, Value, row_name
from miptree.data.checks import (
    changed_type,
    check_missing,
    read_numbers,
    warn_missing,
)
from miptree.data.grid import GridColumn
from miptree.data.limits import Limits
from miptree.utils.arrays import FloatArray, IntArray

UNKNOWN = -1
"""Code of a value that training did not meet."""


@dataclass(frozen=True)
class NumericalColumn:
    """A column of numbers.

    Attributes
    ----------
    name : str
    fill : float
        Stands for a missing number: the weighted median.
    marks_missing : bool
        Whether a 0/1 column says where it was missing; only if training had any.
    limits : Limits or None
        Range and digits of the training rows' numbers; None where a file did not
        tell them.
    """

    name: str
    fill: float
    marks_missing: bool
    limits: Limits | None = None

    @property
    def open_names(self) -> list[str]:
        """Names of the columns that hyperplanes may use."""
        return [self.name, f"{self.name} missing"][: 1 + self.marks_missing]

    @property
    def open_steps(self) -> list[int]:
        """Largest grid value of each: a number is on no grid."""
        return [0, 1][: 1 + self.marks_missing]

    def open_part(self, cells: Cells, allow_missing: bool) -> FloatArray:
        """Return (n, 1 or 2): the numbers with the gaps filled, and where they were."""
        filled, missing = read_numbers(
            cells, self.name, self.fill, self.marks_missing, allow_missing
        )
        return np.column_stack([filled, missing][: 1 + self.marks_missing])


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories.

    Attributes
    ----------
    name : str
    values : tuple
        The values in order; None is 'missing', a value of its own.
    rare : tuple
        Rare values that count as one, which follows the others.
    as_indicators, as_subsets : bool
        Whether its values are open to hyperplanes, and to subset splits.
    """

    name: str
    values: tuple[Value, ...]
    rare: tuple[Value, ...]
    as_indicators: bool
    as_subsets: bool

    @cached_property
    def value_names(self) -> list[str]:
        """How the values are shown."""
        names = [show_value(value) for value in self.values]
        return names + (["any rare value"] if self.rare else [])

    @property
    def first_indicator(self) -> int:
        """First value with an indicator: of two values, one says all."""
        return 1 if len(self.value_names) == 2 else 0

    @property
    def open_names(self) -> list[str]:
        """Names of the columns that hyperplanes may use."""
        if not self.as_indicators:
            return []
        return [f"{self.name}={v}" for v in self.value_names[self.first_indicator :]]

    @property
    def open_steps(self) -> list[int]:
        """Largest value of each of these."""
        return [1] * len(self.open_names)

    @property
    def is_text(self) -> bool:
        """Whether its values are text."""
        return bool(_is_text((*self.values, *self.rare)))

    @cached_property
    def _code(self) -> dict[Value, int]:
        code = dict.fromkeys(self.rare, len(self.values))
        return code | {value: k for k, value in enumerate(self.values)}

    def codes(self, cells: Cells, allow_missing: bool, allow_unknown: bool) -> IntArray:
        """Return (n,): number of each row's value, UNKNOWN if it was not learnt."""
        values = cells.as_values()
        self._check_type(values)
        code = self._code
        codes = np.array([code.get(value, UNKNOWN) for value in values], dtype=np.intp)
        missing = np.array([value is None for value in values], dtype=bool)
        check_missing(self.name, missing, allow_missing)
        unknown = codes == UNKNOWN
        if (unknown & missing).any():
            warn_missing(self.name, missing, "sent as a value that was not met")
        if (unknown & ~missing).any() and not allow_unknown:
            row = int(np.flatnonzero(unknown & ~missing)[0])
            raise ValueError(
                f"Column {self.name!r} holds {values[row]!r} in {row_name(row)}, a "
                "value that training did not meet; it met "
                f"{', '.join(self.value_names[:20])}. "
                'Set unknown="majority" to send such rows with the majority.'
            )
        return codes

    def _check_type(self, values: list[Value]) -> None:
        """Refuse numbers where training had text, and the other way round."""
        before, now = _is_text((*self.values, *self.rare)), _is_text(values)
        if None not in (before, now) and before != now:
            raise changed_type(self.name, "text" if before else "no text", values)

    def indicators(self, codes: IntArray) -> FloatArray:
        """Return (n, number of values): 1 where a row has the value."""
        numbers = np.arange(len(self.value_names))
        return (codes[:, None] == numbers).astype(np.float64)


@dataclass(frozen=True)
class DroppedColumn:
    """A column that no split uses; it has no open columns.

    Every cell of it is missing, or a constraint leaves it out.
    """

    name: str

    open_names: ClassVar[tuple[str, ...]] = ()
    open_steps: ClassVar[tuple[int, ...]] = ()


Column: TypeAlias = NumericalColumn | GridColumn | CategoricalColumn | DroppedColumn
OF_NUMBERS = (NumericalColumn, GridColumn)
"""Kinds of columns whose cells are numbers."""


def show_value(value: Value) -> str:
    """Write a value as text, whole numbers without a point."""
    if value is None:
        return "missing"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _is_text(values: Sequence[Value]) -> bool | None:
    """Tell whether values are text, None where all are missing."""
    known = [value for value in values if value is not None]
    return any(isinstance(value, str) for value in known) if known else None
