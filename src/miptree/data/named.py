"""Columns that a parameter names: by their names, or by their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

_MOST_LISTED = 20
"""Names of columns that a message lists."""


def column_index(entry: Any, names: Sequence[str], parameter: str) -> int:
    """Return the place of a column that a parameter names; a position is one, too."""
    entry = entry.item() if isinstance(entry, np.generic) else entry
    is_position = isinstance(entry, int) and not isinstance(entry, bool)
    if is_position and -len(names) <= entry < len(names):
        return int(entry % len(names))
    if entry in names:
        return names.index(entry)
    there = ", ".join(map(repr, names[:_MOST_LISTED]))
    more = ", ..." if len(names) > _MOST_LISTED else ""
    raise ValueError(
        f"{parameter} names {entry!r}, which is no column; there are {there}{more}."
    )


def by_column(
    given: Mapping[Any, T] | None, names: Sequence[str], parameter: str
) -> dict[int, T]:
    """Return what a parameter gives for columns, by their places in X."""
    found: dict[int, T] = {}
    for entry, value in (given or {}).items():
        place = column_index(entry, names, parameter)
        if place in found:
            raise ValueError(
                f"{parameter} names column {names[place]!r} twice, as {entry!r} the "
                "second time. Name it once."
            )
        found[place] = value
    return found
