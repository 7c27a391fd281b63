"""Bounds and proofs that verify asks a solver about once more."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from _data import MIP_SOLVERS
from _sealed import resealed
from _verified import honest, names_of_wrong
from miptree import ObliqueTree, OptimalTreeClassifier, verify
from miptree.data.problem import Problem
from miptree.mip.solvers import Result
from miptree.objective import Svm1Objective
from miptree.objective.bounds import Bound
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree

# ------------------------------------------ bounds claimed for a class too large


def forged_margin():
    """No tree has fewer than 1 error at margin .2, but one at margin .1 has."""
    X, y = np.array([[0.0], [0.3], [1.0]]), np.array([0, 1, 1])
    heap = HeapTree(np.array([[1 / 0.65]]), np.array([1.0]), np.array([0, 1]))
    problem = Problem.from_data(X, y, 2)
    return X, y, heap, problem, Svm1Objective(100, 1, 0.2), {"margin": 0.1}


def forged_features(max_features):
    """A split of one feature has an error, one of two features has none."""
    X = np.array([[0, 0.5], [0.5, 1], [0.5, 0], [1, 0.5]])
    y = np.array([0, 0, 1, 1])
    heap = HeapTree(np.array([[4, 0]]) / 3, np.array([1 / 3]), np.array([0, 1]))
    problem = replace(Problem.from_data(X, y, 2), max_features=1)
    change = {"max_features": max_features}
    return X, y, heap, problem, Svm1Objective(100, 1, 0.01), change


@pytest.mark.parametrize(
    "case", [forged_margin(), forged_features(None), forged_features(2)]
)
def test_a_solver_tells_a_bound_that_is_claimed_for_a_larger_class(case):
    """Nothing else does: documented in ``verify``."""
    X, y, heap, problem, objective, change = case
    tree = ObliqueTree.from_heap(heap)
    proved = Bound(1.0, "a solver")
    certificate = honest(problem, tree, 1, objective, errors=proved)
    assert verify(certificate, tree, X, y, resolve_with="highs").ok
    found = resealed(certificate, **change)
    assert verify(found, tree, X, y).ok
    again = verify(found, tree, X, y, resolve_with="highs")
    assert names_of_wrong(again) == {"errors bound again"}
    assert "below the 1 claimed" in str(again)


def test_a_penalty_that_costs_the_tree_nothing_is_not_told():
    """Documented in ``verify``: a constant tree has no 1-norm."""
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 0])
    problem = Problem.from_data(X, y, 2)
    tree = problem.to_user(constant_tree(problem, 1)).prune(X)
    certificate = honest(problem, tree, 1)
    assert verify(resealed(certificate, l1_penalty=5.0), tree, X, y).ok


def test_a_forged_limit_of_features_is_told_and_not_solved():
    X = np.array([[0, 0.5], [0.5, 1], [0.5, 0], [1, 0.5]])
    y, problem = np.array([0, 0, 1, 1]), Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    heap = HeapTree(np.array([[1.0, -1.0]]), np.zeros(1), np.array([0, 1]))
    tree = ObliqueTree.from_heap(heap)
    certificate = honest(problem, tree, 1, whole=Bound(0.1, "a solver"))
    sparser = resealed(certificate, max_features=1)
    found = verify(sparser, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"features"}


# ------------------------------------------------------------ proofs, once more


@pytest.fixture(scope="module")
def small():
    """Ten rows on a line, noisy; one split gets two wrong and the tree gets four."""
    X = np.arange(10.0)[:, None]
    y = np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    heap = HeapTree(np.array([[0.1]]), np.array([0.15]), np.array([0, 1]))
    return X, y, ObliqueTree.from_heap(heap), Problem.from_data(X, y, 2)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_resolving_confirms_true_bounds(small, solver):
    X, y, tree, problem = small
    certificate = honest(
        problem, tree, 1, errors=Bound(2.0, "a solver"), whole=Bound(2.1, "a solver")
    )
    found = verify(certificate, tree, X, y, resolve_with=solver)
    assert found.ok, str(found)
    assert [check.name for check in found.checks[-2:]] == [
        "errors bound again",
        "objective bound again",
    ]


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_resolving_refutes_false_bounds(small, solver):
    """Bounds that agree with everything but the truth."""
    X, y, tree, problem = small
    false = Bound(3.0, "a solver")
    certificate = honest(problem, tree, 1, errors=false, whole=false)
    assert certificate.cost == 3
    assert verify(certificate, tree, X, y).ok
    found = verify(certificate, tree, X, y, resolve_with=solver)
    assert names_of_wrong(found) == {"errors bound again", "objective bound again"}
    assert "below the 3 claimed" in str(found)


def test_resolving_catches_a_larger_depth(small):
    """No tree of depth 1 gets below 2; one of depth 3 does."""
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    deeper = resealed(certificate, depth=3)
    assert verify(deeper, tree, X, y).ok
    found = verify(deeper, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"errors bound again"}


def test_a_solver_that_finds_no_tree_at_all_confirms_nothing(small, monkeypatch):
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    nothing = Result("infeasible", None, np.inf, np.inf, 0, 0.0, "Liar 1.0")
    monkeypatch.setattr("miptree.certificate.resolve._solve", lambda *_: nothing)
    found = verify(certificate, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"errors bound again"}
    assert "claims that there is no tree at all; this is one" in str(found)


def test_a_depth_beyond_reason_is_not_solved(small):
    X, y, tree, problem = small
    certificate = honest(problem, tree, 1, errors=Bound(2.0, "a solver"))
    absurd = resealed(certificate, depth=10**9)
    found = verify(absurd, tree, X, y, resolve_with="highs")
    assert names_of_wrong(found) == {"proofs again"}


def test_resolving_without_time_confirms_nothing():
    X, y = load_iris(return_X_y=True)
    clf = OptimalTreeClassifier(solver="search", max_iter=2, random_state=0).fit(X, y)
    problem = Problem.from_data(X, y, 3)
    certificate = honest(problem, clf.tree_, 2, errors=Bound(1.0, "a solver"))
    found = verify(
        certificate, clf.tree_, X, y, resolve_with="highs", resolve_seconds=0
    )
    assert "neither confirmed nor refuted" in str(found)
    assert not found.ok


def test_a_real_proof_is_confirmed_by_another_solver():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(14, 2)), 1)
    y = (X[:, 0] > 0).astype(int) ^ (rng.random(14) < 0.3)
    clf = OptimalTreeClassifier(
        max_depth=1, slack_penalty=1000, l1_penalty=0.1, time_limit=None, random_state=0
    ).fit(X, y)
    assert clf.certificate_.objective_optimal
    assert clf.certificate_.objective_proved_by != clf.certificate_.any_tree_proved_by
    found = verify(clf.certificate_, clf.tree_, X, y, resolve_with=MIP_SOLVERS[-1])
    assert found.ok, str(found)
    assert "again" in found.checks[-1].name
