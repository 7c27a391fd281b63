"""At most k features in a split: proved against enumeration, obeyed by everything."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import BruteForce
from _data import close, examples, objectives, problems, random_problem, solve
from miptree import OptimalTreeClassifier, load_json, save_json, verify
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.formulations import (
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.mip.formulations.sparsity import largest_limited_coefficient
from miptree.objective import Svm1Objective
from miptree.objective.bounds import ROUTES
from miptree.search import search

OBJECTIVE = Svm1Objective(100, 0.1, 0.01)


def n_used(coef):
    return int(np.count_nonzero(coef, axis=1).max())


@examples(12)
@given(
    problem=problems((4, 7), 3),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
    most=st.sampled_from([1, 2]),
)
def test_proved_optimum(problem, objective, depth, most):
    limited = replace(problem, max_features=most)
    best = BruteForce(limited, objective, strict=False).optimum(depth)
    for formulation in (PaperFormulation, CompactFormulation):
        made = formulation(limited, objective, depth)
        result = solve(made.model)
        assert result.objective == pytest.approx(best, abs=close(best))
        assert n_used(made.decode(result.x).coef) <= most
    for formulation in (FlowFormulation, CountFormulation):
        result = solve(formulation(limited, objective, depth).model)
        assert result.objective <= best + close(best)


def test_dependent_features_are_not_tried_in_all_their_subsets():
    """Of 60 features at most 58: 1,770 sets of 58, but 1e18 of any size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    problem = Problem.from_data(X, np.arange(40) % 2, 2, max_features=58)
    assert largest_limited_coefficient(problem, 0.0) == np.inf
    assert largest_limited_coefficient(problem, 0.1) == pytest.approx(200)


def test_without_a_bound_the_model_is_a_relaxation():
    """Forty columns of rank ten, and no norm to bound them: the rows are left out."""
    base = random_problem(0, 11, 40, 2, "distinct")
    wide = replace(base, max_features=5)
    assert largest_limited_coefficient(wide, 0.0) == np.inf
    free = Svm1Objective(100, 0, 0.01)
    assert "z" not in CompactFormulation(wide, free, 1).model.variables
    assert "z" in CompactFormulation(wide, OBJECTIVE, 1).model.variables


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("objective", [None, OBJECTIVE])
def test_search_obeys(objective, most):
    problem = replace(random_problem(1, 60, 5, 3, "distinct"), max_features=most)
    found = search(problem, objective, 2, clock=Clock(max_iter=30))
    assert all(n_used(tree.coef) <= most for tree in found.trees)
    free = replace(problem, max_features=None)
    best = search(free, objective, 2, clock=Clock(max_iter=30))
    assert best.value <= found.value


@pytest.mark.parametrize("solver", ["search", "highs"])
def test_estimator_obeys(solver, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X.sum(axis=1) > 0).astype(int)
    clf = OptimalTreeClassifier(
        max_features_per_split=2,
        solver=solver,
        l1_penalty=0.1,
        max_iter=20,
        node_limit=5,
        time_limit=None,
        random_state=0,
    ).fit(X, y)
    assert n_used(clf.tree_.coef) == 2
    assert clf.certificate_.max_features == 2
    assert "at most 2 features in a split" in str(clf.certificate_)
    assert verify(clf.certificate_, clf.tree_, X, y).ok
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json").certificate_
    assert again == clf.certificate_
    narrow = replace(clf.certificate_, max_features=1)
    assert not verify(narrow, clf.tree_, X, y).ok
    with pytest.raises(ValueError, match="2 features, but max_features_per_split is 1"):
        OptimalTreeClassifier(max_features_per_split=1, init=clf.tree_).fit(X, y)


def test_trees_that_a_proof_came_upon_obey():
    """Routes prove that no tree with the limit is better, and offer such trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X.sum(axis=1) > 0).astype(int)
    budget = {"max_iter": 5, "node_limit": 5000, "time_limit": None}
    clf = OptimalTreeClassifier(max_features_per_split=2, random_state=0, **budget)
    clf.fit(X, y)
    assert n_used(clf.tree_.coef) == 2
    assert clf.certificate_.objective_proved_by == ROUTES
    assert clf.status_ == "optimal"
    assert verify(clf.certificate_, clf.tree_, X, y).ok
