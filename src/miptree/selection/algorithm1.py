"""Algorithm 1 of the paper: extreme points, their heaviest ones, and near ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.selection.base import (
    Selection,
    TimedSelector,
    checked_eps_number,
    checked_share,
)
from miptree.selection.clusters import (
    Cluster,
    distance_to_splits,
    for_each_cluster,
)
from miptree.selection.hull import HullMembership, hull_membership
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class HullSelection(TimedSelector):
    """Keep, per cluster, the points that the others are combinations of.

    This is the paper's way to select rows.

    With I the points inside the hull of the others, J those that carry a weight of at
    least 1 / (d + 1) in the combination of some point, and K the rest:

    * if abs(I) >= (1 - beta1) abs(N), select N without I;
    * else, if J holds more than beta2 abs(N) points, select J;
    * else J and the points of K nearest to the splits of their leaf, beta2 abs(N)
      points (rounded up) in all.

    Rows keep their own weights, so a bound for the subset holds for all rows.

    Parameters
    ----------
    beta1, beta2 : float, default=0.1
        In (0, 1), with beta2 < (d + 1) (1 - beta1).
    eps : float, default=0
        eps', in units of features scaled to [0, 1]. Above 0 points may stand for each
        other and all be dropped, against what the paper says: see ``CoverSelection``.
    cap : bool, default=True
        Keep at most beta2 abs(N) points of J, those that carry most, and something of
        a cluster that is all I. The printed rule, ``False``, takes all of J, whose
        size depends on the pivots of the LP solver.
    seconds : float, optional
        Time after which points that are not decided yet count as not inside.
    n_jobs : int, default=1
        Jobs of joblib, over clusters and points.
    """

    beta1: float = 0.1
    beta2: float = 0.1
    eps: float = 0.0
    cap: bool = True
    n_jobs: int = 1

    def __post_init__(self) -> None:
        checked_share("beta1", self.beta1)
        checked_share("beta2", self.beta2)
        checked_eps_number(self.eps)

    @classmethod
    def of_share(cls, share: float, n_jobs: int = 1) -> HullSelection:
        """Keep about a share of the rows; beta1 <= 1/2 is allowed for any d."""
        return cls(min(share, 0.5), share, n_jobs=n_jobs)

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        most = (problem.n_features + 1) * (1 - self.beta1)
        if self.beta2 >= most:
            raise ValueError(
                f"beta2 must be below (d + 1) * (1 - beta1) = {most:g}, got "
                f"{self.beta2:g}. Lower beta2 or beta1."
            )
        # A hull may take as long as the square of its points.
        squares = sum(float(len(cluster.rows)) ** 2 for cluster in clusters)
        part = partial(self._part, problem, tree, squares, self.started())
        return Selection.joined(for_each_cluster(part, clusters, self.n_jobs))

    def _part(
        self,
        problem: Problem,
        tree: ObliqueTree,
        squares: float,
        clock: Clock,
        cluster: Cluster,
        n_jobs: int,
    ) -> Selection:
        clock = clock.phase(len(cluster.rows) ** 2 / squares)
        X = problem.scaled[cluster.rows]
        found = hull_membership(X, self.eps, n_jobs, clock=clock)
        near = distance_to_splits(problem, tree, cluster)
        count = problem.count[cluster.rows]
        chosen, covering = self._choose(found, near, count, problem.n_features)
        rows = cluster.rows[chosen]
        return Selection(rows, problem.weight[rows], covering)

    def _choose(
        self, found: HullMembership, near: FloatArray, count: IntArray, d: int
    ) -> tuple[IntArray, BoolArray]:
        """Return the points of one cluster to keep, and which of them are in J.

        The problem has merged duplicates; they count here, and all copies but one of
        a point are expressed by that one.
        """
        size, inside = int(count.sum()), found.inside
        n_inside = int(count[inside].sum() + (count[~inside] - 1).sum())
        weights = found.weights
        assert weights is not None
        heavy = weights.data >= (1 - 1e-9) / (d + 1)
        J = np.unique(weights.indices[heavy])
        if n_inside >= (1 - self.beta1) * size and not (self.cap and inside.all()):
            chosen = np.flatnonzero(~inside)
            return chosen, np.isin(chosen, weights.indices)
        room = math.ceil(self.beta2 * size)
        if len(J) > room:
            if self.cap:
                carried = weights.T @ count
                order = np.argsort(-carried[J], kind="stable")
                J = J[order[:room]]
            return J, np.ones(len(J), dtype=bool)
        K = np.setdiff1d(np.flatnonzero(~inside), J)
        K = K[np.argsort(near[K], kind="stable")]
        chosen = np.concatenate([J, K[: room - len(J)]])
        return chosen, np.arange(len(chosen)) < len(J)
