"""Cuts of Theorem 3 and Proposition 1, in weights, and the cut for equal points.

All hold for every tree of depth D, whatever its hyperplanes. Costs stand where the
paper counts points: a row pays ``spread * c`` in all, and an error of it costs at least
``least_error``. Both are its weight where all errors cost the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.model import ModelBuilder
from miptree.objective.bounds import conflict_costs, errors_by_classes
from miptree.utils.arrays import IntArray


def add_proposition_1(
    builder: ModelBuilder, problem: Problem, e: IntArray, c: IntArray
) -> None:
    """Add the three families of Proposition 1.

    1. sum c >= sum_i e_il - s_Y for every leaf l;
    2. sum (c + e_l) >= s_1 + ... + s_{Y-L+1} for every leaf l, if Y >= L. The paper
       prints s_1 (Y - L + 1); the leaves other than l serve L - 1 classes, so the
       points of at least Y - L + 1 *different* classes are wrong or in l;
    3. sum c >= s_1 + ... + s_{Y-L} if Y > L.
    """
    costs, n_leaves = problem.costs, e.shape[1]
    size, least_error = np.sort(costs.of_class), costs.least_error[None, :]
    wrong, inside = (c[None, :], costs.spread[None, :]), (e.T, least_error)
    outside = (e.T, -least_error)
    builder.rows("Prop 1 (1)", (n_leaves,), wrong, outside, lower=-size[-1])
    spare = problem.n_classes - n_leaves
    if spare >= 0:
        least = size[: spare + 1].sum()
        builder.rows("Prop 1 (2)", (n_leaves,), wrong, inside, lower=least)
    add_proposition_1_3(builder, problem, c, n_leaves)


def add_proposition_1_3(
    builder: ModelBuilder, problem: Problem, c: IntArray, n_leaves: int
) -> None:
    """Add part (3) alone, which needs no e."""
    least = errors_by_classes(problem, n_leaves)
    if least > 0:
        wrong = (c[None, :], problem.costs.spread[None, :])
        builder.rows("Prop 1 (3)", (1,), wrong, lower=least)


def add_theorem_3(
    builder: ModelBuilder,
    problem: Problem,
    e: IntArray,
    c: IntArray,
    points: Sequence[int],
    leaves: Sequence[int],
) -> None:
    """Add sum_I c >= sum_{I, L} e - abs(L) for points I of different classes.

    Raises
    ------
    ValueError
        When two of the points have one class: the inequality would cut off trees.
    """
    classes = problem.y[list(points)]
    if len(np.unique(classes)) < len(classes):
        raise ValueError(
            "Theorem 3 takes at most one point of each class, got points "
            f"{list(points)} of classes {classes.tolist()}."
        )
    wrong = (c[list(points)][None, :], 1.0)
    inside = (e[np.ix_(points, leaves)].reshape(1, -1), -1.0)
    builder.rows("Theorem 3", (1,), wrong, inside, lower=-len(leaves))


def conflicts(problem: Problem) -> tuple[IntArray, IntArray]:
    """Return the rows whose x also occurs with another class: groups and numbers.

    Of rows of one class, which differ in what constraints count, the first stands for
    all: they are right together.
    """
    of_class = problem.same_x * problem.n_classes + problem.y
    first = np.unique(of_class, return_index=True)[1]
    size = np.bincount(problem.same_x[first])
    rows = np.sort(first[size[problem.same_x[first]] > 1])
    group = np.unique(problem.same_x[rows], return_inverse=True)[1].ravel()
    return group, rows


def add_conflicts(builder: ModelBuilder, problem: Problem, c: IntArray) -> None:
    """Add: of identical points with different classes at most one is right.

    Where errors differ in cost: they cost together what their best class costs.
    """
    group, rows = conflicts(problem)
    if not len(rows):
        return
    price, least = np.ones(len(rows)), np.bincount(group) - 1.0
    if problem.class_cost is not None:
        points, rows = np.unique(problem.same_x[rows]), np.arange(problem.n_rows)
        rows = rows[np.isin(problem.same_x, points)]
        group = np.searchsorted(points, problem.same_x[rows])
        price, least = problem.costs.spread[rows], conflict_costs(problem)[points]
    builder.ragged_rows("same x", group, c[rows], price, lower=least)
