"""What counts as proved: a leeway that hides no error, and words that say how much."""

from dataclasses import replace

import numpy as np
import pytest

from miptree import OptimalTreeClassifier, verify, verify_model
from miptree.data.problem import Problem
from miptree.objective.tolerance import Leeway, cost_meets, percent

PENALTIES = {"slack_penalty": 100.0, "l1_penalty": 0.1, "margin": 0.01}


def two_rows_alike(heavy):
    """A column that one split tells apart, and two equal rows of different classes."""
    X = np.r_[np.arange(40.0), 0.0, 0.0][:, None]
    y = np.r_[np.arange(40) >= 20, False, True].astype(int)
    return X, y, np.r_[np.ones(40), heavy, heavy]


@pytest.mark.parametrize("heavy", [1e8, 3e10])
@pytest.mark.parametrize("solver", ["highs", "search"])
def test_errors_that_all_trees_make_hide_no_others(heavy, solver):
    X, y, weight = two_rows_alike(heavy)
    clf = OptimalTreeClassifier(
        max_depth=1, solver=solver, max_iter=50, node_limit=20, time_limit=None,
        random_state=0, **PENALTIES,
    ).fit(X, y, weight)  # fmt: skip
    found = clf.certificate_
    assert found.errors == 1
    assert found.objective - heavy < 0.5
    assert found.cheapest_error == 1.0
    assert verify_model(clf, X, y, weight).ok
    if found.objective_optimal:
        assert found.objective_bound > heavy + 0.05
    else:
        assert clf.status_ != "optimal"
        assert "not proved optimal" in str(found)


@pytest.mark.parametrize("avoidable", [1e-7, 0.3, 20.0, 4e5, 1e9])
@pytest.mark.parametrize("unavoidable", [0.0, 3.0, 1e10])
@pytest.mark.parametrize("cheapest", [1e-6, 1.0, 50.0])
def test_a_leeway_is_small_beside_all_that_can_be_avoided(
    avoidable, unavoidable, cheapest
):
    leeway, value = Leeway(unavoidable, cheapest), unavoidable + avoidable
    assert not leeway.meets(value, value - cheapest)
    if unavoidable < 1e6:
        assert leeway.meets(value, value - 0.4 * leeway.below(value))
        assert not leeway.meets(value, value - 2e-3 * avoidable)
    assert leeway.meets(value, value)
    assert leeway.below(value) <= 1e-6 * max(1.1 * avoidable, cheapest)


def test_what_all_trees_cost_and_no_more_is_met_exactly():
    leeway = Leeway(4e6, 1.0)
    assert not leeway.meets(4e6 + 3, 4e6)
    assert leeway.meets(4e6, 4e6)
    assert leeway.gap(4e6 + 3, 4e6) == pytest.approx(7.5e-7)


def test_rounding_of_costs_hides_no_error():
    assert not cost_meets(3e10 + 20, 3e10)
    assert not cost_meets(1e12 + 1, 1e12)
    assert cost_meets(3e10, 3e10 * (1 - 1e-12))
    assert not cost_meets(3e10, 3e10 * (1 - 1e-12), cheapest=0.01)


def test_the_cheapest_error_is_that_of_rows_and_costs():
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([0, 1, 1])
    assert Problem.from_data(X, y, 2).cheapest_error == 1.0
    weight = np.array([5.0, 0.5, 0.25])  # equal rows are one
    assert Problem.from_data(X, y, 2, weight).cheapest_error == 0.75
    costs = np.array([[0.0, 4.0], [3.0, 1.0], [3.0, 1.0]])
    assert Problem.from_data(X, y, 2, class_cost=costs).cheapest_error == 4.0
    noise = np.array([[0.0, 4.0], [0.3, 0.1 + 0.2], [0.3, 0.1 + 0.2]])
    assert Problem.from_data(X, y, 2, class_cost=noise).cheapest_error == 4.0
    alike = np.ones((3, 2))
    assert Problem.from_data(X, y, 2, class_cost=alike).cheapest_error == 0.0


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (0.0, "costs less, by"),
        (3e-16, "costs less, by"),
        (2e-13, "costs less by more than a trillionth, by"),
        (4e-10, "costs less by more than a billionth, by"),
        (4.9e-7, "costs less by more than a millionth, by"),
    ],
)
def test_certificates_say_by_how_much_a_tree_may_be_better(left, words):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    known = clf.fit(X, [0, 1, 0, 1]).certificate_
    found = replace(
        known, errors_bound=0.0, objective_bound=known.objective * (1 - left)
    )
    assert found.objective_optimal
    assert f"proved optimal: no tree of depth 1 {words}" in str(found)
    more = words.removeprefix("costs less").removesuffix(", by")
    merit = f"has a total cost lower{more}" if more else "has a lower total cost"
    assert found.summary == f"Proved: no tree of depth 1 {merit}."


def test_an_ordinary_proof_ends_and_says_what_it_proves():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    found = clf.fit(X, [0, 1, 0, 1]).certificate_
    assert clf.status_ == "optimal"
    assert found.objective_bound < found.objective
    assert "costs less by more than a millionth, by a proof" in str(found)


def test_small_gaps_are_not_rounded_to_a_tenth_of_a_percent():
    assert percent(2e-7) == "0.00002 %"
    assert percent(1.1e-5) == "0.002 %"
    assert percent(6e-4) == "0.1 %"


def test_a_cheaper_error_than_there_is_is_found():
    X, y, weight = two_rows_alike(100.0)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=5, time_limit=None, **PENALTIES
    ).fit(X, y, weight)
    for name, value in (("cheapest_error", 100.0), ("error_price", 1000.0)):
        changed = replace(clf.certificate_, **{name: value}).signed()
        assert not verify(changed, clf.tree_, X, y, weight).ok
