"""On tiny data a tree that keeps rules is the best of all that do, by brute force."""

import numpy as np
import pytest

from _ruled_brute_force import RuledBruteForce
from miptree import OptimalTreeClassifier
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FixedSplit,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
)
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective

PENALTIES = {"slack_penalty": 10.0, "l1_penalty": 0.2, "margin": 0.1}


def tiny(n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    return X, y, np.array(["a", "b"])[rng.permutation(n) % 2]


def fitted(constraints, X, y, groups, **parameters):
    given = {"solver": "search", "max_iter": 60, "time_limit": None, "random_state": 0}
    clf = OptimalTreeClassifier(
        constraints=constraints, **(given | PENALTIES | parameters)
    )
    return clf.fit(X, y, sensitive_features=groups)


def optimum(clf, constraints, X, y, groups, depth):
    """Return the least objective by brute force, fixed splits scaled as in a tree."""
    problem = Problem.from_data(X, y, 2)
    factor = 1.0
    for fixed in constraints:
        if isinstance(fixed, FixedSplit) and clf is not None:
            column, coef = fixed.coefficients[0]
            factor = clf.tree_.coef[fixed.node, column] / coef
    given = problem, Svm1Objective(**PENALTIES), constraints, groups[problem.source]
    return RuledBruteForce(*given, factor).optimum(depth)


COUNTED = [
    ([DemographicParity(difference_bound=0.1)], 1, 7, 0),
    ([MinRate(1, 0.6), EqualizedOdds(difference_bound=0.3)], 1, 7, 1),
    ([MinLeaf(rows=3), MaxRate(1, 0.5)], 1, 8, 2),
    ([DemographicParity(difference_bound=0.2)], 2, 5, 3),
    ([MinLeaf(rows=2), MaxRate(1, 0.34, on="negatives")], 2, 5, 4),
    ([ErrorRateParity(difference_bound=0.1, versus="pairs")], 2, 5, 5),
]
SHAPED = [
    ([Monotone({0: +1}, 1)], 1, 7, 0),
    ([Monotone({0: -1, 1: +1}, 1)], 2, 5, 1),
    ([Monotone({1: -1}, 0)], 2, 5, 2),
    ([Signs({0: +1}, 1)], 1, 7, 3),
    ([Signs({0: -1, 1: -1}, 1)], 2, 5, 4),
    ([Signs({1: +1}, 0)], 2, 5, 5),
    ([AllowFeatures([1])], 1, 7, 6),
    ([AllowFeatures([1], node=2)], 2, 5, 8),
    ([FixedSplit(0, {0: 1.0, 1: -0.5}, 0.1)], 1, 7, 9),
    ([FixedSplit(0, {1: 1.0}, 0.0)], 2, 5, 10),
]
MIXED = [
    ([Monotone({0: +1}, 1), DemographicParity(difference_bound=0.2)], 2, 5, 12),
    ([Signs({0: +1}, 1), MinLeaf(rows=2)], 2, 5, 13),
    ([AllowFeatures([0], depth=0), MaxRate(1, 0.4)], 2, 5, 14),
    ([FixedSplit(0, {1: 1.0}, 0.0), Monotone({0: +1}, 1)], 2, 5, 15),
]
MISSED = [
    ([MinLeaf(rows=3), MaxRate(1, 0.5)], 1, 7, 2),
    ([AllowFeatures([0], depth=0)], 2, 5, 7),
    ([FixedSplit(1, {0: 2.0}, 0.3)], 2, 5, 13),
]
"""Cases whose best tree a search does not find."""
ARGUMENTS = ("constraints", "depth", "n", "seed")


@pytest.mark.parametrize(ARGUMENTS, COUNTED + SHAPED + MIXED)
def test_on_tiny_data_the_tree_is_the_best_that_keeps_them(constraints, depth, n, seed):
    X, y, groups = tiny(n, seed)
    clf = fitted(constraints, X, y, groups, max_depth=depth)
    best = optimum(clf, constraints, X, y, groups, depth)
    assert clf.objective_ == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(ARGUMENTS, MISSED)
def test_what_a_search_does_not_find_a_mip_does(constraints, depth, n, seed):
    X, y, groups = tiny(n, seed)
    searched = fitted(constraints, X, y, groups, max_depth=depth)
    given = {"max_depth": depth, "solver": "highs", "node_limit": 5000}
    proved = fitted(constraints, X, y, groups, **given)
    best = optimum(proved, constraints, X, y, groups, depth)
    assert searched.objective_ >= best - 1e-6
    assert proved.objective_ == pytest.approx(best, abs=1e-6)
    # A multiple of a split that is fixed may cost less, and is not tried.
    is_fixed = isinstance(constraints[0], FixedSplit)
    assert proved.status_ == ("stalled" if is_fixed else "optimal")
