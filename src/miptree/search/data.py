"""The arrays that the kernels work on, cut from a Problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from miptree._typing import FloatArray, IntArray

if TYPE_CHECKING:
    from miptree.problem import Problem


@dataclass(frozen=True, eq=False)
class SearchData:
    """Points and costs, with the mean weight of a row as the unit of cost.

    The unit makes the tolerances of the kernels mean the same for any weights.
    """

    X: FloatArray
    """(n, d): features in [0, 1]."""
    y: IntArray
    """(n,): class indices."""
    weight: FloatArray
    """(n,): weights over their mean."""
    cost: FloatArray
    """(n, Y): class costs over the mean weight, or (0, Y) in the plain case."""
    unit: float
    """What a cost of 1 here is in the user's units."""

    @classmethod
    def from_problem(cls, problem: Problem) -> SearchData:
        """Arrays of all rows of a problem."""
        unit = float(problem.weight.mean())
        cost = np.zeros((0, problem.n_classes))
        if problem.class_cost is not None:
            cost = np.ascontiguousarray(problem.class_cost / unit, dtype=np.float64)
        y = np.ascontiguousarray(problem.y, dtype=np.int64)
        return cls(problem.scaled, y, problem.weight / unit, cost, unit)

    @property
    def n_rows(self) -> int:
        """Number n of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return self.X.shape[1]

    @property
    def n_classes(self) -> int:
        """Number Y of classes."""
        return self.cost.shape[1]

    @cached_property
    def XT(self) -> FloatArray:
        """(d, n): the points as columns, for the kernels; no copy of a Problem's."""
        return np.ascontiguousarray(self.X.T)

    @property
    def points(self) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
        """The leading arguments of the kernels: XT, y, weight, cost."""
        return self.XT, self.y, self.weight, self.cost

    def take(self, rows: IntArray) -> SearchData:
        """Return the same for some of the rows."""
        cost = self.cost[rows] if len(self.cost) else self.cost
        return SearchData(
            self.X[rows], self.y[rows], self.weight[rows], cost, self.unit
        )

    def class_costs(self, rows: IntArray | slice = slice(None)) -> FloatArray:
        """(n, Y): the cost of every class at some rows, plain case or not."""
        if len(self.cost):
            return self.cost[rows]
        costs = np.repeat(self.weight[rows, None], self.n_classes, axis=1)
        costs[np.arange(len(costs)), self.y[rows]] = 0.0
        return costs
