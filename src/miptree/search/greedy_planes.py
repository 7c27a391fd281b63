"""Greedy growth of hyperplanes, by linear classifiers between two groups of classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import entr

from miptree.utils.arrays import FloatArray, IntArray

_LARGEST_FIT = 2_000
"""Rows that a linear fit of a greedy split sees, unless told otherwise."""

_MOST_CLASSES = 12
"""Classes that a greedy split looks at: the heaviest ones."""

_MOST_GROUPED = 4
"""Classes of which all groupings in two are tried."""

Plane = tuple[FloatArray, float]
"""Coefficients and threshold: rows of a higher score go right."""


@dataclass(frozen=True, eq=False)
class Greedy:
    """Splits rows again and again, each time into the purest two groups of classes.

    Attributes
    ----------
    X : float array of shape (n, d)
        The features in any units.
    y, weight : arrays of shape (n,)
        Classes and weights of the rows.
    model : linear classifier of scikit-learn
        Tells two groups of classes apart.
    max_features : int, optional
        Features that a split may use.
    largest_fit : int
        Rows that a fit sees at most.
    """

    X: FloatArray
    y: IntArray
    weight: FloatArray
    model: Any
    max_features: int | None = None
    largest_fit: int = _LARGEST_FIT

    def planes(self, levels: int) -> dict[int, Plane]:
        """Return the splits of so many levels by their places in a heap.

        Nodes without rows of two classes have none: all of their rows go left.
        """
        found: dict[int, Plane] = {}
        at_node = {0: np.arange(len(self.y))}
        for b in range(2**levels - 1):
            rows = at_node.pop(b)
            plane = self._best_split(rows)
            right = np.zeros(len(rows), dtype=bool)
            if plane is not None:
                found[b] = plane
                right = self.X[rows] @ plane[0] > plane[1]
            at_node[2 * b + 1], at_node[2 * b + 2] = rows[~right], rows[right]
        return found

    def _best_split(self, rows: IntArray) -> Plane | None:
        """Find the purest split between two groups of classes, None at a pure node."""
        if len(rows) > self.largest_fit:
            rng = np.random.default_rng(0)
            rows = rng.choice(rows, self.largest_fit, replace=False)
        X, y, weight = self.X[rows], self.y[rows], self.weight[rows]
        best, best_impurity, most = None, np.inf, self.max_features
        for group in _groupings(X, y, weight):
            side, relative = np.where(np.isin(y, group), 1, -1), weight / weight.mean()
            coef, threshold = _plane(self.model, X, side, relative)
            if most is not None and most < X.shape[1]:
                used = np.argsort(-np.abs(coef), kind="stable")[:most]
                coef = np.zeros_like(coef)
                coef[used], threshold = _plane(self.model, X[:, used], side, relative)
            right = X @ coef > threshold
            impurity = _impurity(y[right], weight[right]) + _impurity(
                y[~right], weight[~right]
            )
            if impurity < best_impurity:
                best, best_impurity = (coef, threshold), impurity
        return best


def _groupings(X: FloatArray, y: IntArray, weight: FloatArray) -> list[IntArray]:
    """List groups of classes to tell from the rest: all groups if there are few.

    Otherwise they are the single classes, and the first classes, of any number, in the
    order along the line on which the means differ most.
    """
    mass = np.bincount(y, weight)
    classes = np.argsort(-mass, kind="stable")[: min(_MOST_CLASSES, (mass > 0).sum())]
    if len(classes) < 2:
        return []
    if len(classes) <= _MOST_GROUPED:
        sizes = range(1, len(classes))
        groups = (np.array(g) for k in sizes for g in combinations(classes, k))
        # Of a group and its complement, the one with the heaviest class.
        return [group for group in groups if group[0] == classes[0]]
    order = _in_a_row(X, y, weight, classes)
    singles = [classes[k : k + 1] for k in range(len(classes))]
    return singles + [order[:k] for k in range(2, len(order) - 1)]


def _in_a_row(
    X: FloatArray, y: IntArray, weight: FloatArray, classes: IntArray
) -> IntArray:
    """Order the classes along the first principal axis of their means."""
    share = np.where(y == classes[:, None], weight, 0.0)
    mass = share.sum(axis=1, keepdims=True)
    means = share @ X / mass
    centred = np.sqrt(mass) * (means - np.average(X, axis=0, weights=weight))
    within = X - means[np.argmax(y == classes[:, None], axis=0)]
    spread = within.std(axis=0) + 1e-9
    axis = np.linalg.svd(centred / spread, full_matrices=False)[2][0] / spread
    return classes[np.argsort(means @ axis, kind="stable")]


def _impurity(y: IntArray, weight: FloatArray) -> float:
    """Return the entropy of the classes times the weight of the rows.

    Unlike Gini's index it prefers to halve four equal classes to splitting one off.
    """
    mass = np.bincount(y, weight)
    return float(entr(mass).sum() - entr(mass.sum()))


def _plane(model: Any, X: FloatArray, side: IntArray, weight: FloatArray) -> Plane:
    """Fit a linear classifier; one that has not converged will do for a start."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, side, sample_weight=weight)
    coef: FloatArray = model.coef_[0].astype(np.float64)
    return coef, -float(model.intercept_[0])
