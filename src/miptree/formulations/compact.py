"""The compact formulation: the paper's optimum with fewer rows, and with proofs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree._typing import FloatArray, IntArray
from miptree.formulations import cuts
from miptree.formulations.model import Model, ModelBuilder
from miptree.formulations.routes import Hyperplanes, Placement, Routes
from miptree.formulations.symmetry import (
    add_sibling_order,
    add_subtree_order,
    canonical_image,
    left_point,
)
from miptree.objective import Svm1Objective
from miptree.problem import Problem
from miptree.tree import HeapTree

LABEL_PRIORITY = 100
"""Branch on leaf classes before points: few of them decide much."""


@dataclass(frozen=True)
class CompactFormulation:
    """Exact equivalent of SVM1-ODT with class indicators and aggregated routing.

    Differs from :class:`~miptree.formulations.svm1.PaperFormulation` in that

    * u_lk in {0, 1} says that leaf l has class k, and c_i = sum_l q_il with
      q_il >= e_il - u_{l, y_i} ('in l and wrong there') takes the place of (1b)-(1e).
      The sum over the leaves bounds c_i better than each leaf alone: with
      c_i >= e_il - u_{l, y_i} a point spread over the leaves is hardly wrong;
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

    exact = True

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
        c = b.variables("c", (n,), upper=1, cost=problem.weight)
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
        return b.finish()

    def _add_errors(
        self, b: ModelBuilder, e: IntArray, c: IntArray, u: IntArray
    ) -> None:
        """Add what links leaves, classes and errors: (1b)-(1e), (1k), Proposition 1."""
        q = b.variables("q", e.shape, upper=1)
        class_of_leaf = (u[:, self.problem.y].T, 1.0)
        b.rows("(1b)-(1e)", e.shape, (q, 1.0), (e, -1.0), class_of_leaf, lower=0)
        wrong_somewhere = (q, -np.ones(q.shape))
        b.rows("wrong", c.shape, (c, 1.0), wrong_somewhere, lower=0, upper=0)
        b.rows("(1k)", c.shape, (e, np.ones(e.shape)), lower=1, upper=1)
        cuts.add_proposition_1(b, self.problem, e, c)

    def _add_routing(self, b: ModelBuilder, e: IntArray) -> None:
        """Add hyperplanes, slack and (1f)-(1j)."""
        problem, objective, routes = self.problem, self.objective, self._routes
        price = (problem.weight * objective.slack_penalty)[:, None]
        grid = (problem.n_rows, routes.n_branch)
        h = Hyperplanes.add(
            b, routes.n_branch, problem.n_features, objective.l1_penalty
        )
        m = b.variables("m", grid, upper=self._most_slack, cost=price)
        for tag, side, sign in (
            ("(1g)+(1h)", routes.right, -1.0),
            ("(1i)+(1j)", routes.left, 1.0),
        ):
            enters = (e[:, None, :], -(1 + objective.margin) * side[None, :, :])
            score = h.score_terms(problem.scaled, sign)
            b.rows(tag, grid, *score, (m, 1.0), enters, lower=-1)
        b.rows("box", grid, *h.score_terms(problem.scaled), lower=-1, upper=1)

    @property
    def _most_slack(self) -> float:
        """Largest m_ib that a routed point may need."""
        return self.objective.margin

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
        Hyperplanes.of(self.model).write(x, heap)
        self._write_points(x, at)
        return x

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index = self.model.variables
        x[index["e"]] = at.in_leaf
        x[index["q"]] = at.in_leaf * at.wrong[:, None]
        x[index["c"]] = at.wrong
        x[index["m"]] = at.slack

    def decode(self, x: FloatArray) -> HeapTree:
        """Tree of a solution vector."""
        coef, threshold = Hyperplanes.of(self.model).read(x)
        label = x[self.model.variables["u"]].argmax(axis=1)
        return HeapTree(coef, threshold, label)
