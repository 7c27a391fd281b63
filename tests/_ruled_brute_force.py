"""The optimum of (1a) under constraints on tiny data, by trying every tree.

Points are sent left or right node by node in every possible way, and every coefficient
that a rule looks at is zero, not below it or not above it. What remains of a node is an
LP. Splits that leave a side empty are left out, as fitted trees have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from _brute_force import SEPARABLE, BruteForce
from _kept import is_kept
from miptree.constraints import AllowFeatures, FixedSplit, Monotone, Signs
from miptree.constraints.constraint import Constraint
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective

FREE, ZERO, UP, DOWN = "*", "0", "+", "-"
"""What a coefficient may be: anything, zero, not below it, not above it."""
RANGES = {FREE: (None, None), ZERO: (0, 0), UP: (0, None), DOWN: (None, 0)}
SHAPES = (AllowFeatures, FixedSplit, Monotone, Signs)
"""Constraints on the splits; all others look at the leaves and labels alone."""


class Subtree(NamedTuple):
    """A way to send some points to leaves."""

    leaves: list[int]
    """Points of each leaf, from left to right."""
    cost: float
    """Of its splits."""
    orders: list[tuple[int, int]]
    """Pairs of leaves: where the first has the label of Monotone, the second has it."""
    places: frozenset[int]
    """Where its splits are."""


class RuledBruteForce(BruteForce):
    """Enumerates trees that keep constraints; their columns are told by number.

    Parameters
    ----------
    problem, objective
        The rows, of two classes, and (1a).
    constraints : sequence of Constraint
    groups : array
        Sensitive group of each row.
    factor : float
        By which fixed splits are multiplied.
    """

    def __init__(
        self,
        problem: Problem,
        objective: Svm1Objective,
        constraints: Sequence[Constraint],
        groups: np.ndarray,
        factor: float = 1.0,
    ) -> None:
        super().__init__(problem, objective, strict=True)
        self.user_X, self.scale = problem.X, problem.scale
        self.constraints, self.groups, self.factor = constraints, groups, factor
        self.shapes = [c for c in constraints if isinstance(c, SHAPES)]
        self.counted = [c for c in constraints if not isinstance(c, SHAPES)]
        self.best = np.inf
        self._known: dict[tuple[object, ...], float] = {}

    def optimum(self, depth: int) -> float:
        """Least objective of a tree that keeps the constraints, inf without one."""
        self.best = np.inf
        wanted = {c.node for c in self.shapes if isinstance(c, FixedSplit)}
        for tree in self._subtrees(2**self.n - 1, 0, depth):
            if tree.cost < self.best and wanted <= tree.places:
                self.best = self._best_labels(tree)
        return self.best

    def _best_labels(self, tree: Subtree) -> float:
        best = self.best
        of_row = np.empty(self.n, dtype=int)
        for number, leaf in enumerate(tree.leaves):
            of_row[self.members(leaf)] = number
        labels = {c.label for c in self.shapes if isinstance(c, Monotone)}
        for label in product(range(2), repeat=len(tree.leaves)):
            predicted = np.array(label)[of_row]
            value = tree.cost + float(self.weight[predicted != self.y].sum())
            in_order = all(
                label[a] != k or label[b] == k for a, b in tree.orders for k in labels
            )
            if value < best and in_order and self._keeps(predicted, of_row):
                best = value
        return best

    def _keeps(self, predicted: np.ndarray, leaf: np.ndarray) -> bool:
        tree = _Predicted(predicted, leaf)
        return all(is_kept(c, tree, None, self.y, self.groups) for c in self.counted)

    def _subtrees(self, points: int, place: int, depth: int) -> Iterator[Subtree]:
        yield Subtree([points], 0.0, [], frozenset())
        if depth == 0:
            return
        left = (points - 1) & points
        while left:
            right = points & ~left
            for cost, towards in self._splits(points, left, place):
                for one in self._subtrees(left, 2 * place + 1, depth - 1):
                    for two in self._subtrees(right, 2 * place + 2, depth - 1):
                        yield _joined(one, two, cost, towards, place)
            left = (left - 1) & points

    def _splits(
        self, points: int, left: int, place: int
    ) -> Iterator[tuple[float, set[int]]]:
        """Costs of hyperplanes that split so, and where rising features lead to."""
        fixed = [
            c for c in self.shapes if isinstance(c, FixedSplit) and c.node == place
        ]
        for pattern in product(*self._patterns(points, left, place)):
            if fixed:
                cost = self._fixed_cost(points, left, fixed[0], pattern)
            else:
                cost = self._pattern_cost(points, left, pattern)
            if cost < self.best:
                yield cost, self._towards(pattern)

    def _patterns(self, points: int, left: int, place: int) -> list[str]:
        """For each feature the signs that are to be tried."""
        allowed = [FREE] * self.X.shape[1]
        for constraint in self.shapes:
            if isinstance(constraint, Monotone):
                for column, _ in constraint.directions:
                    allowed[column] = ZERO + UP + DOWN
        for constraint in self.shapes:
            if isinstance(constraint, AllowFeatures) and _is_about(constraint, place):
                for column in set(range(len(allowed))) - set(constraint.features):
                    allowed[column] = ZERO
            if isinstance(constraint, Signs):
                share = [
                    np.average(self.y[rows] == constraint.label)
                    for rows in map(self.members, (left, points & ~left))
                ]
                for column, sign in constraint.directions:
                    if share[0] != share[1]:
                        good = UP if (share[1] > share[0]) == (sign > 0) else DOWN
                        allowed[column] = _both(allowed[column], good)
        return allowed

    def _towards(self, pattern: tuple[str, ...]) -> set[int]:
        """To which sides, +1 for right, features of Monotone lead as they rise."""
        found = set()
        for constraint in self.shapes:
            if isinstance(constraint, Monotone):
                for column, sign in constraint.directions:
                    if pattern[column] != ZERO:
                        found.add(sign if pattern[column] == UP else -sign)
        return found

    def _fixed_cost(
        self, points: int, left: int, fixed: FixedSplit, pattern: tuple[str, ...]
    ) -> float:
        """What the user's own split costs, inf where it does not split so."""
        coef = np.zeros(self.X.shape[1])
        for column, value in fixed.coefficients:
            coef[column] = value
        for sign, value in zip(pattern, coef, strict=True):
            low, high = RANGES[sign]
            if not (low is None or value >= low) or not (high is None or value <= high):
                return np.inf
        rows = self.members(points)
        score = self.factor * (self.user_X[rows] @ coef - fixed.threshold)
        if not np.array_equal(score <= 0, [left >> i & 1 for i in rows]):
            return np.inf
        missing = np.maximum(0.0, self.objective.margin - np.abs(score))
        norm = float(self.factor * np.abs(coef) @ self.scale)
        slack = float(self.weight[rows] @ missing)
        return self.objective.slack_penalty * slack + self.objective.l1_penalty * norm

    def _pattern_cost(self, points: int, left: int, pattern: tuple[str, ...]) -> float:
        key = (points, left, pattern)
        if key not in self._known:
            self._known[key] = self._solved(points, left, pattern)
        return self._known[key]

    def _solved(self, points: int, left: int, pattern: tuple[str, ...]) -> float:
        """Solve the LP over (g, h, |h|, m, t), t being the distance of the sides."""
        rows, eps = self.members(points), self.objective.margin
        k, d = len(rows), self.X.shape[1]
        sign = np.where([left >> i & 1 for i in rows], 1.0, -1.0)[:, None]
        score = np.c_[np.ones(self.n), -self.X]
        apart = np.c_[-sign * score[rows], np.zeros((k, d + k)), np.ones(k)]
        ahead = np.c_[-sign * score[rows], np.zeros((k, d)), -np.eye(k), np.zeros(k)]
        box = np.c_[score, np.zeros((self.n, d + k + 1))]
        size = np.c_[np.zeros(d), np.eye(d), -np.eye(d), np.zeros((d, k + 1))]
        other = np.c_[np.zeros(d), -np.eye(d), -np.eye(d), np.zeros((d, k + 1))]
        A = np.r_[apart, ahead, box, -box, size, other]
        b = np.r_[np.zeros(k), np.full(k, -eps), np.ones(2 * self.n), np.zeros(2 * d)]
        bounds = [(None, None), *(RANGES[s] for s in pattern)]
        bounds += [(0, None)] * d + [(0, eps)] * k
        apart_only = np.r_[np.zeros(1 + 2 * d + k), -1.0]
        far = linprog(apart_only, A, b, bounds=[*bounds, (0, 1)])
        if not far.success or -far.fun <= SEPARABLE:
            return np.inf
        price = self.objective.slack_penalty * self.weight[rows]
        norms = np.full(d, self.objective.l1_penalty)
        cost = np.r_[np.zeros(1 + d), norms, price, 0.0]
        found = linprog(cost, A, b, bounds=[*bounds, (0, None)])
        return float(found.fun)


def _joined(
    one: Subtree, two: Subtree, cost: float, towards: set[int], place: int
) -> Subtree:
    """Put two subtrees below a split."""
    n_left = len(one.leaves)
    right = range(n_left, n_left + len(two.leaves))
    pairs = list(product(range(n_left), right)) if 1 in towards else []
    pairs += list(product(right, range(n_left))) if -1 in towards else []
    below = [(a + n_left, b + n_left) for a, b in two.orders]
    return Subtree(
        one.leaves + two.leaves,
        one.cost + two.cost + cost,
        one.orders + below + pairs,
        one.places | two.places | {place},
    )


def _both(tried: str, good: str) -> str:
    """Return the signs to be tried that a further rule allows as well."""
    if tried == FREE:
        return good
    return "".join(s for s in tried if s in (ZERO, good)) or ZERO


def _is_about(constraint: AllowFeatures, place: int) -> bool:
    if constraint.node is not None:
        return constraint.node == place
    depth = (place + 1).bit_length() - 1
    return constraint.depth is None or constraint.depth == depth


class _Predicted:
    """Predictions that were made elsewhere."""

    def __init__(self, predicted: np.ndarray, leaf: np.ndarray) -> None:
        self.predict, self.apply = lambda X: predicted, lambda X: leaf
