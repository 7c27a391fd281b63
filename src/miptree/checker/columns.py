"""How the cells of a CSV file become whole numbers, by the rules of a proof file."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .values import Refused, a_bool, a_float, a_list, a_text, an_object

MAX_COLUMNS, MAX_CUTS, MAX_VALUES, MAX_RARE = 20_000, 10_000, 1000, 100_000

Cells = Sequence[str]
"""The cells of a column as they are written; an empty one is missing."""


@dataclass(frozen=True)
class ColumnRule:
    """How a column is read; this one is not used at all."""

    name: str
    is_category: ClassVar[bool] = False

    @property
    def steps(self) -> list[int]:
        """Largest value of each of its grid columns."""
        return []

    @property
    def n_grid(self) -> int:
        """Number of its grid columns."""
        return len(self.steps)

    def grid(self, cells: Cells) -> np.ndarray:
        """Return (n, n_grid): the whole numbers of the cells."""
        return np.zeros((len(cells), 0), dtype=np.int64)


@dataclass(frozen=True)
class Number(ColumnRule):
    """A column of numbers: the grid value is how many cuts are not above the number.

    With gaps it has two grid columns: a missing number is lowest in the first and
    highest in the second. Without, ``fill`` stands for it.
    """

    cuts: tuple[float, ...]
    has_gaps: bool
    fill: float

    @property
    def steps(self) -> list[int]:
        """As many as there are cuts, twice with gaps."""
        return [len(self.cuts)] * (2 if self.has_gaps else 1)

    def grid(self, cells: Cells) -> np.ndarray:
        """Count the cuts."""
        missing = np.array([cell == "" for cell in cells], dtype=bool)
        numbers = np.array([_number(cell, self.fill, self.name) for cell in cells])
        value = np.searchsorted(np.array(self.cuts), numbers, side="right")
        if not self.has_gaps:
            return value[:, None]
        high = len(self.cuts)
        twins = np.where(missing, 0, value), np.where(missing, high, value)
        return np.stack(twins, axis=1)


@dataclass(frozen=True)
class Category(ColumnRule):
    """A column of categories: a 0/1 column for each value, of two values for one."""

    codes: dict[Any, int]
    kind: str
    n_values: int
    is_category: ClassVar[bool] = True

    @property
    def steps(self) -> list[int]:
        """They are 0 or 1; of two values one column says all."""
        return [1] * (1 if self.n_values == 2 else self.n_values)

    def grid(self, cells: Cells) -> np.ndarray:
        """Compare with the values; one that is not listed is 0 throughout."""
        codes = [self.codes.get(read_value(cell, self.kind), -1) for cell in cells]
        numbers = np.arange(self.n_values - self.n_grid, self.n_values)
        return (np.array(codes)[:, None] == numbers).astype(np.int64)


def read_columns(given: Any) -> tuple[ColumnRule, ...]:
    """Read the rules of all columns."""
    found: list[ColumnRule] = []
    for column in a_list(given, "columns", 1, MAX_COLUMNS):
        kind = column.get("kind") if isinstance(column, dict) else None
        if not isinstance(kind, str) or kind not in _READERS:
            raise Refused(f"The proof file has a column of unknown kind {kind!r:.50}.")
        found.append(_READERS[kind](column))
    return tuple(found)


def _dropped(given: Any) -> ColumnRule:
    given = an_object(given, "columns", "kind name")
    return ColumnRule(a_text(given["name"], "name"))


def _cuts(given: Any) -> ColumnRule:
    given = an_object(given, "columns", "kind name cuts has_gaps fill")
    name = a_text(given["name"], "name")
    values = a_list(given["cuts"], "cuts", 0, MAX_CUTS)
    cuts = tuple(a_float(cut, "cuts") for cut in values)
    if any(a >= b for a, b in itertools.pairwise(cuts)):
        raise Refused(f"The cuts of column {name!r:.60} are not ascending.")
    gaps = a_bool(given["has_gaps"], "has_gaps")
    return Number(name, cuts, gaps, a_float(given["fill"], "fill"))


def _values(given: Any) -> ColumnRule:
    given = an_object(given, "columns", "kind name values rare")
    name = a_text(given["name"], "name")
    values = a_list(given["values"], "values", 0, MAX_VALUES)
    rare = a_list(given["rare"], "rare", 0, MAX_RARE)
    kinds = {_kind(value) for value in [*values, *rare] if value is not None}
    if len(kinds) > 1:
        raise Refused(f"The values of column {name!r:.60} are of several kinds.")
    kind = kinds.pop() if kinds else "text"
    codes = {_plain(value): k for k, value in enumerate(values)}
    codes |= {_plain(value): len(values) for value in rare}
    if len(codes) < len(values) + len(rare):
        raise Refused(f"A value of column {name!r:.60} is listed twice.")
    return Category(name, codes, kind, len(values) + (len(rare) > 0))


_READERS = {"dropped": _dropped, "number": _cuts, "category": _values}


# --------------------------------------------------------------------------- cells


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "truth" if isinstance(value, bool) else "number"


def _plain(value: Any) -> Any:
    """Make what is compared with cells of a value in JSON."""
    if value is None or isinstance(value, (str, bool)):
        return value
    return a_float(value, "values")


def read_value(cell: str, kind: str) -> Any:
    """Read a cell as a text, number or truth value, None if it is empty."""
    if cell == "":
        return None
    if kind == "text":
        return cell
    if kind == "truth":
        return {"true": True, "false": False}.get(cell.lower(), cell)
    try:
        return _number(cell, 0.0, "")
    except Refused:
        return cell


def _number(cell: str, fill: float, name: str) -> float:
    if cell == "":
        return fill
    try:
        found = float(cell)
    except ValueError:
        found = np.inf
    if not np.isfinite(found) or "_" in cell:
        raise Refused(f"Column {name!r:.60} holds {cell!r:.50}, which is no number.")
    return found
