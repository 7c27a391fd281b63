"""The paper's formulation SVM1-ODT, equations (1a)-(1k), as printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations import cuts
from miptree.mip.formulations.categorical import SubsetSplits, largest_coefficient
from miptree.mip.formulations.formulation import Svm1Formulation
from miptree.mip.formulations.tree_variables import Hyperplanes, Placement
from miptree.mip.model import Model, ModelBuilder
from miptree.utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class PaperFormulation(Svm1Formulation):
    r"""SVM1-ODT [1]_ with M = 1 (Theorem 2) and continuous u (Theorem 1).

    .. math::
        \min \sum_i w_i c_i + \alpha_1 \sum_{i,b} w_i m_{ib}
        + \alpha_2 \sum_b \|h_b\|_1

    over (1b)-(1k), with weights w_i on c_i and m_ib, h_b split into two non-negative
    parts, the cuts of Proposition 1, and the cut for identical points.

    Parameters
    ----------
    problem, objective, depth
        As for every formulation of SVM1-ODT.
    add_cuts : bool
        Whether to add Proposition 1 and the cut for identical points.
    theorem_3 : sequence of (points, leaves)
        Sets (I, L) whose Theorem 3 cut is added: rows of the problem, at most one of
        each class, and leaves 0 .. 2**D - 1.

    References
    ----------
    .. [1] Zhu, Murali, Phan, Nguyen, Kalagnanam: A Scalable MIP-based Method for
       Learning Optimal Multivariate Decision Trees. NeurIPS 2020.
    """

    add_cuts: bool = True
    theorem_3: Sequence[tuple[Sequence[int], Sequence[int]]] = ()

    def build(self) -> Model:
        """Build (1a)-(1k)."""
        problem, routes = self.problem, self.routes
        n, n_classes = problem.n_rows, float(problem.n_classes)
        n_branch, n_leaves = routes.n_branch, routes.n_leaves
        margin, y = self.objective.margin, problem.y + 1.0
        per_node = (problem.weight * self.objective.slack_penalty)[:, None]
        b = ModelBuilder()
        e = b.variables("e", (n, n_leaves), upper=1, integer=True)
        spread = one_cost_per_row(problem)
        c = b.variables("c", (n,), upper=1, cost=spread, integer=True)
        y_hat = b.variables("y_hat", (n,), lower=-np.inf)
        w = b.variables("w", (n, n_leaves), lower=-np.inf)
        u = b.variables("u", (n_leaves,), lower=1, upper=n_classes)[None, :]
        h = self._add_hyperplanes(b, self.objective.l1_penalty)
        subsets = SubsetSplits.add(b, problem, n_branch)
        p_plus = b.variables("p+", (n, n_branch))
        p_minus = b.variables("p-", (n, n_branch))
        m = b.variables("m", (n, n_branch), cost=per_node)

        b.rows("(1b)", (n,), (c, n_classes - y), (y_hat, -1.0), lower=-y)
        b.rows("(1b)", (n,), (c, y - 1), (y_hat, 1.0), lower=y)
        b.rows("(1c)", (n,), (y_hat, 1.0), (w, -1.0), equals=0)
        grid = (n, n_leaves)
        b.rows("(1d)", grid, (w, 1.0), (e, -1.0), lower=0)
        b.rows("(1d)", grid, (u, 1.0), (w, -1.0), (e, 1.0), lower=1)
        b.rows("(1e)", grid, (e, n_classes), (u, 1.0), (w, -1.0), upper=n_classes)
        b.rows("(1e)", grid, (w, 1.0), (e, -n_classes), upper=0)
        score = h.score_terms(problem.open_scaled)
        b.rows("(1f)", m.shape, *score, (p_plus, -1.0), (p_minus, 1.0), equals=0)
        for side, away, towards, big_m, soft in (
            (routes.right, p_plus, p_minus, "(1g)", "(1h)"),
            (routes.left, p_minus, p_plus, "(1i)", "(1j)"),
        ):
            node, leaf = np.nonzero(side)
            pairs = (n, len(node))
            b.rows(big_m, pairs, (away[:, node], 1.0), (e[:, leaf], 1.0), upper=1)
            reached = (towards[:, node], 1.0), (m[:, node], 1.0)
            relaxed = subsets.any_chosen(margin, node)
            b.rows(soft, pairs, *reached, (e[:, leaf], -margin), relaxed, lower=0)
        self._add_categorical(b, h, subsets, e)
        b.rows("(1k)", (n,), (e, 1.0), equals=1)
        if self.add_cuts:
            cuts.add_proposition_1(b, problem, e, c)
            cuts.add_conflicts(b, problem, c)
        for points, leaves in self.theorem_3:
            cuts.add_theorem_3(b, problem, e, c, points, leaves)
        return b.finish(float(problem.costs.base.sum()))

    def _add_categorical(
        self, b: ModelBuilder, h: Hyperplanes, subsets: SubsetSplits, e: IntArray
    ) -> None:
        """Add (8c)-(8e), if there are categorical features."""
        if not subsets.exist:
            return
        subsets.add_8c_8d(b, self.problem, e, self.routes)
        most = largest_coefficient(self.problem)
        chosen = subsets.chosen[:, None, :], most
        b.rows("(8e)", h.positive.shape, *h.size_terms, chosen, upper=most)

    def _write_labels(self, x: FloatArray, label: IntArray) -> None:
        """Put the classes of the leaves into a solution vector."""
        x[self.model.variables["u"]] = label + 1

    def _read_labels(self, x: FloatArray) -> IntArray:
        """Return the classes of the leaves in a solution vector."""
        return np.rint(x[self.model.variables["u"]]).astype(np.intp) - 1

    def _write_points(self, x: FloatArray, at: Placement) -> None:
        """Put the values of the points' variables into a solution vector."""
        index, label = self.model.variables, at.heap.label
        x[index["e"]] = at.in_leaf
        x[index["c"]] = at.paid
        x[index["y_hat"]] = label[at.leaf] + 1
        x[index["w"]] = at.in_leaf * (label + 1)
        x[index["p+"]] = np.maximum(at.score, 0)
        x[index["p-"]] = np.maximum(-at.score, 0)
        x[index["m"]] = at.slack


def one_cost_per_row(problem: Problem) -> FloatArray:
    """Return (n,): what an error costs at each row; all wrong classes cost the same.

    Raises
    ------
    ValueError
        When they do not.
    """
    costs = problem.costs
    wrong = np.ones(costs.share.shape, dtype=bool)
    wrong[np.arange(problem.n_rows), problem.y] = False
    if not np.array_equal(costs.share, wrong):
        raise ValueError(
            "formulation='paper' counts errors, whatever the class predicted, but "
            "cost_matrix gives them different costs. Use formulation='compact'."
        )
    return costs.spread
