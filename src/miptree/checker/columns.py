"""How the cells of a CSV file become numbers, by the rules of a proof file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
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
    is_subset: ClassVar[bool] = False
    """Whether splits may send some of its values left."""

    @property
    def n_alike(self) -> int:
        """Number of different values that are read as one."""
        return 0

    @property
    def is_read(self) -> bool:
        """Whether splits may use it in any way."""
        return self.n_numbers > 0 or self.is_subset

    @property
    def steps(self) -> list[int]:
        """Largest value of each of its grid columns."""
        return []

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers that it becomes."""
        return len(self.steps)

    def numbers(self, cells: Cells) -> np.ndarray:
        """Return (n, n_numbers): the numbers of the cells."""
        return np.zeros((len(cells), 0), dtype=np.int64)

    def values(self, cells: Cells) -> np.ndarray:
        """Return (n, 1 if is_subset else 0): a number for each value."""
        return np.zeros((len(cells), 0), dtype=np.int64)


@dataclass(frozen=True)
class GridNumber(ColumnRule):
    """A column of numbers on a grid: how many cuts are not above the number.

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

    def numbers(self, cells: Cells) -> np.ndarray:
        """Count the cuts."""
        missing, numbers = _filled(cells, self.fill, self.name)
        value = np.searchsorted(np.array(self.cuts), numbers, side="right")
        if not self.has_gaps:
            return value[:, None]
        high = len(self.cuts)
        twins = np.where(missing, 0, value), np.where(missing, high, value)
        return np.stack(twins, axis=1)


@dataclass(frozen=True)
class PlainNumber(ColumnRule):
    """A column of numbers as they are; ``fill`` stands for a missing one.

    With gaps a second column is 1 where the number is missing.
    """

    has_gaps: bool
    fill: float

    @property
    def n_numbers(self) -> int:
        """One, or two with gaps."""
        return 1 + self.has_gaps

    def numbers(self, cells: Cells) -> np.ndarray:
        """Read the numbers, as float64."""
        missing, numbers = _filled(cells, self.fill, self.name)
        if missing.any() and not self.has_gaps:
            text = f"Column {self.name!r:.60} has a gap, by the proof it has none."
            raise Refused(text)
        return np.stack([numbers, missing][: self.n_numbers], axis=1)


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

    @property
    def n_alike(self) -> int:
        """Number of different values that are read as one, 0 if all are told apart."""
        n_merged = len(self.codes) - self.n_values
        return n_merged + 1 if n_merged > 0 else 0

    def numbers(self, cells: Cells) -> np.ndarray:
        """Compare with the values."""
        numbers = np.arange(self.n_values - self.n_numbers, self.n_values)
        return (self.coded(cells) == numbers).astype(np.int64)

    def coded(self, cells: Cells) -> np.ndarray:
        """Return (n, 1): the numbers of the values; all of them must be listed.

        Were others read alike, a proof could be of a table that tells nothing apart.
        """
        codes = [self.codes.get(read_value(cell, self.kind), -1) for cell in cells]
        if min(codes) < 0:
            cell = cells[codes.index(-1)]
            text = f"holds {cell!r:.50}, which the proof file does not list"
            raise Refused(f"Column {self.name!r:.60} {text}.")
        return np.array(codes, dtype=np.int64)[:, None]


@dataclass(frozen=True)
class SubsetCategory(Category):
    """A column of categories whose values are split by subsets, and maybe weighed."""

    is_open: bool
    is_subset: ClassVar[bool] = True

    @property
    def steps(self) -> list[int]:
        """None if splits may not weigh it."""
        return super().steps if self.is_open else []

    def values(self, cells: Cells) -> np.ndarray:
        """Number the values."""
        return self.coded(cells)


Readers = Mapping[str, Callable[[Any], ColumnRule]]
"""How the kinds of columns of a proof are read."""


def read_columns(given: Any, readers: Readers) -> tuple[ColumnRule, ...]:
    """Read the rules of all columns."""
    found: list[ColumnRule] = []
    for column in a_list(given, "columns", 1, MAX_COLUMNS):
        kind = column.get("kind") if isinstance(column, dict) else None
        if not isinstance(kind, str) or kind not in readers:
            raise Refused(f"The proof file has a column of unknown kind {kind!r:.50}.")
        found.append(readers[kind](column))
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
    return GridNumber(name, cuts, gaps, a_float(given["fill"], "fill"))


def _plain_number(given: Any) -> ColumnRule:
    given = an_object(given, "columns", "kind name has_gaps fill")
    gaps = a_bool(given["has_gaps"], "has_gaps")
    return PlainNumber(
        a_text(given["name"], "name"), gaps, a_float(given["fill"], "fill")
    )


def _values(given: Any) -> Category:
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


def _open_values(given: Any) -> ColumnRule:
    """Read a category, whose 0/1 columns splits may weigh only if it says so."""
    given = an_object(given, "columns", "kind name values rare is_open")
    is_open = a_bool(given.pop("is_open"), "is_open")
    found = _values(given)
    return found if is_open else ColumnRule(found.name)


def _split_values(given: Any) -> ColumnRule:
    """Read a category that says whether it is weighed, and split by subsets."""
    given = an_object(given, "columns", "kind name values rare is_open is_subset")
    if not a_bool(given.pop("is_subset"), "is_subset"):
        return _open_values(given)
    is_open = a_bool(given.pop("is_open"), "is_open")
    found = _values(given)
    return SubsetCategory(found.name, found.codes, found.kind, found.n_values, is_open)


POINTS_COLUMNS: Readers = {"dropped": _dropped, "number": _cuts, "category": _values}
OBLIQUE_COLUMNS: Readers = {
    "dropped": _dropped,
    "number": _plain_number,
    "category": _open_values,
}
SUBSETS_COLUMNS: Readers = {**OBLIQUE_COLUMNS, "category": _split_values}


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


def _filled(cells: Cells, fill: float, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where cells are missing, and their numbers with the gaps filled."""
    missing = np.array([cell == "" for cell in cells], dtype=bool)
    return missing, np.array([_number(cell, fill, name) for cell in cells])


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
