"""The optimum of (1a) on tiny data by enumeration, independent of the package's MIPs.

Points are sent left or right node by node in every possible way. A node then costs
what its 1-norm SVM costs, an LP for SciPy, or nothing if a subset of the values of one
categorical feature does it; and a leaf costs what its best class does.
Sets of points are the bits of an integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.tree import ObliqueTree

SEPARABLE = 1e-7
"""Distance from a hyperplane, in the box, from which two sets count as separable."""


class BruteForce:
    """Enumerates trees on a problem.

    Parameters
    ----------
    problem, objective
        The rows and (1a).
    strict : bool
        True for real trees. False for what the MIP allows: a point on a hyperplane
        may go either way, and then the infimum can be lower.
    one_right : bool
        For ``strict=False``, whether of identical points of different classes at most
        one counts as right, the cut "same x". Real trees obey it anyway.
    """

    box = 1.0

    def __init__(
        self,
        problem: Problem,
        objective: Svm1Objective,
        strict: bool,
        one_right: bool = True,
    ) -> None:
        X = (problem.X - problem.offset) / problem.scale
        self.X, self.values = X[:, : problem.n_open], X[:, problem.n_open :]
        self.value_feature, self.class_cost = problem.value_feature, problem.class_cost
        self.same_x = np.unique(X, axis=0, return_inverse=True)[1].ravel()
        self.max_features = problem.max_features
        self.y, self.weight = problem.y, problem.weight
        self.n, self.n_classes = len(self.y), problem.n_classes
        self.objective, self.strict, self.one_right = objective, strict, one_right
        self.node_cost = cache(self._node_cost)

    def optimum(self, depth: int) -> float:
        """Least objective of a tree of this depth."""
        everything = 2**self.n - 1
        if self.class_cost is not None:
            return _Costs(self).subtree(everything, depth)
        return min(
            self.weight[~may_be_right].sum()
            + _Labels(self, may_be_right).subtree(everything, depth)
            for may_be_right in self._who_may_be_right()
        )

    def _who_may_be_right(self) -> Iterator[np.ndarray]:
        """Choices of one row among the rows with one x."""
        if self.strict or not self.one_right:
            yield np.ones(self.n, dtype=bool)
            return
        groups = [np.flatnonzero(self.same_x == g) for g in np.unique(self.same_x)]
        for chosen in product(*groups):
            yield np.isin(np.arange(self.n), chosen)

    def members(self, points: int) -> np.ndarray:
        """Rows of a set."""
        return np.flatnonzero([points >> i & 1 for i in range(self.n)])

    def _node_cost(self, points: int, left: int) -> float:
        """Least a1 * slack + a2 * |h|_1 that splits the points so, inf if none does."""
        if left in (0, points):
            return 0.0
        rows = self.members(points)
        sign = np.where([left >> i & 1 for i in rows], 1.0, -1.0)
        if self._is_subset(rows, sign):
            return 0.0
        return min(self._split_cost(rows, sign, X) for X in self._feature_sets())

    def _feature_sets(self) -> Iterator[np.ndarray]:
        """The points in the features that one hyperplane may use."""
        d = self.X.shape[1]
        for used in combinations(range(d), min(d, self.max_features or d)):
            yield self.X[:, used]

    def _split_cost(self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray) -> float:
        if self.strict and not self._is_separable(rows, sign, X):
            return np.inf
        return self._svm_cost(rows, sign, X)

    def _is_subset(self, rows: np.ndarray, sign: np.ndarray) -> bool:
        """Whether the values of one categorical feature tell the sides apart."""
        for feature in np.unique(self.value_feature):
            value = self.values[rows][:, self.value_feature == feature].argmax(axis=1)
            if not np.isin(value[sign > 0], value[sign < 0]).any():
                return True
        return False

    def _svm_cost(self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray) -> float:
        """LP over (g, h+, h-, m)."""
        eps, k, d = self.objective.margin, len(rows), X.shape[1]
        price = self.objective.slack_penalty * self.weight[rows]
        cost = np.r_[0.0, np.full(2 * d, self.objective.l1_penalty), price]
        score = self._score(X)
        ahead = np.c_[sign[:, None] * score[rows], np.eye(k)]
        box = np.c_[score, np.zeros((self.n, k))]
        solution = linprog(
            cost,
            A_ub=np.r_[-ahead, box, -box],
            b_ub=np.r_[np.full(k, -eps), np.full(2 * self.n, self.box)],
            bounds=[(None, None)] + [(0, None)] * (2 * d) + [(0, eps)] * k,
        )
        return solution.fun if solution.success else np.inf

    def _is_separable(self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray) -> bool:
        """Whether a hyperplane has the sides strictly apart: max t over (g, h, t)."""
        d = X.shape[1]
        score = self._score(X)
        ahead = np.c_[sign[:, None] * score[rows], -np.ones(len(rows))]
        box = np.c_[score, np.zeros(self.n)]
        solution = linprog(
            np.r_[np.zeros(1 + 2 * d), -1.0],
            A_ub=np.r_[-ahead, box, -box],
            b_ub=np.r_[np.zeros(len(rows)), np.ones(2 * self.n)],
            bounds=[(None, None)] + [(0, None)] * (2 * d) + [(None, 1)],
        )
        return solution.success and -solution.fun > SEPARABLE

    def _score(self, X: np.ndarray) -> np.ndarray:
        """(n, 1 + 2d): g - h x_i as a function of (g, h+, h-)."""
        return np.c_[np.ones(self.n), -X, X]


class _Labels:
    """The recursion over subsets for a choice of the rows that can be right."""

    def __init__(self, enumeration: BruteForce, may_be_right: np.ndarray) -> None:
        self.all = enumeration
        self.weight = np.where(may_be_right, enumeration.weight, 0.0)
        self.subtree = cache(self._subtree)
        self.class_weight = cache(self._class_weight)

    def _class_weight(self, points: int) -> np.ndarray:
        """Weight of each class in a set, the heaviest first."""
        rows = self.all.members(points)
        weight = np.bincount(
            self.all.y[rows], self.weight[rows], minlength=self.all.n_classes
        )
        return np.sort(weight)[::-1]

    def errors(self, points: int, n_leaves: int) -> float:
        """Least error if every class could have its own of so many leaves."""
        return float(self.class_weight(points)[n_leaves:].sum())

    def _subtree(self, points: int, depth: int) -> float:
        """Least cost of a subtree of this depth for a set of points."""
        if depth == 0 or points == 0:
            return self.errors(points, 1)
        best = self.subtree(points, depth - 1)
        leaves = 2 ** (depth - 1)
        for left in _halves(points):
            right = points & ~left
            least = self.errors(left, leaves) + self.errors(right, leaves)
            if least >= best:
                continue
            node = self.all.node_cost(points, left)
            if node + least >= best:
                continue
            cost = node + self.subtree(left, depth - 1)
            if cost < best:
                best = min(best, cost + self.subtree(right, depth - 1))
        return best


class _Costs(_Labels):
    """The same where the costs of the errors differ."""

    def __init__(self, enumeration: BruteForce) -> None:
        super().__init__(enumeration, np.ones(enumeration.n, dtype=bool))

    def errors(self, points: int, n_leaves: int) -> float:
        """Least cost: of the best class, or of every row's own class."""
        cost = self.all.class_cost[self.all.members(points)]
        if n_leaves > 1:
            return float(cost.min(axis=1).sum())
        return float(cost.sum(axis=0).min())


