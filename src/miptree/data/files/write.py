"""A table becomes a file; its name says of which kind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd

from miptree.data.files.arrow import arrow_content, require_pyarrow
from miptree.data.files.excel import excel_content, require_openpyxl

_KINDS = {
    ".csv": "text", ".txt": "text", ".tsv": "text", "": "text",
    ".xlsx": "excel", ".parquet": "parquet", ".feather": "feather",
}  # fmt: skip
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


def table_content(table: pd.DataFrame, path: Path) -> bytes:
    """Return the bytes of a file: CSV, TSV, both also .gz, Excel, Parquet, Feather."""
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
    is_tabbed = path.name.removesuffix(".gz").endswith(".tsv")
    content = table.to_csv(index=False, sep="\t" if is_tabbed else ",").encode()
    return gzip.compress(content) if path.suffix == ".gz" else content


def _kind(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    kind = _KINDS.get(name.suffix.lower())
    if kind is None or (name != path and kind != "text"):
        raise ValueError(
            f"A table cannot be written as {path.name!r}. Give a name that ends in "
            ".csv, .csv.gz, .tsv, .xlsx, .parquet or .feather."
        )
    return kind
