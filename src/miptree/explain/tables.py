"""Rows as they were given: their cells, and a changed row of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from miptree.data import CategoricalColumn, Cells, Column, Value, is_frame, read_cells


def cells_of(X: Any) -> list[Cells]:
    """Read the cells of a data frame or array that a classifier has checked."""
    if is_frame(X):
        return read_cells(X)
    array = np.asarray(X)
    if array.dtype.kind in "US":  # of a list with text among its numbers
        array = np.array(X, dtype=object)
    return read_cells(array)


def table_like(
    X: Any, columns: Sequence[Column], rows: Sequence[Sequence[Value]]
) -> Any:
    """Return a table of such rows of the kind of X, for ``predict``."""
    if is_frame(X):
        return _frame_like(X, rows)
    if any(isinstance(column, CategoricalColumn) for column in columns):
        return np.array([list(row) for row in rows], dtype=object)
    numbers = [[np.nan if cell is None else cell for cell in row] for row in rows]
    return np.array(numbers, dtype=np.float64)


def _frame_like(X: Any, rows: Sequence[Sequence[Value]]) -> Any:
    if hasattr(X, "iloc"):
        import pandas as pd

        frame = pd.DataFrame([list(row) for row in rows], dtype=object)
        frame.columns = X.columns
        return frame
    import polars as pl

    columns = zip(X.columns, zip(*rows, strict=True), strict=True)
    return pl.DataFrame({name: list(cells) for name, cells in columns})
