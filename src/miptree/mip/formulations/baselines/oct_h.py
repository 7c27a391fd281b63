"""OCT-H of Bertsimas & Dunn (2017): OCT with hyperplanes, Section 3 of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree.mip.formulations.baselines.base import Split, move_splits, nearest_gap
from miptree.mip.formulations.baselines.oct import OCTFormulation
from miptree.mip.formulations.baselines.ranks import ALL_RIGHT
from miptree.mip.model import ModelBuilder
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class OCTHFormulation(OCTFormulation):
    r"""OCT-H [1]_: a_t in [-1, 1]^d with a 1-norm of at most 1, on scaled features.

    .. math::
        \min \frac{1}{\hat L} \sum_t L_t + \alpha \sum_{t, j} s_{jt}

    s_jt = 1 where feature j is used at node t. A point in a leaf keeps
    a_t x + mu <= b_t where it went left and a_t x >= b_t where it went right, so no
    point may lie between. Differs from the paper in that these two are added up over
    the leaves on one side of a node.

    Parameters
    ----------
    problem, depth, complexity, min_weight_fraction_leaf
        As for OCT; the complexity prices every feature of every split.
    mu : float
        Width of the empty strip left of a hyperplane; the paper takes 0.005.

    References
    ----------
    .. [1] Bertsimas, Dunn: Optimal classification trees. Machine Learning 106, 2017.
    """

    mu: float = 0.005

    @property
    def strip(self) -> float:
        """Mu."""
        return self.mu

    def penalty(self, tree: ObliqueTree) -> float:
        """Return alpha times the number of features used, split by split."""
        return self.complexity * int(np.count_nonzero(tree.coef))

    @property
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective."""
        trees = (
            f"tree of depth {self.depth} with hyperplanes of 1-norm <= 1 (features "
            f"scaled to [0, 1]) and a strip of {self.mu:g} without points"
        )
        objective = f"errors / errors of a constant + {self.complexity:g} * features"
        return trees + self._leaf_size(), objective + " used in the splits"

    def _add_splits(self, b: ModelBuilder, z: IntArray) -> None:
        """Add a, its size and support, b and d with the rows of Section 3."""
        routes, X = self.routes, self.problem.scaled
        n_branch, n_features = routes.n_branch, X.shape[1]
        grid = (n_branch, n_features)
        a = b.variables("a", grid, lower=-1, upper=1)
        size = b.variables("|a|", grid, upper=1)
        s = b.variables("s", grid, upper=1, cost=self.complexity, integer=True)
        t = b.variables("b", (n_branch,), lower=-1, upper=1)
        d = self._add_structure(b, 0.0)
        b.rows("1-norm <= d", d.shape, (size, 1.0), (d, -1.0), upper=0)
        b.rows("|a| >= a", grid, (size, 1.0), (a, -1.0), lower=0)
        b.rows("|a| >= -a", grid, (size, 1.0), (a, 1.0), lower=0)
        b.rows("a <= s", grid, (a, 1.0), (s, -1.0), upper=0)
        b.rows("a >= -s", grid, (a, 1.0), (s, 1.0), lower=0)
        b.rows("s <= d", grid, (s, 1.0), (d[:, None], -1.0), upper=0)
        b.rows("sum s >= d", d.shape, (s, 1.0), (d, -1.0), lower=0)
        b.rows("b <= d", d.shape, (t, 1.0), (d, -1.0), upper=0)
        b.rows("b >= -d", d.shape, (t, 1.0), (d, 1.0), lower=0)
        score = (a[None, :, :], X[:, None, :]), (t[None, :], -1.0)
        shape = (len(X), n_branch)
        left = (z[:, None, :], (2 + self.mu) * routes.left[None, :, :])
        b.rows("left: ax + mu <= b", shape, *score, left, upper=2)
        right = (z[:, None, :], -2.0 * routes.right[None, :, :])
        b.rows("right: ax >= b", shape, *score, right, lower=-2)

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Move thresholds into gaps of width mu, drop splits that have none."""

        def choose(split: Split, rows: IntArray) -> Split | None:
            coef, threshold = _normalised(split)
            values = self.problem.scaled[rows] @ coef
            moved = nearest_gap(values, threshold, lambda t: np.full(len(t), self.mu))
            return None if moved is None else (coef, moved)

        while True:
            moved = move_splits(self.problem, heap, choose)
            heap = super().adapt(moved)
            # A split dropped above a small leaf sends rows to others, into their gaps.
            if np.count_nonzero(heap.coef) == np.count_nonzero(moved.coef):
                return heap

    def _write_splits(self, x: FloatArray, heap: HeapTree) -> None:
        index = self.model.variables
        for node in np.flatnonzero(heap.coef.any(axis=1)):
            coef, threshold = _normalised((heap.coef[node], heap.threshold[node]))
            x[index["a"][node]], x[index["|a|"][node]] = coef, np.abs(coef)
            x[index["s"][node]] = coef != 0
            # The threshold lies in the middle of the strip, b at its right end.
            x[index["b"][node]] = threshold + 0.5 * self.mu

    def decode(self, x: FloatArray) -> HeapTree:
        """Return the tree of a solution vector, in scaled units."""
        index = self.model.variables
        splits = x[index["d"]] > 0.5
        used = (x[index["s"]] > 0.5) & splits[:, None]
        coef = np.where(used, x[index["a"]], 0.0)
        threshold = np.where(splits, x[index["b"]] - 0.5 * self.mu, ALL_RIGHT)
        return HeapTree(coef, threshold, x[index["c"]].argmax(axis=0))


def _normalised(split: Split) -> Split:
    norm = float(np.abs(split[0]).sum())
    return split[0] / norm, split[1] / norm
