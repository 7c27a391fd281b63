"""Honest certificates of any tree, and what verify finds wrong."""

from miptree.certificate.certificate import certify
from miptree.objective import Svm1Objective
from miptree.objective.bounds import combinatorial_bound
from miptree.objective.proved import Bounds


def names_of_wrong(verification):
    return {check.name for check in verification.wrong}


def honest(problem, tree, depth, objective=None, errors=None, whole=None):
    """Certificate of a tree as the training loop writes it."""
    objective = objective or Svm1Objective(100, 1, 0.01)
    any_tree = combinatorial_bound(problem, depth)
    score = objective.evaluate(problem, tree)
    return certify(
        problem,
        objective,
        depth,
        tree,
        score,
        Bounds(any_tree, errors or any_tree, whole or any_tree, problem.cheapest_error),
        0.5,
    )
