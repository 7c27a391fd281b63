"""Names of classes and categories that look like numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from miptree.data.csv import csv_options
from miptree.data.files.dialect import Dialect
from miptree.data.files.notes import Notes

_ZERO_BEFORE = re.compile(r"\s*[-+]?0[0-9]")


def have_leading_zeros(texts: Collection[str]) -> bool:
    """Tell whether a text would lose a zero as a number: 01 is a name other than 1."""
    return any(_ZERO_BEFORE.match(text) for text in texts)


def read_labels(column: pd.Series, dialect: Dialect, notes: Notes) -> pd.Series:
    """Return texts as pandas reads them in a file, but all of them if one is 01.

    Parameters
    ----------
    column : Series
        The cells as they are written, missing ones empty.
    dialect : Dialect
        Tells the decimal sign.
    notes : Notes
        Takes which different texts are one number.
    """
    codes, texts = pd.factorize(column)
    if not len(texts) or have_leading_zeros(texts):
        return column
    read = _as_in_a_file(texts, dialect)
    found = read.reindex(codes).set_axis(column.index)  # whole numbers: floats by gaps
    kept = read.astype(found.dtype).tolist()
    note_same_numbers(str(column.name), texts.tolist(), kept, notes)
    return found


def note_same_numbers(
    name: str, texts: Sequence[str], numbers: Sequence[Any], notes: Notes
) -> None:
    """Note which different texts of a column become one class or category."""
    written: dict[Any, str] = {}
    for text, number in zip(texts, numbers, strict=True):
        if written.setdefault(number, text) != text:
            notes.odd.append(
                f"Column {name!r} holds {written[number]!r} and {text!r}, which are "
                "the same number: they count as one class or category."
            )
            return


def _as_in_a_file(texts: pd.Index, dialect: Dialect) -> pd.Series:
    """Read texts as the cells of a column, each once."""
    cells = pd.Series(texts, name="text")
    written = cells.to_csv(index=False, quoting=csv.QUOTE_ALL)
    options = csv_options() | {"decimal": dialect.decimal, "low_memory": False}
    return pd.read_csv(io.StringIO(written), **options)["text"]
