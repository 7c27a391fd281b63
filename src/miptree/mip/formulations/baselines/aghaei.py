"""The model of Aghaei, Azizi & Vayanos (2019), 'Fair' in the tables of SVM1-ODT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.mip.formulations.baselines.base import (
    BaselineFormulation,
    Split,
    move_splits,
    nearest_gap,
)
from miptree.mip.formulations.baselines.fairness import disparate_impact, group_shares
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

_ROUNDING = 1e-9
"""Relative width by which the gap of a start must exceed the strip."""


@dataclass(frozen=True)
class AghaeiFormulation(BaselineFormulation):
    r"""MIP of [1]_ for classification, with hyperplanes or with single features.

    .. math::
        \min \frac{1}{n} \sum_i 1[\hat y_i \ne y_i] + \lambda \, \mathrm{DIDI}(\hat y)

    Point i goes left at node v (w_iv = 1) iff p_v x_i <= q_v, otherwise
    p_v x_i >= q_v + epsilon, and this holds for every point at every node, whether
    the point comes there or not. z_il = 1 says that i ends in leaf l. Differs from
    the paper in that

    * M = 1 and p is unbounded: the box abs(p x - q) <= 1 takes the place of its big
      M, as in SVM1-ODT's Theorem 2;
    * leaves carry one of Y classes (u_lk) instead of a real number, as the fairness
      index of a classifier needs;
    * univariate splits see ranks (:class:`.ranks.Ranks`);
    * categorical features are to be encoded by the caller.

    Parameters
    ----------
    problem, depth
        As for every baseline.
    branching : {"linear", "univariate"}
        What p_v may be. SVM1-ODT's tables can only be reached by "linear".
    margin : float
        epsilon, in units of the box; of the ranks for univariate splits it is given
        by the data.
    fairness : float
        lambda.
    group : int array of shape (n,), optional
        Protected group of each row.

    References
    ----------
    .. [1] Aghaei, Azizi, Vayanos: Learning optimal and fair decision trees for
       non-discriminative decision-making. AAAI 2019.
    """

    branching: str = "linear"
    margin: float = 1e-3
    fairness: float = 0.0
    group: IntArray | None = None

    @cached_property
    def _is_linear(self) -> bool:
        return self.branching == "linear"

    @cached_property
    def _features(self) -> FloatArray:
        return self.problem.scaled if self._is_linear else self.ranks.unit

    @cached_property
    def _epsilon(self) -> float:
        return self.margin if self._is_linear else float(self.ranks.gap.min())

    @property
    def strip(self) -> float | None:
        """Epsilon of the hyperplanes."""
        return self.margin if self._is_linear else None

    @property
    def error_price(self) -> float:
        """1 / n, in weights."""
        return 1.0 / float(self.problem.weight.sum())

    @property
    def counts_errors_only(self) -> bool:
        """Whether lambda is 0."""
        return self.fairness == 0

    def penalty(self, tree: ObliqueTree) -> float:
        """Return lambda times the discrimination index of the predictions."""
        if self.group is None or self.fairness == 0:
            return 0.0
        problem, predicted = self.problem, tree.predict(self.problem.X)
        given = (self.group, problem.n_classes, problem.weight)
        return self.fairness * disparate_impact(predicted, *given)

    @property
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective."""
        trees = f"univariate tree of depth {self.depth}"
        if self._is_linear:
            trees = (
                f"tree of depth {self.depth} whose hyperplanes have all points in the "
                f"box abs(score) <= 1 and none in a strip of {self.margin:g}"
            )
        objective = "error rate"
        if self.fairness:
            objective += f" + {self.fairness:g} * disparate impact index"
        return trees, objective

    # ----------------------------------------------------------------------- building

    def build(self) -> Model:
        """Build the model."""
        problem, routes = self.problem, self.routes
        n, n_leaves, n_classes = problem.n_rows, routes.n_leaves, problem.n_classes
        b = ModelBuilder()
        z = b.variables("z", (n, n_leaves), upper=1, integer=True)
        u = b.variables("u", (n_leaves, n_classes), upper=1, integer=True)
        price = np.full((n, n_classes), self.error_price) * problem.weight[:, None]
        price[np.arange(n), problem.y] = 0.0
        predicted = b.variables("y_hat", (n, n_classes), upper=1, cost=price)
        self._add_branching(b, z)
        b.rows("sum z = 1", (n,), (z, 1.0), equals=1)
        b.rows("sum u = 1", (n_leaves,), (u, 1.0), equals=1)
        b.rows("sum y_hat = 1", (n,), (predicted, 1.0), equals=1)
        # y_hat_ik = sum_l z_il u_lk, linear in both.
        cube = (n, n_leaves, n_classes)
        y_hat, in_leaf = (predicted[:, None, :], 1.0), z[:, :, None]
        label = (u[None, :, :], -1.0)
        b.rows("y_hat >= z + u - 1", cube, y_hat, (in_leaf, -1.0), label, lower=-1)
        b.rows("y_hat <= u + 1 - z", cube, y_hat, (in_leaf, 1.0), label, upper=1)
        if self.fairness and self.group is not None:
            self._add_fairness(b, predicted, self.group)
        return b.finish()

    def _add_branching(self, b: ModelBuilder, z: IntArray) -> None:
        """Add p, q, w and the distances g+, g- with their rows."""
        X, routes, epsilon = self._features, self.routes, self._epsilon
        (n, n_features), n_branch = X.shape, routes.n_branch
        if self._is_linear:
            p = b.variables("p", (n_branch, n_features), lower=-np.inf)
        else:
            usable = self._usable()
            p = b.variables("p", (n_branch, n_features), upper=usable, integer=True)
        q = b.variables("q", (n_branch,), lower=-np.inf)
        grid = (n, n_branch)
        w = b.variables("w", grid, upper=1, integer=True)
        ahead = b.variables("g+", grid, upper=1)
        behind = b.variables("g-", grid, upper=1)
        if not self._is_linear:
            b.rows("sum p = 1", q.shape, (p, 1.0), equals=1)
        score = (q[None, :], 1.0), (p[None, :, :], -X[:, None, :])
        distance = (ahead, -1.0), (behind, 1.0)
        b.rows("q - px = g+ - g-", grid, *score, *distance, equals=0)
        b.rows("g+ <= Mw", grid, (ahead, 1.0), (w, -1.0), upper=0)
        b.rows("g- <= M(1 - w)", grid, (behind, 1.0), (w, 1.0), upper=1)
        both = (ahead, 1.0), (behind, 1.0)
        b.rows("g+ + g- >= eps(1 - w)", grid, *both, (w, epsilon), lower=epsilon)
        for tag, side, sign, most in (
            ("left: z <= w", routes.left, -1.0, 0.0),
            ("right: z <= 1 - w", routes.right, 1.0, 1.0),
        ):
            node, leaf = np.nonzero(side)
            pairs = (n, len(node))
            b.rows(tag, pairs, (z[:, leaf], 1.0), (w[:, node], sign), upper=most)

    def _usable(self) -> FloatArray:
        """Return (1, d): 1 for the features that have a place for a threshold."""
        usable = self.ranks.steps > 0
        return (usable | ~usable.any()).astype(float)[None, :]

    def _add_fairness(self, b: ModelBuilder, y_hat: IntArray, group: IntArray) -> None:
        """Add the index: sum over groups g and classes k of abs(P(k | g) - P(k))."""
        share = group_shares(group, self.problem.weight)
        shape = (len(share), self.problem.n_classes)
        apart = b.variables("d", shape, cost=self.fairness)
        columns, difference = y_hat.T[None, :, :], share[:, None, :]
        more, less = (columns, -difference), (columns, difference)
        b.rows("d >= P(k|g) - P(k)", shape, (apart, 1.0), more, lower=0)
        b.rows("d >= P(k) - P(k|g)", shape, (apart, 1.0), less, lower=0)

    # ----------------------------------------------------------------- trees in and out

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Move thresholds into gaps that no point is in, drop splits that have none."""
        if not self._is_linear:
            return heap
        return move_splits(self.problem, heap, self._moved)

    def _moved(self, split: Split, rows: IntArray) -> Split | None:
        """Scale a split up to the edge of the box and move it; all points are clear."""
        coef, threshold = split
        values = self.problem.scaled @ coef
        low, high = float(values.min()), float(values.max())
        # q lies half a strip from the threshold, which the farthest score pays for.
        edge = 1.0 - 0.5 * self.margin

        def reach(middle: FloatArray | float) -> FloatArray:
            return np.maximum(high - middle, middle - low)

        def least_width(middle: FloatArray) -> FloatArray:
            return (1.0 + _ROUNDING) * self.margin / edge * reach(middle)

        moved = nearest_gap(values, threshold, least_width) if low < high else None
        if moved is None:
            return None
        scale = edge / float(reach(moved))
        return coef * scale, moved * scale

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree of the class, in scaled units."""
        heap = self.canonical(heap)
        index = self.model.variables
        x = np.zeros(self.model.n_variables)
        p, q = self._splits(heap)
        score = q - self._features @ p.T
        goes_left = score >= 0
        leaf = np.zeros(self.problem.n_rows, dtype=np.intp)
        for _ in range(self.depth):
            leaf = 2 * leaf + np.where(goes_left[np.arange(len(leaf)), leaf], 1, 2)
        leaf -= len(q)
        x[index["p"]], x[index["q"]], x[index["w"]] = p, q, goes_left
        x[index["g+"]], x[index["g-"]] = np.maximum(score, 0), np.maximum(-score, 0)
        x[index["z"]] = self.routes.in_leaf(leaf)
        x[index["u"][np.arange(len(heap.label)), heap.label]] = 1.0
        x[index["y_hat"][np.arange(len(leaf)), heap.label[leaf]]] = 1.0
        if "d" in index and self.group is not None:
            share = group_shares(self.group, self.problem.weight)
            x[index["d"]] = np.abs(share @ x[index["y_hat"]])
        return x

    def _splits(self, heap: HeapTree) -> tuple[FloatArray, FloatArray]:
        """Return p and q of a canonical tree; where it does not split, all go left."""
        if self._is_linear:
            # The threshold lies in the middle of the strip, q at its left end.
            splits = heap.coef.any(axis=1)
            return heap.coef, np.where(splits, heap.threshold - 0.5 * self.margin, 1.0)
        p, q = np.zeros_like(heap.coef), np.ones(len(heap.threshold))
        for node, coef in enumerate(heap.coef):
            if coef.any():
                feature, n_left = self.ranks.place(coef, heap.threshold[node])
                p[node, feature] = 1.0
                # The last row on the left has this very number, so it scores 0 exactly.
                q[node] = (n_left - 1) / self.ranks.steps[feature]
            else:
                p[node, int(self._usable().argmax())] = 1.0
        return p, q

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        index = self.model.variables
        label = x[index["u"]].argmax(axis=1)
        coef, q = x[index["p"]].copy(), x[index["q"]]
        if self._is_linear:
            return HeapTree(coef, q + 0.5 * self.margin, label)
        feature = coef.argmax(axis=1)
        middle = (q + 0.5 * self._epsilon) / self.ranks.gap[feature]
        return self.ranks.heap(feature, np.floor(middle).astype(int) + 1, label)
