"""The compact formulation: the paper's optimum with fewer rows, and with proofs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations import cuts
from miptree.mip.formulations.categorical import SubsetSplits
from miptree.mip.formulations.sparsity import FewFeatures
from miptree.mip.formulations.splits import read_splits, write_splits
from miptree.mip.formulations.symmetry import (
    add_sibling_order,
    add_subtree_order,
    canonical_image,
    left_point,
)
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement, Routes
from miptree.mip.model import Model, ModelBuilder
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

LABEL_PRIORITY = 100
"""Branch on leaf classes before points: few of them decide much."""


@dataclass(frozen=True)
class CompactFormulation:
    """Exact equivalent of SVM1-ODT with class indicators and aggregated routing.

    Differs from :class:`~miptree.mip.formulations.paper.PaperFormulation` in that

    * u_lk in {0, 1} says that leaf l has class k, and c_i = sum_l q_il with
      q_il >= e_il - u_{l, y_i} ('in l and wrong there') takes the place of (1b)-(1e).
      The sum over the leaves bounds c_i better than each leaf alone: with
      c_i >= e_il - u_{l, y_i} a point spread over the leaves is hardly wrong. Where
      errors differ in cost, q_il >= e_il - sum_k (1 - share_ik) u_lk is the part of its
      dearest error that row i pays;
    * p+ and p- are eliminated and (1g)-(1j) added up over the leaves on one side of a
      node: with s = g_b - h_b x_i, ``s + m >= (1 + eps) * (i goes left at b) - 1`` and
      its mirror image, beside the box ``-1 <= s <= 1``. Without the box a point could
      buy its way out of it by slack, which pays where many points lack margin;
    * mirror images of a tree are cut off (``formulations/symmetry.py``).

    Parameters
    ----------
    problem, objective, depth
        As for the paper's formulation.
    break_symmetry : bool
        Whether to cut off mirror images.
    """

    problem: Problem
    objective: Svm1Objective
    depth: int
    break_symmetry: bool = True

    @cached_property
    def model(self) -> Model:
        """The model, built on first use."""
        return self.build()

    @cached_property
    def _routes(self) -> Routes:
        return Routes.of_depth(self.depth)

    @cached_property
    def _left_row(self) -> int | None:
        return left_point(self.problem, self.depth) if self.break_symmetry else None

    def build(self) -> Model:
        """Build the model."""
        problem, routes = self.problem, self._routes
        n, n_leaves = problem.n_rows, routes.n_leaves
        may_enter = np.ones((n, n_leaves))
        if self._left_row is not None:
            may_enter[self._left_row, routes.right[0]] = 0.0
        b = ModelBuilder()
        e = b.variables("e", (n, n_leaves), upper=may_enter, integer=True)
        c = b.variables("c", (n,), upper=1, cost=problem.costs.spread)
        u = b.variables(
            "u",
            (n_leaves, problem.n_classes),
            upper=1,
            integer=True,
            priority=LABEL_PRIORITY,
        )
        b.rows("one class", (n_leaves,), (u, np.ones(u.shape)), lower=1, upper=1)
        self._add_errors(b, e, c, u)
        self._add_routing(b, e)
        cuts.add_conflicts(b, problem, c)
        if self.break_symmetry:
            add_sibling_order(b, u)
            add_subtree_order(b, u)
        return b.finish(float(problem.costs.base.sum()))

    def _add_errors(
        self, b: ModelBuilder, e: IntArray, c: IntArray, u: IntArray
    ) -> None:
        """Add what links leaves, classes and errors: (1b)-(1e), (1k), Proposition 1."""
        q = b.variables("q", e.shape, upper=1)
        self._add_prices(b, e, q, u, np.arange(len(c)))
        wrong_somewhere = (q, -np.ones(q.shape))
        b.rows("wrong", c.shape, (c, 1.0), wrong_somewhere, lower=0, upper=0)
        b.rows("(1k)", c.shape, (e, np.ones(e.shape)), lower=1, upper=1)
        cuts.add_proposition_1(b, self.problem, e, c)

    def _add_prices(
        self, b: ModelBuilder, e: IntArray, q: IntArray, u: IntArray, rows: IntArray
    ) -> None:
        """Add (1b)-(1e): a row in leaf l pays q for the class of l."""
        spared = 1 - self.problem.costs.share[rows]
        b.rows(
            "(1b)-(1e)",
            (len(rows), u.shape[0]),
            (q[rows], 1.0),
            (e[rows], -1.0),
            class_term(u, spared),
            lower=0,
        )

    def _add_routing(self, b: ModelBuilder, e: IntArray) -> None:
        """Add hyperplanes, slack and (1f)-(1j)."""
        problem, objective, routes = self.problem, self.objective, self._routes
        price = (problem.weight * objective.slack_penalty)[:, None]
        grid = (problem.n_rows, routes.n_branch)
        h = self._add_hyperplanes(b, objective.l1_penalty)
        m = b.variables("m", grid, upper=self._most_slack, cost=price)
        subsets = SubsetSplits.add(b, problem, routes.n_branch)
        for tag, side, sign in (
            ("(1g)+(1h)", routes.right, -1.0),
            ("(1i)+(1j)", routes.left, 1.0),
        ):
            enters = (e[:, None, :], -(1 + objective.margin) * side[None, :, :])
            score = h.score_terms(problem.open_scaled, sign)
            by_value = subsets.side_terms(problem, objective.margin, sign > 0)
            b.rows(tag, grid, *score, (m, 1.0), enters, *by_value, lower=-1)
        self._add_box(b, h, subsets)

    def _add_box(self, b: ModelBuilder, h: Hyperplanes, subsets: SubsetSplits) -> None:
        """Add abs(s) <= 1, or <= 0 at a subset split."""
        grid = (self.problem.n_rows, self._routes.n_branch)
        score = h.score_terms(self.problem.open_scaled)
        if not subsets.exist:
            b.rows("box", grid, *score, lower=-1, upper=1)
            return
        b.rows("box", grid, *score, subsets.any_chosen(-1.0), lower=-1)
        b.rows("box", grid, *score, subsets.any_chosen(1.0), upper=1)

    def _add_hyperplanes(self, b: ModelBuilder, l1_penalty: float) -> Hyperplanes:
        """Add h and g, with at most as many features as the problem allows."""
        n_branch, n_open = self._routes.n_branch, self.problem.n_open
        h = Hyperplanes.add(b, n_branch, n_open, l1_penalty)
        FewFeatures.add(b, self.problem, h.positive, h.negative, l1_penalty)
        return h

    @property
    def _most_slack(self) -> FloatArray:
        """(n, 1): largest m_ib that a routed point may need."""
        return np.full((self.problem.n_rows, 1), self.objective.margin)

    def encode(self, heap: HeapTree) -> FloatArray:
        """Solution vector of a tree in scaled units and inside the box."""
        leaf = heap.leaf_of(self.problem.scaled)
        if self.break_symmetry:
            heap, leaf = canonical_image(
                heap, leaf, self.problem.n_classes, self._left_row
            )
        at = Placement.of(self.problem, self.objective, heap, leaf, self._routes)
        index = self.model.variables
        x = np.zeros(self.model.n_variables)
        x[index["u"][np.arange(len(heap.label)), heap.label]] = 1.0
        write_splits(self.model, self.problem, heap, x)
        self._write_points(x, at)
        return x

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index = self.model.variables
        x[index["e"]] = at.in_leaf
        x[index["q"]] = at.in_leaf * at.paid[:, None]
        x[index["c"]] = at.paid
        x[index["m"]] = at.slack

    def decode(self, x: FloatArray) -> HeapTree:
        """Tree of a solution vector."""
        coef, threshold = read_splits(self.model, self.problem, x)
        label = x[self.model.variables["u"]].argmax(axis=1)
        return HeapTree(coef, threshold, label)


def class_term(u: IntArray, value: FloatArray) -> tuple[IntArray, FloatArray]:
    """Term of sum_k value_ik u_lk for rows (n, L), short where one class counts."""
    if (np.count_nonzero(value, axis=1) <= 1).all():
        k = np.abs(value).argmax(axis=1)
        return u[:, k].T, np.take_along_axis(value, k[:, None], axis=1)
    return u[None, :, :], value[:, None, :]
