"""The cells of a data frame or array, column by column: numbers, or values."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from miptree.utils.arrays import AnyArray, FloatArray

Value: TypeAlias = str | bool | int | float | None
"""A value of a categorical feature; None where it is missing."""


def row_name(row: int) -> str:
    """Name the row of an index in a message: counted from 1, as people do."""
    return f"row {row + 1} (row 1 is the first data row)"


class Cells(NamedTuple):
    """One column as it was given: either ``numbers`` or ``values`` is there."""

    name: str
    numbers: FloatArray | None = None
    """NaN where missing."""
    values: list[Value] | None = None
    """Values of a category, None where missing."""

    def __len__(self) -> int:  # the tuple's own length is of no use
        column = self.numbers if self.numbers is not None else self.values
        return 0 if column is None else len(column)

    def take(self, rows: AnyArray) -> Cells:
        """Return the cells of some rows."""
        if self.numbers is not None:
            return Cells(self.name, numbers=self.numbers[rows])
        values = self.as_values()
        return Cells(self.name, values=[values[row] for row in rows])

    def as_values(self) -> list[Value]:
        """Return the column as values of a categorical feature."""
        if self.values is not None:
            return self.values
        numbers: list[Value] = np.asarray(self.numbers).tolist()
        return [None if number != number else number for number in numbers]


def is_frame(X: object) -> bool:
    """Tell whether X is a data frame of pandas or polars."""
    return _is_pandas(X) or _is_polars(X)


def read_cells(X: Any) -> list[Cells]:
    """Read the columns of a data frame, or of an array that scikit-learn checked."""
    if _is_pandas(X):
        return [_of_pandas(X.iloc[:, j], str(X.columns[j])) for j in range(X.shape[1])]
    if _is_polars(X):
        return [_of_polars(column) for column in X.get_columns()]
    names = [f"x[{j}]" for j in range(X.shape[1])]
    if X.dtype.kind in "fiub":
        numbers = np.asarray(X, dtype=np.float64)
        return [_finite(name, numbers[:, j]) for j, name in enumerate(names)]
    return [_of_objects(name, X[:, j].tolist()) for j, name in enumerate(names)]


def _is_pandas(X: object) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _is_polars(X: object) -> bool:
    return hasattr(X, "get_columns") and hasattr(X, "schema")


def _of_pandas(column: Any, name: str) -> Cells:
    import pandas as pd

    kinds = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype) or kinds.is_bool_dtype(column):
        return _of_objects(name, column.tolist(), keep_numbers=True)
    if kinds.is_complex_dtype(column):
        raise ValueError(f"Column {name!r} holds complex data, which is not supported.")
    if kinds.is_numeric_dtype(column):
        return _finite(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kinds.is_object_dtype(column) or kinds.is_string_dtype(column):
        return _of_objects(name, column.tolist())
    raise _unknown_type(name, column.dtype)


def _of_polars(column: Any) -> Cells:
    import polars as pl

    if column.dtype.is_numeric():
        return _finite(column.name, column.cast(pl.Float64).to_numpy())
    if column.dtype == pl.Null:
        return Cells(column.name, values=[None] * len(column))
    if column.dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Object):
        return _of_objects(column.name, column.to_list())
    raise _unknown_type(column.name, column.dtype)


def _unknown_type(name: str, dtype: object) -> ValueError:
    return ValueError(
        f"Column {name!r} is of type {dtype}, which is neither numbers nor categories. "
        "Convert it, for example a date to a number of days, or leave it out."
    )


def _finite(name: str, numbers: AnyArray) -> Cells:
    numbers = np.asarray(numbers, dtype=np.float64)
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise ValueError(
            f"Column {name!r} holds {numbers[row]} (infinity) in {row_name(row)}. "
            "Replace it by a finite number or by a missing value."
        )
    return Cells(name, numbers=numbers)


def _of_objects(name: str, given: Sequence[Any], keep_numbers: bool = False) -> Cells:
    """Read Python objects: all numbers, all text, or all truth values.

    Numbers remain values of a category with ``keep_numbers``.
    """
    values = [None if _is_missing(value) else value for value in given]
    examples: dict[str, int] = {}
    for row, value in enumerate(values):
        if value is not None:
            examples.setdefault(_kind(name, row, value), row)
    if len(examples) > 1:
        found = ", ".join(
            f"{kind} ({values[row]!r} in {row_name(row)})"
            for kind, row in examples.items()
        )
        raise ValueError(
            f"Column {name!r} mixes types: {found}. Make all its cells text or all "
            "numbers."
        )
    if set(examples) == {"numbers"} and not keep_numbers:
        numbers = [np.nan if value is None else float(value) for value in values]
        return _finite(name, np.array(numbers))
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    return Cells(name, values=plain)


def _kind(name: str, row: int, value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "truth values"
    if isinstance(value, (Real, np.number)):
        return "numbers"
    raise TypeError(
        f"Column {name!r}: argument must be a string or a number, got "
        f"{type(value).__name__} in {row_name(row)}."
    )


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))
