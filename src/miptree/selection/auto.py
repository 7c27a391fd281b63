"""The best of several selections, by what their trees are worth on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miptree.problem import Problem
from miptree.search import SearchBudget, search
from miptree.selection.algorithm1 import HullSelection
from miptree.selection.base import Selection, Selector, checked_share
from miptree.selection.clusters import Cluster, leaf_clusters
from miptree.selection.cover import CoverSelection
from miptree.selection.stratified import StratifiedSelection
from miptree.tree import ObliqueTree


@dataclass(frozen=True)
class AutoSelection:
    """Tries selections of at most a share of the rows and takes the best.

    A short search trains a tree on each; the one whose tree makes the cheapest errors
    on *all* rows wins. No selection is best on all data, and measuring is cheap.

    Parameters
    ----------
    share : float, default=0.1
        Most of the rows that a selection may keep, in (0, 1).
    depth : int, default=2
        Depth of the trees.
    max_iter : int, default=100
        Iterations of each search.
    seconds : float, optional
        Seconds of each search at most.
    candidates : tuple of Selector, optional
        By default Algorithm 1 capped, a cover and three stratified samples.
    seed : int, default=0
    n_jobs : int, default=1
    """

    share: float = 0.1
    depth: int = 2
    max_iter: int = 100
    seconds: float | None = None
    candidates: tuple[Selector, ...] | None = None
    seed: int = 0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        checked_share("share", self.share)

    def select(
        self,
        problem: Problem,
        tree: ObliqueTree,
        clusters: Sequence[Cluster] | None = None,
    ) -> Selection:
        """Choose rows; see :class:`~miptree.selection.base.Selector`."""
        if clusters is None:
            clusters = leaf_clusters(problem, tree)
        found = [s.select(problem, tree, clusters) for s in self._candidates()]
        smallest = min(len(selection) for selection in found)
        # One row of each cluster is always kept, so the share may be out of reach.
        most = max(self.share * problem.n_rows + len(clusters), smallest)
        within = [selection for selection in found if len(selection) <= most]
        if len(within) == 1:
            return within[0]
        return min(within, key=lambda selection: self._cost(problem, selection))

    def _candidates(self) -> tuple[Selector, ...]:
        if self.candidates is not None:
            return self.candidates
        return (
            HullSelection.of_share(self.share, self.n_jobs),
            CoverSelection(share=self.share, n_jobs=self.n_jobs),
            # Small samples differ much from each other.
            *(StratifiedSelection(self.share, seed=self.seed + i) for i in range(3)),
        )

    def _cost(self, problem: Problem, selection: Selection) -> float:
        """What the errors on all rows cost, of a tree trained on a selection."""
        subset = problem.subset(selection.rows, selection.weight)
        budget = SearchBudget(self.seconds, self.max_iter)
        found = search(
            subset, None, self.depth, budget=budget, seed=self.seed, n_jobs=self.n_jobs
        )
        predicted = subset.to_user(found.tree).predict(problem.X)
        return float(problem.error_cost(predicted).sum())
