"""Units in which two sets of points too near to each other are inseparable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from miptree.data.problem import Problem
from miptree.objective import MARGIN_ROUNDING
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_SAFETY = 1e-6
"""Relative allowance for rounding, of limits and of the distance."""
_ROUNDING = 1e-7
"""An equation below that misses by more is not solved."""
_DETERMINED = 32 * np.finfo(np.float64).eps
"""A feature so near to what the others say of it differs by rounding only."""
_NO_LIMIT = 1e20
"""A limit so large that the rounding error of any distance exceeds the margin."""


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
    min_distance : float
        2 eps, less what rounding can explain.
    rounding : float
        Rounding error of a distance.
    """

    X: FloatArray
    kept: list[int]
    limit: FloatArray
    min_distance: float
    rounding: float

    def min_distance_moved(self, n: int) -> float:
        """Return the distance of the hulls of all n points after a threshold moves.

        The threshold may move by eps / 2 to both sides, and should keep a distance
        delta from every point. So each point forbids an interval of 2 delta. With
        delta = eps / (2 (n + 1)) the n intervals do not cover all of the eps, and the
        hulls are then two deltas apart.
        """
        return 0.5 * (self.min_distance + self.rounding) / (n + 1) - self.rounding

    def to_heap(self, plane: FloatArray, label: IntArray, n_features: int) -> HeapTree:
        """Return the tree of hyperplanes (coefficients, threshold), in scaled units."""
        coef = np.zeros((len(plane), n_features))
        coef[:, self.kept] = plane[:, :-1] * self.limit
        return HeapTree(coef, plane[:, -1].copy(), label)


def space_of(problem: Problem, margin: float) -> Space:
    """Return the space of a problem at a margin eps."""
    X = problem.scaled
    kept = _independent(X)
    found: list[tuple[float, float]] = []
    while len(found) < len(kept):
        largest = _largest_coefficient(X[:, kept], len(found))
        if largest is None:
            # The others determine the feature, so it adds nothing. Without it they
            # may have other limits.
            del kept[len(found)]
            found = []
        else:
            found.append(largest)
    scale = _limits(*np.array(found).reshape(-1, 2).T) * (1 + _SAFETY)
    # A point that lacks a rounding error of its margin keeps it, and the distance of
    # two points of numbers up to H_j has a rounding error of its own.
    rounding = 4 * np.finfo(np.float64).eps * (len(kept) + 2) * scale.sum()
    distance = 2 * (margin - MARGIN_ROUNDING) * (1 - _SAFETY) - rounding
    return Space(X[:, kept] * scale, kept, scale, distance, float(rounding))


def _independent(X: FloatArray) -> list[int]:
    """Return the features that the others do not determine, as far as rounding tells.

    The columns of a category's values add up to one, so the others determine one of
    them; each such column would cost a round of LPs. Subset splits are hyperplanes over
    these columns, so the bounds hold for them, too.
    """
    _, r, order = qr(X - X.mean(axis=0), mode="economic", pivoting=True)
    size = np.abs(np.diagonal(r))
    rank = int((size > 1e-13 * size.max(initial=0.0)).sum())
    kept = sorted(order[:rank].tolist())
    others = np.hstack([X[:, kept], np.ones((len(X), 1))])
    return sorted(kept + [j for j in order[rank:] if not _explains(others, X[:, j])])


def _explains(others: FloatArray, own: FloatArray) -> bool:
    """Tell whether some columns determine another one, but for rounding."""
    for _ in range(2):  # the second time for what the first left by rounding
        own = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
    return bool(np.abs(own).max() <= _DETERMINED)


def _limits(size: FloatArray, missed: FloatArray) -> FloatArray:
    """Return the largest H with ``H_j <= size_j + missed_j (sum_k H_k + |g|)``.

    As the features are in [0, 1], |g| is at most 1 + sum_k H_k. With S for that sum,
    H_j <= c_j + 2 missed_j S, where c = size + missed; so S <= sum(c) / (1 - 2
    sum(missed)).
    """
    left = 1 - 2 * missed.sum()
    if left < 0.5:
        return np.full(len(size), _NO_LIMIT)
    constant = size + missed
    return constant + 2 * missed * constant.sum() / left


def _largest_coefficient(X: FloatArray, feature: int) -> tuple[float, float] | None:
    """Bound the coefficient of a feature in the box.

    For any v with ``sum_i v_i (x_i, -1) = unit vector of the feature``, its
    coefficient is ``h_j = sum_i v_i (h x_i - g) <= |v|_1``. The LP finds the best v,
    which is then corrected for the solver's tolerances. Returns the bound and by how
    much v still misses the equation; None if the other features determine this one.
    """
    n = len(X)
    rows, unit = _equations(X, feature)
    v = box_multipliers(X, feature)
    size, missed = float(np.abs(v).sum()), float(np.abs(rows.T @ v - unit).max())
    if missed <= _ROUNDING:
        # The sum has a rounding error of its own.
        return size, missed + n * np.finfo(np.float64).eps * size
    others = np.delete(rows, feature, axis=1)
    return None if _explains(others, X[:, feature]) else (_NO_LIMIT, 0.0)


def box_multipliers(X: FloatArray, feature: int) -> FloatArray:
    """Return (n,): the v that bounds the coefficient of a feature in the box."""
    n = len(X)
    rows, unit = _equations(X, feature)
    both = np.vstack([rows, -rows])
    found = linprog(-unit, both, np.ones(2 * n), bounds=(None, None))
    v = np.zeros(n)
    if found.status == 0:
        v = found.ineqlin.marginals[n:] - found.ineqlin.marginals[:n]
    v += np.linalg.lstsq(rows.T, unit - rows.T @ v, rcond=None)[0]
    return v


def _equations(X: FloatArray, feature: int) -> tuple[FloatArray, FloatArray]:
    """Return the points with -1 for the threshold, and the unit vector of a feature."""
    rows = np.hstack([X, -np.ones((len(X), 1))])
    unit = np.zeros(X.shape[1] + 1)
    unit[feature] = 1.0
    return rows, unit
