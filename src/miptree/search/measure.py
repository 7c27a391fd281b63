"""What the search minimises: the 0-1 cost or objective (1a), with its line search."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.node_lp import refit_nodes
from miptree.objective import Svm1Objective
from miptree.search.category_splits import improve_by_subsets
from miptree.search.data import NO_PENALTIES, Penalties, SearchData
from miptree.search.line01 import descend_01
from miptree.search.line_search import DescentEffort
from miptree.search.line_svm1 import descend_svm1, into_box, objective_svm1
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


class Measure(Protocol):
    """A function of trees, to be minimised."""

    data: SearchData
    p_sparse: float
    """How often moves should try few features."""
    short: DescentEffort
    """Effort after a move."""
    temperature: float
    """Mean rise (in mean row weights) that a move may cause and still be kept."""
    nearness: float
    """Relative difference of the values of trees that are much alike."""

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves and count the value."""
        ...

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by line searches; the given tree is left alone.

        It ends early once ``stop[0]`` is set.
        """
        ...

    def refine(self, found: ValuedTree, state: AnyArray, clock: Clock) -> ValuedTree:
        """Improve a promising tree by more costly means, as long as there is time."""
        ...

    def on_rows(self, rows: IntArray) -> Measure:
        """Return the same measure on some of the rows."""
        ...


class ZeroOne:
    """Cost of the errors."""

    p_sparse = 0.0
    short = DescentEffort(12, 1, 4)
    temperature = 1.0
    nearness = 0.0

    def __init__(self, data: SearchData) -> None:
        self.data = data

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves and count the cost."""
        tree = self.data.limited(tree).copy()
        Z = score_tree(self.data.XT, tree.coef, tree.threshold)
        return ValuedTree(relabel(self.data.points, tree, Z), tree)

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by exact 0-1 line searches, and by subset splits."""
        tree = self.data.limited(tree).copy()
        may_change = self.data.may_change(tree, state)
        effort = _affordable(effort, self.data)
        value = descend_01(self.data.points, tree, may_change, effort, stop, state)
        return _try_subsets(self, ValuedTree(value, tree), NO_PENALTIES)

    def refine(self, found: ValuedTree, state: AnyArray, clock: Clock) -> ValuedTree:
        """Return the tree as it is: nothing is better than the line search."""
        return found

    def on_rows(self, rows: IntArray) -> ZeroOne:
        """Return the same measure on some of the rows."""
        return ZeroOne(self.data.take(rows))


class Svm1:
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
        self.data, self.objective, self.problem = data, objective, problem
        self.penalties = data.penalties(objective)

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves, shrink into the box and count the objective."""
        tree = self.data.limited(tree).copy()
        points = self.data.points
        Z = score_tree(points.XT, tree.coef, tree.threshold)
        into_box(tree.coef, tree.threshold, Z)
        Z = score_tree(points.XT, tree.coef, tree.threshold)
        relabel(points, tree, Z)
        value = objective_svm1(points, tree, Z, self.penalties)
        return self._recounted(ValuedTree(value, tree), Z)

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by exact line searches on (1a), and by subset splits."""
        data, tree = self.data, self.data.limited(tree).copy()
        may_change = data.may_change(tree, state)
        effort = _affordable(effort, data)
        value = descend_svm1(
            data.points, tree, self.penalties, may_change, effort, stop, state
        )
        return _try_subsets(self, ValuedTree(value, tree), self.penalties)

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


def _affordable(effort: DescentEffort, data: SearchData) -> DescentEffort:
    """Limit the sweeps of an effort to what this many rows allow."""
    most = max(2, _ROWS_PER_SWEEP // data.n_rows)
    return effort._replace(sweeps=min(effort.sweeps, most))


def _try_subsets(
    measure: Measure, found: ValuedTree, penalties: Penalties
) -> ValuedTree:
    """Try subset splits on a descended tree, where there are categorical features."""
    if not measure.data.n_categorical:
        return found
    other = measure.value(improve_by_subsets(measure.data, found.tree, penalties))
    return min(found, other, key=lambda c: c.value)
