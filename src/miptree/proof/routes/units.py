"""The problem in margin units, as the proofs over routes see it.

Scores are divided by the margin eps: ``z = (a @ x - t)`` with abs(z) <= 1 / eps on all
rows, and a tree costs, with h = max(0, 1 - side * z) on the splits of each point's way,

    sum_i cost_i[label of its leaf] + sum_i C_i * sum_b h_ib + sum_b rho * |a_b|_1.

Rows with the same x go the same way whatever the tree, so they are one *point*: their
costs and their C are added. A point has no class any more, only a vector of costs.

Subset splits of categories have scores of -1 and 1, which lack no margin, and no norm.
They enter by the values of the points alone. Points of the same numbers and of other
values are two. Where the rows are dealt into parts, every part may split its values by
subsets of its own: the parts of one tree are among those, at no cost in either, so that
bounds of parts add up as without them.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from miptree.data.merging import identical_rows
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.utils.arrays import FloatArray, IntArray

_EPS = 2.3e-16


class _Arrays(NamedTuple):
    X: FloatArray
    cost: FloatArray
    C: FloatArray
    rho: float
    box: float
    first_row: IntArray
    labels: IntArray
    values: IntArray
    most_features: int


class RouteProblem(_Arrays):
    """The points to be routed, ordered by their first row.

    Attributes
    ----------
    X : float array of shape (n, d)
        Scaled open features, in [0, 1], C-contiguous.
    cost : float array of shape (n, Y)
        What each label costs for a point, added over its rows.
    C : float array of shape (n,)
        Price of a missing margin: slack_penalty * margin * weight.
    rho : float
        Price of the 1-norm: l1_penalty * margin, times the share of a part.
    box : float
        1 / margin, the largest abs(z).
    first_row : int array of shape (n,)
        The first row of the :class:`Problem` with this x.
    labels : int array
        Labels that a leaf of an optimal tree may have.
    values : int array of shape (n_categorical, n)
        Place of each point's value of every feature with subset splits, among the
        columns of values of the :class:`Problem`.
    most_features : int
        Features that a hyperplane may use: d where the problem has no limit.
    """

    @property
    def n_points(self) -> int:
        """Number of distinct x."""
        return len(self.X)

    @property
    def is_limited(self) -> bool:
        """Whether a hyperplane may not use all features."""
        return self.most_features < self.X.shape[1]

    @property
    def least_split(self) -> float:
        """vmin: an active hyperplane parts two points, and costs at least so much.

        Their missing margins add up to 2 - |a|_1 at least, as no two points are
        farther apart than 1 in any feature.
        """
        return 2.0 * min(self.rho, float(self.C.min()))

    @cached_property
    def least_cost(self) -> FloatArray:
        """(n,): cost of each point's cheapest label."""
        return np.asarray(self.cost[:, self.labels].min(axis=1))

    @property
    def unavoidable(self) -> float:
        """What all points cost at their cheapest labels, rounded down."""
        return float(self.least_cost.sum()) * (1.0 - (self.n_points + 8) * _EPS)

    @property
    def cheapest_error(self) -> float:
        """What the cheapest label that is not the best adds to the cost of a point."""
        more = self.cost[:, self.labels] - self.least_cost[:, None]
        return float(more[more > 0].min(initial=np.inf)) if more.any() else 0.0

    @cached_property
    def distance(self) -> FloatArray:
        """(n, n): distances of the points in the maximum norm."""
        distance = np.zeros((self.n_points, self.n_points))
        for column in self.X.T:
            gap = np.abs(column[:, None] - column[None, :])
            np.maximum(distance, gap, out=distance)
        return distance

    def among(self, points: IntArray) -> RouteProblem:
        """Return the problem of some of the points, at the same price of the norms."""
        part = self._replace(
            X=np.ascontiguousarray(self.X[points]),
            cost=self.cost[points],
            C=self.C[points],
            first_row=self.first_row[points],
            values=self.values[:, points],
        )
        distance = np.ascontiguousarray(self.distance[np.ix_(points, points)])
        part.__dict__["distance"] = distance  # as the cached property would
        return part


def route_problem(
    problem: Problem,
    objective: Svm1Objective,
    rows: IntArray | None = None,
    share: float = 1.0,
) -> RouteProblem:
    """Return the points of all or some rows of a problem, in margin units.

    Parameters
    ----------
    problem : Problem
    objective : Svm1Objective
    rows : int array, optional
        The rows of a part, by default all.
    share : float
        The part's share of the price of the 1-norm. Bounds of disjoint parts whose
        shares add up to 1 at most may be added.
    """
    rows = np.arange(problem.n_rows) if rows is None else np.sort(rows)
    first, group = identical_rows(problem.X[rows])
    # By first row: the numbering of identical_rows depends on a hash.
    order = np.argsort(first, kind="stable")
    group = np.argsort(order)[group]
    first = first[order]
    cost, C = np.zeros((len(first), problem.n_classes)), np.zeros(len(first))
    np.add.at(cost, group, row_costs(problem)[rows])
    price = objective.slack_penalty * objective.margin
    np.add.at(C, group, price * problem.weight[rows])
    return RouteProblem(
        np.ascontiguousarray(problem.open_scaled[rows[first]]),
        cost,
        C,
        objective.l1_penalty * objective.margin * share,
        1.0 / objective.margin,
        rows[first],
        useful_labels(problem, rows),
        problem.value_codes[:, rows[first]],
        min(problem.max_features or problem.n_open, problem.n_open),
    )


def row_costs(problem: Problem) -> FloatArray:
    """Return (n, Y): the cost of every class for every row."""
    classes = range(problem.n_classes)
    shape = problem.n_rows
    return np.column_stack([problem.error_cost(np.full(shape, k)) for k in classes])


def useful_labels(problem: Problem, rows: IntArray) -> IntArray:
    """Return the labels of an optimal tree's leaves: the classes of some rows.

    With costs of their own a compromise may pay, so that all classes are.
    """
    if problem.class_cost is not None:
        return np.arange(problem.n_classes)
    return np.unique(problem.y[rows])
