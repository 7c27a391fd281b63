"""CSV and Parquet files in and out."""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miptree.data.cells import row_name
from miptree.data.columns import show_value
from miptree.data.csv import TOO_MANY_FIELDS, csv_options
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.files import write_atomic


def read_table(path: Path, as_text: Collection[str] = ()) -> pd.DataFrame:
    """Read a table from CSV (also .gz) or Parquet.

    Only an empty field of a CSV file is a missing value, so a class called "NA" or
    "None" stays one; numbers are read to the nearest float64.

    Parameters
    ----------
    path : Path
    as_text : collection of str
        Columns whose cells stay text even if all look like numbers; names that the
        table does not have are ignored.
    """
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
        table.columns = [str(name) for name in table.columns]
        for name in set(as_text) & set(table.columns):
            table[name] = table[name].map(show_value, na_action="ignore").astype(object)
    else:
        table = _read_csv(path, as_text)
        table.columns = [str(name) for name in table.columns]
    if not len(table):
        raise ValueError(f"{path} has no rows.")
    return table


def _read_csv(path: Path, as_text: Collection[str]) -> pd.DataFrame:
    with warnings.catch_warnings():
        # pandas drops the fields that are too many in a row, and only warns.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return pd.read_csv(
                path,
                dtype=dict.fromkeys(as_text, str),
                low_memory=False,
                **csv_options(),
            )
        except pd.errors.ParserWarning:
            raise ValueError(f"{path} {TOO_MANY_FIELDS}") from None
        except (ValueError, EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is not a CSV table: {error}") from None


def write_table(table: pd.DataFrame, path: Path, force: bool) -> None:
    """Write a table as CSV (gzipped where the name ends in .gz) or Parquet."""
    if path.suffix == ".parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        content = buffer.getvalue()
    else:
        content = table.to_csv(index=False).encode()
        if path.suffix == ".gz":
            content = gzip.compress(content)
    write_atomic(path, content, force)


def columns_of(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Take the columns of these names; the error names one that is not there."""
    for name in names:
        column_of(table, name)
    return table[list(names)]


def column_of(table: pd.DataFrame, name: str) -> pd.Series:
    """Take the column of a name; the error lists those there are."""
    if name not in table.columns:
        there = ", ".join(map(repr, table.columns[:20]))
        more = ", ..." if len(table.columns) > 20 else ""
        raise ValueError(f"There is no column {name!r}; there are {there}{more}.")
    return table[name]


def weights(table: pd.DataFrame, name: str | None) -> FloatArray | None:
    """Take the column of weights, finite numbers >= 0; None where none is named."""
    if name is None:
        return None
    column = column_of(table, name)
    if not pd.api.types.is_numeric_dtype(column):
        example = next((v for v in column if isinstance(v, str)), column.iloc[0])
        raise ValueError(f"Column {name!r} holds {str(example)!r}, not only numbers.")
    _refuse_missing(column, name)
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"Column {name!r} holds an infinite number.")
    if (values < 0).any():
        raise ValueError(f"Column {name!r} holds a negative weight.")
    return values


def labels(table: pd.DataFrame, name: str) -> AnyArray:
    """Take the column of class labels: integers, floats, booleans or strings."""
    column = column_of(table, name)
    _refuse_missing(column, name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(column):
        return column.to_numpy(dtype=bool)
    if pd.api.types.is_integer_dtype(column):
        return column.to_numpy(dtype=np.int64)
    if pd.api.types.is_float_dtype(column):
        return column.to_numpy(dtype=np.float64)
    values = column.tolist()
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"Column {name!r} holds neither numbers nor text.")
    return np.array(values)


def labels_like(table: pd.DataFrame, name: str, classes: AnyArray) -> AnyArray:
    """Take the column of class labels as a model knows them, compared by their text.

    What else a file holds decides how a column is read: a single word makes text of
    its numbers. So the text of each cell is made what the model's classes are; one
    that cannot be stays text, and is no class.
    """
    given = labels(table, name).tolist()
    found = np.empty(len(given), dtype=object)
    found[:] = [read_label(show_value(v), classes.dtype.kind) for v in given]
    return found


def read_label(text: str, kind: str) -> Any:
    """Read a text as a label of classes of a dtype's kind, or keep it as it is."""
    if kind in "UO" or "_" in text:  # Python reads "1_0" as 10
        return text
    if kind == "b":
        return {"true": True, "false": False}.get(text.lower(), text)
    with suppress(ValueError):
        if kind in "iu":
            return int(text)
    with suppress(ValueError):
        number = float(text)
        if kind == "f" and np.isfinite(number):
            return number
        if kind in "iu" and number.is_integer():  # "1.0" is a 1, too
            return int(number)
    return text


def _refuse_missing(column: pd.Series, name: str) -> None:
    missing = column.isna()
    if missing.any():
        first = row_name(int(np.flatnonzero(missing)[0]))
        if missing.sum() == 1:
            raise ValueError(
                f"Column {name!r} has 1 missing value, in {first}; fill it in or "
                "leave the row out."
            )
        raise ValueError(
            f"Column {name!r} has {int(missing.sum())} missing values, the first in "
            f"{first}; fill them in or leave the rows out."
        )
