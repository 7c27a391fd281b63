"""The base of the baselines' formulations: contract, ranks, starts in a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations.baselines.ranks import ALL_LEFT, Ranks
from miptree.mip.formulations.formulation import Formulation
from miptree.objective.bounds import round_up_cost
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

Split = tuple[FloatArray, float]
"""Coefficients and threshold of a node, in scaled units."""


@dataclass(frozen=True)
class BaselineFormulation(Formulation):
    """A baseline's MIP: build, encode and decode as every formulation, and its value.

    Parameters
    ----------
    problem : Problem
        The rows. Weights stand where a paper counts points.
    depth : int
        D.
    """

    problem: Problem
    depth: int

    @property
    def strip(self) -> float | None:
        """Width of the empty strip beside a hyperplane; None for univariate trees."""
        return None

    @property
    def start_problem(self) -> Problem:
        """The rows for which start trees are made."""
        return self.problem

    def adapt(self, heap: HeapTree) -> HeapTree:
        """Return a tree of the baseline's class for a tree on ``start_problem``.

        Its splits count; the caller sets the labels anew.
        """
        return heap

    # ------------------------------------------------------------ the baseline's value

    @property
    def error_price(self) -> float:
        """What a misclassified unit of weight costs in the objective."""
        return 1.0

    def penalty(self, tree: ObliqueTree) -> float:
        """Return the rest of the objective of a tree in the user's units, >= 0."""
        return 0.0

    def value(self, tree: ObliqueTree) -> float:
        """Return the objective value of the baseline's paper, by prediction."""
        cost = self.problem.error_cost(tree.predict(self.problem.X)).sum()
        return self.error_price * float(cost) + self.penalty(tree)

    @property
    def counts_errors_only(self) -> bool:
        """Whether the objective is the weight of the errors, times a constant."""
        return True

    def round_up(self, bound: float) -> float:
        """Return the smallest value of the objective at or above a bound."""
        if not self.counts_errors_only or not np.isfinite(bound):
            return bound
        price = self.error_price
        return price * round_up_cost(self.problem, bound / price)

    @property
    @abstractmethod
    def wording(self) -> tuple[str, str]:
        """The class of trees and the objective, in words for a certificate."""

    @property
    def size(self) -> float:
        """Non-zero coefficients of the model, roughly, without building it."""
        n, d = self.problem.n_rows, self.problem.n_features
        return n * self.routes.n_branch * (2.0 * d + 10)

    # ---------------------------------------------------------------------- helpers

    @cached_property
    def ranks(self) -> Ranks:
        """The features as univariate splits see them."""
        return Ranks.of(self.problem)

    def part_of_weight(self, fraction: float) -> float:
        """Return a fraction of the total weight, less what rounding may miss of it."""
        return (1 - 1e-9) * fraction * float(self.problem.weight.sum())

    def without_small_leaves(self, heap: HeapTree, least: float) -> HeapTree:
        """Return a canonical tree that has no leaf of less than the given weight."""
        while True:
            heap = self.canonical(heap)
            leaf = heap.leaf_of(self.problem.scaled)
            weight = np.bincount(leaf, self.problem.weight, len(heap.label))
            small = np.flatnonzero((weight > 0) & (weight < least))
            if not len(small) or not heap.coef.any():
                return heap
            node = int(small[0]) + len(heap.threshold)
            while node >= len(heap.threshold) or not heap.coef[node].any():
                node = (node - 1) // 2
            heap.coef[node], heap.threshold[node] = 0.0, ALL_LEFT

    def canonical(self, heap: HeapTree, without_split: float = ALL_LEFT) -> HeapTree:
        """Drop the splits that do nothing; below a leaf all rows go one way."""
        pruned = ObliqueTree.from_heap(heap).prune(self.problem.scaled)
        heap = pruned.to_heap(self.depth)
        heap.threshold[~heap.coef.any(axis=1)] = without_split
        return heap


@dataclass(frozen=True)
class PricedSplitsFormulation(BaselineFormulation):
    """A baseline whose objective has a price for every split.

    Parameters
    ----------
    problem, depth
        As for every baseline.
    complexity : float
        The price.
    """

    complexity: float = 0.0

    @property
    def counts_errors_only(self) -> bool:
        """Whether splits are free."""
        return self.complexity == 0

    def penalty(self, tree: ObliqueTree) -> float:
        """Return the price of all splits."""
        return self.complexity * int((~tree.is_leaf).sum())


def move_splits(
    problem: Problem,
    heap: HeapTree,
    choose: Callable[[Split, IntArray], Split | None],
) -> HeapTree:
    """Replace every split, from the root down.

    ``choose(split, rows)`` gets a split and the rows that reach it now; None drops it.
    """
    heap = heap.copy()
    at_node = {0: np.arange(problem.n_rows)}
    for node in range(len(heap.threshold)):
        rows = at_node.pop(node)
        split = None
        if heap.coef[node].any():
            split = choose((heap.coef[node], float(heap.threshold[node])), rows)
        if split is None:
            split = np.zeros(problem.n_features), ALL_LEFT
        heap.coef[node], heap.threshold[node] = split
        right = problem.scaled[rows] @ split[0] > split[1]
        at_node[2 * node + 1], at_node[2 * node + 2] = rows[~right], rows[right]
    return heap


def nearest_gap(
    values: FloatArray,
    threshold: float,
    least_width: Callable[[FloatArray], FloatArray],
) -> float | None:
    """Find the gap that is wide enough and moves fewest values; return its middle.

    ``least_width`` says how wide gaps must be, by their middles.
    """
    values = np.sort(values)
    middle = 0.5 * (values[:-1] + values[1:])
    wide = np.flatnonzero(np.diff(values) >= least_width(middle))
    if not len(wide):
        return None
    n_left = np.searchsorted(values, threshold, side="right")
    return float(middle[wide[np.abs(wide + 1 - n_left).argmin()]])
