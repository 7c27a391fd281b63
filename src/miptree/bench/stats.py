"""Paired comparisons over data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from miptree.utils.arrays import FloatArray

TIE = 0.05
"""Differences in percentage points that the paper's one decimal does not show."""


@dataclass(frozen=True)
class Comparison:
    """One method minus another, over the pairs where both have a number.

    Attributes
    ----------
    n : int
        Pairs.
    mean, error : float
        Mean difference, and its standard error over the pairs (NaN for one pair).
    wins, ties, losses : int
        Pairs on which the first is better, equal to 0.05 points, or worse.
    """

    n: int
    mean: float
    error: float
    wins: int
    ties: int
    losses: int


def compare(first: FloatArray, second: FloatArray) -> Comparison:
    """Compare two methods pair by pair; NaN where one has no number."""
    difference = first - second
    difference = difference[np.isfinite(difference)]
    n = len(difference)
    wins, losses = int((difference > TIE).sum()), int((difference < -TIE).sum())
    error = difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    mean = difference.mean() if n else np.nan
    return Comparison(n, float(mean), float(error), wins, n - wins - losses, losses)


def mean_ranks(accuracy: FloatArray) -> FloatArray:
    """Return the mean rank of each column: 1 is best, equal ones share theirs."""
    return np.asarray(stats.rankdata(-accuracy, axis=1).mean(axis=0))


def critical_difference(n_methods: int, n_pairs: int, level: float = 0.05) -> float:
    """Return the least difference of mean ranks significant by Nemenyi's test."""
    q = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_pairs)))
