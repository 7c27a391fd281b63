"""Checks of cells that the kinds of columns share."""

from __future__ import annotations

import numpy as np

from miptree.data.cells import Cells, Value, row_name
from miptree.utils.arrays import BoolArray, FloatArray
from miptree.utils.warn import warn


def read_numbers(
    cells: Cells, name: str, fill: float, had_gaps: bool, allow_missing: bool
) -> tuple[FloatArray, BoolArray]:
    """Return the numbers of a column with the gaps filled, and where they were.

    Parameters
    ----------
    cells : Cells
    name : str
        The name that the column had in training.
    fill : float
        Stands for a missing number.
    had_gaps : bool
        Whether training rows had gaps, too; if not, gaps are told in a warning.
    allow_missing : bool
        Otherwise gaps are an error.
    """
    if cells.numbers is None:
        if any(value is not None for value in cells.as_values()):
            raise changed_type(name, "numbers", cells.as_values())
        cells = Cells(name, numbers=np.full(len(cells), np.nan))
    numbers = np.asarray(cells.numbers)
    missing = np.isnan(numbers)
    if missing.any():
        check_missing(name, missing, allow_missing)
        if not had_gaps:
            warn_missing(name, missing, f"filled with {fill:g}")
    return np.where(missing, fill, numbers), missing


def changed_type(name: str, before: str, values: list[Value]) -> ValueError:
    """Make the error for a column of another type; it names a cell that shows it."""
    known = [row for row, value in enumerate(values) if value is not None]
    # One word in a file makes text of all numbers of its column: name the word.
    row = next((k for k in known if not _looks_like_number(values[k])), known[0])
    return ValueError(
        f"Column {name!r} held {before} in training and holds {values[row]!r} in "
        f"{row_name(row)}. Give it the type it had."
    )


def _looks_like_number(value: Value) -> bool:
    try:
        float(str(value).replace(",", "."))  # as a file with decimal commas has it
    except ValueError:
        return False
    return True


class UnreadableColumnError(ValueError):
    """A column holds what no tree can read, such as a gap where these are refused."""


def check_missing(name: str, missing: BoolArray, allowed: bool) -> None:
    """Refuse missing values where they are not allowed."""
    if missing.any() and not allowed:
        row = int(np.flatnonzero(missing)[0])
        raise UnreadableColumnError(
            f"Column {name!r} has {_gaps(missing)} (NaN), the first in "
            f'{row_name(row)}. Fill in such gaps, or set missing="fill".'
        )


def check_range(name: str, numbers: FloatArray) -> None:
    """Refuse numbers so far apart that float64 does not hold their difference."""
    there = numbers[~np.isnan(numbers)]
    low, high = (there.min(), there.max()) if len(there) else (0.0, 0.0)
    with np.errstate(over="ignore"):
        width = high - low
    if not np.isfinite(width):
        raise UnreadableColumnError(
            f"Column {name!r} ranges from {low:g} to {high:g}, and the difference "
            "overflows float64. Divide the column by a constant first."
        )


def warn_missing(name: str, missing: BoolArray, what: str) -> None:
    """Tell that a column has gaps for the first time, and what is done about them."""
    warn(f"Column {name!r} has {_gaps(missing)}, but had none in training: {what}.")


def _gaps(missing: BoolArray) -> str:
    number = int(missing.sum())
    return f"{number} missing value" + "s" * (number != 1)
