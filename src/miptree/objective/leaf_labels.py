"""The cheapest labels of a tree's leaves, and the objective value of a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.svm1 import Svm1Objective
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray


def tree_value(
    problem: Problem, objective: Svm1Objective | None, heap: HeapTree
) -> float:
    """Return the objective value of a tree in scaled units, counted by prediction.

    It is counted in the user's units, as it is reported: (1a), or without an objective
    the cost of the errors.
    """
    tree = problem.to_user(heap)
    if objective is not None:
        return objective.evaluate(problem, tree).objective
    return float(problem.error_cost(tree.predict(problem.X)).sum())


def relabel(problem: Problem, heap: HeapTree) -> HeapTree:
    """Give every leaf the class that costs least there; empty leaves keep theirs."""
    leaf = heap.leaf_of(problem.scaled)
    cost = leaf_cost(problem, leaf, len(heap.label))
    occupied = np.bincount(leaf, minlength=len(heap.label)) > 0
    label = np.where(occupied, cost.argmin(axis=1), heap.label)
    return heap._replace(label=label)


def with_cheapest_labels(problem: Problem, tree: ObliqueTree) -> ObliqueTree:
    """Give a tree in the user's units the cheapest classes and drop idle splits.

    Of equally cheap classes it takes the first, as predict_proba does.
    """
    cost = leaf_cost(problem, tree.apply(problem.X), tree.n_nodes)
    return replace(tree, label=cost.argmin(axis=1)).prune(problem.X)


def leaf_cost(problem: Problem, leaf: IntArray, n_leaves: int) -> FloatArray:
    """Return (L, Y): the cost of each class as the label of each leaf."""
    if problem.class_cost is not None:
        cost = np.zeros((n_leaves, problem.n_classes))
        np.add.at(cost, leaf, problem.class_cost)
        return cost
    weight = leaf_weight(problem, leaf, n_leaves)
    return weight.sum(axis=1, keepdims=True) - weight


def leaf_weight(problem: Problem, leaf: IntArray, n_leaves: int) -> FloatArray:
    """Return (L, Y): the weight of each class in each leaf."""
    cell = leaf * problem.n_classes + problem.y
    size = n_leaves * problem.n_classes
    weight = np.bincount(cell, weights=problem.weight, minlength=size)
    return weight.astype(np.float64).reshape(n_leaves, problem.n_classes)
