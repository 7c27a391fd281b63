"""Features as ranks, and the univariate splits of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

ALL_LEFT, ALL_RIGHT = 1.0, -1.0
"""Thresholds of a node without a split (``coef = 0``)."""


@dataclass(frozen=True)
class Ranks:
    """The features as ranks: all that a univariate tree can see of them.

    A rank is the number of a value among the distinct ones, divided by the largest
    such number. Neighbours are at least 1 / (n - 1) apart, where the values
    themselves may be nearer than a solver's tolerance.

    Attributes
    ----------
    values : list of float arrays
        Distinct scaled values of each feature, ascending.
    number : int array of shape (n, d)
        Which of them each row has.
    """

    values: list[FloatArray]
    number: IntArray

    @classmethod
    def of(cls, problem: Problem) -> Ranks:
        """Rank the rows of a problem."""
        pairs = [np.unique(column, return_inverse=True) for column in problem.scaled.T]
        return cls([v for v, _ in pairs], np.column_stack([k for _, k in pairs]))

    @cached_property
    def steps(self) -> IntArray:
        """(d,): places for a threshold in each feature."""
        return np.array([len(values) - 1 for values in self.values])

    @cached_property
    def unit(self) -> FloatArray:
        """(n, d): the ranks in [0, 1]."""
        return self.number / np.maximum(1, self.steps)

    @cached_property
    def gap(self) -> FloatArray:
        """(d,): distance of neighbours; that of the finest feature for a constant."""
        finest = 1.0 / max(1, int(self.steps.max(initial=1)))
        return np.where(self.steps > 0, 1.0 / np.maximum(1, self.steps), finest)

    def threshold(self, feature: int, n_left: int) -> float:
        """Return a scaled threshold with so many distinct values on its left."""
        values = self.values[feature]
        if n_left <= 0:
            return ALL_RIGHT
        if n_left >= len(values):
            return 2.0
        low, high = values[n_left - 1], values[n_left]
        middle = 0.5 * (low + high)
        return float(middle if middle < high else low)

    def place(self, coef: FloatArray, threshold: float) -> tuple[int, int]:
        """Return a univariate split's feature and the distinct values on its left."""
        feature, cut = univariate(coef, threshold)
        return feature, int(np.searchsorted(self.values[feature], cut, side="right"))

    def heap(self, feature: IntArray, n_left: IntArray, label: IntArray) -> HeapTree:
        """Return the tree of univariate splits, given node by node as places."""
        pairs = zip(feature.tolist(), n_left.tolist(), strict=True)
        threshold = np.array([self.threshold(j, k) for j, k in pairs])
        return HeapTree(np.eye(len(self.values))[feature], threshold, label)


def univariate(coef: FloatArray, threshold: float) -> tuple[int, float]:
    """Return the feature of a univariate split and its threshold on that feature."""
    feature = int(np.abs(coef).argmax())
    return feature, threshold / coef[feature]
