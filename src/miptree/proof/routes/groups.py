"""Disjoint groups of the rows: their bounds add up.

Every group pays its own share of the norms, and the shares sum to one: the least costs
of the groups then add up to no more than the least cost of all rows. Groups are halved
again and again, so that the sum of the bounds of two halves is one for the whole.
"""

from __future__ import annotations

import numpy as np

from miptree.data.problem import Problem
from miptree.utils.arrays import FloatArray, IntArray


def group_levels(
    problem: Problem,
    smallest: int,
    rng: np.random.Generator,
    classes_in_group: int | None = None,
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
    classes_in_group : 2 or 3, optional
        Where given, the last level is not one group of all rows, but has groups of
        neighbouring classes, so many at most in each.
    """
    weight = _class_weights(problem)
    point_class = weight.argmax(axis=1)
    level = [np.arange(len(weight))]
    if classes_in_group is not None:
        level = _class_groups(problem, weight, classes_in_group)
    levels = [level]
    while _are_large(levels[-1], smallest):
        halves = []
        for points in levels[-1]:
            order = points[np.lexsort((rng.random(len(points)), point_class[points]))]
            halves += [order[0::2], order[1::2]]
        levels.append(halves)
    return [_rows_of(problem, level) for level in levels[::-1]]


def _are_large(groups: list[IntArray], smallest: int) -> bool:
    """Tell whether groups can be halved: they are large enough in the mean."""
    sizes = [len(points) for points in groups]
    return min(sizes, default=0) > 1 and sum(sizes) >= 2 * smallest * len(sizes)


def _class_groups(problem: Problem, weight: FloatArray, most: int) -> list[IntArray]:
    """Deal the points by their classes, two in each group, or three in the last one.

    Classes that lie near each other go together: parting them costs most. Points with
    rows of classes of several groups are left out, and so is a class that is left
    over: that lowers the bound at most.
    """
    has_class = np.zeros(weight.shape, dtype=bool)
    has_class[problem.same_x, problem.y] = True
    mean = np.zeros((problem.n_classes, problem.n_open))
    for k in np.unique(problem.y):
        mean[k] = problem.open_scaled[problem.y == k].mean(axis=0)
    left = np.argsort(-weight.sum(axis=0), kind="stable")
    left = left[np.isin(left, problem.y)]
    groups = []
    while len(left) > 1:
        distance = np.abs(mean[left] - mean[left[0]]).sum(axis=1)
        nearest = left[np.argsort(distance, kind="stable")]
        chosen, left = np.split(nearest, [min(most, 3) if len(left) == 3 else 2])
        left = left[np.argsort(-weight[:, left].sum(axis=0), kind="stable")]
        others = np.setdiff1d(np.arange(problem.n_classes), chosen)
        groups.append(np.flatnonzero(~has_class[:, others].any(axis=1)))
    return [points for points in groups if len(points)]


def _rows_of(problem: Problem, groups: list[IntArray]) -> list[IntArray]:
    """Return the rows of groups of points."""
    in_none = len(groups)
    number = np.full(int(problem.same_x.max()) + 1, in_none)
    for group, points in enumerate(groups):
        number[points] = group
    of_row = number[problem.same_x]
    order = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=in_none + 1))
    return np.split(order, ends[:-1])[:in_none]


def _class_weights(problem: Problem) -> FloatArray:
    """Return the weight of each class among the rows of each point."""
    weight = np.zeros((int(problem.same_x.max()) + 1, problem.n_classes))
    np.add.at(weight, (problem.same_x, problem.y), problem.weight)
    return weight
