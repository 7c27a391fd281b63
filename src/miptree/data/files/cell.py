"""Single cells of a file that tells types, or of one that does not."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from miptree.data.columns import show_value
from miptree.data.files.dates import years_of
from miptree.data.files.numbers import is_missing_sign, read_number


def without_zone(cell: Any) -> Any:
    """Return a moment without its time zone, which NumPy does not know."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(timezone.utc).replace(tzinfo=None)
    return cell


def is_word(cell: Any, decimal: str) -> bool:
    """Tell whether a cell is neither a number nor a sign of a missing one."""
    if not isinstance(cell, str):
        return not isinstance(cell, Real)
    return read_number(cell, decimal) is None and not is_missing_sign(cell)


def plain_cell(cell: Any) -> Any:
    """Return None for all that is missing, and numbers for decimals."""
    if cell is None or cell is pd.NaT or cell is pd.NA:
        return None
    if isinstance(cell, str) and not cell:
        return None
    if isinstance(cell, float) and np.isnan(cell):
        return None
    return float(cell) if isinstance(cell, Decimal) else cell


def cell_number(cell: Any) -> float:
    """Return a number, or a date as a year; NaN where nothing is."""
    if cell is None:
        return np.nan
    if isinstance(cell, date):
        return float(
            years_of(np.array([without_zone(cell)], dtype="datetime64[us]"))[0]
        )
    return float(cell)


def as_text(column: pd.Series) -> pd.Series:
    """Return cells as text, whole numbers without a point; missing ones stay so."""
    return column.map(_text, na_action="ignore").astype(object)


def _text(cell: Any) -> str:
    is_day = isinstance(cell, datetime) and cell.time() == datetime.min.time()
    return str(cell.date()) if is_day else show_value(cell)
