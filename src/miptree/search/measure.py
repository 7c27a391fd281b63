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
from miptree.search.data import SearchData
from miptree.search.line01 import descend_01
from miptree.search.line_svm1 import descend_svm1, into_box, objective_svm1
from miptree.search.routing import relabel, score_tree
from miptree.search.simplify import simplify
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


class ValuedTree(NamedTuple):
    """A tree and its value in units of :class:`SearchData`."""

    value: float
    tree: HeapTree


class DescentEffort(NamedTuple):
    """How hard a line search tries."""

    sweeps: int
    patience: int
    n_random: int


LONG, ONE_SWEEP = DescentEffort(40, 6, 5), DescentEffort(1, 1, 2)

NEVER: AnyArray = np.zeros(1, dtype=np.uint8)
"""Flag for a descent that nobody stops."""

_ROWS_PER_SWEEP = 40_000
"""Rows times sweeps that one descent may cost, so that it stays a small step."""
_LEAST_GAIN = 1e-3
_CLEAR = 1e-11
"""A score of this size has the right sign in any units."""
_P_TIE = 0.3


class Measure(Protocol):
    """A function of trees, to be minimised."""

    data: SearchData
    p_sparse: float
    """How often moves should try few features."""
    short: DescentEffort
    """DescentEffort after a move."""
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

    def refine(
        self, candidate: ValuedTree, state: AnyArray, clock: Clock
    ) -> ValuedTree:
        """Improve a promising candidate by dearer means, as long as there is time."""
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
        XT, y, weight, cost = self.data.points
        Z = score_tree(XT, tree.coef, tree.threshold)
        return ValuedTree(relabel(Z, y, weight, cost, tree.label), tree)

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by exact 0-1 line searches, and by subset splits."""
        tree = self.data.limited(tree).copy()
        value = descend_01(
            *self.data.points, *tree, self.data.may_change(tree, state),
            _affordable(effort, self.data),
            effort.patience, _P_TIE, effort.n_random, stop, state,
        )  # fmt: skip
        found = ValuedTree(value, tree)
        if not self.data.n_categorical:
            return found
        other = self.value(improve_by_subsets(self.data, tree))
        return min(found, other, key=lambda c: c.value)

    def refine(
        self, candidate: ValuedTree, state: AnyArray, clock: Clock
    ) -> ValuedTree:
        """Return the candidate: the line search is the best we have."""
        return candidate

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
        self.penalties = (
            objective.slack_penalty,
            objective.l1_penalty / data.unit,
            objective.margin,
        )

    def value(self, tree: HeapTree) -> ValuedTree:
        """Relabel the leaves, shrink into the box and count the objective."""
        tree = self.data.limited(tree).copy()
        XT, y, weight, cost = self.data.points
        Z = score_tree(XT, tree.coef, tree.threshold)
        into_box(tree.coef, tree.threshold, Z)
        Z = score_tree(XT, tree.coef, tree.threshold)
        relabel(Z, y, weight, cost, tree.label)
        value = objective_svm1(
            Z, y, weight, cost, tree.coef, tree.label, self.data.n_open, *self.penalties
        )
        return self._recounted(ValuedTree(value, tree), Z)

    def descend(
        self,
        tree: HeapTree,
        effort: DescentEffort,
        state: AnyArray,
        stop: AnyArray = NEVER,
    ) -> ValuedTree:
        """Improve a tree by exact line searches on (1a), and by subset splits."""
        tree = self.data.limited(tree).copy()
        value = descend_svm1(
            *self.data.points, *tree, self.data.may_change(tree, state),
            self.data.n_open, *self.penalties,
            _affordable(effort, self.data), _LEAST_GAIN, effort.n_random, stop, state,
        )  # fmt: skip
        found = ValuedTree(value, tree)
        if not self.data.n_categorical:
            return found
        other = self.value(improve_by_subsets(self.data, tree, self.penalties))
        return min(found, other, key=lambda c: c.value)

    def refine(
        self, candidate: ValuedTree, state: AnyArray, clock: Clock
    ) -> ValuedTree:
        """Solve the node LPs, which keep the routing, then search lines again."""
        best = candidate
        if self.problem is not None:
            fitted = refit_nodes(self.problem, self.objective, candidate.tree, clock)
            found = self.descend(fitted, self.short, state)
            Z = score_tree(self.data.XT, found.tree.coef, found.tree.threshold)
            best = min(self._recounted(found, Z), best, key=lambda c: c.value)
        # Dropping splits comes last: one may look dear only for its margin.
        tidy = self.value(simplify(self.data, best.tree, *self.penalties))
        return min(tidy, best, key=lambda c: c.value)

    def _recounted(self, candidate: ValuedTree, Z: FloatArray) -> ValuedTree:
        """Value by prediction where the scores Z let rounding route a point.

        An LP likes to put points exactly on a hyperplane.
        """
        if self.problem is None or np.abs(Z).min() > _CLEAR:
            return candidate
        tree = self.problem.to_user(candidate.tree)
        predicted = self.objective.evaluate(self.problem, tree)
        return candidate._replace(value=predicted.objective / self.data.unit)

    def on_rows(self, rows: IntArray) -> Svm1:
        """Return the same measure on some of the rows: fewer errors, smaller norms."""
        data = self.data.take(rows)
        share = float(data.weight.sum() / self.data.weight.sum())
        l1_penalty = share * self.objective.l1_penalty
        return Svm1(data, replace(self.objective, l1_penalty=l1_penalty))


def _affordable(effort: DescentEffort, data: SearchData) -> int:
    """Sweeps that an effort may take on this many rows."""
    return min(effort.sweeps, max(2, _ROWS_PER_SWEEP // data.n_rows))
