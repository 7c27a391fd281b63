"""Arguments of constraints: numbers, and columns, whatever the user gave."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def finite_number(value: object) -> float | None:
    """Return a finite number as a float; None of anything else, truth values too."""
    if isinstance(value, bool) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        return None
    return float(value) if isfinite(value) else None


def whole_number(value: object) -> int | None:
    """Return a whole number; None of anything else, truth values too."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return None
    return int(value)


def column_pairs(given: object, who: str, example: str) -> tuple[tuple[Any, Any], ...]:
    """Return what a constraint is given for columns, in pairs, each column once.

    Parameters
    ----------
    given : dict, or sequence of pairs
        Columns, by name or position, and what is given for them.
    who : str
        Name of the constraint.
    example : str
        What should be given, for a message.
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if not isinstance(pairs, (tuple, list)) or not all(map(_is_of_column, pairs)):
        raise TypeError(f"{who} takes {example}, got {given!r:.80}.")
    found: dict[Any, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{who} names column {name!r} twice. Name it once.")
        found[name] = value
    return tuple(found.items())


def _is_of_column(pair: object) -> bool:
    """Tell whether this is a pair whose first is a name or a position."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        return False
    return isinstance(pair[0], str) or whole_number(pair[0]) is not None
