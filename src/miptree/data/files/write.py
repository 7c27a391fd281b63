"""A table becomes a file; its name says of which kind."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pandas as pd

from miptree.data.files.arrow import arrow_content, require_pyarrow
from miptree.data.files.excel import excel_content, require_openpyxl
from miptree.data.files.options import FileOptions

_KINDS = {
    ".csv": "text", ".txt": "text", ".tsv": "text", "": "text",
    ".xlsx": "excel", ".parquet": "parquet", ".feather": "feather",
}  # fmt: skip
PLAIN = FileOptions(",", ".", "utf-8")
"""How a text file is written that everybody reads."""
MOST_EXCEL_ROWS = 1_048_575
"""Rows below the header that a sheet can hold."""


def refuse_format(path: Path | None) -> None:
    """Refuse a name whose kind cannot be written, before the work rather than after it.

    Raises
    ------
    ValueError
        If the ending is none that is known.
    ImportError
        If the kind needs a package that is not installed.
    """
    if path is None:
        return
    kind = _kind(path)
    if kind == "excel":
        require_openpyxl()
    elif kind != "text":
        require_pyarrow()


def table_content(
    table: pd.DataFrame, path: Path, written: FileOptions = PLAIN
) -> bytes:
    """Return the bytes of a file: CSV, TSV, both also .gz, Excel, Parquet, Feather.

    ``written`` tells how a text file is to be written, but that the fields of a TSV
    file are always separated by tabs, and those of a CSV file never.
    """
    kind = _kind(path)
    if kind == "excel":
        if len(table) > MOST_EXCEL_ROWS:
            raise ValueError(
                f"The table has {len(table):,} rows, more than the {MOST_EXCEL_ROWS:,} "
                "of an Excel sheet. Give a name that ends in .csv or .parquet."
            )
        return excel_content(table)
    if kind != "text":
        return arrow_content(table, kind)
    content = _text_content(table, _fitted(written, path))
    return gzip.compress(content) if path.suffix == ".gz" else content


def text_of(table: pd.DataFrame, written: FileOptions) -> str:
    """Return a table as text."""
    return table.to_csv(index=False, sep=written.sep, decimal=written.decimal)


def _fitted(written: FileOptions, path: Path) -> FileOptions:
    """Choose the separator that the name of a file promises."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".tsv"):
        return replace(written, sep="\t")
    if name.endswith(".csv") and written.sep == "\t":
        return replace(written, sep=";" if written.decimal == "," else ",")
    return written


def _text_content(table: pd.DataFrame, written: FileOptions) -> bytes:
    text = text_of(table, written)
    try:
        return text.encode(written.encoding or "utf-8")
    except UnicodeEncodeError:  # the model's names may be of another country
        return text.encode()


def _kind(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    kind = _KINDS.get(name.suffix.lower())
    if kind is None or (name != path and kind != "text"):
        raise ValueError(
            f"A table cannot be written as {path.name!r}. Give a name that ends in "
            ".csv, .csv.gz, .tsv, .xlsx, .parquet or .feather."
        )
    return kind
