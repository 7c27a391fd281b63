"""At most k features in a hyperplane, exactly, by a binary for each coefficient."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations.tree_variables import Hyperplanes
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

_MOST_SUBSETS = 3000
"""Most sets of k features that are looked at, one by one, for the bound."""
_RANK_TOLERANCE = 1e-9
LEAST_LIMIT = 1.0
"""Bounds H below this, where weights are next to nothing beside the price of the norm,
would be lost in a solver's tolerances: at .01 HiGHS 1.15 has lost the tree without a
split. A larger one is a bound as well."""


class FewFeatures(NamedTuple):
    """Columns of z_bj in {0, 1}: abs(h_bj) <= H z_bj and sum_j z_bj <= k.

    Where no bound H is known the rows are left out. The model is then a relaxation, and
    its bound holds all the same.
    """

    used: IntArray
    """(B, n_open), of no columns where the number is not limited."""

    @classmethod
    def add(
        cls, b: ModelBuilder, problem: Problem, h: Hyperplanes, most: float
    ) -> FewFeatures:
        """Add variables and rows if the problem limits the features.

        ``most`` is H, infinity where no bound is known.
        """
        if not problem.is_limited or not np.isfinite(most):
            return cls(np.zeros((1, 0), dtype=np.intp))
        z = b.variables("z", h.positive.shape, upper=1, integer=True)
        b.rows("used features", z.shape, *h.size_terms, (z, -most), upper=0)
        few = problem.max_features or 0
        b.rows("few features", z.shape[:1], (z, 1.0), upper=few)
        return cls(z)

    @classmethod
    def of(cls, model: Model) -> FewFeatures:
        """Find the columns in a model; there may be none."""
        return cls(model.variables.get("z", np.zeros((1, 0), dtype=np.intp)))

    def write(self, x: FloatArray, heap: HeapTree) -> None:
        """Put the features that a tree's hyperplanes use into a solution vector."""
        if not self.used.size:
            return
        n_open = self.used.shape[1]
        is_subset = heap.coef[:, n_open:].any(axis=1, keepdims=True)
        x[self.used] = (heap.coef[:, :n_open] != 0) & ~is_subset

    def clear(self, x: FloatArray, coef: FloatArray) -> FloatArray:
        """Return the coefficients without those that only a tolerance keeps from 0."""
        return coef if not self.used.size else np.where(x[self.used] > 0.5, coef, 0.0)


def largest_limited_coefficient(problem: Problem, l1_penalty: float) -> float:
    """Return a bound on abs(h_bj) in an optimal tree of at most k features a split.

    A hyperplane may be taken to use linearly independent features T only: otherwise
    another one has the same scores and no larger norm. Its scores, less their mean,
    are at most sqrt(n) long, so that ``abs(h) <= sqrt(n) / sigma`` for the smallest
    singular value of any such T. And no tree is optimal whose norms cost more than the
    errors of the constant tree.
    """
    if not problem.is_limited:
        return np.inf
    sigma = _least_singular_value(problem)
    bound = np.sqrt(problem.n_rows) / sigma if sigma > 0 else np.inf
    if l1_penalty > 0:
        costs = problem.costs
        constant = float((costs.spread @ costs.share).min())
        bound = min(bound, constant / l1_penalty)
    return max(float(bound), LEAST_LIMIT)


def largest_by_rank(problem: Problem) -> float:
    """Return a bound on abs(h_bj) of any hyperplane in the box, infinity if none.

    Scores, less their mean, are at most sqrt(n) long. Where no feature is a sum of
    others, that bounds the coefficients.
    """
    X = problem.open_scaled - problem.open_scaled.mean(axis=0)
    sigma = np.linalg.svd(X, compute_uv=False)
    floor = _RANK_TOLERANCE * sigma.max(initial=0.0)
    if not sigma.size or len(X) < X.shape[1] or sigma.min() <= floor:
        return np.inf
    return float(np.sqrt(problem.n_rows) / sigma.min())


def _least_singular_value(problem: Problem) -> float:
    """Return the least singular value of k independent centred features; 0: unknown."""
    X = problem.open_scaled - problem.open_scaled.mean(axis=0)
    sigma = np.linalg.svd(X, compute_uv=False)
    floor = _RANK_TOLERANCE * sigma.max(initial=0.0)
    if len(X) >= X.shape[1] and sigma.min() > floor:
        return float(sigma.min())  # of any of the columns it is no less
    k, d = problem.max_features or 0, problem.n_open
    if sum(comb(d, size) for size in range(1, k + 1)) > _MOST_SUBSETS:
        return 0.0
    least = np.inf
    for size in range(1, k + 1):
        for chosen in combinations(range(d), size):
            value = np.linalg.svd(X[:, chosen], compute_uv=False).min()
            least = min(least, value if value > floor else np.inf)
    return float(least)
