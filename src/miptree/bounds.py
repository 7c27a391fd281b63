"""Lower bounds on the errors that need no solver and hold for every tree.

They hold whatever the hyperplanes, with or without a margin, and so bound the
objective (1a) as well, whose other terms are not negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree._typing import IntArray
from miptree.problem import Problem


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
    """Proposition 1 (3): the weight of the classes that can have no leaf."""
    if problem.class_cost is not None:
        return 0.0
    spare = max(0, problem.n_classes - n_leaves)
    return float(np.sort(problem.class_weight)[:spare].sum())


def errors_by_conflicts(problem: Problem) -> float:
    """Cost that remains because identical points have different classes."""
    n_points = int(problem.same_x.max()) + 1
    cost = np.zeros((n_points, problem.n_classes))
    if problem.class_cost is not None:
        np.add.at(cost, problem.same_x, problem.class_cost)
    else:
        np.add.at(cost, problem.same_x, problem.weight[:, None])
        np.add.at(cost, (problem.same_x, problem.y), -problem.weight)
    # The subtraction above can leave -1e-17 where the cost is zero.
    return float(np.maximum(cost.min(axis=1), 0.0).sum())


def combinatorial_bound(problem: Problem, depth: int) -> Bound:
    """Best of these bounds for a depth, and what proves it."""
    return max(
        Bound(0.0, "errors are not negative"),
        Bound(errors_by_classes(problem, 2**depth), "Proposition 1 (3)"),
        Bound(errors_by_conflicts(problem), "identical points of different classes"),
        key=lambda bound: bound.value,
    )


def round_up_cost(problem: Problem, bound: float) -> float:
    """Smallest weight of errors that is possible at or above a bound.

    Weights that are whole multiples of the smallest one leave no value between two
    multiples; other weights leave the bound as it is.
    """
    unit = problem.weight.min()
    multiples = problem.weight / unit
    if np.abs(multiples - np.rint(multiples)).max() > 1e-9:
        return bound
    return float(np.ceil(bound / unit - 1e-6) * unit)
