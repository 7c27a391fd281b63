"""Subset splits: in the MIPs against enumeration, in the search, in objective (1a)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import BruteForce
from _data import close, examples, objectives, solve
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.formulations import (
    FORMULATIONS,
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.mip.formulations.categorical import largest_coefficient
from miptree.mip.node_lp import polish
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import tree_value
from miptree.objective.tolerance import Leeway
from miptree.search import search
from miptree.tree import HeapTree

OBJECTIVE = Svm1Objective(100, 1, 0.01)


def mixed_problem(seed, n_rows=7, n_open=1, sizes=(3, 2), n_classes=2, weights=False):
    """Some numbers and some categorical features, with identical rows."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-2, 3, (n_rows, n_open)).astype(float)
    codes = [rng.integers(size, size=n_rows) for size in sizes]
    values = [c[:, None] == np.arange(s) for c, s in zip(codes, sizes, strict=True)]
    X = np.column_stack([numbers, *values]).astype(float)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    weight = rng.uniform(0.5, 3.0, n_rows) if weights else np.ones(n_rows)
    feature = np.repeat(np.arange(len(sizes)), sizes)
    return Problem.from_data(X, y, n_classes, weight, value_feature=feature)


mixed = st.builds(
    mixed_problem,
    seed=st.integers(0, 2**20),
    n_rows=st.integers(4, 7),
    n_open=st.sampled_from([1, 0]),
    sizes=st.sampled_from([(3, 2), (4,), (2, 2)]),
    n_classes=st.integers(2, 3),
    weights=st.booleans(),
)


def random_tree(problem, depth, rng):
    """Random hyperplanes and subset splits with random classes."""
    n_branch = 2**depth - 1
    coef = np.zeros((n_branch, problem.n_features))
    coef[:, : problem.n_open] = rng.normal(size=(n_branch, problem.n_open))
    threshold = rng.normal(scale=0.3, size=n_branch)
    for node in range(n_branch):
        if not problem.n_open or rng.random() < 0.5:
            place = np.flatnonzero(
                problem.value_feature == rng.integers(problem.n_categorical)
            )
            left = rng.permutation(place)[: rng.integers(1, len(place))]
            coef[node], threshold[node] = 0.0, -1.0
            coef[node, problem.n_open + left] = -2.0
    label = rng.integers(problem.n_classes, size=n_branch + 1)
    return problem.into_box(HeapTree(coef, threshold, label))


# ------------------------------------------------------------------ proved optima


def assert_proves_the_optimum(problem, objective, depth):
    best = BruteForce(problem, objective, strict=False).optimum(depth)
    for formulation in (PaperFormulation, CompactFormulation):
        result = solve(formulation(problem, objective, depth).model)
        assert result.objective == pytest.approx(best, abs=close(best))
    for formulation in (FlowFormulation, CountFormulation):
        result = solve(formulation(problem, objective, depth).model)
        assert result.objective <= best + close(best)


@examples(12)
@given(problem=mixed, objective=objectives)
def test_proved_optimum_of_depth_one(problem, objective):
    assert_proves_the_optimum(problem, objective, 1)


@examples(8)
@given(problem=mixed, objective=objectives)
def test_proved_optimum_of_depth_two(problem, objective):
    assert_proves_the_optimum(problem, objective, 2)


def test_enumeration_of_subsets():
    # Values 0 and 2 against 1 and 3: one subset split, for nothing.
    values = np.eye(4)[[0, 1, 2, 3]]
    y = np.array([0, 1, 0, 1])
    problem = Problem.from_data(values, y, 2, value_feature=np.zeros(4, dtype=int))
    assert BruteForce(problem, OBJECTIVE, strict=True).optimum(1) == 0
    plain = Problem.from_data(values, y, 2)
    assert BruteForce(plain, OBJECTIVE, strict=True).optimum(1) > 0.01
    assert_proves_the_optimum(problem, OBJECTIVE, 1)


@examples(8)
@given(problem=mixed, objective=objectives, formulation=st.sampled_from(["compact"]))
def test_trained_tree_is_honest(problem, objective, formulation):
    plan = Plan(objective, 2, formulation, max_iter=10)
    trained = train(problem, plan)
    best = BruteForce(problem, objective, strict=True).optimum(2)
    found = trained.certificate
    assert found.objective_bound <= best + 1e-6 * max(1.0, best)
    assert found.objective >= best - 1e-6 * max(1.0, best)
    if trained.status == "optimal":
        assert Leeway().meets(found.objective, best)


