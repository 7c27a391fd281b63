"""The compact formulation: the paper's optimum with fewer rows, and with proofs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.mip.formulations import cuts
from miptree.mip.formulations.categorical import SubsetSplits, Term
from miptree.mip.formulations.formulation import Svm1Formulation
from miptree.mip.formulations.symmetry import (
    add_class_order,
    canonical_image,
    left_point,
)
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray

LABEL_PRIORITY = 100
"""Branch on leaf classes before points: few of them decide much."""


@dataclass(frozen=True)
class CompactFormulation(Svm1Formulation):
    """Exact equivalent of SVM1-ODT with class indicators and aggregated routing.

    Differs from :class:`~miptree.mip.formulations.PaperFormulation` in that

    * u_lk in {0, 1} says that leaf l has class k, and c_i = sum_l q_il with
      q_il >= e_il - u_{l, y_i} ('in l and wrong there') takes the place of (1b)-(1e).
      The sum over the leaves bounds c_i better than each leaf alone: with
      c_i >= e_il - u_{l, y_i} a point spread over the leaves is hardly wrong. Where
      errors differ in cost, q_il >= e_il - sum_k (1 - share_ik) u_lk is the part of its
      most costly error that row i pays;
    * p+ and p- are eliminated and (1g)-(1j) added up over the leaves on one side of a
      node: with s = g_b - h_b x_i, ``s + m >= (1 + eps) * (i goes left at b) - 1`` and
      its mirror image, beside the box ``-1 <= s <= 1``. Without the box a point could
      buy its way out of it by slack, which pays where many points lack margin;
    * mirror images of a tree are cut off (``formulations/symmetry.py``).

    Parameters
    ----------
    problem, objective, depth
        As for every formulation of SVM1-ODT.
    break_symmetry : bool
        Whether to cut off mirror images.
    """

    break_symmetry: bool = True

    @cached_property
    def _left_row(self) -> int | None:
        return left_point(self.problem, self.depth) if self.break_symmetry else None

    def build(self) -> Model:
        """Build the model."""
        problem, routes = self.problem, self.routes
        n, n_leaves = problem.n_rows, routes.n_leaves
        may_enter = np.ones((n, n_leaves))
        if self._left_row is not None:
            may_enter[self._left_row, routes.right[0]] = 0.0
        b = ModelBuilder()
        e = b.variables("e", (n, n_leaves), upper=may_enter, integer=True)
        c = b.variables("c", (n,), upper=1, cost=problem.costs.spread)
        classes, first = (n_leaves, problem.n_classes), LABEL_PRIORITY
        u = b.variables("u", classes, upper=1, integer=True, priority=first)
        b.rows("one class", (n_leaves,), (u, 1.0), equals=1)
        self._add_errors(b, e, c, u)
        splits = self._add_routing(b, e)
        cuts.add_conflicts(b, problem, c)
        if self.break_symmetry:
            add_class_order(b, u)
        self._add_rules(b, e, u, *splits)
        return b.finish(float(problem.costs.base.sum()))

    def _add_errors(
        self, b: ModelBuilder, e: IntArray, c: IntArray, u: IntArray
    ) -> None:
        """Add what links leaves, classes and errors: (1b)-(1e), (1k), Proposition 1."""
        q = b.variables("q", e.shape, upper=1)
        self._add_prices(b, e, q, u, np.arange(len(c)))
        self._add_wrong(b, e, c, (q, -1.0))

    def _add_wrong(self, b: ModelBuilder, e: IntArray, c: IntArray, paid: Term) -> None:
        """Add what a row pays in all, (1k) and Proposition 1."""
        b.rows("wrong", c.shape, (c, 1.0), paid, equals=0)
        b.rows("(1k)", c.shape, (e, 1.0), equals=1)
        cuts.add_proposition_1(b, self.problem, e, c)

    def _add_prices(
        self, b: ModelBuilder, e: IntArray, q: IntArray, u: IntArray, rows: IntArray
    ) -> None:
        """Add (1b)-(1e): a row in leaf l pays q for the class of l."""
        spared = class_term(u, 1 - self.problem.costs.share[rows])
        price = (q[rows], 1.0), (e[rows], -1.0), spared
        b.rows("(1b)-(1e)", (len(rows), u.shape[0]), *price, lower=0)

    def _add_rules(
        self,
        b: ModelBuilder,
        e: IntArray,
        u: IntArray,
        h: Hyperplanes,
        subsets: SubsetSplits,
    ) -> None:
        """Add what a subclass asks of a tree beside (1)."""

    def _add_routing(
        self, b: ModelBuilder, e: IntArray
    ) -> tuple[Hyperplanes, SubsetSplits]:
        """Add hyperplanes, slack and (1f)-(1j)."""
        problem, n_branch = self.problem, self.routes.n_branch
        price = (problem.weight * self.objective.slack_penalty)[:, None]
        h = self._add_hyperplanes(b, self.objective.l1_penalty)
        grid = (problem.n_rows, n_branch)
        m = b.variables("m", grid, upper=self._most_slack, cost=price)
        subsets = SubsetSplits.add(b, problem, n_branch)
        self._add_sides(b, e, h, subsets, (m, 1.0))
        self._add_box(b, h, subsets)
        return h, subsets

    def _add_sides(
        self,
        b: ModelBuilder,
        e: IntArray,
        h: Hyperplanes,
        subsets: SubsetSplits,
        *slack: Term,
    ) -> None:
        """Add (1g)-(1j): a row in a leaf is on its side of every node above it."""
        problem, margin = self.problem, self.objective.margin
        grid = (problem.n_rows, self.routes.n_branch)
        for tag, side, sign in (
            ("(1g)+(1h)", self.routes.right, -1.0),
            ("(1i)+(1j)", self.routes.left, 1.0),
        ):
            enters = (e[:, None, :], -(1 + margin) * side[None, :, :])
            score = h.score_terms(problem.open_scaled, sign)
            by_value = subsets.side_terms(problem, margin, sign > 0)
            b.rows(tag, grid, *score, *slack, enters, *by_value, lower=-1)

    def _add_box(self, b: ModelBuilder, h: Hyperplanes, subsets: SubsetSplits) -> None:
        """Add abs(s) <= 1, or <= 0 at a subset split."""
        grid = (self.problem.n_rows, self.routes.n_branch)
        score = h.score_terms(self.problem.open_scaled)
        if not subsets.exist:
            b.rows("box", grid, *score, lower=-1, upper=1)
            return
        b.rows("box", grid, *score, subsets.any_chosen(-1.0), lower=-1)
        b.rows("box", grid, *score, subsets.any_chosen(1.0), upper=1)

    @property
    def _most_slack(self) -> FloatArray:
        """(n, 1): largest m_ib that a routed point may need."""
        return np.full((self.problem.n_rows, 1), self.objective.margin)

    def _image(self, heap: HeapTree, leaf: IntArray) -> tuple[HeapTree, IntArray]:
        """Return the mirror image that the model keeps, and the leaf of each row."""
        if not self.break_symmetry:
            return heap, leaf
        return canonical_image(heap, leaf, self.problem.n_classes, self._left_row)

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index = self.model.variables
        x[index["e"]] = at.in_leaf
        x[index["q"]] = at.in_leaf * at.paid[:, None]
        x[index["c"]] = at.paid
        x[index["m"]] = at.slack


def class_term(u: IntArray, value: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return sum_k value_ik u_lk for rows (n, L), a short term if one class counts."""
    if (np.count_nonzero(value, axis=1) <= 1).all():
        k = np.abs(value).argmax(axis=1)
        return u[:, k].T, np.take_along_axis(value, k[:, None], axis=1)
    return u[None, :, :], value[:, None, :]
