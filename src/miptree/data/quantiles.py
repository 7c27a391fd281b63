"""Quantiles of weighted numbers."""

from __future__ import annotations

import numpy as np

from miptree.utils.arrays import FloatArray


def weighted_quantile(numbers: FloatArray, weight: FloatArray, level: float) -> float:
    """Return a quantile of numbers that occur as often as their weights say.

    Where it lies between two numbers, their middle.
    """
    order = np.argsort(numbers, kind="stable")
    numbers, up_to = numbers[order], np.cumsum(weight[order])
    wanted, last = level * up_to[-1], len(numbers) - 1
    low = min(int(np.searchsorted(up_to, wanted, "left")), last)
    if up_to[low] == wanted:
        return float(0.5 * numbers[low] + 0.5 * numbers[min(low + 1, last)])
    return float(numbers[low])
