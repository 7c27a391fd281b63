"""What the cells of each column are: numbers, dates as numbers, or text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import date, timedelta
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from miptree.data.cells import row_name
from miptree.data.files.cell import (
    as_text,
    cell_number,
    is_word,
    plain_cell,
    without_zone,
)
from miptree.data.files.clean import whole_if_possible, without_spaces
from miptree.data.files.dates import UnclearDatesError, read_date_column, years_of
from miptree.data.files.labels import have_leading_zeros, note_same_numbers
from miptree.data.files.notes import Notes
from miptree.data.files.numbers import (
    MixedUnitsError,
    read_number_column,
)
from miptree.data.files.options import Roles
from miptree.data.files.truth import read_truth_column

_DAY = timedelta(days=1)
_FEW_WORDS = 0.2
"""Share of words up to which a column was probably meant to be one of numbers."""
_MOST_DIGITS = 300
"""Digits of the longest whole number that a float64 holds, about."""
_SAMPLE = 200
"""Cells that are looked at first."""


class Interpreter:
    """Reads the columns of one file.

    Parameters
    ----------
    roles : Roles
    decimal : {".", ","}
        Decimal sign of the file.
    has_types : bool
        Whether the file tells types: text stays text then, unless numbers are needed.
    notes : Notes
        Takes what is worth saying.
    """

    def __init__(
        self, roles: Roles, decimal: str, has_types: bool, notes: Notes
    ) -> None:
        self.roles = roles
        self.decimal = decimal
        self.has_types = has_types
        self.notes = notes

    def table(self, raw: pd.DataFrame) -> pd.DataFrame:
        """Return the table with all its columns read."""
        columns = []
        for j, name in enumerate(raw.columns):
            column = raw.iloc[:, j]
            if self.roles.is_of_interest(name):
                column = without_spaces(name, self._column(name, column), self.notes)
            columns.append(column.rename(name))
        return pd.concat(columns, axis=1) if columns else raw

    def _column(self, name: str, column: pd.Series) -> pd.Series:
        kinds = pd.api.types
        if name in self.roles.text:
            return column if kinds.is_string_dtype(column) else as_text(column)
        if kinds.is_datetime64_any_dtype(column):
            column = column if column.dt.tz is None else column.dt.tz_convert(None)
            return self._dates(name, column.index, column.to_numpy())
        if kinds.is_timedelta64_dtype(column):
            return column / _DAY
        if not (kinds.is_object_dtype(column) or kinds.is_string_dtype(column)):
            return column
        if isinstance(column.dtype, pd.CategoricalDtype):
            return column
        cells = [plain_cell(cell) for cell in column.tolist()]
        texts = list(dict.fromkeys(cell for cell in cells if isinstance(cell, str)))
        if texts:
            return self._of_texts(name, column, cells, texts)
        if cells and all(cell is None or isinstance(cell, date) for cell in cells):
            return self._dates(
                name, column.index, [without_zone(cell) for cell in cells]
            )
        if _are_long_integers(cells):
            return self._long_integers(name, column, cells)
        return pd.Series(cells, index=column.index, dtype=object).infer_objects()

    def _long_integers(
        self, name: str, column: pd.Series, cells: list[Any]
    ) -> pd.Series:
        """Read whole numbers of more than 64 bits; where two became one, as names."""
        if name in self.roles.labels or max(map(_n_digits, cells)) > _MOST_DIGITS:
            return as_text(column)
        numbers = pd.Series([cell_number(c) for c in cells], index=column.index)
        n_different = len({cell for cell in cells if cell is not None})
        if name not in self.roles.numbers and numbers.nunique() < n_different:
            return as_text(column)
        return numbers

    def _of_texts(
        self, name: str, column: pd.Series, cells: list[Any], texts: list[str]
    ) -> pd.Series:
        """Read a column with at least one text."""
        others = [c for c in cells if c is not None and not isinstance(c, str)]
        is_needed = name in self.roles.numbers
        if self.has_types and not is_needed:
            return column
        truth = None if name in self.roles.labels else read_truth_column(texts)
        if truth is not None and all(isinstance(c, bool) for c in others):
            self._count_missing(name, cells, truth.missing)
            self.notes.file.append(f"column {name!r} holds truth values")
            values = [truth.values[c] if isinstance(c, str) else c for c in cells]
            return pd.Series(values, index=column.index, dtype=object).infer_objects()
        found = None
        if all(isinstance(c, Real) and not isinstance(c, bool) for c in others):
            found = self._numbers(name, texts, bool(others) or is_needed)
        if found is None and all(isinstance(c, date) for c in others):
            found = self._date_texts(name, texts)
        if found is None:
            if not (is_needed or name in self.roles.labels):
                self._warn_of_few_words(name, cells)
            return as_text(column) if others else column
        read, missing = found
        self._count_missing(name, cells, missing)
        numbers = [read[c] if isinstance(c, str) else cell_number(c) for c in cells]
        return whole_if_possible(
            pd.Series(numbers, index=column.index, dtype="float64")
        )

    def _warn_of_few_words(self, name: str, cells: Sequence[Any]) -> None:
        """Tell which cells make text of a column that else is one of numbers."""
        known = [(row, cell) for row, cell in enumerate(cells) if cell is not None]
        sample = known[:: max(1, len(known) // _SAMPLE)]
        if _count_words(sample, self.decimal) > _FEW_WORDS * len(sample):
            return
        words = [(row, c) for row, c in known if is_word(c, self.decimal)]
        if words and len(words) <= _FEW_WORDS * len(known):
            row, word = words[0]
            self.notes.odd.append(
                f"Column {name!r} is read as text, because {len(words):,} of its "
                f"{len(known):,} cells {'are' if len(words) > 1 else 'is'} no number: "
                f"{word!r} in {row_name(row)}. Correct or empty such cells."
            )

    def _count_missing(
        self, name: str, cells: Sequence[Any], signs: Collection[str]
    ) -> None:
        """Note how often each sign for a missing value is there."""
        gone = Counter(c for c in cells if isinstance(c, str) and c in signs)
        if gone:
            self.notes.missing[name] = gone

    def _numbers(
        self, name: str, texts: Sequence[str], is_sure: bool
    ) -> tuple[dict[str, float], frozenset[str]] | None:
        """Return what texts are as numbers, and which are signs of a missing value."""
        try:
            found = read_number_column(texts, self.decimal)
        except MixedUnitsError as error:
            self._unclear(
                name,
                f"holds numbers of different units, {error}",
                "Give all numbers of a column the same unit",
            )
            return None
        if found is None or (len(found.missing) == len(found.values) and not is_sure):
            return None
        if name in self.roles.labels:
            if found.example or found.missing or have_leading_zeros(texts):
                self._warn_of_signs(name, found.missing)
                return None
            numbers = [found.values[text] for text in texts]
            note_same_numbers(name, texts, numbers, self.notes)
        if found.example is not None:
            self.notes.written[name] = found.example, found.values[found.example]
        return found.values, found.missing

    def _warn_of_signs(self, name: str, signs: Collection[str]) -> None:
        """Tell that signs for a missing value are classes or categories here."""
        if signs:
            self.notes.odd.append(
                f"Column {name!r} holds {', '.join(map(repr, sorted(signs)))} among "
                "numbers: a class or category of its own. Leave out such rows, or "
                "leave their fields empty, if it stands for a missing value."
            )

    def _date_texts(
        self, name: str, texts: Sequence[str]
    ) -> tuple[dict[str, float], frozenset[str]] | None:
        if name in self.roles.labels:
            return None
        try:
            found = read_date_column(texts)
        except UnclearDatesError as error:
            self._unclear(
                name,
                f"holds dates such as {error}, whose day or month may come first",
                "Write dates as 2024-12-31",
            )
            return None
        if found is None:
            return None
        example = next(text for text in texts if text not in found.missing)
        self.notes.dates[name] = example, found.values[example]
        return found

    def _unclear(self, name: str, what: str, remedy: str) -> None:
        """Refuse a column that must hold numbers, and warn of another one."""
        if name in self.roles.numbers:
            raise ValueError(f"Column {name!r} {what}. {remedy}.")
        self.notes.odd.append(
            f"Column {name!r} {what}: it is read as text. {remedy} to have it read as "
            "numbers."
        )

    def _dates(self, name: str, index: pd.Index, cells: ArrayLike) -> pd.Series:
        """Return dates that have the type of dates as years."""
        moments = np.asarray(cells, dtype="datetime64[us]")
        years = years_of(moments)
        known = np.flatnonzero(~np.isnan(years))
        if len(known):
            first = moments[known[0]]
            day = first.astype("datetime64[D]")
            shown = str(day) if day == first else str(first.astype("datetime64[s]"))
            self.notes.dates[name] = shown, float(years[known[0]])
        return pd.Series(years, index=index)


def _are_long_integers(cells: Sequence[Any]) -> bool:
    """Tell whether pandas left whole numbers alone, as one has more than 64 bits."""
    known = [cell for cell in cells if cell is not None]
    return all(type(cell) is int for cell in known) and any(
        cell.bit_length() > 63 for cell in known
    )


def _n_digits(cell: int | None) -> int:
    """Return about how many decimal digits a number has."""
    return 0 if cell is None else cell.bit_length() * 3 // 10


def _count_words(cells: Sequence[tuple[int, Any]], decimal: str) -> int:
    return sum(is_word(cell, decimal) for _, cell in cells)
