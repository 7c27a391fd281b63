"""OCT of Bertsimas & Dunn (2017): univariate trees, equations (2)-(24)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree.mip.formulations.baselines.base import PricedSplitsFormulation
from miptree.mip.formulations.baselines.ranks import ALL_RIGHT
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class OCTFormulation(PricedSplitsFormulation):
    r"""OCT [1]_, its problem (24).

    .. math::
        \min \frac{1}{\hat L} \sum_t L_t + \alpha \sum_t d_t

    with L_hat the errors of the best constant and d_t = 1 where node t splits. A
    point goes left at t iff a_t x < b_t; where d_t = 0 all go right. Differs from the
    paper in that

    * features enter as ranks (:class:`.ranks.Ranks`):
      a univariate split sees nothing else, and epsilon_j, the smallest gap of a
      feature, cannot drown in the solver's tolerance;
    * (13) has the epsilon_min of the authors' book, a (x + eps - eps_min) + eps_min
      <= b: as printed in 2017, 0 <= 0 lets points of a node that does not split go
      either way for nothing;
    * (13), (14) are added up over the leaves on one side of a node, which is tighter.

    Parameters
    ----------
    problem, depth
        As for every baseline.
    complexity : float
        alpha.
    min_weight_fraction_leaf : float
        N_min / n, in weights: every leaf has at least this part of the weight.

    References
    ----------
    .. [1] Bertsimas, Dunn: Optimal classification trees. Machine Learning 106, 2017.
    """

    min_weight_fraction_leaf: float = 0.0

    @property
    def error_price(self) -> float:
        """1 / L_hat."""
        weight = self.problem.class_weight
        baseline = float(weight.sum() - weight.max())
        return 1.0 / baseline if baseline > 0 else 1.0

    @property
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective."""
        objective = f"errors / errors of a constant + {self.complexity:g} * splits"
        return f"univariate tree of depth {self.depth}" + self._leaf_size(), objective

    def _leaf_size(self) -> str:
        least = self.min_weight_fraction_leaf
        return f" with at least {100 * least:g} % in every leaf" if least else ""

    @property
    def _least_weight(self) -> float:
        """N_min, at least the lightest row: a leaf in use is not empty."""
        part = self.part_of_weight(self.min_weight_fraction_leaf)
        return max(part, float(self.problem.weight.min()))

    # ----------------------------------------------------------------------- building

    def build(self) -> Model:
        """Build (24)."""
        problem, n_leaves = self.problem, self.routes.n_leaves
        n, n_classes, weight = problem.n_rows, problem.n_classes, problem.weight
        total = float(weight.sum())
        b = ModelBuilder()
        z = b.variables("z", (n, n_leaves), upper=1, integer=True)
        l = b.variables("l", (n_leaves,), upper=1, integer=True)
        c = b.variables("c", (n_classes, n_leaves), upper=1, integer=True)
        wrong = b.variables("L", (n_leaves,), cost=self.error_price)
        size = b.variables("N", (n_leaves,))
        of_class = b.variables("N_k", (n_classes, n_leaves))
        self._add_splits(b, z)
        b.rows("(6)", z.shape, (z, 1.0), (l[None, :], -1.0), upper=0)
        inside = (z.T, weight[None, :])
        b.rows("(7)", l.shape, inside, (l, -self._least_weight), lower=0)
        b.rows("(8)", (n,), (z, 1.0), equals=1)
        is_k = problem.y[None, :] == np.arange(n_classes)[:, None]
        inside_k = (z.T[None, :, :], (weight * is_k)[:, None, :])
        b.rows("(16)", c.shape, inside_k, (of_class, -1.0), equals=0)
        b.rows("(17)", l.shape, inside, (size, -1.0), equals=0)
        b.rows("(19)", l.shape, (c.T, 1.0), (l, -1.0), equals=0)
        lost = (wrong[None, :], 1.0), (size[None, :], -1.0), (of_class, 1.0)
        b.rows("(20)", c.shape, *lost, (c, -total), lower=-total)
        b.rows("(21)", c.shape, *lost, (c, -total), upper=0)
        return b.finish()

    def _add_splits(self, b: ModelBuilder, z: IntArray) -> None:
        """Add a, b, d with (2), (3), (5), (13) and (14)."""
        routes, ranks = self.routes, self.ranks
        n_branch = routes.n_branch
        usable = (ranks.steps > 0).astype(float)[None, :]
        a = b.variables("a", (n_branch, len(ranks.gap)), upper=usable, integer=True)
        t = b.variables("b", (n_branch,), upper=1)
        d = self._add_structure(b, self.complexity)
        b.rows("(2)", d.shape, (a, 1.0), (d, -1.0), equals=0)
        b.rows("(3)", d.shape, (t, 1.0), (d, -1.0), upper=0)
        least, most = ranks.gap.min(), ranks.gap.max()
        shape = (self.problem.n_rows, n_branch)
        ahead = (ranks.unit + ranks.gap - least)[:, None, :]
        behind = ranks.unit[:, None, :]
        left = (z[:, None, :], (1 + most) * routes.left[None, :, :])
        right = (z[:, None, :], -1.0 * routes.right[None, :, :])
        cut = (t[None, :], -1.0)
        limit = 1 + most - least
        b.rows("(13)", shape, (a[None, :, :], ahead), cut, left, upper=limit)
        b.rows("(14)", shape, (a[None, :, :], behind), cut, right, lower=-1)

    def _add_structure(self, b: ModelBuilder, split_price: float) -> IntArray:
        """Add d with (5): below a node that does not split none does."""
        d = b.variables(
            "d", (self.routes.n_branch,), upper=1, cost=split_price, integer=True
        )
        below = np.arange(1, len(d))
        parent = (below - 1) // 2
        b.rows("(5)", below.shape, (d[below], 1.0), (d[parent], -1.0), upper=0)
        return d

    # ----------------------------------------------------------------- trees in and out

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Drop the splits above leaves that are too small."""
        return self.without_small_leaves(heap, self._least_weight)

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree of the class, in scaled units."""
        heap = self.canonical(heap, ALL_RIGHT)
        leaf = heap.leaf_of(self.problem.scaled)
        in_leaf = self.routes.in_leaf(leaf)
        used = in_leaf.any(axis=0)
        index, problem = self.model.variables, self.problem
        x = np.zeros(self.model.n_variables)
        x[index["z"]], x[index["l"]] = in_leaf, used
        x[index["c"][heap.label[used], np.flatnonzero(used)]] = 1.0
        of_class = np.zeros(index["c"].shape)
        np.add.at(of_class, (problem.y, leaf), problem.weight)
        x[index["N_k"]], x[index["N"]] = of_class, of_class.sum(axis=0)
        right = of_class[heap.label, np.arange(len(heap.label))]
        x[index["L"]] = of_class.sum(axis=0) - right
        x[index["d"]] = heap.coef.any(axis=1)
        self._write_splits(x, heap)
        return x

    def _write_splits(self, x: FloatArray, heap: HeapTree) -> None:
        index = self.model.variables
        for node in np.flatnonzero(heap.coef.any(axis=1)):
            feature, n_left = self.ranks.place(heap.coef[node], heap.threshold[node])
            x[index["a"][node, feature]] = 1.0
            x[index["b"][node]] = n_left * self.ranks.gap[feature]

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        index = self.model.variables
        feature = x[index["a"]].argmax(axis=1)
        n_left = np.ceil(x[index["b"]] / self.ranks.gap[feature] - 0.5).astype(int)
        heap = self.ranks.heap(feature, n_left, x[index["c"]].argmax(axis=0))
        is_leaf = x[index["d"]] <= 0.5
        heap.coef[is_leaf], heap.threshold[is_leaf] = 0.0, ALL_RIGHT
        return heap
