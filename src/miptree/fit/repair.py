"""A tree that was grown without constraints, repaired to keep them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.cuts import best_cut
from miptree.objective.leaf_labels import leaf_cost
from miptree.tree import HeapTree, ObliqueTree

_SAME_COST = 1 + 1e-9


class RepairedTree:
    """The cheapest tree near given ones that keeps all constraints.

    Every routing gets its best labels, found exactly. Where the best tree costs more
    than with labels that need not keep the constraints, each of its thresholds is moved
    to its best place under them as well. Only what a recount by prediction finds kept
    is taken.

    Parameters
    ----------
    problem, rules
        The rows and the constraints.
    heaps : sequence of HeapTree
        Trees in scaled units; their labels do not matter.
    clock : Clock, optional
        When it is over, no further threshold moves.

    Attributes
    ----------
    tree : ObliqueTree or None
        In the user's units, splits that do nothing dropped; None where no tree near
        the given ones keeps the constraints.
    cost : float
        What its errors cost, infinity without a tree.
    is_bound : bool
        Whether the constraints cost something: without them the best routing would have
        cheaper labels.
    """

    def __init__(
        self,
        problem: Problem,
        rules: Rules,
        heaps: Sequence[HeapTree],
        clock: Clock | None = None,
    ) -> None:
        self.problem, self.rules = problem, rules
        self.tree: ObliqueTree | None = None
        self.cost, self._heap = np.inf, heaps[0]
        for heap in heaps:
            for near in rules.repaired(problem, heap):
                self._offer(near)
        least = free_cost(problem, problem.to_user(self._heap))
        self.is_bound = bool(self.cost > _SAME_COST * least)
        if self.is_bound:
            self._move_thresholds(clock or Clock())

    def _move_thresholds(self, clock: Clock) -> None:
        for node in range(len(self._heap.threshold)):
            if clock.is_over:
                return
            cut = best_cut(self.problem, self.rules, self._heap, node)
            if cut is not None:
                self._offer(cut)

    def _offer(self, heap: HeapTree) -> None:
        problem, rules = self.problem, self.rules
        tree = rules.labelled(problem, problem.to_user(heap))
        if tree is None:
            return
        cost = tree_cost(problem, tree)
        # The recount by prediction has the last word, whatever chose the labels.
        if cost < self.cost and rules.keeps(tree, problem.X):
            self.tree, self.cost, self._heap = tree, cost, heap


def tree_cost(problem: Problem, tree: ObliqueTree) -> float:
    """Return what the errors of a tree in the user's units cost."""
    leaf = tree.apply(problem.X)
    cost = leaf_cost(problem, leaf, tree.n_nodes)
    leaves = np.flatnonzero(tree.is_leaf)
    return float(cost[leaves, tree.label[leaves]].sum())


def free_cost(problem: Problem, tree: ObliqueTree) -> float:
    """Return what its errors cost with the best labels, whatever they break."""
    leaf = tree.apply(problem.X)
    return float(leaf_cost(problem, leaf, tree.n_nodes).min(axis=1).sum())
