"""The arrays that the kernels work on, cut from a Problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.data.shape import DataShape
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray


class Points(NamedTuple):
    """The rows as the kernels read them."""

    XT: FloatArray
    """(d, n): the points as columns, of features in [0, 1]."""
    y: IntArray
    """(n,): class indices."""
    weight: FloatArray
    """(n,): weights."""
    cost: FloatArray
    """(n, Y): cost of predicting each class at each point. With no rows, (0, Y), it
    stands for the plain case: the weight for every class but the point's own."""
    n_open: int
    """Number of features open to hyperplanes: the first ones."""


class Penalties(NamedTuple):
    """Penalties of (1a), in the unit of the data."""

    slack_penalty: float
    l1_penalty: float
    margin: float


NO_PENALTIES = Penalties(0.0, 0.0, 0.0)
"""Those of the cost of the errors alone."""


@dataclass(frozen=True, eq=False)
class SearchData(DataShape):
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
    value_feature: IntArray
    """Categorical feature of each of the last columns, which hold its values."""
    max_features: int | None = None
    """Most non-zero coefficients of a hyperplane."""

    @classmethod
    def from_problem(cls, problem: Problem) -> SearchData:
        """Take all rows of a problem; of each problem this is done once."""
        known = _known_data.get(problem)
        if known is None:
            known = _known_data[problem] = cls._made(problem)
        return known

    @classmethod
    def _made(cls, problem: Problem) -> SearchData:
        unit = float(problem.weight.mean())
        cost = np.zeros((0, problem.n_classes))
        if problem.class_cost is not None:
            cost = np.ascontiguousarray(problem.class_cost / unit, dtype=np.float64)
        y = np.ascontiguousarray(problem.y, dtype=np.int64)
        return cls(
            problem.scaled,
            y,
            problem.weight / unit,
            cost,
            unit,
            problem.value_feature,
            problem.max_features,
        )

    @property
    def n_classes(self) -> int:
        """Number Y of classes."""
        return self.cost.shape[1]

    @cached_property
    def XT(self) -> FloatArray:
        """(d, n): the points as columns, for the kernels; no copy of a Problem's."""
        return np.ascontiguousarray(self.X.T)

    @property
    def points(self) -> Points:
        """The rows as the kernels read them."""
        return Points(self.XT, self.y, self.weight, self.cost, self.n_open)

    def penalties(self, objective: Svm1Objective | None) -> Penalties:
        """Return the penalties of an objective, zeros for None, in this unit of cost.

        They are floats, since a kernel would be compiled once more for integers.
        """
        if objective is None:
            return NO_PENALTIES
        return Penalties(
            float(objective.slack_penalty),
            float(objective.l1_penalty / self.unit),
            float(objective.margin),
        )

    def take(self, rows: IntArray) -> SearchData:
        """Return the same for some of the rows."""
        cost = self.cost[rows] if len(self.cost) else self.cost
        return replace(
            self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows], cost=cost
        )

    def may_change(self, tree: HeapTree, state: AnyArray) -> BoolArray:
        """(B, d): the coefficients that a line search may change.

        Those of the open features, at most ``max_features`` a node: the ones in use
        and, by chance, some others. No coefficient of a subset split.
        """
        allowed = np.zeros(tree.coef.shape, dtype=bool)
        hyperplane = ~tree.coef[:, self.n_open :].any(axis=1)
        allowed[hyperplane, : self.n_open] = True
        if self.is_limited:
            rng = np.random.default_rng(state)
            rank = np.where(tree.coef != 0, 1.0, rng.random(tree.coef.shape))
            rank[~allowed] = -1.0
            order = np.argsort(-rank, axis=1, kind="stable")
            np.put_along_axis(allowed, order[:, self.max_features :], False, axis=1)
        return allowed

    def class_costs(self, rows: IntArray) -> FloatArray:
        """(n, Y): the cost of every class at some rows, plain case or not."""
        if len(self.cost):
            return self.cost[rows]
        return plain_costs(self.y[rows], self.weight[rows], self.n_classes)


_known_data: WeakKeyDictionary[Problem, SearchData] = WeakKeyDictionary()
