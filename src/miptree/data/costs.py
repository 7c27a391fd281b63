"""What errors cost, taken apart into what the formulations, cuts and bounds need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import FloatArray, IntArray


class ErrorCosts(NamedTuple):
    """Costs of predicting each class for each row.

    Row i costs ``base[i] + spread[i] * share[i, k]`` where class k is predicted. In the
    plain case the base is 0, the spread and the least error are the weight, and the
    share is 0 for the row's own class and 1 for the others.
    """

    base: FloatArray
    """(n,): cost of the cheapest class, which no tree avoids."""
    spread: FloatArray
    """(n,): cost of the dearest class beyond that."""
    share: FloatArray
    """(n, Y): part of the spread that each class costs."""
    own: IntArray
    """(n,): the cheapest class; the row's class where that is among them."""
    least_error: FloatArray
    """(n,): what any other class costs at least, beyond the base."""

    @classmethod
    def of(cls, y: IntArray, class_cost: FloatArray) -> ErrorCosts:
        """Take costs of shape (n, Y) apart."""
        rows = np.arange(len(y))
        base, most = class_cost.min(axis=1), class_cost.max(axis=1)
        beyond, spread = class_cost - base[:, None], most - base
        own = np.where(beyond[rows, y] == 0, y, beyond.argmin(axis=1))
        share = beyond / np.where(spread > 0, spread, 1.0)[:, None]
        beyond[rows, own] = np.inf
        return cls(base, spread, share, own, beyond.min(axis=1))

    @property
    def is_partial(self) -> np.ndarray:
        """(n,): rows for which some error costs less than another."""
        return np.asarray(((self.share > 0) & (self.share < 1)).any(axis=1))

    @property
    def of_class(self) -> FloatArray:
        """(Y,): least cost of getting all rows of a class wrong."""
        n_classes = self.share.shape[1]
        total = np.bincount(self.own, self.least_error, minlength=n_classes)
        return total.astype(np.float64)


def plain_costs(y: IntArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """(n, Y): the weight for every class but the row's own."""
    cost = np.repeat(weight[:, None], n_classes, axis=1)
    cost[np.arange(len(y)), y] = 0.0
    return cost
