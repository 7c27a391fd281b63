"""A lower bound on the cost of the errors that needs no search."""

from __future__ import annotations

import numpy as np

from miptree.problem import Problem


def cost_bound(problem: Problem, depth: int) -> float:
    """Lower bound on the cost of any tree of the given depth.

    Rows with one x get one class, and at most ``2**depth`` classes have a leaf
    (Proposition 1 (3)).
    """
    n_groups = int(problem.same_x.max()) + 1
    costs = np.zeros((n_groups, problem.n_classes))
    if problem.class_cost is not None:
        np.add.at(costs, problem.same_x, problem.class_cost)
        return float(costs.min(axis=1).sum())
    np.add.at(costs, (problem.same_x, problem.y), problem.weight)
    same_x = costs.sum() - costs.max(axis=1).sum()
    without_leaf = np.sort(problem.class_weight)[: -(2**depth)].sum()
    return float(max(same_x, without_leaf))
