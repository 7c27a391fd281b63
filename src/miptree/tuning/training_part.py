"""The training rows of a fold, or all of them, with what is learnt from them alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import relabel
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray

_CONSTANT = 1e-9
"""Two standard deviations, in features of range 1, of what counts as constant."""


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """Rows to train on.

    Attributes
    ----------
    problem : Problem
        The rows, with their own scaling.
    costs : float array of shape (Y, Y)
        What it costs to predict class k for a row of class j and weight 1.
    """

    problem: Problem
    costs: FloatArray

    @property
    def _weight(self) -> FloatArray:
        weight: FloatArray = self.problem.weight / self.problem.weight.sum()
        return weight

    @cached_property
    def center(self) -> FloatArray:
        """(n_open,): weighted means of the open features in [0, 1]."""
        return self._weight @ self.problem.open_scaled

    @cached_property
    def spread(self) -> FloatArray:
        """(n_open,): two standard deviations of each, 1 for a constant one."""
        deviation = self.problem.open_scaled - self.center
        spread = 2.0 * np.sqrt(self._weight @ deviation**2)
        return np.where(spread <= _CONSTANT, 1.0, spread)

    @cached_property
    def points(self) -> AnyArray:
        """(n, n_open): the open features, centred and scaled."""
        centred = (self.problem.open_scaled - self.center) / self.spread
        return centred.astype(np.float32)

    # ------------------------------------------------------------------ labels

    def smoothed(self, votes: FloatArray | None, smoothing: float) -> Problem:
        """Make the problem with every label moved towards the votes about its row.

        The label counts 1 - smoothing, the votes (n, Y) the rest, as expected costs.
        """
        if votes is None or smoothing == 0:
            return self.problem
        labels = (1 - smoothing) * np.eye(len(self.costs))[self.problem.y]
        expected = (labels + smoothing * votes) @ self.costs
        cost = expected * self.problem.weight[:, None]
        return replace(self.problem, class_cost=cost)

    def rewards(self, problem: Problem) -> AnyArray:
        """Compute 1 - cost of each class over the most costly error of all: (Y, n)."""
        cost = problem.class_cost
        if cost is None:
            cost = self.costs[problem.y] * problem.weight[:, None]
        reward = 1.0 - cost / (problem.weight * self.costs.max())[:, None]
        return reward.T.astype(np.float32)

    # ------------------------------------------------------------------- trees

    def heap(self, planes: AnyArray, label: AnyArray) -> HeapTree:
        """Make a tree in scaled units of the problem from planes (B, n_open + 1)."""
        n_open = self.problem.n_open
        coef = np.zeros((len(planes), self.problem.n_features))
        coef[:, :n_open] = planes[:, :-1].astype(np.float64) / self.spread
        threshold = -planes[:, -1] + coef[:, :n_open] @ self.center
        return HeapTree(coef, threshold, label)

    def thinned(self, heap: HeapTree, tau: float) -> HeapTree:
        """Drop the coefficients below ``tau`` times the largest of a split.

        Sizes are compared for standardised features. Thresholds move so that the mean
        score stays, and every leaf gets the class that costs least there.
        """
        n_open = self.problem.n_open
        size = np.abs(heap.coef[:, :n_open]) * self.spread
        least = tau * size.max(axis=1, initial=0.0, keepdims=True)
        kept = np.where(size >= least, heap.coef[:, :n_open], 0.0)
        coef, threshold = heap.coef.copy(), heap.threshold.copy()
        threshold -= (coef[:, :n_open] - kept) @ self.center
        coef[:, :n_open] = kept
        thin = HeapTree(coef, threshold, heap.label)
        return relabel(self.problem, self.problem.into_box(thin))
