"""What the search minimises: the 0-1 cost or objective (1a), with its line search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.node_lp import refit_nodes
from miptree.objective import Svm1Objective
from miptree.search.category_splits import improve_by_subsets
from miptree.search.data import NO_PENALTIES, Penalties, SearchData
from miptree.search.line01 import descend_01
from miptree.search.line_search import Descent, DescentEffort
from miptree.search.line_svm1 import descend_svm1, value_in_box
from miptree.search.routing import relabel, score_tree
from miptree.search.simplify import simplify
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


class ValuedTree(NamedTuple):
    """A tree and its value in units of :class:`SearchData`."""

    value: float
    tree: HeapTree


LONG, ONE_SWEEP = DescentEffort(40, 6, 5), DescentEffort(1, 1, 2)

NEVER: AnyArray = np.zeros(1, dtype=np.uint8)
"""Flag for a descent that nobody stops."""

_ROWS_PER_SWEEP = 40_000
"""Rows times sweeps that one descent may cost, so that it stays a small step."""
_CLEAR = 1e-11
"""A score of this size has the right sign in any units."""


class Measure(ABC):
    """A function of trees, to be minimised."""

    p_sparse: float
    """How often moves should try few features."""
    short: DescentEffort
    """Effort after a move."""
    temperature: float
    """Mean rise (in mean row weights) that a move may cause and still be kept."""
    nearness: float
    """Relative difference of the values of trees that are much alike."""

    def __init__(self, data: SearchData, penalties: Penalties) -> None:
        self.data, self.penalties = data, penalties

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by exact line searches, and by subset splits.

        The given tree is left alone. The descent ends early once ``stop[0]`` is set.
        """
        data, tree = self.data, self.data.limited(tree).copy()
        sweeps = min(effort.sweeps, max(2, _ROWS_PER_SWEEP // data.n_rows))
        effort = effort._replace(sweeps=sweeps)
        descent = Descent(data.may_change(tree, state), effort, stop, state)
        found = ValuedTree(self._search_lines(tree, descent), tree)
        if not data.n_categorical:
            return found
        other = self.value(improve_by_subsets(data, tree, self.penalties))
        return min(found, other, key=lambda c: c.value)

    def refine(self, found: ValuedTree, state: AnyArray, clock: Clock) -> ValuedTree:
        """Improve a promising tree by more costly means, as long as there is time."""
        return found

    @abstractmethod
    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves of a copy and count its value."""

    @abstractmethod
    def on_rows(self, rows: IntArray) -> Measure:
        """Return the same measure on some of the rows."""

    @abstractmethod
    def _search_lines(self, tree: HeapTree, descent: Descent) -> float:
        """Improve a tree by line searches, in place; return its value."""


class ZeroOne(Measure):
    """Cost of the errors."""

    p_sparse = 0.0
    short = DescentEffort(12, 1, 4)
    temperature = 1.0
    nearness = 0.0

    def __init__(self, data: SearchData) -> None:
        super().__init__(data, NO_PENALTIES)

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves of a copy and count the cost."""
        tree = self.data.limited(tree).copy()
        Z = score_tree(self.data.XT, tree.coef, tree.threshold)
        return ValuedTree(relabel(self.data.points, tree, Z), tree)

    def on_rows(self, rows: IntArray) -> ZeroOne:
        """Return the same measure on some of the rows."""
        return ZeroOne(self.data.take(rows))

    def _search_lines(self, tree: HeapTree, descent: Descent) -> float:
        return descend_01(self.data.points, tree, descent)


class Svm1(Measure):
    """Objective (1a) inside the box.

    Parameters
    ----------
    data : SearchData
    objective : Svm1Objective
    problem : Problem, optional
        The same rows. With it, promising trees are refined by the LPs of their nodes.
    """

    p_sparse = 0.5
    short = DescentEffort(3, 1, 4)
    temperature = 1.0
    nearness = 0.01

    def __init__(
        self,
        data: SearchData,
        objective: Svm1Objective,
        problem: Problem | None = None,
    ) -> None:
        super().__init__(data, data.penalties(objective))
        self.objective, self.problem = objective, problem

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves of a copy, shrink it into the box and count (1a)."""
        tree = self.data.limited(tree).copy()
        value, Z = value_in_box(self.data.points, tree, self.penalties)
        return self._recounted(ValuedTree(value, tree), Z)

    def refine(self, found: ValuedTree, state: AnyArray, clock: Clock) -> ValuedTree:
        """Solve the node LPs, which keep the routing, then search lines again."""
        best = found
        if self.problem is not None:
            fitted = refit_nodes(self.problem, self.objective, found.tree, clock)
            again = self.descend(fitted, self.short, state)
            Z = score_tree(self.data.XT, again.tree.coef, again.tree.threshold)
            best = min(self._recounted(again, Z), best, key=lambda c: c.value)
        # Dropping splits comes last: the margin alone may make a split look needed.
        tidy = self.value(simplify(self.data, best.tree, self.penalties))
        return min(tidy, best, key=lambda c: c.value)

    def _recounted(self, found: ValuedTree, Z: FloatArray) -> ValuedTree:
        """Value by prediction where the scores Z let rounding route a point.

        An LP likes to put points exactly on a hyperplane.
        """
        if self.problem is None or np.abs(Z).min() > _CLEAR:
            return found
        tree = self.problem.to_user(found.tree)
        predicted = self.objective.evaluate(self.problem, tree)
        return found._replace(value=predicted.objective / self.data.unit)

    def on_rows(self, rows: IntArray) -> Svm1:
        """Return the same measure on some of the rows: fewer errors, smaller norms."""
        data = self.data.take(rows)
        share = float(data.weight.sum() / self.data.weight.sum())
        l1_penalty = share * self.objective.l1_penalty
        return Svm1(data, replace(self.objective, l1_penalty=l1_penalty))

    def _search_lines(self, tree: HeapTree, descent: Descent) -> float:
        return descend_svm1(self.data.points, tree, self.penalties, descent)
