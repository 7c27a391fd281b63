"""Text files of rows, in whatever dialect."""

from __future__ import annotations

import io
import re
import warnings

import pandas as pd

from miptree.data.csv import TOO_MANY_FIELDS, csv_options
from miptree.data.files.dialect import Dialect, decode, find_dialect
from miptree.data.files.labels import read_labels
from miptree.data.files.notes import Notes
from miptree.data.files.options import FileOptions, Roles

_PLAIN_ENCODINGS = ("utf-8", "utf-8-sig")


def read_delimited(
    name: str, content: bytes, given: FileOptions, roles: Roles, notes: Notes
) -> tuple[pd.DataFrame, str, FileOptions]:
    """Return the table of a text file, its decimal sign, and how it is written.

    Only an empty field is a missing value here, and a number is what is one in the
    dialect; all other cells are text for now.
    """
    try:
        text, encoding = decode(content, given.encoding)
        dialect = find_dialect(text, given)
        plain = content if encoding == "utf-8" else text.encode()
        table = _parse(plain, dialect, roles)
    except pd.errors.ParserWarning:
        raise ValueError(f"{name} {TOO_MANY_FIELDS}") from None
    except pd.errors.ParserError as error:
        raise ValueError(f"{name} is not a CSV table: {_told(error)}") from None
    except ValueError as error:
        raise ValueError(f"{name} is not a CSV table: {error}") from None
    if _is_clear(dialect):
        for column in roles.labels.intersection(table.columns):
            table[column] = read_labels(table[column], dialect, notes)
    _describe(name, dialect, encoding, given, notes)
    written = FileOptions(dialect.sep, dialect.decimal, encoding)
    return table, dialect.decimal, written


def _told(error: Exception) -> str:
    """Say in plain words what pandas could not read."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return str(error).removeprefix("Error tokenizing data. C error: ")
    expected, line, seen = found.groups()
    return (
        f"line {line} has {seen} fields where {expected} are expected. Quote fields "
        "that hold the separator."
    )


def _parse(content: bytes, dialect: Dialect, roles: Roles) -> pd.DataFrame:
    as_written = dict.fromkeys(roles.text | roles.labels | roles.carried, str)
    with warnings.catch_warnings():
        # pandas drops the fields that are too many in a row, and only warns.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(
            io.BytesIO(content),
            sep=dialect.sep,
            decimal=dialect.decimal if _is_clear(dialect) else ".",
            skiprows=dialect.titles,
            dtype=as_written if _is_clear(dialect) else str,
            low_memory=False,
            **csv_options(),
        )


def _is_clear(dialect: Dialect) -> bool:
    """Tell whether pandas can tell numbers, else they are told apart later."""
    return dialect.sep != dialect.decimal


def _describe(
    name: str, dialect: Dialect, encoding: str, given: FileOptions, notes: Notes
) -> None:
    """Note what was found out, where it is not what everybody expects."""
    is_usual = dialect.sep == "," or (dialect.sep == "\t" and ".tsv" in name)
    if given.sep is None and not is_usual:
        notes.file.append(f"fields are separated by {dialect.sep_name} (--sep to set)")
    if given.decimal is None and dialect.decimal == ",":
        notes.file.append("numbers have decimal commas (--decimal to set)")
    if given.encoding is None and encoding not in _PLAIN_ENCODINGS:
        notes.file.append(f"its text is read as {encoding} (--encoding to set)")
    if dialect.unclear is not None:
        notes.odd.append(_how_unclear_is_read(dialect.unclear, dialect.decimal))
    if dialect.titles:
        lines = f"{dialect.titles} line{'s' * (dialect.titles != 1)}"
        notes.file.append(f"{lines} above the header left out")


def _how_unclear_is_read(number: str, decimal: str) -> str:
    """Say how a number such as 1,234 is read, and how to read it otherwise."""
    is_comma = "," in number
    sign, other = ("comma", "point") if is_comma else ("point", "comma")
    read, otherwise = f"with a decimal {sign}", "are thousands"
    if is_comma != (decimal == ","):
        read, otherwise, other = "as thousands", f"have a decimal {sign}", sign
    return (
        f"Numbers such as {number} are read {read}, and nothing in the file tells "
        f"otherwise. If they {otherwise}, say --decimal {other}."
    )
