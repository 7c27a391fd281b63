"""Columns of a table by their names, and what labels and weights may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miptree.data.cells import row_name
from miptree.data.columns import show_value
from miptree.data.files import PLAIN, FileOptions, table_content
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.files import write_atomic


def write_table(
    table: pd.DataFrame, path: Path, force: bool, written: FileOptions = PLAIN
) -> None:
    """Write a table in the format that the name of the file says, text as told."""
    write_atomic(path, table_content(table, path, written), force)


def columns_of(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Take the columns of these names; the error names one that is not there."""
    for name in names:
        column_of(table, name)
    return table[list(names)]


def column_of(table: pd.DataFrame, name: str) -> pd.Series:
    """Take the column of a name; the error lists those there are."""
    if name not in table.columns:
        raise ValueError(f"There is no column {name!r}; {names_there(table)}.")
    return table[name]


def names_there(table: pd.DataFrame) -> str:
    """List the columns that there are, for an error."""
    there = ", ".join(map(repr, table.columns[:20]))
    return f"there are {there}{', ...' if len(table.columns) > 20 else ''}"


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


def noted_weights(
    notes: Mapping[str, str | None], table: pd.DataFrame
) -> FloatArray | None:
    """Take the weights that a model file names; None where the table lacks them."""
    named = notes.get("weights")
    return weights(table, named if named in table.columns else None)


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
    read = [read_label(show_value(v), classes.dtype.kind) for v in given]
    if classes.dtype.kind != "O" and len({*map(type, read)}) == 1:
        return np.array(read)  # scikit-learn takes numbers among objects for none
    found = np.empty(len(given), dtype=object)
    found[:] = read
    return found


def read_label(text: str, kind: str) -> Any:
    """Read a text as a label of classes of a dtype's kind, or keep it as it is."""
    if kind in "UO" or "_" in text:  # Python reads "1_0" as 10
        return text
    if kind in "iuf" and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")  # the same class in a table of another country
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
