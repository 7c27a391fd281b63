"""Random shares: of every cluster, and of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.data.problem import Problem
from miptree.selection.base import ClusterSelector, Selection, checked_share
from miptree.selection.clusters import Cluster
from miptree.tree import ObliqueTree


@dataclass(frozen=True)
class StratifiedSelection(ClusterSelector):
    """A random share of the rows of each class in each leaf, at least one row.

    Parameters
    ----------
    share : float, default=0.1
        Part of the rows, in (0, 1).
    reweight : bool, default=False
        Whether the rows chosen carry the weight of all rows of their cluster. A
        bound for the subset then holds for the subset only.
    seed : int, default=0
    """

    share: float = 0.1
    reweight: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        checked_share("share", self.share)

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        rng = np.random.default_rng(self.seed)
        return Selection.joined([self._part(problem, c, rng) for c in clusters])

    def _part(
        self, problem: Problem, cluster: Cluster, rng: np.random.Generator
    ) -> Selection:
        size = max(1, round(self.share * len(cluster.rows)))
        rows = rng.permutation(cluster.rows)[:size]
        weight = problem.weight[rows]
        if self.reweight:
            weight = weight * (problem.weight[cluster.rows].sum() / weight.sum())
        return Selection(rows, weight, np.zeros(size, dtype=bool))


@dataclass(frozen=True)
class UniformSelection(ClusterSelector):
    """A random share of all rows, whatever their class and leaf.

    Parameters
    ----------
    share : float, default=0.1
        Part of the rows, in (0, 1).
    seed : int, default=0
    """

    share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        checked_share("share", self.share)

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        rows = np.sort(np.concatenate([cluster.rows for cluster in clusters]))
        size = max(1, round(self.share * len(rows)))
        chosen = np.random.default_rng(self.seed).permutation(rows)[:size]
        return Selection.of_rows(problem, chosen)
