"""FlowOCT of Aghaei, Gomez & Vayanos (2020): flows through trees of 0/1 features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations.baselines.base import PricedSplitsFormulation
from miptree.mip.formulations.baselines.binarisation import Binarisation
from miptree.mip.formulations.baselines.ranks import univariate
from miptree.mip.model import Model, ModelBuilder
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray

_MOST_CELLS = 2 * 10**8
"""Most cells of a table of 0/1 features, 8 bytes each."""


@dataclass(frozen=True)
class FlowOCTFormulation(PricedSplitsFormulation):
    r"""FlowOCT [1]_, in the form with early leaves and a price of splits [2]_.

    .. math::
        \max (1 - \lambda) \sum_i \sum_n z^i_{n,t}
        - \lambda \sum_n \sum_f b_{nf}

    here as a minimum, (1 - lambda) * errors + lambda * splits. A unit of flow of point
    i from the source reaches the sink only through a leaf of its class. z is
    continuous: for integral b, w, p a largest flow is integral. Points that are the
    same in the 0/1 features and the class are one, with their weights added.

    Parameters
    ----------
    problem, depth
        As for every baseline; the features may be any numbers.
    complexity : float
        lambda in [0, 1).
    n_thresholds : int or None
        0/1 features per feature; see :class:`Binarisation`.

    References
    ----------
    .. [1] Aghaei, Gomez, Vayanos: Learning optimal classification trees: strong
       max-flow formulations. arXiv:2002.09142, 2020.
    .. [2] Aghaei, Gomez, Vayanos: Strong optimal classification trees.
       arXiv:2103.15965, 2021.
    """

    n_thresholds: int | None = 5

    @cached_property
    def binarisation(self) -> Binarisation:
        """The 0/1 features."""
        return Binarisation.of(self.problem, self.n_thresholds)

    @cached_property
    def binary(self) -> Problem:
        """The rows in 0/1 features, merged anew."""
        problem = self.problem
        size = problem.n_rows * len(self.binarisation.feature)
        if size > _MOST_CELLS:
            raise ValueError(
                f"{problem.n_rows} rows of {len(self.binarisation.feature)} 0/1 "
                "features do not fit into memory. Lower n_thresholds, or give fewer "
                "rows."
            )
        features = self.binarisation.apply(problem.scaled).astype(np.float64)
        return Problem.from_data(features, problem.y, problem.n_classes, problem.weight)

    @property
    def error_price(self) -> float:
        """1 - lambda."""
        return 1.0 - self.complexity

    @property
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective."""
        most = self.n_thresholds
        where = f" with the {most} thresholds per feature chosen"
        objective = f"{self.error_price:g} * errors + {self.complexity:g} * splits"
        trees = f"univariate tree of depth {self.depth}"
        return trees + ("" if most is None else where), objective

    @property
    def size(self) -> float:
        """Non-zero coefficients of the model, roughly, without building it."""
        binary = self.binary
        return binary.n_rows * self.routes.n_branch * (binary.n_features + 20.0)

    # ----------------------------------------------------------------------- building

    def build(self) -> Model:
        """Build flows; the first B nodes branch or are leaves, the others leaves."""
        X, y, weight = self.binary.X, self.binary.y, self.binary.weight
        n, n_features = X.shape
        n_branch, n_leaves = self.routes.n_branch, self.routes.n_leaves
        n_nodes = n_branch + n_leaves
        branch, last = np.arange(n_branch), np.arange(n_branch, n_nodes)
        m = ModelBuilder()
        splits, price = (n_branch, n_features), self.complexity
        b = m.variables("b", splits, upper=1, cost=price, integer=True)
        p = m.variables("p", (n_nodes,), upper=1, integer=True)
        w = m.variables("w", (n_nodes, self.binary.n_classes), upper=1, integer=True)
        into = m.variables("z_in", (n, n_nodes), upper=1)
        gain = -self.error_price * weight[:, None]
        out = m.variables("z_t", (n, n_nodes), upper=1, cost=gain)
        above = _ancestors_or_self(n_nodes)
        m.rows("(1b)", (n_branch,), (b, 1.0), (p[None, :], above[branch]), equals=1)
        m.rows("(1c)", (n_leaves,), (p[None, :], above[last]), equals=1)
        shape = (n, n_branch)
        stays = (into[:, branch], 1.0), (out[:, branch], -1.0)
        left, right = (into[:, 2 * branch + 1], -1.0), (into[:, 2 * branch + 2], -1.0)
        m.rows("(1d)", shape, *stays, left, right, equals=0)
        ends = (into[:, last], 1.0), (out[:, last], -1.0)
        m.rows("(1e)", (n, n_leaves), *ends, equals=0)
        for tag, side, passes in (("(1g)", 1, 1.0 - X), ("(1h)", 2, X)):
            flow = (into[:, 2 * branch + side], 1.0)
            m.rows(tag, shape, flow, (b[None, :, :], -passes[:, None, :]), upper=0)
        m.rows("(1i)", (n, n_nodes), (out, 1.0), (w[:, y].T, -1.0), upper=0)
        m.rows("(1j)", (n_nodes,), (w, 1.0), (p, -1.0), equals=0)
        return m.finish(constant=self.error_price * float(weight.sum()))

    # ----------------------------------------------------------------- trees in and out

    @property
    def start_problem(self) -> Problem:
        """The rows in 0/1 features."""
        return self.binary

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Return the tree of numerical features for a tree of the 0/1 features."""
        coef = np.zeros((len(heap.threshold), self.problem.n_features))
        threshold = heap.threshold.copy()
        for node in np.flatnonzero(heap.coef.any(axis=1)):
            f = int(np.abs(heap.coef[node]).argmax())
            coef[node, self.binarisation.feature[f]] = 1.0
            threshold[node] = self.binarisation.threshold[f]
        return HeapTree(coef, threshold, heap.label)

    def encode(self, heap: HeapTree) -> FloatArray:
        """Return the solution vector of a tree of the class, in scaled units."""
        heap = self.canonical(heap)
        index, binary = self.model.variables, self.binary
        x = np.zeros(self.model.n_variables)
        n_branch = len(heap.threshold)
        at = {0: np.arange(binary.n_rows)}
        for node in range(2 * n_branch + 1):
            rows = at.pop(node, None)
            if rows is None:
                continue
            x[index["z_in"][rows, node]] = 1.0
            if node >= n_branch or not heap.coef[node].any():
                label = _label_below(heap, node)
                x[index["p"][node]] = x[index["w"][node, label]] = 1.0
                x[index["z_t"][rows[binary.y[rows] == label], node]] = 1.0
                continue
            f = self._number(heap.coef[node], float(heap.threshold[node]))
            x[index["b"][node, f]] = 1.0
            goes_right = binary.X[rows, f] > 0.5
            at[2 * node + 1], at[2 * node + 2] = rows[~goes_right], rows[goes_right]
        # The flow of a point that is wrong cannot reach the sink, so there is none.
        wrong = x[index["z_t"]].sum(axis=1) < 0.5
        x[index["z_in"][wrong]] = 0.0
        return x

    def _number(self, coef: FloatArray, threshold: float) -> int:
        """Return the number of the 0/1 feature that splits the rows as a split does."""
        feature, cut = univariate(coef, threshold)
        candidates = np.flatnonzero(self.binarisation.feature == feature)
        nearest = np.abs(self.binarisation.threshold[candidates] - cut).argmin()
        return int(candidates[nearest])

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        index = self.model.variables
        b, p, w = x[index["b"]], x[index["p"]], x[index["w"]]
        splits = b.sum(axis=1) > 0.5
        feature = np.eye(self.binary.n_features)[b.argmax(axis=1)]
        coef = np.where(splits[:, None], feature, 0.0)
        # Of the nodes from a leaf up to the root one is a leaf, by (1b) and (1c).
        leaf = (_ancestors_or_self(len(p))[len(b) :] * (p > 0.5)).argmax(axis=1)
        threshold = np.where(splits, 0.5, 1.0)
        return self.adapt(HeapTree(coef, threshold, w[leaf].argmax(axis=1)))


def _ancestors_or_self(n_nodes: int) -> FloatArray:
    """Return (N, N): 1 where the second node is the first one or above it."""
    above = np.eye(n_nodes)
    for node in range(1, n_nodes):
        above[node] += above[(node - 1) // 2]
    return above


def _label_below(heap: HeapTree, node: int) -> int:
    """Return the class of the leaf that a canonical tree has at a node."""
    while node < len(heap.threshold):
        node = 2 * node + 1
    return int(heap.label[node - len(heap.threshold)])
