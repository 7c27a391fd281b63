"""The kernels against plain NumPy."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _data import Case, cases, examples, random_heap, random_problem
from miptree.data.problem import Problem
from miptree.objective.leaf_labels import leaf_cost, tree_value
from miptree.search.data import SearchData
from miptree.search.measure import LONG, Measure, Svm1, ZeroOne
from miptree.search.node_mip import optimise_node
from miptree.search.node_refit import refit_node, reweighted_logistic
from miptree.search.rng import below, random_state, shuffle, uniform
from miptree.search.routing import care_points, points_at, relabel, score_tree
from miptree.search.simplify import simplify
from miptree.search.soft_trees import soft_trees
from miptree.tree import HeapTree, ObliqueTree


def with_class_cost(problem: Problem, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    costs = rng.choice([0.0, 1.0, 2.0, 5.0], (problem.n_rows, problem.n_classes))
    return replace(problem, class_cost=costs)


def distinct_rows(seed: int) -> Problem:
    return random_problem(seed, 12, 3, 3, kind="distinct")


def zero_one(problem: Problem, heap: HeapTree) -> float:
    return float(
        problem.error_cost(ObliqueTree.from_heap(heap).predict(problem.scaled)).sum()
    )


@examples(60)
@given(case=cases())
def test_scores_route_as_prediction_does(case: Case) -> None:
    data = SearchData.from_problem(case.problem)
    Z = score_tree(data.XT, case.heap.coef, case.heap.threshold)
    tree = ObliqueTree.from_heap(case.heap)
    assert np.array_equal(Z.T > 0, tree.goes_right(case.problem.scaled))
    exact = case.problem.scaled @ case.heap.coef.T - case.heap.threshold
    assert np.allclose(Z.T, exact, atol=1e-12)


@examples(60)
@given(case=cases(), class_cost=st.booleans())
def test_relabel_takes_the_cheapest_class(case: Case, class_cost: bool) -> None:
    problem = with_class_cost(case.problem, 1) if class_cost else case.problem
    data = SearchData.from_problem(problem)
    tree = case.heap.copy()
    label = tree.label
    Z = score_tree(data.XT, tree.coef, tree.threshold)
    value = relabel(data.points, tree, Z)
    leaf = case.heap.leaf_of(problem.scaled)
    costs = leaf_cost(problem, leaf, len(label))
    assert value * data.unit == pytest.approx(costs.min(axis=1).sum())
    chosen = costs[np.arange(len(label)), label]
    assert chosen == pytest.approx(costs.min(axis=1))
    kept = costs[np.arange(len(label)), case.heap.label] <= costs.min(axis=1)
    assert np.array_equal(label[kept], case.heap.label[kept])


@examples(60)
@given(case=cases(), class_cost=st.booleans())
def test_care_points_are_those_whose_side_matters(case: Case, class_cost: bool) -> None:
    problem = with_class_cost(case.problem, 2) if class_cost else case.problem
    data = SearchData.from_problem(problem)
    heap = case.heap
    Z = score_tree(data.XT, heap.coef, heap.threshold)
    passes = ObliqueTree.from_heap(heap)
    passes = passes.ancestors[passes.apply(problem.scaled)]
    for b in range(len(heap.threshold)):
        assert np.array_equal(points_at(Z, b), np.flatnonzero(passes[:, b]))
        costs = []
        for threshold in (1.0, -1.0):
            forced = heap.copy()
            forced.coef[b], forced.threshold[b] = 0.0, threshold
            predicted = ObliqueTree.from_heap(forced).predict(problem.scaled)
            costs.append(problem.error_cost(predicted))
        change = np.where(passes[:, b], costs[1] - costs[0], 0.0)
        index, gain = care_points(data.points, heap, Z, b)
        assert np.array_equal(index, np.flatnonzero(change))
        assert gain * data.unit == pytest.approx(change[change != 0])


@examples(60)
@given(case=cases(), class_cost=st.booleans())
def test_svm1_value_equals_the_objective(case: Case, class_cost: bool) -> None:
    problem = with_class_cost(case.problem, 3) if class_cost else case.problem
    measure = Svm1(SearchData.from_problem(problem), case.objective)
    value, tree = measure.value(case.heap)
    expected = tree_value(problem, case.objective, tree)
    assert value * measure.data.unit == pytest.approx(expected, rel=1e-9)


@examples(60)
@given(case=cases(), class_cost=st.booleans(), seed=st.integers(0, 99))
def test_descent_reports_the_value_of_its_tree(
    case: Case, class_cost: bool, seed: int
) -> None:
    problem = with_class_cost(case.problem, 4) if class_cost else case.problem
    data = SearchData.from_problem(problem)
    measures: list[tuple[Measure, object]] = [
        (ZeroOne(data), None),
        (Svm1(data, case.objective), case.objective),
    ]
    for measure, objective in measures:
        before = case.heap.copy()
        state = random_state(np.random.default_rng(seed))
        value, tree = measure.descend(case.heap, LONG, state)
        counted = tree_value(problem, objective, tree)
        assert value * data.unit == pytest.approx(counted, rel=1e-9, abs=1e-9)
        assert value <= measure.value(case.heap).value + 1e-9
        assert all(
            np.array_equal(*pair) for pair in zip(before, case.heap, strict=True)
        )


@examples(30)
@given(case=cases(st.builds(distinct_rows, seed=st.integers(0, 999))))
def test_plain_class_costs_change_nothing(case: Case) -> None:
    problem = case.problem
    classes = np.arange(problem.n_classes)
    costs = np.where(problem.y[:, None] == classes, 0.0, problem.weight[:, None])
    plain = SearchData.from_problem(problem)
    costly = SearchData.from_problem(replace(problem, class_cost=costs))
    for one, two in [
        (ZeroOne(plain), ZeroOne(costly)),
        (Svm1(plain, case.objective), Svm1(costly, case.objective)),
    ]:
        state = random_state(np.random.default_rng(0))
        value, tree = one.descend(case.heap, LONG, state.copy())
        same_value, same_tree = two.descend(case.heap, LONG, state.copy())
        assert value == same_value
        assert np.array_equal(tree.coef, same_tree.coef)


@examples(60)
@given(case=cases(), class_cost=st.booleans())
def test_simplify_never_raises_the_objective(case: Case, class_cost: bool) -> None:
    problem = with_class_cost(case.problem, 5) if class_cost else case.problem
    data = SearchData.from_problem(problem)
    plain = simplify(data, case.heap)
    assert zero_one(problem, plain) <= zero_one(problem, case.heap) + 1e-9
    tidy = simplify(data, case.heap, data.penalties(case.objective))
    value = tree_value(problem, case.objective, case.heap)
    assert tree_value(problem, case.objective, tidy) <= value * (1 + 1e-9) + 1e-9
    unused = ~tidy.coef.any(axis=1)
    assert (tidy.threshold[unused] == 1.0).all()


def test_simplify_keeps_the_better_side() -> None:
    """A split that sends all points right gives way to its right subtree."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    coef = np.array([[0.0], [1.0], [1.0]])
    heap = HeapTree(coef, np.array([-1.0, 0.9, 0.5]), np.array([1, 0, 0, 1]))
    tidy = simplify(SearchData.from_problem(problem), heap)
    assert tidy.coef.ravel().tolist() == [0.0, 1.0, 0.0]
    assert tidy.threshold.tolist() == [1.0, 0.5, 1.0]
    assert tidy.label.tolist() == [0, 1, 0, 0]


