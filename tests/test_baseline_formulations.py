"""The baselines' formulations: feasible starts, round trips, values and optima."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from _data import MIP_SOLVERS, close, examples, random_problem, solve
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import (
    AghaeiFormulation,
    Binarisation,
    BinOCTFormulation,
    FlowOCTFormulation,
    OCTFormulation,
    OCTHFormulation,
    disparate_impact,
)
from miptree.mip.solvers import Limits, get_solver
from miptree.objective.leaf_labels import leaf_cost, relabel
from miptree.search.starts import cart_tree
from miptree.tree import HeapTree

UNIVARIATE = {
    "OCT": OCTFormulation,
    "BinOCT": BinOCTFormulation,
    "FlowOCT": partial(FlowOCTFormulation, n_thresholds=None),
    "Aghaei univariate": partial(AghaeiFormulation, branching="univariate"),
}
MULTIVARIATE = {"OCT-H": OCTHFormulation, "Aghaei": AghaeiFormulation}
HYPERPLANES = {
    **MULTIVARIATE,
    "OCT-H sizes": partial(OCTHFormulation, min_weight_fraction_leaf=0.2, mu=0.1),
}
PENALISED = {
    "OCT alpha": partial(
        OCTFormulation, complexity=0.05, min_weight_fraction_leaf=0.15
    ),
    "OCT-H alpha": partial(OCTHFormulation, complexity=0.02),
    "BinOCT sizes": partial(
        BinOCTFormulation, thresholds="class_changes", min_weight_fraction_leaf=0.15
    ),
    "FlowOCT lambda": partial(FlowOCTFormulation, complexity=0.1, n_thresholds=2),
}
BASELINES = {**UNIVARIATE, **MULTIVARIATE, **PENALISED}

small_problems = st.builds(
    random_problem,
    seed=st.integers(0, 2**20),
    n_rows=st.integers(4, 14),
    n_features=st.sampled_from([2, 1, 3]),
    n_classes=st.integers(2, 3),
    kind=st.sampled_from(["gauss", "grid", "distinct", "constant"]),
    weights=st.sampled_from(["random", "one", "heavy"]),
)


def has_a_split(problem):
    return bool((problem.X != problem.X[0]).any())


def start_of(baseline):
    grown = cart_tree(baseline.start_problem, baseline.depth)
    return relabel(baseline.problem, baseline.adapt(grown))


def user_tree(baseline, heap):
    return baseline.problem.to_user(heap).prune(baseline.problem.X)


# ------------------------------------------------------------------ encode and decode


@pytest.mark.parametrize("name", BASELINES)
@given(problem=small_problems, depth=st.sampled_from([1, 2, 3]))
@examples(25)
def test_a_start_is_feasible_comes_back_and_has_its_value(name, problem, depth):
    if not has_a_split(problem):
        return
    baseline = BASELINES[name](problem, depth)
    heap = start_of(baseline)
    x = baseline.encode(heap)
    assert max(baseline.model.violation(x).values()) < 1e-9
    back = baseline.decode(x)
    same = back.label[back.leaf_of(problem.scaled)]
    assert np.array_equal(same, heap.label[heap.leaf_of(problem.scaled)])
    value = baseline.value(user_tree(baseline, baseline.canonical(heap)))
    assert value == pytest.approx(baseline.model.objective(x), abs=1e-9)


@pytest.mark.parametrize("name", HYPERPLANES)
@given(
    problem=small_problems, seed=st.integers(0, 2**20), size=st.sampled_from([1, 99])
)
@examples(25)
def test_a_start_of_any_hyperplanes_is_feasible(name, problem, seed, size):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(3, problem.n_features)) / size
    inside = problem.scaled[rng.integers(problem.n_rows, size=3)]
    heap = HeapTree(coef, (coef * inside).sum(axis=1), np.zeros(4, dtype=np.intp))
    baseline = HYPERPLANES[name](problem, 2)
    x = baseline.encode(relabel(problem, baseline.adapt(heap)))
    assert max(baseline.model.violation(x).values()) < 1e-9


@pytest.mark.parametrize("name", MULTIVARIATE)
@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_a_start_with_room_beside_its_hyperplanes_is_kept(name, size):
    X = np.array([[0.0, 0.0], [0.5, 0.5], [0.6, 0.5], [1.0, 1.0]])
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    heap = HeapTree(size * np.array([[1.0, 0.5]]), size * np.array([0.8]), np.arange(2))
    kept = MULTIVARIATE[name](problem, 1).adapt(heap)
    assert np.array_equal(kept.leaf_of(problem.scaled), heap.leaf_of(problem.scaled))


def test_a_univariate_start_is_not_lost_to_rounding():
    """5 * (1 / 6) is below 5 / 6: a row on the left of a split scored below 0."""
    problem = random_problem(0, 7, 2, 3, "distinct", "random")
    baseline = AghaeiFormulation(problem, 2, branching="univariate")
    x = baseline.encode(start_of(baseline))
    assert max(baseline.model.violation(x).values()) < 1e-9


@given(problem=small_problems, fairness=st.sampled_from([0.1, 1.0]))
@examples(15)
def test_a_fair_start_is_feasible_and_has_its_value(problem, fairness):
    group = problem.y % 2
    baseline = AghaeiFormulation(problem, 2, fairness=fairness, group=group)
    x = baseline.encode(start_of(baseline))
    assert max(baseline.model.violation(x).values()) < 1e-9
    tree = user_tree(baseline, baseline.canonical(start_of(baseline)))
    assert baseline.value(tree) == pytest.approx(baseline.model.objective(x), abs=1e-9)
    predicted = tree.predict(problem.X)
    index = disparate_impact(predicted, group, problem.n_classes, problem.weight)
    cost = problem.error_cost(predicted).sum() / problem.weight.sum()
    assert baseline.value(tree) == pytest.approx(cost + fairness * index)


# ----------------------------------------------------------------------------- optima


def fewest_errors_univariate(problem, places=None):
    """Depth 2 by brute force: every pair of cuts below every cut."""
    cuts = [
        (problem.scaled[:, j] > value)
        for j in range(problem.n_features)
        for value in np.unique(problem.scaled[:, j])[:-1]
    ]
    if places is not None:
        cuts = [cut for cut in cuts if places(cut)]

    def least(rows):
        sides = [(rows, np.zeros_like(rows))]
        sides += [(rows & cut, rows & ~cut) for cut in cuts]
        return min(
            sum(one_leaf(problem, side) for side in pair if side.any())
            for pair in sides
        )

    whole = np.ones(problem.n_rows, dtype=bool)
    return min(
        [least(whole)] + [least(whole & cut) + least(whole & ~cut) for cut in cuts]
    )


def one_leaf(problem, rows):
    return leaf_cost(problem, np.where(rows, 0, 1), 2)[0].min()


@pytest.mark.parametrize("name", UNIVARIATE)
@pytest.mark.parametrize("seed", range(3))
def test_univariate_optimum_is_the_brute_force_one(name, seed):
    weights = ["one", "random", "heavy"][seed]
    problem = random_problem(seed, 9 + seed, 2, 2 + seed % 2, "gauss", weights)
    baseline = UNIVARIATE[name](problem, 2)
    result = solve(baseline.model)
    least = fewest_errors_univariate(problem)
    assert result.objective / baseline.error_price == pytest.approx(least, abs=1e-6)
    tree = user_tree(baseline, baseline.decode(result.x))
    assert baseline.value(tree) == pytest.approx(result.objective, abs=1e-6)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@pytest.mark.parametrize("name", [*MULTIVARIATE, *PENALISED])
def test_value_of_the_tree_is_the_solvers(name, solver):
    problem = random_problem(5, 10, 2, 3, "distinct")
    baseline = BASELINES[name](problem, 2)
    result = solve(baseline.model, solver)
    tree = user_tree(baseline, baseline.decode(result.x))
    assert baseline.value(tree) == pytest.approx(
        result.objective, abs=close(result.objective)
    )


def test_the_papers_thresholds_of_binoct_can_lose_the_best_tree():
    X = [[4, 2], [0, 2], [3, 0], [2, 2], [5, 1], [0, 1], [1, 0]]
    y = np.array([0, 1, 1, 0, 0, 0, 0])
    problem = Problem.from_data(np.array(X, dtype=float), y, 2)
    every = BinOCTFormulation(problem, 2)
    assert solve(every.model).objective == pytest.approx(0.0)
    reduced = BinOCTFormulation(problem, 2, "class_changes")
    cuts = [reduced.ranks.number[:, j] >= k for j in (0, 1) for k in reduced.places[j]]
    assert len(cuts) < every.ranks.steps.sum()

    def is_kept(cut):
        return any(np.array_equal(cut, kept) for kept in cuts)

    least = fewest_errors_univariate(problem, is_kept)
    assert least == 1
    assert solve(reduced.model).objective == pytest.approx(least)


# ------------------------------------------------------------ OCT-H at depth 1, exactly


def is_separable(X, right, support, mu):
    """Whether some a with this support, 1-norm <= 1 and abs(b) <= 1 parts the rows."""
    d = len(support)
    Z = X[:, support]
    # Variables a+, a-, b >= -1; left: ax - b <= -mu, right: -ax + b <= 0.
    sign = np.where(right, -1.0, 1.0)[:, None]
    rows = sign * np.hstack([Z, -Z, -np.ones((len(Z), 1))])
    limit = np.where(right, 0.0, -mu)
    norm = np.hstack([np.ones(2 * d), 0.0])
    found = linprog(
        np.zeros(2 * d + 1),
        A_ub=np.vstack([rows, norm]),
        b_ub=np.append(limit, 1.0),
        bounds=[(0, 1)] * (2 * d) + [(-1, 1)],
    )
    return found.status == 0


def best_hyperplane(problem, complexity, mu):
    """Objective of OCT-H at depth 1 by trying all ways to part the rows."""
    weight = problem.class_weight
    price = 1 / (weight.sum() - weight.max())
    best = price * one_leaf(problem, np.ones(problem.n_rows, dtype=bool))
    features = range(problem.n_features)
    supports = [list(s) for k in (1, 2) for s in combinations(features, k)]
    for sides in product([False, True], repeat=problem.n_rows):
        right = np.array(sides)
        cost = sum(one_leaf(problem, r) for r in (right, ~right) if r.any())
        for support in supports:
            value = price * cost + complexity * len(support)
            if value < best - 1e-9 and is_separable(problem.scaled, right, support, mu):
                best = value
    return best


@pytest.mark.parametrize("complexity", [0.0, 0.15])
@pytest.mark.parametrize(("seed", "kind"), [(1, "grid"), (2, "distinct"), (7, "gauss")])
def test_octh_at_depth_1_is_the_best_hyperplane_of_its_class(seed, kind, complexity):
    problem = random_problem(seed, 7, 2, 2, kind, "random")
    # A wide strip, so that it matters.
    baseline = OCTHFormulation(problem, 1, complexity, mu=0.1)
    result = solve(baseline.model)
    expected = best_hyperplane(problem, complexity, 0.1)
    assert result.objective == pytest.approx(expected, abs=1e-6)


def test_octh_counts_the_features_it_uses():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 4))
    y = (X[:, 1] + X[:, 2] > 1).astype(np.intp)
    X = X[np.abs(X[:, 1] + X[:, 2] - 1) > 0.05]
    y = (X[:, 1] + X[:, 2] > 1).astype(np.intp)
    problem = Problem.from_data(X, y, 2)
    baseline = OCTHFormulation(problem, 1, complexity=0.01)
    result = solve(baseline.model)
    tree = user_tree(baseline, baseline.decode(result.x))
    used = np.count_nonzero(tree.coef)
    assert np.flatnonzero(tree.coef[0]).tolist() == [1, 2]
    assert (tree.predict(X) == y).all()
    assert result.objective == pytest.approx(0.01 * used)
    assert baseline.penalty(tree) == pytest.approx(0.01 * used)


# ----------------------------------------------------------------- fairness, binarising


def test_fairness_is_bought_with_errors():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 12)
    X = np.column_stack([group, rng.normal(size=24) + 0.5 * group])
    y = (X[:, 1] + group > 0.8).astype(np.intp)
    problem = Problem.from_data(X, y, 2)
    groups = problem.X[:, 0].astype(np.intp)

    def best(fairness):
        baseline = AghaeiFormulation(
            problem, 1, "univariate", fairness=fairness, group=groups
        )
        result = solve(baseline.model)
        tree = user_tree(baseline, baseline.decode(result.x))
        assert baseline.value(tree) == pytest.approx(result.objective, abs=1e-6)
        predicted = tree.predict(problem.X)
        index = disparate_impact(predicted, groups, 2, problem.weight)
        return index, float(problem.error_cost(predicted).sum())

    (unfair, few), (fair, many) = best(0.0), best(10.0)
    assert fair < unfair
    assert few < many


def test_disparate_impact_by_hand():
    predicted, group = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    # P(1) = 1/2; P(1 | 0) = 1/3, P(1 | 1) = 1: 2 * (1/6 + 1/2).
    assert disparate_impact(predicted, group, 2, np.ones(4)) == pytest.approx(4 / 3)
    assert disparate_impact(predicted, np.array([0, 1, 0, 1]), 2, np.ones(4)) == 0


def test_binarisation_keeps_0_1_features_and_takes_quantiles():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.permutation(200)]).astype(float)
    problem = Problem.from_data(X, np.arange(200) % 2, 2)
    found = Binarisation.of(problem, 3)
    assert found.feature.tolist() == [0, 1, 1, 1]
    threshold = found.threshold * problem.scale[found.feature]
    assert threshold == pytest.approx([0.5, 49.5, 99.5, 149.5])
    bits = found.apply(problem.scaled)
    assert np.array_equal(bits[:, 0], problem.X[:, 0] == 1)
    assert len(Binarisation.of(problem, None).feature) == 1 + 199


def test_a_start_is_kept_within_a_node_limit():
    problem = random_problem(3, 60, 3, 3, "distinct")
    for build in BASELINES.values():
        baseline = build(problem, 2)
        x = baseline.encode(start_of(baseline))
        result = get_solver("highs").solve(baseline.model, x, Limits(nodes=0))
        assert result.objective <= baseline.model.objective(x) + 1e-9
