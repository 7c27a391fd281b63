"""The limits of numeric columns: those of a model, or learnt from other rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.data import Cells, Column
from miptree.data.columns import OF_NUMBERS
from miptree.data.limits import Limits, learn_limits


def limits_of(columns: Sequence[Column], table: Sequence[Cells]) -> dict[int, Limits]:
    """Learn the limits of numeric columns from rows; a column without is not known."""
    found = {}
    for j, (column, cells) in enumerate(zip(columns, table, strict=True)):
        if not isinstance(column, OF_NUMBERS):
            continue
        numbers = np.array([]) if cells.numbers is None else cells.numbers
        numbers = numbers[~np.isnan(numbers)]
        if len(numbers):
            found[j] = learn_limits(numbers)
    return _ranges(found)


def known_limits(columns: Sequence[Column]) -> dict[int, Limits]:
    """Return the limits of numeric columns that a model knows of its training rows."""
    pairs = ((j, getattr(column, "limits", None)) for j, column in enumerate(columns))
    return _ranges({j: limits for j, limits in pairs if limits is not None})


def _ranges(found: dict[int, Limits]) -> dict[int, Limits]:
    """Leave out columns of one number, and of numbers too far apart."""
    return {j: limits for j, limits in found.items() if limits.is_range}
