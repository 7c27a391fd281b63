"""A file becomes a table whose columns are numbers or text."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from miptree.data.files.arrow import read_arrow
from miptree.data.files.cell import as_text
from miptree.data.files.clean import clean_names, without_empty_end
from miptree.data.files.content import Content, read_content
from miptree.data.files.delimited import read_delimited
from miptree.data.files.dialect import find_decimal
from miptree.data.files.excel import read_excel
from miptree.data.files.interpret import Interpreter
from miptree.data.files.notes import Notes
from miptree.data.files.options import FileOptions, Roles
from miptree.data.files.write import PLAIN

_AS_FOUND = FileOptions()
_UNKNOWN = Roles()
_PLAIN_ENDINGS = (".csv", ".txt", ".gz")


class FileTable(NamedTuple):
    """A table and what its file was."""

    table: pd.DataFrame
    is_plain: bool
    """Whether it is a CSV file that says all by itself, as `miptree check` wants it."""
    carried: pd.DataFrame
    """Columns as they are written, as far as that was asked for."""
    written: FileOptions
    """How its text is written, of a file that is no text: as everybody reads it."""


def read_table(
    path: Path, given: FileOptions = _AS_FOUND, roles: Roles = _UNKNOWN
) -> pd.DataFrame:
    """Read the table of a file, as :func:`read_file` does."""
    return read_file(path, given, roles).table


def read_file(
    path: Path, given: FileOptions = _AS_FOUND, roles: Roles = _UNKNOWN
) -> FileTable:
    """Read a table from a text file, Excel, Parquet or Feather, packed or not.

    Parameters
    ----------
    path : Path
        "-" is standard input.
    given : FileOptions
        What is known of the file; the rest is found out.
    roles : Roles
        What is known of its columns; the rest is found out.

    Returns
    -------
    FileTable
        Numbers have the nearest float64; a class called "NA" stays one. In columns of
        numbers also "?", "n/a" and "-" are missing, and dates are years.

    Warns
    -----
    TableNote
        Says how the file is written, if not as everybody expects.
    UserWarning
        Says which cells were read as missing, as dates, or without their signs.
    """
    content, notes = read_content(path), Notes()
    raw, decimal, written = _raw_table(content, given, roles, notes)
    raw.columns = clean_names([str(name) for name in raw.columns], roles, notes)
    if not roles.keep_empty:
        raw = without_empty_end(raw, notes)
    if not len(raw):
        raise ValueError(f"{content.name} has no rows.")
    has_types = content.kind in ("parquet", "feather")
    names = [name for name in raw.columns if name in roles.carried]
    carried = raw[names].apply(_as_written)
    table = Interpreter(roles, decimal, has_types, notes).table(raw)
    notes.tell(content.name)
    is_text = content.kind == "text" and path.suffix.lower() in _PLAIN_ENDINGS
    is_plain = is_text and given == _AS_FOUND and notes.are_none
    return FileTable(table, is_plain, carried, written)


def _raw_table(
    content: Content, given: FileOptions, roles: Roles, notes: Notes
) -> tuple[pd.DataFrame, str, FileOptions]:
    """Return the table as its format has it, its decimal sign, and how to write it."""
    if content.kind == "text":
        return read_delimited(content.name, content.data, given, roles, notes)
    try:
        if content.kind == "excel":
            raw = read_excel(content.data, given.sheet, notes)
        else:
            raw = read_arrow(content.data, content.kind)
    except ValueError as error:
        raise ValueError(f"{content.name} {error}") from None
    return raw, given.decimal or _decimal_of(raw), PLAIN


def _as_written(column: pd.Series) -> pd.Series:
    """Return text, but numbers of a file that tells types as they are."""
    return column if pd.api.types.is_numeric_dtype(column) else as_text(column)


def _decimal_of(raw: pd.DataFrame) -> str:
    """Find out the decimal sign of numbers that are stored as text."""
    head = raw.select_dtypes(exclude=["number", "bool"]).head(2_000)
    cells = head.to_numpy(dtype=object).ravel().tolist()
    return find_decimal(cell for cell in cells if isinstance(cell, str))
