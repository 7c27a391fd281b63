"""Arguments of constraints: numbers, whole or not, whatever the user gave."""

from __future__ import annotations

from math import isfinite

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
