"""Conversion of lines of text into a table, the same for every kind of source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from miptree.datasets._registry import Entry

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("", "?", "NA", "NaN")


def raw_rows(text: str, entry: Entry) -> list[list[str]]:
    """Return the features in our order and the label of all complete rows.

    Headers, comments and blank lines have another number of fields, or no numbers
    where numbers belong. Rows with a missing value are left out, as in the paper's n.
    """
    width = len(entry.columns) + 1 + len(entry.source.drop)
    numeric = [name not in entry.strings for name in entry.columns]
    rows = []
    for line in text.splitlines():
        fields = line.split(",") if "," in line else line.split()
        fields = [field.strip().strip("'\"") for field in fields]
        if len(fields) != width:
            continue
        row = _ordered(fields, entry)
        if any(field in MISSING for field in row):
            continue
        if all(_is_number(f) for f, is_n in zip(row, numeric, strict=False) if is_n):
            rows.append(row)
    begin, end = entry.source.rows or (0, len(rows))
    return rows[begin:end]


def _ordered(fields: list[str], entry: Entry) -> list[str]:
    target = entry.source.target % len(fields)
    skipped = {target, *(i % len(fields) for i in entry.source.drop)}
    features = [field for i, field in enumerate(fields) if i not in skipped]
    return [*features, fields[target]]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def fingerprints(rows: Iterable[list[str]], entry: Entry) -> tuple[str, str]:
    """Return check sums of the rows, sorted and in their order; 1.0 counts as 1."""
    strings = {i for i, name in enumerate(entry.columns) if name in entry.strings}
    strings.add(len(entry.columns))
    lines = [
        ",".join(
            field if i in strings else repr(float(field)) for i, field in enumerate(row)
        )
        for row in rows
    ]
    return _digest(sorted(lines)), _digest(lines)


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def typed(rows: list[list[str]], entry: Entry) -> tuple[pd.DataFrame, pd.Series]:
    """Return a frame with numbers and categories, and the labels as strings.

    Empty cells are missing values.
    """
    import pandas as pd

    table = pd.DataFrame(rows, columns=[*entry.columns, "target"], dtype=object)
    target = table.pop("target").astype(str)
    table = table.where(table != "", None)
    for name in entry.columns:
        if name not in entry.strings:
            table[name] = table[name].astype("float64")
        if name in entry.categorical:
            table[name] = _categories(table[name])
    return table, target


def _categories(column: pd.Series) -> pd.Series:
    known = column.dropna()
    if column.dtype == "float64" and (known == known.round()).all():
        column = column.astype("int64" if len(known) == len(column) else "Int64")
    return column.astype("category")
