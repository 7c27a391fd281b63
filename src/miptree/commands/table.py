"""``miptree table``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.table import Table
from rich.text import Text

from miptree.commands import _tables
from miptree.commands._app import app, console, plain_errors, printable, say
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import DataFile, Force
from miptree.commands._outputs import refuse_outputs
from miptree.data.files import (
    FileOptions,
    identifying_columns,
    read_table,
    refuse_format,
)
from miptree.export.leaf_words import row_number

_MOST_VALUES = 4
"""Values of a column that are shown."""


@app.command()
@plain_errors
@reads_table
def table(
    data: DataFile,
    out: Annotated[
        Path | None, typer.Option(help="File for the table as it was read.")
    ] = None,
    force: Force = False,
    *,
    file: FileOptions,
) -> None:
    """Show how a table is read: what every column holds, and which are left out.

    With --out it is written as it was read, as plain CSV for example.

    Example: miptree table loans.xlsx --out loans.csv
    """
    refuse_outputs({"--out": out}, [data], force)
    refuse_format(out)
    rows = read_table(data, file)
    left_out = identifying_columns(rows)
    shown = Table("column", "holds", "missing", "values")
    for name in rows.columns:
        column = rows[name].dropna()
        holds = _kind(column) + (", left out by fit" if name in left_out else "")
        missing = len(rows) - len(column)
        cells = holds, f"{missing:,}" if missing else "", _values(column)
        shown.add_row(*(Text(printable(text)) for text in (name, *cells)))
    n_columns = len(rows.columns)
    columns = "column" if n_columns == 1 else "columns"
    say(f"{row_number(len(rows))}, {n_columns} {columns}")
    console.print(shown)
    if out is not None:
        _tables.write_table(rows, out, force)
        say(f"Saved as {out}.")


def _kind(column: pd.Series) -> str:
    kinds = pd.api.types
    if not len(column):
        return "nothing"
    if kinds.is_bool_dtype(column):
        return "yes or no"
    return "numbers" if kinds.is_numeric_dtype(column) else "text"


def _values(column: pd.Series) -> str:
    """Return the range of numbers, or the most frequent texts."""
    if _kind(column) == "numbers":
        low, high = np.min(column), np.max(column)
        return f"{low:.10g} to {high:.10g}" if low < high else f"{low:.10g}"
    counts = column.astype(str).value_counts()
    if len(counts) == len(column) > _MOST_VALUES:
        return f"{len(counts):,} different, such as {counts.index[0]}"
    texts = [f"{text} ({n:,})" for text, n in counts.head(_MOST_VALUES).items()]
    more = len(counts) - _MOST_VALUES
    return ", ".join(texts) + (f" and {more:,} more" if more > 0 else "")
