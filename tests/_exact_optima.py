"""The least errors and the least (1a) of tiny problems, by trying every routing.

It is fast, so that many thousands of bounds can be held to it, and it does not suffer
from odd weights: an LP only proposes a hyperplane, and what that costs is counted. So
every value is that of a tree, to rounding, and a bound above it is refuted.
Sets of rows are the bits of an integer.
"""

from __future__ import annotations

from functools import cache
from math import fsum, inf

import highspy
import numpy as np

from _brute_force import BruteForce, _halves
from miptree.data.problem import Problem
from miptree.objective import MARGIN_ROUNDING, Svm1Objective


class ExactOptima(BruteForce):
    """Enumerates the trees of a problem for both questions.

    Parameters
    ----------
    problem, objective
        The rows and (1a), which has the margin.
    """

    def __init__(self, problem: Problem, objective: Svm1Objective) -> None:
        super().__init__(problem, objective, strict=True)
        cost = self.class_cost
        if cost is None:
            cost = np.where(
                np.arange(self.n_classes) == self.y[:, None], 0.0, self.weight[:, None]
            )
        self.cost = cost
        self.distance = cache(self._distance)
        self.labelled = cache(self._labelled)
        self.at_margin = cache(self._at_margin)
        self.subtree = cache(self._subtree)

    def fewest_errors(self, depth: int) -> float:
        """Least cost of the errors at the margin."""
        return self.at_margin(2**self.n - 1, depth)

    def optimum(self, depth: int) -> float:
        """Least (1a)."""
        return self.subtree(2**self.n - 1, depth)

    # ------------------------------------------------------------- the recursions

    def _labelled(self, points: int) -> float:
        """Cost of a leaf that has its cheapest class."""
        rows = self.members(points)
        return min(fsum(self.cost[rows, k]) for k in range(self.n_classes))

    def _at_margin(self, points: int, depth: int) -> float:
        """Least cost where a row is wrong, or within the margin of a split."""
        best = self.labelled(points)
        if depth == 0 or best == 0:
            return best
        for kept in _subsets(points):
            lost = fsum(self.cost[self.members(points & ~kept)].max(axis=1))
            if lost >= best or not kept:
                continue
            for left in _halves(kept):
                right = kept & ~left
                cost = lost + self.at_margin(left, depth - 1)
                if cost >= best:
                    continue
                cost += self.at_margin(right, depth - 1)
                far = self.objective.margin - MARGIN_ROUNDING
                if cost < best and self.distance(left, right) >= far:
                    best = cost
        return best

    def _subtree(self, points: int, depth: int) -> float:
        """Least (1a) of a subtree for some rows."""
        best = self.labelled(points)
        if depth == 0 or best == 0:
            return best
        for left in _halves(points):
            right = points & ~left
            below = self.subtree(left, depth - 1) + self.subtree(right, depth - 1)
            if below < best:
                best = min(best, below + self.node_cost(points, left))
        return best

    # ------------------------------------------------------------------ hyperplanes

    def _distance(self, left: int, right: int) -> float:
        """Largest distance, in the box, from which a split has two sets apart."""
        if not left or not right:
            return 1.0
        rows = self.members(left | right)
        sign = np.where([left >> i & 1 for i in rows], 1.0, -1.0)
        if self._is_subset(rows, sign):
            return 1.0
        return max(self._farthest(rows, sign, X)[0] for X in self._feature_sets())

    def _split_cost(self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray) -> float:
        distance, plane = self._farthest(rows, sign, X)
        if distance <= MARGIN_ROUNDING:
            return inf
        # Points on the hyperplane would be on one side, whatever the LP says.
        plain = [plane, *self._svm_planes(rows, sign, X, distance)]
        return min(self._counted(rows, sign, X, plane) for plane in plain)

    def _counted(
        self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray, plane: np.ndarray
    ) -> float:
        """What a hyperplane costs, (g, h), put into the box; inf on the wrong sides."""
        plane = plane / max(1.0, np.abs(plane[0] - X @ plane[1:]).max())
        ahead = sign * (plane[0] - X[rows] @ plane[1:])
        if ahead.min() < 0:
            return inf
        missing = np.maximum(0.0, self.objective.margin - ahead)
        slack = self.objective.slack_penalty * fsum(self.weight[rows] * missing)
        return slack + self.objective.l1_penalty * fsum(np.abs(plane[1:]))

    def _farthest(
        self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """LP over (g, h, t): the hyperplane farthest from both sides."""
        score = np.c_[np.ones(self.n), -X]
        ahead = np.c_[sign[:, None] * score[rows], -np.ones(len(rows))]
        box = np.c_[score, np.zeros(self.n)]
        A = np.r_[ahead, box]
        low = np.r_[np.zeros(len(rows)), -np.ones(self.n)]
        high = np.r_[np.full(len(rows), inf), np.ones(self.n)]
        d = X.shape[1]
        free = np.full(1 + d, -inf)
        cost = np.r_[np.zeros(1 + d), -1.0]
        x = _solved(cost, np.r_[free, 0.0], np.r_[-free, 1.0], A, low, high)
        if x is None:
            return 0.0, np.zeros(1 + d)
        plane = x[:-1] / max(1.0, np.abs(score @ x[:-1]).max())
        return float((sign * (score[rows] @ plane)).min()), plane

    def _svm_planes(
        self, rows: np.ndarray, sign: np.ndarray, X: np.ndarray, distance: float
    ) -> list[np.ndarray]:
        """LPs over (g, h+, h-, m): hyperplanes of least cost, at several scales."""
        eps, k, d = self.objective.margin, len(rows), X.shape[1]
        price = self.objective.slack_penalty * self.weight[rows]
        cost = np.r_[0.0, np.full(2 * d, self.objective.l1_penalty), price]
        score = np.c_[np.ones(self.n), -X, X]
        ahead = np.c_[sign[:, None] * score[rows], np.eye(k)]
        apart = np.c_[sign[:, None] * score[rows], np.zeros((k, k))]
        box = np.c_[score, np.zeros((self.n, k))]
        A = np.r_[ahead, apart, box]
        # Strictly on its side: by a little that a tree can have.
        side = np.full(k, min(1e-9, distance / 2))
        low = np.r_[np.full(k, eps), side, -np.ones(self.n)]
        high = np.r_[np.full(2 * k, inf), np.ones(self.n)]
        lower = np.r_[-inf, np.zeros(2 * d + k)]
        upper = np.r_[inf, np.full(2 * d, inf), np.full(k, eps)]
        planes = []
        for scale in {1.0, 1 / cost.max(), 1 / cost[cost > 0].min()}:
            x = _solved(cost * scale, lower, upper, A, low, high)
            if x is not None:
                planes.append(np.r_[x[0], x[1 : 1 + d] - x[1 + d : 1 + 2 * d]])
        return planes


def _subsets(points: int):
    """All subsets of a set, the whole set first."""
    part = points
    while True:
        yield part
        if part == 0:
            return
        part = (part - 1) & points


_lp = highspy.Highs()
_lp.silent()
for _name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
    _lp.setOptionValue(_name, 1e-10)


def _solved(cost, lower, upper, A, row_lower, row_upper) -> np.ndarray | None:
    """Solve a small LP by the simplex method; None where it has no solution."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(len(A) + 1, dtype=np.int32) * A.shape[1]
    lp.a_matrix_.index_ = np.tile(np.arange(A.shape[1], dtype=np.int32), len(A))
    lp.a_matrix_.value_ = A.ravel()
    _lp.passModel(lp)
    _lp.run()
    if _lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(_lp.getSolution().col_value)
