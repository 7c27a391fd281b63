"""Whether the ranges and digits of a model's columns are those of its training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from miptree.certificate.check import Check
from miptree.data import Cells
from miptree.data.columns import OF_NUMBERS
from miptree.data.limits import Limits, learn_limits
from miptree.data.rows import TrainingRows
from miptree.utils.arrays import FloatArray

_NAME = "ranges"


def check_limits(clf: Any, rows: TrainingRows) -> Check:
    """Learn the limits of all columns of numbers again, and compare them."""
    pairs = zip(clf.table_.columns, rows.cells, strict=True)
    numbers = [
        (column, _limits(cells, rows.training_weight))
        for column, cells in pairs
        if isinstance(column, OF_NUMBERS)
    ]
    for column, found in numbers:
        if column.limits != found:
            wrong = f"{_words(column.limits)} for column {column.name!r}, "
            return Check(_NAME, False, f"{wrong}recomputed {_words(found)}.")
    return Check(_NAME, True, "lowest and highest numbers are as in the model.")


def _limits(cells: Cells, weight: FloatArray) -> Limits | None:
    if cells.numbers is None:
        return None
    numbers = cells.numbers[~np.isnan(cells.numbers) & (weight > 0)]
    return learn_limits(numbers) if len(numbers) else None


def _words(limits: Limits | None) -> str:
    if limits is None:
        return "no numbers"
    return f"{limits.low!r} to {limits.high!r} with {limits.places} decimal places"
