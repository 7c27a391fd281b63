"""Subset splits of categorical features in a MIP: the paper's supplement, (8a)-(8f)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from miptree.data.problem import Problem
from miptree.mip.formulations.tree_variables import Routes
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

VALUE_PRIORITY = 50
"""Branch on the values that go left after the leaf classes, before the points."""

Term = tuple[IntArray, ArrayLike]


class SubsetSplits(NamedTuple):
    """Columns of h_bj for the categorical features j, and of s_bjv for their values.

    h_bj says that node b splits by feature j, s_bjv that value v then goes left. At
    such a node the hyperplane rests at h = 0, g = 0, where every point may take either
    side as far as (1f), (1g) and (1i) go, and (1h) and (1j) are relaxed. Hence (8e) is
    implied by optimality; :class:`~miptree.mip.formulations.paper.PaperFormulation` has
    it as a row all the same.
    """

    chosen: IntArray
    """(B, features)."""
    left: IntArray
    """(B, values)."""

    @classmethod
    def add(cls, b: ModelBuilder, problem: Problem, n_branch: int) -> SubsetSplits:
        """Add the variables (8f) and the rows (8a) and (8b), if there are features."""
        feature = problem.value_feature
        if not len(feature):
            return cls(*np.zeros((2, 1, 0), dtype=np.intp))
        of_node = (n_branch, problem.n_categorical)
        values = (n_branch, len(feature))
        first = VALUE_PRIORITY
        chosen = b.variables("h_c", of_node, upper=1, integer=True, priority=first)
        left = b.variables("s", values, upper=1, integer=True, priority=first)
        b.rows("(8a)", (n_branch,), (chosen, 1.0), upper=1)
        b.rows("(8b)", values, (left, 1.0), (chosen[:, feature], -1.0), upper=0)
        member = feature == np.arange(problem.n_categorical)[:, None]
        some = left[:, None, :], member[None, :, :].astype(float)
        # A feature is chosen only to split: some values go left, others right.
        b.rows("some left", of_node, some, (chosen, -1.0), lower=0)
        b.rows("some right", of_node, some, (chosen, 1.0 - member.sum(1)), upper=0)
        return cls(chosen, left)

    @classmethod
    def of(cls, model: Model) -> SubsetSplits:
        """Find the columns in a model; there may be none."""
        none = np.zeros((1, 0), dtype=np.intp)
        found = model.variables
        return cls(found.get("h_c", none), found.get("s", none))

    @property
    def exist(self) -> bool:
        """Whether there are any."""
        return self.chosen.size > 0

    def any_chosen(self, coefficient: float, node: IntArray | None = None) -> Term:
        """Return coefficient * sum_j h_bj for rows (n, B), or for some nodes only."""
        chosen = self.chosen if node is None or not self.exist else self.chosen[node]
        return chosen[None, :, :], coefficient

    def value_left(
        self, problem: Problem, coefficient: float, node: IntArray | None = None
    ) -> Term:
        """Return coefficient * sum_j s_bjv, v being the value that a row has of j."""
        if not self.exist:
            return self.left[None, :, :], coefficient
        left = self.left if node is None else self.left[node]
        columns = left[:, problem.value_codes]  # (nodes, features, n)
        return columns.transpose(2, 0, 1), coefficient

    def side_terms(
        self, problem: Problem, margin: float, goes_left: bool
    ) -> tuple[Term, Term]:
        """Return the terms that fit a row of the compact model to both kinds of split.

        With t = 'the value of i goes left' and K = sum_j h_bj the rows are

        * s + m >= (1 + eps) (i goes left - t) - (1 - K),
        * -s + m >= (1 + eps) (i goes right - (K - t)) - (1 - K):

        at a hyperplane t = K = 0; at a subset split K = 1 and s = 0, which leaves
        (8c) and (8d).
        """
        far = 1 + margin
        if goes_left:
            return self.value_left(problem, far), self.any_chosen(-1.0)
        return self.value_left(problem, -far), self.any_chosen(margin)

    def add_8c_8d(
        self, b: ModelBuilder, problem: Problem, e: IntArray, routes: Routes
    ) -> None:
        """Add (8c) and (8d) as printed, leaf by leaf."""
        for tag, side, sign in (("(8c)", routes.left, 1.0), ("(8d)", routes.right, -1)):
            node, leaf = np.nonzero(side)
            terms = (
                self.value_left(problem, sign, node),
                (e[:, leaf], -1.0),
                self.any_chosen(-1.0, node),
            )
            # (8d) is its mirror image: no value that goes left.
            lower = -1.0 if sign > 0 else -2.0
            b.rows(tag, (problem.n_rows, len(node)), *terms, lower=lower)

    def write(self, x: FloatArray, problem: Problem, heap: HeapTree) -> None:
        """Put a tree's subset splits into a solution vector."""
        for node in np.flatnonzero(problem.is_subset_split(heap.coef)):
            columns = problem.value_columns(heap.coef[node])
            goes_left = heap.coef[node, columns] <= heap.threshold[node]
            values = columns - problem.n_open
            x[self.chosen[node, problem.value_feature[values[0]]]] = 1.0
            x[self.left[node, values[goes_left]]] = 1.0

    def read(
        self, x: FloatArray, problem: Problem, coef: FloatArray, threshold: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return coefficients of all columns and thresholds, from the hyperplanes'."""
        full = np.zeros((len(coef), problem.n_features))
        full[:, : problem.n_open] = coef
        if self.exist:
            is_subset = x[self.chosen].sum(axis=1) > 0.5
            goes_left = x[self.left] > 0.5
            full[is_subset, : problem.n_open] = 0.0
            full[is_subset, problem.n_open :] = -2.0 * goes_left[is_subset]
            threshold = np.where(is_subset, -1.0, threshold)
        return full, threshold


def largest_coefficient(problem: Problem) -> float:
    """Return a bound on abs(h_bj) for hyperplanes in the box: the 1 of (8e).

    The scores, less their mean, have a norm of at most sqrt(n), and are h times the
    points less their mean, whose smallest singular value other than 0 is sigma: the
    shortest such h is at most sqrt(n) / sigma long, and the one of least 1-norm has a
    1-norm of at most sqrt(n d) / sigma.
    """
    X = problem.open_scaled - problem.open_scaled.mean(axis=0)
    sigma = np.linalg.svd(X, compute_uv=False)
    used = sigma[sigma > 1e-9 * sigma.max(initial=0.0)]
    if not len(used):
        return 0.0  # no feature tells two points apart
    return float(np.sqrt(problem.n_rows * problem.n_open) / used.min())
