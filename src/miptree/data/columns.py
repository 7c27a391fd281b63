"""What is known of each column of a table, and how its cells become numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from miptree.data.cells import Cells, Value, row_name
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

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
    """

    name: str
    fill: float
    marks_missing: bool

    @property
    def open_names(self) -> list[str]:
        """Names of the columns that hyperplanes may use."""
        return [self.name, f"{self.name} missing"][: 1 + self.marks_missing]

    def open_part(self, cells: Cells, allow_missing: bool) -> FloatArray:
        """Return (n, 1 or 2): the numbers with the gaps filled, and where they were."""
        if cells.numbers is None:
            if any(value is not None for value in cells.as_values()):
                raise _changed_type(self.name, "numbers", cells.as_values())
            cells = Cells(self.name, numbers=np.full(len(cells), np.nan))
        numbers = np.asarray(cells.numbers)
        missing = np.isnan(numbers)
        if missing.any():
            _check_missing(self.name, missing, allow_missing)
            if not self.marks_missing:
                _warn_missing(self.name, missing, f"filled with {self.fill:g}")
        filled = np.where(missing, self.fill, numbers)
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
        _check_missing(self.name, missing, allow_missing)
        unknown = codes == UNKNOWN
        if (unknown & missing).any():
            _warn_missing(self.name, missing, "sent as a value that was not met")
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
            raise _changed_type(self.name, "text" if before else "no text", values)

    def indicators(self, codes: IntArray) -> FloatArray:
        """Return (n, number of values): 1 where a row has the value."""
        numbers = np.arange(len(self.value_names))
        return (codes[:, None] == numbers).astype(np.float64)


@dataclass(frozen=True)
class DroppedColumn:
    """A column without a single cell that is not missing."""

    name: str


Column: TypeAlias = NumericalColumn | CategoricalColumn | DroppedColumn


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


def _changed_type(name: str, before: str, values: list[Value]) -> ValueError:
    """Make the error for a column of another type; it names a cell that shows it."""
    known = [row for row, value in enumerate(values) if value is not None]
    # One word in a file makes text of all numbers of its column: name the word.
    row = next((k for k in known if not _looks_like_number(values[k])), known[0])
    return ValueError(
        f"Column {name!r} held {before} in training and holds {values[row]!r} in "
        f"{row_name(row)}. Give it the type it had."
    )


def _looks_like_number(value: Value) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _check_missing(name: str, missing: BoolArray, allowed: bool) -> None:
    if missing.any() and not allowed:
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"Column {name!r} has {int(missing.sum())} missing values (NaN), the first "
            f'in {row_name(row)}. Fill them in, or set missing="fill".'
        )


def _warn_missing(name: str, missing: BoolArray, what: str) -> None:
    warnings.warn(
        f"Column {name!r} has {int(missing.sum())} missing values, but had none in "
        f"training: {what}.",
        UserWarning,
        stacklevel=2,
    )