def _halves(points: int) -> Iterator[int]:
    """Subsets that hold the first point: one of each pair (left, right)."""
    first = points & -points
    rest = points ^ first
    part = rest
    while True:
        yield part | first
        if part == 0:
            return
        part = (part - 1) & rest


def fewest_errors(problem: Problem, depth: int) -> float:
    """Least weight of misclassified rows over all trees of this depth."""
    enumeration = BruteForce(problem, Svm1Objective(1.0, 0.0, 1.0), strict=True)
    enumeration._svm_cost = lambda rows, sign, X: 0.0
    return enumeration.optimum(depth)


class HardMarginEnumeration:
    """Least weight that is wrong or inside the margin, by trying every routing."""

    def __init__(self, problem, margin):
        self.X, self.y, self.weight = problem.scaled, problem.y, problem.weight
        self.margin = margin
        self.separable = cache(self._separable)
        self.most_right = cache(self._most_right)

    def fewest(self, depth):
        everybody = tuple(range(len(self.y)))
        return self.weight.sum() - self.most_right(everybody, depth)

    def _most_right(self, points, depth):
        """Largest weight that a subtree can get right among some points."""
        if depth == 0:
            per_class = np.zeros(self.y.max() + 1)
            np.add.at(per_class, self.y[list(points)], self.weight[list(points)])
            return per_class.max()
        best = 0.0
        for side in product((0, 1, 2), repeat=len(points)):
            parts = [
                tuple(p for p, s in zip(points, side, strict=True) if s == k)
                for k in (0, 1)
            ]
            value = sum(self.most_right(part, depth - 1) for part in parts)
            if value > best and self.separable(*parts):
                best = value
        return best

    def _separable(self, left, right):
        """Whether a hyperplane in the box has these points on its sides, at margin."""
        n, d = self.X.shape
        rows = np.hstack([self.X, -np.ones((n, 1))])
        A = np.vstack([rows[list(left)], -rows[list(right)], rows, -rows])
        b = np.concatenate(
            [np.full(len(left) + len(right), -self.margin), np.ones(2 * n)]
        )
        found = linprog(np.zeros(d + 1), A, b, bounds=[(None, None)] * (d + 1))
        return found.status == 0


def recount(
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    objective: Svm1Objective,
    tree: ObliqueTree,
) -> float:
    """(1a) of a tree in the units of X, row by row."""
    span = X.max(axis=0) - X.min(axis=0)
    span[span == 0] = 1.0
    branch = [b for b in range(tree.n_nodes) if tree.children_left[b] >= 0]
    size = {b: np.abs(X @ tree.coef[b] - tree.threshold[b]) for b in branch}
    box = {b: max(1.0, size[b].max()) for b in branch}
    total = 0.0
    for b in branch:
        total += objective.l1_penalty * (np.abs(tree.coef[b]) * span).sum() / box[b]
    for i in range(len(X)):
        node = 0
        while tree.children_left[node] >= 0:
            missing = max(0.0, objective.margin - size[node][i] / box[node])
            total += objective.slack_penalty * weight[i] * missing
            goes_left = sum(X[i] * tree.coef[node]) <= tree.threshold[node]
            side = tree.children_left if goes_left else tree.children_right
            node = side[node]
        total += weight[i] * (tree.label[node] != y[i])
    return total