def test_random_numbers() -> None:
    state = np.array([7], dtype=np.uint64)
    numbers = np.array([uniform(state) for _ in range(20_000)])
    assert 0 <= numbers.min() < numbers.max() < 1
    assert numbers.mean() == pytest.approx(0.5, abs=0.01)
    assert np.corrcoef(numbers[1:], numbers[:-1])[0, 1] == pytest.approx(0, abs=0.03)
    drawn = np.bincount([below(state, 5) for _ in range(5000)])
    assert len(drawn) == 5
    assert drawn.min() > 800
    order = np.empty(20, dtype=np.int64)
    shuffle(state, order)
    assert sorted(order) == list(range(20)) != order.tolist()


def test_reweighted_logistic_gives_up_outliers() -> None:
    """Two clusters and some points far on the wrong side, which pull a plain fit."""
    rng = np.random.default_rng(0)
    x = np.r_[rng.uniform(0, 0.4, 60), rng.uniform(0.5, 0.9, 60), np.full(20, 1.5)]
    side = np.r_[-np.ones(60), np.ones(60), -np.ones(20)]
    A = np.vstack([x, np.ones(len(x))])
    missed = [
        (side * (w @ A) <= 0).sum()
        for w in (
            reweighted_logistic(
                A, side, np.ones(len(x)), 1e-4, rounds, False, random_state(rng)
            )
            for rounds in (1, 12)
        )
    ]
    assert missed[0] > missed[1] == 20