# ---------------------------------------------------------------- trees in and out


@pytest.mark.parametrize("name", [*FORMULATIONS, "count"])
@examples(25)
@given(problem=mixed, depth=st.sampled_from([1, 2]), seed=st.integers(0, 999))
def test_trees_go_in_and_out(name, problem, depth, seed):
    heap = random_tree(problem, depth, np.random.default_rng(seed))
    formulation = {**FORMULATIONS, "count": CountFormulation}[name](
        problem, OBJECTIVE, depth
    )
    x = formulation.encode(heap)
    assert max(formulation.model.violation(x).values()) < 1e-9
    back = formulation.decode(x)
    before, after = (t.label[t.leaf_of(problem.scaled)] for t in (heap, back))
    assert np.array_equal(before, after)
    value = formulation.model.objective(x)
    assert value <= tree_value(problem, OBJECTIVE, heap) + 1e-9
    if name == "paper":
        assert value == pytest.approx(tree_value(problem, OBJECTIVE, heap), abs=1e-9)


@examples(40)
@given(problem=mixed, depth=st.sampled_from([1, 2]), seed=st.integers(0, 999))
def test_units_and_polish_keep_the_routing(problem, depth, seed):
    heap = random_tree(problem, depth, np.random.default_rng(seed))
    tree = problem.to_user(heap)
    predicted = heap.label[heap.leaf_of(problem.scaled)]
    assert np.array_equal(tree.predict(problem.X), predicted)
    value = tree_value(problem, OBJECTIVE, heap)
    counted = OBJECTIVE.evaluate(problem, tree).objective
    assert counted == pytest.approx(value, abs=1e-9)
    polished = polish(problem, OBJECTIVE, heap)
    assert tree_value(problem, OBJECTIVE, polished) <= value + 1e-9
    again = problem.to_scaled(tree, depth)
    assert np.array_equal(again.label[again.leaf_of(problem.scaled)], predicted)


def test_8e_is_a_bound_of_the_data():
    """Two points .001 apart need h = 20 at margin .01, which the printed 1 forbids."""
    X = np.array([[0.5, 1, 0], [0.501, 1, 0], [0.0, 0, 1], [1.0, 0, 1]])
    y, feature = np.array([0, 1, 0, 1]), np.zeros(2, dtype=int)
    problem = Problem.from_data(X, y, 2, value_feature=feature)
    objective = Svm1Objective(100, 0.001, 0.01)
    assert_proves_the_optimum(problem, objective, 1)
    narrow = Problem.from_data(X[:2], y[:2], 2, value_feature=feature)
    assert largest_coefficient(narrow) >= 2  # scaled to [0, 1], from -1 to 1
    for p in (problem, narrow):
        model = PaperFormulation(p, objective, 1).model
        rows = model.blocks["(8e)"]
        assert model.row_upper[rows] == pytest.approx(largest_coefficient(p))


def test_native_has_fewer_feature_columns_than_onehot():
    problem = mixed_problem(0, 20, 0, (3, 3, 2, 3, 4, 2))
    onehot = Problem.from_data(problem.X, problem.y, 2)
    native = CompactFormulation(problem, OBJECTIVE, 2).model.variables
    wide = CompactFormulation(onehot, OBJECTIVE, 2).model.variables
    assert native["h+"].size + native["h_c"].size <= wide["h+"].size / 2


# -------------------------------------------------------------------------- search


@pytest.mark.parametrize("n_classes", [2, 3])
def test_search_finds_the_best_subsets(n_classes):
    for seed in range(6):
        problem = mixed_problem(seed, 8, 1, (3, 2), n_classes)
        best = BruteForce(problem, OBJECTIVE, strict=True).optimum(1)
        found = search(problem, OBJECTIVE, 1, clock=Clock(max_iter=40))
        assert found.value == pytest.approx(best, abs=1e-6)


def test_search_without_a_single_number():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(80, 3))
    X = np.hstack([codes[:, [j]] == np.arange(4) for j in range(3)]).astype(float)
    y = ((codes[:, 0] < 2) ^ np.isin(codes[:, 1], [1, 3])).astype(int)
    feature = np.repeat(np.arange(3), 4)
    problem = Problem.from_data(X, y, 2, value_feature=feature)
    for objective in (None, OBJECTIVE):
        found = search(problem, objective, 2, clock=Clock(max_iter=200))
        assert found.value == 0
