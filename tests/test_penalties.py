"""Penalties that suit a table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from _data import examples, random_problem
from miptree import OptimalTreeClassifier
from miptree.data.problem import Problem
from miptree.data.quantiles import weighted_quantile
from miptree.objective import SMALLEST_MARGIN
from miptree.objective.penalties import LARGEST_MARGIN, suited_margin, suited_objective


def uniform(n_rows, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, n_features))
    return Problem.from_data(X, rng.integers(2, size=n_rows), 2)


@given(
    numbers=st.lists(st.integers(-5, 5), min_size=1, max_size=12),
    level=st.sampled_from([0.05, 0.25, 0.5, 0.95]),
    data=st.data(),
)
@examples(200)
def test_a_weighted_quantile_is_that_of_copied_numbers(numbers, level, data):
    n = len(numbers)
    times = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    copied = np.repeat(numbers, times).astype(float)
    expected = np.quantile(copied, level, method="averaged_inverted_cdf")
    found = weighted_quantile(np.array(numbers, float), np.array(times, float), level)
    assert found == pytest.approx(expected)


def test_few_rows_that_fill_their_range_have_the_largest_margin():
    problem = Problem.from_data(np.array([[0.0], [1.0], [1.0]]), np.array([0, 1, 1]), 2)
    assert suited_margin(problem) == LARGEST_MARGIN


def test_the_margin_shrinks_like_a_standard_error():
    few, many = suited_margin(uniform(200)), suited_margin(uniform(20_000))
    assert few / many == pytest.approx(10, rel=0.1)


def test_the_margin_of_a_sample_is_that_of_all_rows():
    sample, all_rows = uniform(1000), uniform(9000)
    assert suited_margin(sample, 9000.0) == pytest.approx(
        suited_margin(all_rows), rel=0.1
    )


def test_the_margin_shrinks_with_the_tails():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(150, 2)), rng.integers(2, size=150)
    plain = suited_margin(Problem.from_data(X, y, 2))
    X[0] = 100.0
    assert suited_margin(Problem.from_data(X, y, 2)) == pytest.approx(
        plain / 100, rel=0.1
    )
    X[0] = 1e6
    assert suited_margin(Problem.from_data(X, y, 2)) == SMALLEST_MARGIN


@given(seed=st.integers(0, 2**20))
@examples(30)
def test_weights_count_as_copies(seed):
    problem = random_problem(seed, 12, 2, 2, "gauss", "one")
    times = np.random.default_rng(seed).integers(1, 40, size=problem.n_rows)
    weighted = Problem.from_data(problem.X, problem.y, 2, times.astype(float))
    copied = Problem.from_data(
        np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times), 2
    )
    assert suited_margin(weighted) == suited_margin(copied)


@pytest.mark.parametrize(
    ("slack", "margin", "expected"),
    [
        ("auto", 0.2, (5.0, 0.2)),
        (1000.0, 0.02, (1000.0, 0.02)),
        (25.0, "auto", (25.0, 0.04)),
        (1000.0, "auto", (1000.0, 0.027)),
        ("auto", "auto", (1 / 0.027, 0.027)),
    ],
)
def test_what_is_left_open_fits_what_is_given(slack, margin, expected):
    found = suited_objective(slack, 1.0, margin, uniform(500))
    assert (found.slack_penalty, found.margin) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("slack", [0, 1.0, 19.0])
def test_a_slack_penalty_too_small_for_any_margin_is_refused(slack):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="must be at least 1"):
        OptimalTreeClassifier(slack_penalty=slack).fit(X, y)


def test_costs_of_errors_are_within_the_price_of_a_point_on_a_hyperplane():
    X, y = load_iris(return_X_y=True)
    costs = 7.0 * (1 - np.eye(3))
    costs[0, 1] = 3.0  # else they are weights of the rows
    clf = OptimalTreeClassifier(
        cost_matrix=costs, solver="search", max_iter=5, random_state=0
    ).fit(X, y)
    found = clf.certificate_
    assert found.slack_penalty * found.margin == pytest.approx(7.0)


def test_outliers_do_not_make_the_tree_a_constant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    X[:3] = [[200.0, 0.0], [0.0, 200.0], [-200.0, -200.0]]
    clf = OptimalTreeClassifier(solver="search", max_iter=60, random_state=0)
    assert clf.fit(X, y).score(X, y) > 0.9
    clf.set_params(margin=0.01)
    assert clf.fit(X, y).score(X, y) < 0.7
