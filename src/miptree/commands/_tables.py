"""CSV and Parquet files in and out."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miptree._files import write_atomic
from miptree._typing import AnyArray, FloatArray

_EXACT_FLOATS: dict[str, Any] = {"float_precision": "round_trip"}
if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1):
    _EXACT_FLOATS = {}  # always exact since, and the option is deprecated


def read_table(path: Path) -> pd.DataFrame:
    """Read a table from CSV (also .gz) or Parquet.

    Only an empty field of a CSV file is a missing value, so a class called "NA" or
    "None" stays one; numbers are read to the nearest float64.
    """
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        try:
            table = pd.read_csv(
                path,
                keep_default_na=False,
                na_values=[""],
                low_memory=False,
                **_EXACT_FLOATS,
            )
        except (ValueError, EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is not a CSV table: {error}") from None
    if not len(table):
        raise ValueError(f"{path} has no rows.")
    table.columns = [str(name) for name in table.columns]
    return table


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
    """The columns of these names, or an error that names one that is not there."""
    for name in names:
        column_of(table, name)
    return table[list(names)]


def column_of(table: pd.DataFrame, name: str) -> pd.Series:
    """The column of a name, or an error that lists those there are."""
    if name not in table.columns:
        there = ", ".join(map(repr, table.columns[:20]))
        more = ", ..." if len(table.columns) > 20 else ""
        raise ValueError(f"There is no column {name!r}; there are {there}{more}.")
    return table[name]


def weights(table: pd.DataFrame, name: str) -> FloatArray:
    """The column of weights: finite numbers >= 0."""
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
    """The column of class labels: integers, floats, booleans or strings."""
    column = column_of(table, name)
    _refuse_missing(column, name)
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


def _refuse_missing(column: pd.Series, name: str) -> None:
    missing = column.isna()
    if missing.any():
        first = int(np.flatnonzero(missing)[0]) + 1
        raise ValueError(
            f"Column {name!r} has {int(missing.sum())} missing values, the first in "
            f"row {first}; fill them in or leave the rows out."
        )
