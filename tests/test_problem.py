from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.tree import HeapTree, ObliqueTree

OBJECTIVE = Svm1Objective(slack_penalty=100, l1_penalty=10, margin=0.01)


def grid_data(seed, n=60, d=3, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    return X, rng.integers(n_classes, size=n), rng.integers(0, 4, size=n).astype(float)


def as_table(problem):
    rows = np.column_stack([problem.X, problem.y, problem.weight])
    return rows[np.lexsort(rows.T)]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_merging_adds_the_weights_of_identical_rows(seed):
    X, y, weight = grid_data(seed)
    problem = Problem.from_data(X, y, 3, weight)
    expected: dict[tuple, float] = {}
    for row, label, w in zip(X, y, weight, strict=True):
        if w > 0:
            key = (*row, label)
            expected[key] = expected.get(key, 0.0) + w
    table = {tuple(row[:-1]): row[-1] for row in as_table(problem)}
    assert table == expected
    assert problem.count.sum() == (weight > 0).sum()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_weights_repeated_rows_and_row_order_give_literally_one_problem(seed):
    X, y, weight = grid_data(seed)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    shuffled = np.random.default_rng(seed).permutation(repeated)
    one = Problem.from_data(X, y, 3, weight)
    two = Problem.from_data(X[shuffled], y[shuffled], 3)
    for name in ("X", "y", "weight", "offset", "scale", "scaled"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_a_hash_collision_is_noticed(monkeypatch):
    X, y, weight = grid_data(0)
    expected = as_table(Problem.from_data(X, y, 3, weight))
    zeros = np.zeros(4, dtype=np.uint64)

    class SameForAll:
        def integers(self, *args, **kwargs):
            return zeros

    monkeypatch.setattr(np.random, "default_rng", lambda seed: SameForAll())
    assert np.array_equal(as_table(Problem.from_data(X, y, 3, weight)), expected)


def test_negative_zero_is_zero():
    X = np.array([[0.0], [-0.0], [1.0]])
    assert Problem.from_data(X, np.array([0, 0, 1]), 2).n_rows == 2


def test_same_x_groups_rows_of_different_classes():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    problem = Problem.from_data(X, np.array([0, 1, 0]), 2)
    twins = (problem.X == [0.0, 1.0]).all(axis=1)
    assert twins.sum() == 2
    assert len(set(problem.same_x[twins])) == 1
    assert len(set(problem.same_x)) == 2


def test_constant_features_scale_to_zero():
    X = np.array([[5.0, 1.0], [5.0, 3.0]])
    problem = Problem.from_data(X, np.array([0, 1]), 2)
    assert problem.scaled[:, 0].tolist() == [0.0, 0.0]
    assert sorted(problem.scaled[:, 1]) == [0.0, 1.0]


def test_overflowing_range_names_the_feature():
    X = np.array([[0.0, -1.5e308], [1.0, 1.5e308]])
    with pytest.raises(ValueError, match=r"Feature 1 ranges from -1\.5e\+308"):
        Problem.from_data(X, np.array([0, 1]), 2)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1.0, 1e-6, 1e9]),
    st.sampled_from([0.0, 1.0, 1e7]),
)
@settings(max_examples=40, deadline=None)
def test_trees_keep_routing_and_objective_between_units(seed, unit, shift):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) * unit + shift * unit
    problem = Problem.from_data(X, rng.integers(3, size=40), 3)
    heap = problem.into_box(
        HeapTree(rng.normal(size=(3, 3)), rng.normal(size=3), np.array([0, 1, 2, 0]))
    )
    user = problem.to_user(heap)
    scaled = ObliqueTree.from_heap(heap)
    assert (user.predict(problem.X) == scaled.predict(problem.scaled)).all()
    there = OBJECTIVE.evaluate(problem, user)
    unit = np.zeros(3), np.ones(3)
    in_scaled_units = replace(problem, X=problem.scaled, offset=unit[0], scale=unit[1])
    here = OBJECTIVE.evaluate(in_scaled_units, scaled)
    assert there.errors == here.errors
    assert there.objective == pytest.approx(here.objective, rel=1e-5)
    again = problem.to_scaled(user, 2)
    assert np.allclose(again.coef, heap.coef, rtol=1e-6, atol=1e-9)


def objective_by_loop(problem, heap, objective):
    """(1a) written out, in scaled units."""
    total = objective.l1_penalty * np.abs(heap.coef).sum()
    for x, y, w in zip(problem.scaled, problem.y, problem.weight, strict=True):
        node = 0
        while node < len(heap.threshold):
            score = x @ heap.coef[node] - heap.threshold[node]
            missing = max(0.0, objective.margin - abs(score))
            total += objective.slack_penalty * w * missing
            node = 2 * node + (1 if score <= 0 else 2)
        total += w * (heap.label[node - len(heap.threshold)] != y)
    return total


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_evaluate_is_equation_1a(seed, depth):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    problem = Problem.from_data(X, y, 3, rng.exponential(size=50))
    n_branch = 2**depth - 1
    heap = problem.into_box(
        HeapTree(
            rng.normal(size=(n_branch, 2)),
            rng.normal(size=n_branch) * 0.3,
            rng.integers(3, size=n_branch + 1),
        )
    )
    score = OBJECTIVE.evaluate(problem, problem.to_user(heap))
    expected = objective_by_loop(problem, heap, OBJECTIVE)
    assert score.objective == pytest.approx(expected, rel=1e-9)


def test_a_tree_outside_the_box_counts_as_its_multiple_inside():
    rng = np.random.default_rng(0)
    problem = Problem.from_data(rng.normal(size=(30, 2)), rng.integers(2, size=30), 2)
    heap = HeapTree(np.array([[3.0, -2.0]]), np.array([0.5]), np.array([0, 1]))
    outside = OBJECTIVE.evaluate(problem, problem.to_user(heap))
    inside = OBJECTIVE.evaluate(problem, problem.to_user(problem.into_box(heap)))
    assert outside.objective == pytest.approx(inside.objective, rel=1e-12)


def test_class_cost_takes_the_place_of_weights():
    X = np.array([[0.0], [0.0], [1.0]])
    cost = np.array([[0.0, 5.0], [0.0, 5.0], [2.0, 0.0]])
    problem = Problem.from_data(X, np.array([0, 0, 1]), 2, class_cost=cost)
    assert problem.error_cost(np.ones(problem.n_rows, dtype=int)).sum() == 10.0
    assert problem.error_cost(np.zeros(problem.n_rows, dtype=int)).sum() == 2.0


@pytest.mark.parametrize(
    ("penalties", "message"),
    [
        ((1.0, 0.1, 0.01), "Set slack_penalty to 100 or more"),
        ((1e6, 0.1, 1e-5), "margin must lie in"),
        ((1000.0, -1.0, 0.01), "l1_penalty must be finite and >= 0"),
        ((np.inf, 0.1, 0.01), "slack_penalty must be finite"),
        ((100.0, 0.1, 2.0), "margin must lie in"),
    ],
)
def test_objective_refuses_what_lets_a_mip_cheat(penalties, message):
    with pytest.raises(ValueError, match=message):
        Svm1Objective(*penalties)
