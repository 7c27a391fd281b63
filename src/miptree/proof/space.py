"""Units in which two sets of points too near to each other are inseparable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from miptree._typing import FloatArray, IntArray
from miptree.problem import Problem
from miptree.tree import HeapTree

_SAFETY = 1e-6
"""Relative allowance for the rounding of LP solutions."""


class Space(NamedTuple):
    """Points in units of the largest coefficient that the box allows a feature.

    In the box abs(h x_i - g) <= 1 no abs(h_j) exceeds some H_j. A hyperplane with
    margin eps on both sides, p right of it and q left, has h (p - q) >= 2 eps, so
    sum_j H_j abs(p_j - q_j) >= 2 eps: hulls nearer than that are inseparable.

    Attributes
    ----------
    X : (n, k)
        Scaled features times H_j, without those that the others determine.
    kept : (k,)
        Their numbers.
    limit : (k,)
        H_j.
    least : float
        2 eps.
    """

    X: FloatArray
    kept: list[int]
    limit: FloatArray
    least: float

    def to_heap(self, plane: FloatArray, label: IntArray, n_features: int) -> HeapTree:
        """Tree in scaled units of hyperplanes (coefficients, threshold) found here."""
        coef = np.zeros((len(plane), n_features))
        coef[:, self.kept] = plane[:, :-1] * self.limit
        return HeapTree(coef, plane[:, -1].copy(), label)


def space_of(problem: Problem, margin: float) -> Space:
    """Space of a problem at a margin eps."""
    X = problem.scaled
    kept = _independent(X)
    limit: list[float] = []
    while len(limit) < len(kept):
        largest = _largest_coefficient(X[:, kept], len(limit))
        if np.isinf(largest):
            # The others determine the feature, so it adds nothing. Without it they
            # may have other limits.
            del kept[len(limit)]
            limit = []
        else:
            limit.append(largest * (1 + _SAFETY))
    scale = np.array(limit)
    return Space(X[:, kept] * scale, kept, scale, 2 * margin * (1 - _SAFETY))


def _independent(X: FloatArray) -> list[int]:
    """Features that the others do not determine, as far as rounding can tell.

    The values of a category are many that do; each would cost a round of LPs. Subset
    splits are hyperplanes over them, and so among those that the bounds speak of.
    """
    _, r, order = qr(X - X.mean(axis=0), mode="economic", pivoting=True)
    size = np.abs(np.diagonal(r))
    return sorted(order[: int((size > 1e-9 * size.max(initial=0.0)).sum())].tolist())


def _largest_coefficient(X: FloatArray, feature: int) -> float:
    """Largest coefficient of a feature in the box, inf where there is no limit."""
    n, d = X.shape
    rows = np.hstack([X, -np.ones((n, 1))])
    cost = np.zeros(d + 1)
    cost[feature] = -1.0
    found = linprog(cost, np.vstack([rows, -rows]), np.ones(2 * n), bounds=(None, None))
    return float(-found.fun) if found.status == 0 else np.inf
