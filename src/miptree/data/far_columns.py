"""Columns of numbers so far from 0 that floats do not tell their values apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.data.problem import Problem
from miptree.tree import rounding_error
from miptree.utils.warn import warn

FEWEST_PLACES = 100
"""Places for a threshold in the range of a column, clear of rounding, that are enough
for the usual splits."""


def warn_of_far_columns(problem: Problem, names: Sequence[str]) -> None:
    """Warn of columns in whose range splits have next to no place.

    A split keeps its distance from all rows, by more than rounding can change the sum
    that is compared. Where numbers are large and hardly differ, such as nanoseconds
    since 1970 within one second, nothing may be left between two of them.

    Parameters
    ----------
    problem : Problem
        The rows.
    names : sequence of str
        Names of the columns open to hyperplanes.
    """
    for j, name in enumerate(names):
        low, high = float(problem.X[:, j].min()), float(problem.X[:, j].max())
        largest = np.array([max(abs(low), abs(high))])
        error = rounding_error(np.ones((1, 1)), largest, largest)[0]
        room = 4 * error * (1 + problem.n_features) / 2
        if 0 < high - low < FEWEST_PLACES * room:
            warn(
                f"Column {name!r} lies so far from 0, from {low:.17g} to {high:.17g}, "
                "that rounding hides differences between its values, and splits by it "
                "may be missed. Subtract a constant from it, such as its lowest value."
            )
