"""Splits in the user's units whose rows are clear of them, so that no rounding decides.

The best tree under (1a) may have rows of several classes exactly on a split: each pays
for its missing margin, and may go to either side. A solver tells them apart by
coefficients that are its rounding errors. Such coefficients vanish, and the rows are
told apart by one feature on purpose: by so little that no other row notices, and by
far more than the order of summation can change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from miptree.tree import rounding_error
from miptree.utils.arrays import BoolArray, FloatArray

NEGLIGIBLE = 1e-10
"""Relative to the largest of a split in scaled units, what is smaller is noise."""
TIE_BREAK = 2e-10
"""What breaks a tie in scaled units: a fifth of what a row may lack of its margin."""


class Split(NamedTuple):
    """A hyperplane in the user's units."""

    coef: FloatArray
    threshold: float


class SplitRows(NamedTuple):
    """Rows at a split in the user's units, and whether they are to go right.

    ``scale`` is the range of each feature, ``largest`` its largest abs(x).
    """

    X: FloatArray
    right: BoolArray
    scale: FloatArray
    largest: FloatArray


def without_noise(coef: FloatArray) -> FloatArray:
    """Return coefficients in scaled units, (B, d), zero where they are noise."""
    size = np.abs(coef)
    used = size > NEGLIGIBLE * size.max(axis=1, initial=0, keepdims=True)
    return np.where(used, coef, 0.0)


def room(value: FloatArray, right: BoolArray, error: float) -> tuple[float, float]:
    """Return between what a threshold is clear of all values by twice the error.

    The first number is above the second where there is no such room.
    """
    low = value[~right].max(initial=-np.inf) + 2 * error
    high = value[right].min(initial=np.inf) - 2 * error
    return float(low), float(high)


def untied(rows: SplitRows, split: Split, noisy: FloatArray) -> Split:
    """Tell the rows that lie on a split apart.

    Parameters
    ----------
    rows : SplitRows
        All rows at the split.
    split : Split
        The split without noise.
    noisy : float array of shape (d,)
        Its coefficients with their noise; features that are zero here stay out of it.

    Returns
    -------
    Split
        By one feature more, or its noise made larger, or with its noise as it is. Where
        none of that keeps all rows clear of it, the split beside them, with all of them
        on one side.
    """
    for coef in _candidates(rows, split, noisy):
        low, high = _room_of(rows, split._replace(coef=coef))
        if low <= high:
            return Split(coef, 0.5 * (low + high))
    return _beside(rows, split)


def _beside(rows: SplitRows, split: Split) -> Split:
    """Move a threshold off the rows that lie on it, so that the fewest change sides."""
    given, error = rows.X @ split.coef, _error_of(rows, split)
    value = np.sort(given)
    is_clear = np.diff(value) >= 4 * error
    above = value[np.append(is_clear, True)] + 2 * error
    below = value[np.insert(is_clear, 0, True)] - 2 * error
    nearest = [
        above[np.searchsorted(above, split.threshold)],
        below[np.searchsorted(below, split.threshold, side="right") - 1],
    ]
    if np.abs(value - split.threshold).min() >= 2 * error:
        nearest.append(split.threshold)
    n_moved = [np.count_nonzero((given > t) != rows.right) for t in nearest]
    return split._replace(threshold=float(nearest[int(np.argmin(n_moved))]))


def _candidates(
    rows: SplitRows, split: Split, noisy: FloatArray
) -> Iterator[FloatArray]:
    """Give coefficients that may tell the rows on a split apart, the best first."""
    for _, _, j, sign in sorted(_tellers(rows, split, noisy), reverse=True):
        coef = split.coef.copy()
        coef[j] += sign * TIE_BREAK / rows.scale[j]
        yield coef
    noise = noisy - split.coef
    largest = float(np.abs(noise * rows.scale).max())
    if largest > 0:
        yield split.coef + noise * (TIE_BREAK / largest)
        yield noisy


def _tellers(
    rows: SplitRows, split: Split, noisy: FloatArray
) -> list[tuple[bool, float, int, float]]:
    """List the features that tell the rows on a split apart: used, gap, number, sign.

    In a sorted list one that the split uses comes last, then that of the widest gap.
    """
    value, error = rows.X @ split.coef, _error_of(rows, split)
    low, high = room(value, rows.right, error)
    on_split = (high - 2 * error <= value) & (value <= low + 2 * error)
    left, right = rows.X[on_split & ~rows.right], rows.X[on_split & rows.right]
    found = []
    for j in np.flatnonzero(noisy).tolist():
        for sign in (1.0, -1.0):
            gap = (sign * right[:, j]).min() - (sign * left[:, j]).max()
            if gap > 0:
                found.append((bool(split.coef[j]), gap / rows.scale[j], j, sign))
    return found


def _room_of(rows: SplitRows, split: Split) -> tuple[float, float]:
    return room(rows.X @ split.coef, rows.right, _error_of(rows, split))


def _error_of(rows: SplitRows, split: Split) -> float:
    coef, threshold = split.coef[None], np.array([split.threshold])
    return float(rounding_error(coef, threshold, rows.largest)[0])
