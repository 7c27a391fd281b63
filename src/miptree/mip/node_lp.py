"""Refit the hyperplanes of a tree to its routing, and drop idle splits.

Given where every point goes, the best hyperplanes are the 1-norm SVMs of the nodes,
the LP (4) of the paper, one node at a time. A solver's or a search's tree passes
through here before anybody sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from miptree.constraints.free_signs import FreeSigns
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.formulations.tree_variables import Hyperplanes
from miptree.mip.model import Model, ModelBuilder
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import relabel, tree_value
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_WORKING_ROWS = 400
"""Rows the node LP starts with; those it then violates are added."""
_TOLERANCE = 1e-9


def polish(
    problem: Problem,
    objective: Svm1Objective,
    heap: HeapTree,
    clock: Clock | None = None,
    max_rounds: int = 5,
) -> HeapTree:
    """Return a tree at least as good: relabelled, splits dropped, nodes refitted.

    Parameters
    ----------
    problem, objective
        The rows and (1a).
    heap : HeapTree
        Tree in scaled units.
    clock : Clock, optional
        Stops between two LPs when its time is up.
    max_rounds : int
        Times that all nodes are refitted, as long as that helps.
    """
    best = relabel(problem, problem.into_box(heap))
    best_value = tree_value(problem, objective, best)
    for _ in range(max_rounds):
        if clock is not None and clock.is_over:
            break
        # Dropping comes after refitting: only its margin may make a split costly.
        refitted = refit_nodes(problem, objective, best, clock)
        tree = drop_splits(problem, objective, relabel(problem, refitted), clock)
        value = tree_value(problem, objective, tree)
        if not value < best_value - _TOLERANCE * max(1.0, abs(best_value)):
            break
        best, best_value = tree, value
    return drop_splits(problem, objective, best, clock)


def drop_splits(
    problem: Problem,
    objective: Svm1Objective,
    heap: HeapTree,
    clock: Clock | None = None,
) -> HeapTree:
    """Replace splits that do not pay by 'all left' or 'all right', leaves first."""
    best, best_value = heap, tree_value(problem, objective, heap)
    for node in range(len(heap.threshold) - 1, -1, -1):
        if clock is not None and clock.is_over:
            break
        if not best.coef[node].any():
            continue
        for threshold in (1.0, -1.0):
            tree = best.copy()
            tree.coef[node], tree.threshold[node] = 0.0, threshold
            tree = relabel(problem, tree)
            value = tree_value(problem, objective, tree)
            if value <= best_value:
                best, best_value = tree, value
    return best


def refit_nodes(
    problem: Problem,
    objective: Svm1Objective,
    heap: HeapTree,
    clock: Clock | None = None,
    signs: FreeSigns | None = None,
) -> HeapTree:
    """Solve every node's LP for the present routing; unsolved nodes stay.

    ``signs`` are those that the coefficients may have, by default any.
    """
    result = heap.copy()
    tree = ObliqueTree.from_heap(heap)
    passes = tree.ancestors[tree.apply(problem.scaled)]
    right = tree.goes_right(problem.scaled)
    is_subset = problem.is_subset_split(heap.coef)
    for node in range(len(heap.threshold)):
        if clock is not None and clock.is_over:
            break
        if is_subset[node]:
            continue  # it costs nothing
        used = np.arange(problem.n_open)
        if problem.is_limited:
            used = np.flatnonzero(heap.coef[node])
        lp = _NodeLP(problem, objective, passes[:, node], right[:, node], used)
        if signs is not None:
            free = signs.positive[node, used], signs.negative[node, used]
            lp = replace(lp, signs=FreeSigns(*free))
        fitted = lp.solve(heap.coef[node, used], heap.threshold[node], clock)
        if fitted is not None:
            result.coef[node, used], result.threshold[node] = fitted
    return problem.into_box(result)


@dataclass(frozen=True)
class _NodeLP:
    """The 1-norm SVM of one node: min a1 sum w m + a2 |h| at margin eps in the box.

    Points that reach the node keep their side; all points stay in the box. Only the
    features ``used`` have coefficients. Rows are generated: the LP starts with the
    points nearest the present hyperplane and takes in those that its solution
    violates, so it stays small on large data.
    """

    problem: Problem
    objective: Svm1Objective
    reaches: BoolArray
    right: BoolArray
    used: IntArray
    signs: FreeSigns | None = None

    @cached_property
    def X(self) -> FloatArray:
        """The points in those features."""
        return self.problem.scaled[:, self.used]

    def solve(
        self, coef: FloatArray, threshold: float, clock: Clock | None
    ) -> tuple[FloatArray, float] | None:
        """Return the best hyperplane, or None where the time did not suffice."""
        goes_right = self.right[self.reaches]
        if goes_right.all() or not goes_right.any():
            return np.zeros_like(coef), -1.0 if goes_right.any() else 1.0
        near = np.abs(self.X @ coef - threshold)
        near[~self.reaches] = np.inf
        soft = np.zeros(self.problem.n_rows, dtype=bool)
        soft[np.argsort(near, kind="stable")[:_WORKING_ROWS]] = True
        soft &= self.reaches
        boxed = np.zeros_like(soft)
        while clock is None or not clock.is_over:
            seconds = None if clock is None else clock.remaining
            model = self._build(soft, boxed)
            result = get_solver("highs").solve(model, limits=Limits(seconds=seconds))
            if result.status != "optimal" or result.x is None:
                return None
            (coef,), (threshold,) = Hyperplanes.of(model).read(result.x)
            score = threshold - self.X @ coef
            ahead = np.where(self.right, -score, score)
            too_near = self.reaches & ~soft
            too_near &= ahead < self.objective.margin - _TOLERANCE
            outside = ~boxed & (np.abs(score) > 1 + _TOLERANCE)
            if not (too_near.any() or outside.any()):
                return coef, float(threshold)
            soft |= _worst(too_near, ahead, max(_WORKING_ROWS, int(soft.sum())))
            boxed |= _worst(outside, -np.abs(score), max(50, int(boxed.sum())))
        return None

    def _build(self, soft: BoolArray, boxed: BoolArray) -> Model:
        problem, objective = self.problem, self.objective
        rows, box = np.flatnonzero(soft), np.flatnonzero(boxed)
        sign = np.where(self.right[rows], -1.0, 1.0)[:, None]
        b = ModelBuilder()
        h = Hyperplanes.add(b, 1, len(self.used), objective.l1_penalty, self.signs)
        price = (problem.weight[rows] * objective.slack_penalty)[:, None]
        m = b.variables("m", price.shape, upper=objective.margin, cost=price)
        ahead = h.score_terms(self.X[rows], sign)
        b.rows("(1h),(1j)", m.shape, *ahead, (m, 1.0), lower=objective.margin)
        score = h.score_terms(self.X[box])
        b.rows("box", (len(box), 1), *score, lower=-1, upper=1)
        return b.finish()


def _worst(candidates: BoolArray, value: FloatArray, most: int) -> BoolArray:
    """Return the candidates with the smallest values, at most so many."""
    rows = np.flatnonzero(candidates)
    chosen = np.zeros_like(candidates)
    chosen[rows[np.argsort(value[rows], kind="stable")[:most]]] = True
    return chosen
