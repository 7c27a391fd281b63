"""The variables of a tree: routes to the leaves, hyperplanes, places of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.constraints.free_signs import FreeSigns
from miptree.data.problem import Problem
from miptree.mip.model import Model, ModelBuilder
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


class Routes(NamedTuple):
    """Index sets of the complete tree of depth D, in heap order.

    ``left[b, l]`` says that branch node b is in the paper's A_L(l), ``right[b, l]``
    that it is in A_R(l).
    """

    left: BoolArray
    right: BoolArray

    @classmethod
    def of_depth(cls, depth: int) -> Routes:
        """Build the sets for a depth D >= 1."""
        n_branch, n_leaves = 2**depth - 1, 2**depth
        left = np.zeros((n_branch, n_leaves), dtype=bool)
        right = np.zeros_like(left)
        leaf = np.arange(n_leaves)
        node = leaf + n_branch
        for _ in range(depth):
            parent, is_right = (node - 1) // 2, node % 2 == 0
            left[parent[~is_right], leaf[~is_right]] = True
            right[parent[is_right], leaf[is_right]] = True
            node = parent
        return cls(left, right)

    @property
    def n_branch(self) -> int:
        """Number of branch nodes."""
        return self.left.shape[0]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.left.shape[1]

    def in_leaf(self, leaf: IntArray) -> FloatArray:
        """Return (n, L): 1 where a row is in a leaf, from the leaf of each row."""
        return np.eye(self.n_leaves)[leaf]


class Hyperplanes(NamedTuple):
    """Columns of h_b (split into its positive and negative part) and of g_b."""

    positive: IntArray
    negative: IntArray
    threshold: IntArray

    @classmethod
    def add(
        cls,
        builder: ModelBuilder,
        n_branch: int,
        n_features: int,
        l1_penalty: float,
        signs: FreeSigns | None = None,
    ) -> Hyperplanes:
        """Add the variables, with the third sum of (1a) on them.

        ``signs`` are those that h may have, by default any.
        """
        shape = (n_branch, n_features)
        positive, negative = (True, True) if signs is None else signs
        up, down = (np.where(free, np.inf, 0.0) for free in (positive, negative))
        return cls(
            builder.variables("h+", shape, upper=up, cost=l1_penalty),
            builder.variables("h-", shape, upper=down, cost=l1_penalty),
            builder.variables("g", (n_branch,), lower=-np.inf),
        )

    @classmethod
    def of(cls, model: Model) -> Hyperplanes:
        """Find the columns in a model that has them."""
        index = model.variables
        return cls(index["h+"], index["h-"], index["g"])

    @property
    def size_terms(self) -> tuple[tuple[IntArray, float], tuple[IntArray, float]]:
        """Terms of abs(h_bj) for rows of shape (B, features)."""
        return (self.positive, 1.0), (self.negative, 1.0)

    def score_terms(
        self, X: FloatArray, sign: FloatArray | float = 1.0
    ) -> tuple[tuple[IntArray, FloatArray], ...]:
        """Return the terms of sign * (g_b - h_b x_i) for rows of shape (n, B).

        ``sign`` is one number or an array of shape (n, 1).
        """
        sign = np.asarray(sign, dtype=np.float64)
        rows = (sign * X)[:, None, :]
        return (
            (self.threshold[None, :], sign),
            (self.positive[None, :, :], -rows),
            (self.negative[None, :, :], rows),
        )

    def write(self, x: FloatArray, heap: HeapTree) -> None:
        """Put a tree's hyperplanes into a solution vector; subset splits have 0."""
        n_open = self.positive.shape[1]
        is_subset = np.asarray(heap.coef[:, n_open:].any(axis=1))
        coef = np.where(is_subset[:, None], 0.0, heap.coef[:, :n_open])
        x[self.positive] = np.maximum(coef, 0)
        x[self.negative] = np.maximum(-coef, 0)
        x[self.threshold] = np.where(is_subset, 0.0, heap.threshold)

    def read(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients and thresholds of a solution vector."""
        return x[self.positive] - x[self.negative], x[self.threshold].copy()


class Placement(NamedTuple):
    """Where a tree puts every row: the derived variables of (1)."""

    heap: HeapTree
    leaf: IntArray
    """(n,): leaf of each row."""
    paid: FloatArray
    """(n,): c_i, 1 where a row is wrong (or its part of the most costly error)."""
    in_leaf: FloatArray
    """(n, L): e_il."""
    score: FloatArray
    """(n, B): g_b - h_b x_i, zero at a subset split."""
    slack: FloatArray
    """(n, B): m_ib, zero off the row's path."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        objective: Svm1Objective,
        heap: HeapTree,
        leaf: IntArray,
        routes: Routes,
    ) -> Placement:
        """Derive them from a tree and the leaf of each row."""
        on_path = (routes.left | routes.right).T[leaf]
        score = heap.threshold - problem.scaled @ heap.coef.T
        missing = np.maximum(0.0, objective.margin - np.abs(score))
        score[:, problem.is_subset_split(heap.coef)] = 0.0
        in_leaf = routes.in_leaf(leaf)
        paid = problem.costs.share[np.arange(problem.n_rows), heap.label[leaf]]
        return cls(heap, leaf, paid, in_leaf, score, np.where(on_path, missing, 0.0))
