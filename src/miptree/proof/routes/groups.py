"""Disjoint groups of the rows: their bounds add up.

Every group pays its own share of the norms, and the shares sum to one: the least costs
of the groups then add up to no more than the least cost of all rows. Groups are halved
again and again, so that the sum of the bounds of two halves is one for the whole.
"""

from __future__ import annotations

import numpy as np

from miptree.data.problem import Problem
from miptree.utils.arrays import IntArray


def group_levels(
    problem: Problem, smallest: int, rng: np.random.Generator
) -> list[list[IntArray]]:
    """Deal the rows into groups, level by level; the smallest groups come first.

    The halves of group k of a level are the groups 2k and 2k + 1 of the level before.
    Classes are shared out evenly, and rows with the same x stay together: what they
    cost each other would be lost.

    Parameters
    ----------
    problem : Problem
    smallest : int
        Points that a group has at least.
    rng : Generator
        Deals the points.
    """
    point_class = _class_of_points(problem)
    levels = [[np.arange(len(point_class))]]
    while min(map(len, levels[-1])) >= 2 * smallest:
        halves = []
        for points in levels[-1]:
            order = points[np.lexsort((rng.random(len(points)), point_class[points]))]
            halves += [order[0::2], order[1::2]]
        levels.append(halves)
    return [_rows_of(problem, level) for level in levels[::-1]]


def _rows_of(problem: Problem, groups: list[IntArray]) -> list[IntArray]:
    """Return the rows of groups that hold all points."""
    number = np.empty(sum(map(len, groups)), dtype=np.intp)
    for group, points in enumerate(groups):
        number[points] = group
    of_row = number[problem.same_x]
    order = np.argsort(of_row, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of_row))[:-1])


def _class_of_points(problem: Problem) -> IntArray:
    """Return the class of most weight among the rows of each point."""
    weight = np.zeros((int(problem.same_x.max()) + 1, problem.n_classes))
    np.add.at(weight, (problem.same_x, problem.y), problem.weight)
    return np.asarray(weight.argmax(axis=1))