def test_refit_separates_separable_care_points() -> None:
    problem = random_problem(3, 40, 3, 2, kind="distinct")
    truth = problem.scaled @ np.array([1.0, -2.0, 0.5]) > -0.2
    problem = replace(problem, y=truth.astype(np.intp))
    data = SearchData.from_problem(problem)
    heap = random_heap(problem, 1, np.random.default_rng(0))
    heap.label[:] = [0, 1]
    every = np.arange(3)
    state = random_state(np.random.default_rng(0))
    refit_node(data.points, heap, 0, every, 1e-4, False, state)
    assert zero_one(problem, heap) == 0


def test_refit_leaves_a_node_without_disagreement_alone() -> None:
    problem = random_problem(3, 20, 2, 2)
    data = SearchData.from_problem(problem)
    heap = random_heap(problem, 1, np.random.default_rng(0))
    heap.label[:] = 1
    every = np.arange(2)
    before = heap.copy()
    state = random_state(np.random.default_rng(0))
    assert not refit_node(data.points, heap, 0, every, 1e-4, True, state)
    assert np.array_equal(before.coef, heap.coef)


@pytest.mark.parametrize("class_cost", [False, True])
def test_soft_trees_learn(class_cost: bool) -> None:
    """Exclusive or of two features: no single split helps, a depth-2 tree does."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(300, 2))
    y = ((X[:, 0] > 0.5) != (X[:, 1] > 0.5)).astype(np.intp)
    problem = Problem.from_data(X, y, 2)
    if class_cost:
        costs = np.where(problem.y[:, None] == np.arange(2), 0.0, 2.0)
        problem = replace(problem, class_cost=costs)
    data = SearchData.from_problem(problem)
    values = [ZeroOne(data).value(tree).value for tree in soft_trees(data, 2, rng)]
    assert min(values) < 0.1 * 300 * (2 if class_cost else 1)


def test_soft_trees_do_not_see_the_unit_of_cost() -> None:
    problem = random_problem(5, 60, 3, 3, kind="distinct")
    doubled = replace(problem, weight=2 * problem.weight)
    trees = [
        soft_trees(SearchData.from_problem(p), 2, np.random.default_rng(0), n_steps=20)
        for p in (problem, doubled)
    ]
    assert np.array_equal(trees[0][0].coef, trees[1][0].coef)


@examples(15)
@given(seed=st.integers(0, 2**20))
def test_node_mip_finds_the_best_hyperplane(seed: int) -> None:
    """In one dimension all hyperplanes can be tried."""
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(12) / 11.0, rng.integers(2, size=12)
    problem = Problem.from_data(x[:, None], y, 2, rng.choice([1.0, 2.0], 12))
    data = SearchData.from_problem(problem)
    trees = [
        HeapTree(np.array([[sign]]), np.array([sign * at]), np.array([0, 1]))
        for at in np.arange(-0.5, 12) / 11.0
        for sign in (1.0, -1.0)
    ]
    values = [zero_one(problem, tree) for tree in trees]
    worst = trees[int(np.argmax(values))]
    better = optimise_node(data, worst, 0)
    assert better is not None
    assert zero_one(problem, better) == pytest.approx(min(values))
    assert optimise_node(data, better, 0) is None


def test_the_arrays_of_a_problem_are_made_once_and_kept_no_longer_than_it():
    problem = random_problem(0, 12, 3, 3)
    data = SearchData.from_problem(problem)
    assert SearchData.from_problem(problem) is data
    assert (
        SearchData.from_problem(replace(problem, weight=2 * problem.weight)) is not data
    )
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None
