import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip import node_lp as polish_module
from miptree.mip.node_lp import drop_splits, polish, refit_nodes
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import leaf_cost, relabel, tree_value
from miptree.tree import HeapTree

OBJECTIVE = Svm1Objective(slack_penalty=1000, l1_penalty=0.1, margin=0.01)


def random_problem(seed, n=60, d=2, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.integers(n_classes, size=n)
    return Problem.from_data(X, y, n_classes, rng.exponential(size=n))


def random_heap(seed, problem, depth):
    rng = np.random.default_rng(seed)
    n_branch = 2**depth - 1
    heap = HeapTree(
        rng.normal(size=(n_branch, problem.n_features)),
        rng.normal(size=n_branch) * 0.3,
        rng.integers(problem.n_classes, size=n_branch + 1),
    )
    return problem.into_box(heap)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_no_step_makes_a_tree_worse(seed, depth):
    problem = random_problem(seed)
    heap = random_heap(seed, problem, depth)
    before = tree_value(problem, OBJECTIVE, heap)
    relabelled = relabel(problem, heap)
    assert tree_value(problem, OBJECTIVE, relabelled) <= before + 1e-9
    dropped = drop_splits(problem, OBJECTIVE, heap)
    assert tree_value(problem, OBJECTIVE, dropped) <= before + 1e-9
    polished = polish(problem, OBJECTIVE, heap)
    assert tree_value(problem, OBJECTIVE, polished) <= before + 1e-9
    score = problem.scaled @ polished.coef.T - polished.threshold
    assert np.abs(score).max() <= 1 + 1e-9


def node_optimum(problem, heap):
    """The root's LP with every row at once, by SciPy."""
    X, weight = problem.scaled, problem.weight
    n, d = X.shape
    sign = np.where(X @ heap.coef[0] <= heap.threshold[0], 1.0, -1.0)[:, None]
    cost = np.concatenate(
        [np.full(2 * d, OBJECTIVE.l1_penalty), [0], OBJECTIVE.slack_penalty * weight]
    )
    ahead = np.hstack([-sign * X, sign * X, sign, np.eye(n)])
    score = np.hstack([-X, X, np.ones((n, 1)), np.zeros((n, n))])
    A = np.vstack([-ahead, score, -score])
    b = np.concatenate([np.full(n, -OBJECTIVE.margin), np.ones(2 * n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, OBJECTIVE.margin)] * n
    return linprog(cost, A, b, bounds=bounds).fun


@pytest.mark.parametrize("seed", range(6))
def test_node_lp_with_generated_rows_is_the_whole_lp(seed, monkeypatch):
    monkeypatch.setattr(polish_module, "_WORKING_ROWS", 5)
    problem = random_problem(seed, n=80, d=3)
    heap = relabel(problem, random_heap(seed, problem, 1))
    refitted = refit_nodes(problem, OBJECTIVE, heap)
    score = OBJECTIVE.evaluate(problem, problem.to_user(refitted))
    expected = node_optimum(problem, heap)
    found = OBJECTIVE.slack_penalty * score.slack + OBJECTIVE.l1_penalty * score.l1
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_split_without_use_is_dropped():
    X = np.linspace(0, 1, 20)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    problem = Problem.from_data(X, y, 2)
    # The root separates; below it a split that only costs slack and norm.
    heap = HeapTree(
        np.array([[1.0], [1.0], [0.0]]),
        np.array([0.5, 0.2, 1.0]),
        np.array([0, 0, 1, 1]),
    )
    polished = polish(problem, OBJECTIVE, heap)
    assert not polished.coef[1:].any()
    assert tree_value(problem, OBJECTIVE, polished) < 0.5


def test_leaf_cost_with_class_costs_equals_the_plain_one():
    problem = random_problem(0)
    leaf = random_heap(0, problem, 2).leaf_of(problem.scaled)
    plain = leaf_cost(problem, leaf, 4)
    costs = problem.weight[:, None] * (
        np.arange(problem.n_classes) != problem.y[:, None]
    )
    with_costs = Problem(
        problem.X,
        problem.y,
        problem.weight,
        problem.count,
        problem.n_classes,
        problem.offset,
        problem.scale,
        costs,
    )
    assert leaf_cost(with_costs, leaf, 4) == pytest.approx(plain)


def test_no_time_left_returns_a_tree_all_the_same():
    problem = random_problem(1)
    heap = random_heap(1, problem, 2)
    polished = polish(problem, OBJECTIVE, heap, Clock(0.0))
    before = tree_value(problem, OBJECTIVE, heap)
    assert tree_value(problem, OBJECTIVE, polished) <= before + 1e-9


def test_a_stop_ends_the_polish_between_two_lps(node_lps):
    problem = random_problem(1)
    heap = random_heap(1, problem, 3)
    polished = polish(
        problem, OBJECTIVE, heap, Clock().heeding(lambda: len(node_lps) >= 2)
    )
    assert len(node_lps) == 2
    before = tree_value(problem, OBJECTIVE, heap)
    assert tree_value(problem, OBJECTIVE, polished) <= before + 1e-9


def test_a_clock_can_go_to_another_process():
    there = pickle.loads(pickle.dumps(Clock(1e6).share(0.5)))
    assert 0 < there.limit < 1e6
    assert not there.is_over


def test_a_stop_ends_a_node_between_two_of_its_lps(monkeypatch):
    """Those with the rows that the one before violated."""
    monkeypatch.setattr(polish_module, "_WORKING_ROWS", 3)
    problem = random_problem(1)
    heap, built = random_heap(1, problem, 1), []
    build = polish_module._NodeLP._build

    def noted(self, *args):
        built.append(self)
        return build(self, *args)

    monkeypatch.setattr(polish_module._NodeLP, "_build", noted)
    refit_nodes(problem, OBJECTIVE, heap)
    assert len(built) > 1
    built.clear()
    same = refit_nodes(problem, OBJECTIVE, heap, Clock().heeding(lambda: bool(built)))
    assert len(built) == 1
    assert np.array_equal(same.coef, heap.coef)


def test_a_share_of_a_clock_heeds_the_same_stop():
    asked = []
    clock = Clock(60.0, time_source=lambda: 7.0)
    clock = clock.heeding(lambda: bool(asked)).share(0.5)
    assert not clock.is_over
    assert clock.limit == 30.0
    asked.append(True)
    assert clock.is_over
