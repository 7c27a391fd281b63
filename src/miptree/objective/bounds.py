"""Lower bounds on the errors that need no solver and hold for every tree.

They hold whatever the hyperplanes, with or without a margin, and so bound the
objective (1a) as well, whose other terms are not negative.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from miptree.data.problem import Problem
from miptree.utils.arrays import FloatArray, IntArray

NO_ERRORS = "errors are not negative"
TOO_FEW_LEAVES = "more classes than leaves"
SAME_ROWS = "identical points of different classes"
"""What certificates call these bounds; the second is Proposition 1 (3)."""
EXHAUSTIVE = "exhaustive search"
"""What certificates call the proof of points trees; those of the number of errors are
called so, and what was searched."""
ROUTES = "branch and bound over routes"
"""What certificates call the proof of :mod:`miptree.proof.routes`."""
COUNTING = "counting what the rules leave"
"""What certificates call the bound of :mod:`miptree.constraints.counting`."""
REFUTED = "discarded, as the tree refutes it: "
"""What certificates begin with where a bound was wrong, before what had proved it."""
_ROUNDING = 1e-9
"""Relative error of sums of costs and of bounds on them."""


class Subset(NamedTuple):
    """Rows of a problem, and the errors that every tree makes among them.

    Errors among disjoint subsets add up.
    """

    rows: IntArray
    errors: float


class Bound(NamedTuple):
    """A lower bound and what proves it."""

    value: float
    proved_by: str


def errors_by_classes(problem: Problem, n_leaves: int) -> float:
    """Return the cost of the classes that can have no leaf: Proposition 1 (3)."""
    spare = max(0, problem.n_classes - n_leaves)
    if spare == 0:
        return 0.0  # and no costs of millions of rows are taken apart
    return float(np.sort(problem.costs.of_class)[:spare].sum())


def errors_by_conflicts(problem: Problem) -> float:
    """Return the cost that remains as identical points have different classes."""
    n_alike = np.bincount(problem.same_x)[problem.same_x]
    alike = problem.subset(np.flatnonzero(n_alike > 1))
    conflicts = conflict_costs(alike).sum() if alike.n_rows else 0.0
    return _base(problem) + float(conflicts)


def conflict_costs(problem: Problem) -> FloatArray:
    """Return the cost of each group of identical points beyond its rows' cheapest."""
    costs = problem.costs
    total = np.zeros((int(problem.same_x.max()) + 1, problem.n_classes))
    np.add.at(total, problem.same_x, costs.spread[:, None] * costs.share)
    return total.min(axis=1)


def _base(problem: Problem) -> float:
    """Return the cost of the cheapest class of every row, which no tree avoids."""
    cost = problem.class_cost
    return 0.0 if cost is None else float(cost.min(axis=1).sum())


def combinatorial_bound(problem: Problem, depth: int) -> Bound:
    """Return the largest of these bounds for a depth, and what proves it.

    It is computed once for a problem and a depth.
    """
    known = _known_bounds.setdefault(problem, {})
    if depth not in known:
        base = _base(problem)
        conflicts = errors_by_conflicts(problem)
        known[depth] = max(
            Bound(base, NO_ERRORS),
            Bound(base + errors_by_classes(problem, 2**depth), TOO_FEW_LEAVES),
            Bound(conflicts, SAME_ROWS),
            key=lambda bound: bound.value,
        )
    return known[depth]


_known_bounds: WeakKeyDictionary[Problem, dict[int, Bound]] = WeakKeyDictionary()


def round_up_cost(problem: Problem, bound: float) -> float:
    """Return the smallest cost of errors that is possible at or above a bound.

    Costs that are whole multiples of the smallest one leave no value between two
    multiples; other costs leave the bound as it is, and so do those of which the
    smallest is next to nothing beside the largest. What a solver's tolerances may hide
    was taken off the bound before, in ``mip/solvers/visible.py``; this is caution.
    """
    cost = problem.class_cost
    values = problem.weight if cost is None else cost[cost > 0]
    if not len(values):
        return bound
    unit = values.min()
    multiples = values / unit
    if np.abs(multiples - np.rint(multiples)).max() > _ROUNDING:
        return bound
    tolerance = max(1e-6 * values.max(), _ROUNDING * abs(bound))
    if tolerance > 0.1 * unit:
        return bound
    return float(np.ceil((bound - tolerance) / unit) * unit)
