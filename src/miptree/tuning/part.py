"""The training rows of a fold, or all of them, with what is learnt from them alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree._typing import AnyArray, FloatArray
from miptree.polish import relabel
from miptree.problem import Problem
from miptree.search.data import SearchData
from miptree.tree import HeapTree


@dataclass(frozen=True, eq=False)
class Part:
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

    @cached_property
    def center(self) -> FloatArray:
        """(n_open,): weighted means of the open features."""
        return self._weight @ self._open

    @cached_property
    def spread(self) -> FloatArray:
        """(n_open,): two standard deviations of each, 1 for a constant one."""
        spread = 2.0 * np.sqrt(self._weight @ (self._open - self.center) ** 2)
        # What is left of a constant feature is a rounding error.
        constant = spread <= 1e-9 * np.maximum(1.0, np.abs(self.center))
        return np.where(constant, 1.0, spread)

    @cached_property
    def points(self) -> AnyArray:
        """(n, n_open): the open features, centred and scaled."""
        return ((self._open - self.center) / self.spread).astype(np.float32)

    @property
    def _weight(self) -> FloatArray:
        weight: FloatArray = self.problem.weight / self.problem.weight.sum()
        return weight

    @property
    def _open(self) -> FloatArray:
        return self.problem.X[:, : self.problem.n_open]

    # ------------------------------------------------------------------ labels

    def smoothed(self, votes: FloatArray | None, smoothing: float) -> Problem:
        """The problem with every label moved towards the votes about its row.

        The label counts 1 - smoothing, the votes (n, Y) the rest, as expected costs.
        """
        if votes is None or smoothing == 0:
            return self.problem
        labels = (1 - smoothing) * np.eye(len(self.costs))[self.problem.y]
        expected = (labels + smoothing * votes) @ self.costs
        cost = expected * self.problem.weight[:, None]
        return replace(self.problem, class_cost=cost)

    def rewards(self, problem: Problem) -> AnyArray:
        """(Y, n): 1 - cost of each class over the dearest error of all."""
        cost = problem.class_cost
        if cost is None:
            cost = self.costs[problem.y] * problem.weight[:, None]
        reward = 1.0 - cost / (problem.weight * self.costs.max())[:, None]
        return reward.T.astype(np.float32)

    # ------------------------------------------------------------------- trees

    def heap(self, planes: AnyArray, label: AnyArray) -> HeapTree:
        """Tree in the problem's scaled units from planes (B, n_open + 1) of points."""
        problem = self.problem
        n_open = problem.n_open
        slope = planes[:, :-1].astype(np.float64) / self.spread
        threshold = -planes[:, -1] + slope @ (self.center - problem.offset[:n_open])
        coef = np.zeros((len(planes), problem.n_features))
        coef[:, :n_open] = slope * problem.scale[:n_open]
        return HeapTree(coef, threshold, label)

    def thinned(self, problem: Problem, heap: HeapTree, tau: float) -> HeapTree:
        """Tree without the coefficients below ``tau`` times the largest of a split.

        Sizes are compared for standardised features. Thresholds move so that the mean
        score stays, and leaves are labelled anew by the problem's costs.
        """
        n_open = problem.n_open
        unit = self.spread / problem.scale[:n_open]
        size = np.abs(heap.coef[:, :n_open]) * unit
        least = tau * size.max(axis=1, initial=0.0, keepdims=True)
        kept = np.where(size >= least, heap.coef[:, :n_open], 0.0)
        mean = (self.center - problem.offset[:n_open]) / problem.scale[:n_open]
        coef, threshold = heap.coef.copy(), heap.threshold.copy()
        threshold -= (coef[:, :n_open] - kept) @ mean
        coef[:, :n_open] = kept
        thin = SearchData.from_problem(problem).limited(heap._replace(coef=coef))
        return relabel(problem, problem.into_box(thin._replace(threshold=threshold)))
