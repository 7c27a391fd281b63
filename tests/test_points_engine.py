"""The engine of points trees: directions, whole costs, exact search, bounds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from miptree.control.clock import Clock
from miptree.objective.points import INDICATOR_POINTS
from miptree.points import Anchor, Directions, Family, Found, PointsProblem, solve
from miptree.points.costs import Unit
from miptree.tree import ObliqueTree

# ------------------------------------------------------------------------ by force


def brute_force(grid, cost, directions, penalty, depth, min_leaf=1):
    """Return the least cost of a tree: every split of every set of rows."""
    splits = []
    for f in range(len(directions.size)):
        columns, points = directions.card(f)
        value = sum(p * grid[:, c] for c, p in zip(columns, points, strict=True))
        price = penalty[list(columns)].sum()
        splits += [(value <= t, price) for t in np.unique(value)[:-1]]

    def best(rows, depth, is_root=False):
        allowed = is_root or rows.sum() >= min_leaf
        found = cost[rows].sum(axis=0).min() if allowed else np.inf
        for left, price in splits if depth else []:
            if (rows & left).any() and (rows & ~left).any():
                of_left = best(rows & left, depth - 1) + price
                if of_left < found:
                    found = min(found, of_left + best(rows & ~left, depth - 1))
        return found

    return best(np.ones(len(grid), dtype=bool), depth, True)


def tree_cost(found: Found, grid, cost, penalty):
    """Return the cost of a tree by prediction, and its smallest leaf."""
    tree = ObliqueTree.from_heap(found.heap)
    leaf = tree.apply(grid.astype(float))
    errors = cost[np.arange(len(grid)), tree.label[leaf]].sum()
    return errors + ((found.heap.coef != 0) * penalty).sum(), np.bincount(leaf)


@st.composite
def problems(draw, max_rows=24, max_steps=4, max_columns=3):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, max_rows))
    steps = rng.integers(1, max_steps + 1, draw(st.integers(1, max_columns)))
    n_classes = draw(st.integers(2, 4))
    grid = rng.integers(0, steps + 1, (n, len(steps)))
    y = rng.integers(0, n_classes, n)
    weight = [np.ones(n), rng.integers(1, 5, n) * 0.5, rng.random(n)][
        draw(st.integers(0, 2))
    ]
    class_cost = None
    if draw(st.booleans()):
        class_cost = rng.random((n, n_classes)).round(draw(st.integers(0, 2))) * 3
        class_cost[np.arange(n), y] = 0
        class_cost[rng.random(n) < 0.3] = draw(st.sampled_from([0.0, 1.0]))
    penalty = [np.zeros(len(steps)), np.full(len(steps), 0.3), rng.random(len(steps))]
    return (
        grid,
        y,
        n_classes,
        weight,
        class_cost,
        tuple(steps.tolist()),
        penalty[draw(st.integers(0, 2))],
        draw(st.sampled_from([1, 1, 2, 3])),
        (draw(st.integers(1, 3)), draw(st.integers(1, 2))),
    )


def made(given) -> tuple[PointsProblem, np.ndarray]:
    """Return the problem and what each class costs for each row."""
    grid, y, n_classes, weight, class_cost, steps, penalty, min_leaf, sizes = given
    family = Family(steps, tuple(range(len(steps))), (False,) * len(steps), *sizes)
    count = np.ones(len(y), dtype=np.intp)
    problem = PointsProblem.of(
        grid, y, n_classes, weight, class_cost, count, family, penalty, min_leaf
    )
    if class_cost is None:
        class_cost = np.where(y[:, None] == np.arange(n_classes), 0.0, weight[:, None])
    return problem, class_cost


BY_FORCE = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@BY_FORCE
@given(problems(), st.sampled_from([1, 2, 2]))
def test_finds_and_proves_the_optimum(given, depth):
    problem, cost = made(given)
    grid, penalty, min_leaf = given[0], given[6], given[7]
    found = solve(problem, depth, Clock())
    least = brute_force(grid, cost, problem.directions, penalty, depth, min_leaf)
    assert found.is_proved
    assert found.ended == "optimal"
    assert problem.in_user_units(found.cost) == pytest.approx(least, abs=1e-9)
    assert problem.in_user_units(found.bound) - problem.rounding <= least + 1e-12
    recounted, leaves = tree_cost(found, grid, cost, penalty)
    assert recounted == pytest.approx(least, abs=1e-9)
    if (leaves > 0).sum() > 1:
        assert leaves[leaves > 0].min() >= min_leaf


@settings(parent=BY_FORCE, max_examples=12)
@given(problems(max_rows=12, max_steps=3, max_columns=2))
def test_finds_and_proves_the_optimum_of_depth_3(given):
    problem, cost = made(given)
    found = solve(problem, 3, Clock(), n_jobs=2)
    least = brute_force(given[0], cost, problem.directions, given[6], 3, given[7])
    assert found.is_proved
    assert problem.in_user_units(found.cost) == pytest.approx(least, abs=1e-9)
    assert tree_cost(found, given[0], cost, given[6])[0] == pytest.approx(least)


@settings(parent=BY_FORCE, max_examples=25)
@given(problems(), st.integers(1, 12))
def test_a_bound_holds_whenever_the_search_ends(given, most):
    problem, cost = made(given)
    heard = []
    found = solve(problem, 2, Clock(), heard.append, max_evaluations=most)
    least = brute_force(given[0], cost, problem.directions, given[6], 2, given[7])
    for state in (*heard, found):
        assert problem.in_user_units(state.bound) - problem.rounding <= least + 1e-9
        assert problem.in_user_units(state.cost) >= least - 1e-9


# --------------------------------------------------------------------- real tables


@pytest.fixture(scope="module")
def wine():
    """The grid of wine's columns, in 12 steps of equal numbers of rows."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    cuts = np.quantile(X, np.linspace(0, 1, 14)[1:-1], axis=0)
    return (X[:, None, :] >= cuts).sum(axis=1), y


def problem_of(grid, y, k=2, most=1, penalty=0.0, weight=None):
    steps = tuple(grid.max(axis=0).tolist())
    family = Family(steps, tuple(range(len(steps))), (False,) * len(steps), k, most)
    weight = np.ones(len(y)) if weight is None else weight
    return PointsProblem.of(
        grid,
        y,
        int(y.max()) + 1,
        weight,
        None,
        np.ones(len(y), dtype=np.intp),
        family,
        np.full(len(steps), penalty),
    )


def test_same_optimum_as_contree_on_derived_columns(wine):
    contree = pytest.importorskip("pycontree")
    pd = pytest.importorskip("pandas")
    grid, y = wine
    y = np.where(np.arange(len(y)) % 7 == 0, (y + 1) % 3, y)  # no tree is perfect
    problem = problem_of(grid, y, k=2, most=2)
    found = solve(problem, 2, Clock())
    scores = np.column_stack(
        [
            sum(
                p * grid[:, c] for c, p in zip(*problem.directions.card(f), strict=True)
            )
            for f in range(len(problem.directions.size))
        ]
    )
    peer = contree.ConTree(max_depth=2, time_limit=100.0)
    peer.fit(pd.DataFrame(scores.astype(float)), pd.Series(y))
    errors = int((peer.predict(pd.DataFrame(scores.astype(float))) != y).sum())
    assert found.is_proved
    assert found.cost == errors > 0


def test_depth_3_and_4_are_never_worse_than_what_they_begin_with(wine):
    grid, y = wine
    y = np.where(np.arange(len(y)) % 5 == 0, (y + 1) % 3, y)
    problem = problem_of(grid[:, :5], y, k=1)
    costs = [solve(problem, d, Clock(), max_evaluations=300).cost for d in (1, 2, 3, 4)]
    assert costs == sorted(costs, reverse=True)
    assert costs[3] < costs[1]


def test_the_order_of_rows_and_threads_do_not_matter(wine):
    grid, y = wine
    order = np.random.default_rng(0).permutation(len(y))
    first = solve(problem_of(grid, y, k=2), 2, Clock())
    again = solve(problem_of(grid[order], y[order], k=2), 2, Clock())
    np.testing.assert_array_equal(first.heap.coef, again.heap.coef)
    np.testing.assert_array_equal(first.heap.threshold, again.heap.threshold)
    threads = solve(problem_of(grid, y, k=2), 2, Clock(), n_jobs=2)
    assert (threads.cost, threads.bound) == (first.cost, first.bound)


def test_a_row_of_weight_2_is_the_row_twice(wine):
    grid, y = wine
    twice = np.arange(len(y)) % 3 == 0
    weighted = problem_of(grid, y, penalty=0.7, weight=1.0 + twice)
    repeated = problem_of(
        np.vstack([grid, grid[twice]]), np.append(y, y[twice]), penalty=0.7
    )
    one, two = (solve(problem, 2, Clock()) for problem in (weighted, repeated))
    assert one.cost * weighted.unit == two.cost * repeated.unit
    np.testing.assert_array_equal(one.heap.coef, two.heap.coef)


def test_penalties_give_fewer_features(wine):
    grid, y = wine
    used = []
    for penalty in (0.0, 1.0, 4.0, 1000.0):
        found = solve(problem_of(grid, y, k=3, penalty=penalty), 2, Clock())
        assert found.is_proved
        used.append(int((found.heap.coef != 0).sum()))
    assert used == sorted(used, reverse=True)
    assert used[-1] == 0


def test_of_equally_cheap_trees_the_one_of_fewer_columns():
    # Two columns say together what the third says alone.
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (2, 60))
    grid = np.column_stack([first, second, first + second])
    found = solve(problem_of(grid, (first + second > 3).astype(int)), 2, Clock())
    assert (found.cost, (found.heap.coef != 0).sum()) == (0, 1)


def test_stops_at_once_with_a_tree(wine):
    grid, y = wine
    found = solve(problem_of(grid, y, k=3), 2, Clock(0.0))
    assert found.ended == "time_limit"
    assert found.bound <= found.cost <= len(y)
    assert solve(problem_of(grid, y), 3, Clock(0.0)).bound >= 0


def test_anchors_name_the_root_splits_that_were_evaluated(wine):
    grid, y = wine
    found = solve(problem_of(grid, y), 2, Clock(), keep_anchors=True)
    assert len(found.anchors) == found.n_evaluated
    assert found.anchors[0] == Anchor((), (), 0)
    assert len(set(found.anchors)) == len(found.anchors)
    deep = solve(problem_of(grid[:, :3], y, k=1), 3, Clock(), keep_anchors=True)
    assert any(anchor.left for anchor in deep.anchors)


def test_no_direction_and_no_row_give_a_leaf():
    grid, y = np.zeros((4, 2), dtype=int), np.array([0, 1, 1, 1])
    found = solve(problem_of(grid, y), 2, Clock())
    assert (found.cost, found.is_proved) == (1, True)
    assert ObliqueTree.from_heap(found.heap).predict(np.zeros((1, 2)))[0] == 1


@pytest.mark.parametrize("depth", [0, 5])
def test_refuses_other_depths(depth):
    problem = problem_of(np.array([[0], [1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="depth must be 1 to 4"):
        solve(problem, depth, Clock())


# ------------------------------------------------------------------ family and costs


def cards(directions: Directions):
    return [directions.card(f) for f in range(len(directions.size))]


def expected_cards(family: Family):
    """List the family by the words of its definition, in another way."""
    found = set()
    steps, source, category = family.steps, family.source, family.is_category
    for size in range(1, family.max_features + 1):
        for columns in itertools.combinations(range(len(steps)), size):
            if any(steps[c] == 0 for c in columns):
                continue
            for points in itertools.product(range(-10, 11), repeat=size):
                if not all(points) or points[0] < 0 or math.gcd(*points) > 1:
                    continue
                pairs = itertools.combinations(range(size), 2)
                same = [
                    (a, b) for a, b in pairs if source[columns[a]] == source[columns[b]]
                ]
                if any(
                    not category[columns[a]] or points[a] != points[b] for a, b in same
                ):
                    continue
                sizes = [abs(p) for p in points]
                n_indicators = sum(steps[c] == 1 for c in columns)
                if size == 2 and n_indicators == 2:
                    fits = sizes == [1, 1]
                elif size == 2 and n_indicators == 1:
                    at = next(k for k in range(2) if steps[columns[k]] == 1)
                    allowed = INDICATOR_POINTS[family.max_points]
                    fits = sizes[at] in allowed and sizes[1 - at] == 1
                else:
                    fits = max(sizes) <= (family.max_points if size > 1 else 1)
                if fits:
                    found.add((columns, points))
    return found


@pytest.mark.parametrize(("k", "most"), [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2)])
def test_a_family_is_what_its_definition_says(k, most):
    # A number, a number with gaps (two columns), a category of three values, a
    # constant and an indicator.
    steps, source = (5, 4, 4, 1, 1, 1, 0, 1), (0, 1, 1, 2, 2, 2, 3, 4)
    category = (False, False, False, True, True, True, False, False)
    family = Family(steps, source, category, k, most)
    listed = cards(family.directions())
    assert len(set(listed)) == len(listed)
    assert set(listed) == expected_cards(family)


def test_signs_and_screening_leave_directions_out():
    steps, source, category = (3, 3, 3), (0, 1, 2), (False,) * 3
    signed = Family(steps, source, category, 2, 1, signs=(1, -1, 0))
    pairs = [card for card in cards(signed.directions()) if len(card[0]) == 2]
    assert ((0, 1), (1, -1)) in pairs
    assert ((0, 1), (1, 1)) not in pairs
    assert ((0, 2), (1, 1)) in pairs
    assert ((0, 2), (1, -1)) in pairs
    screened = Family(steps, source, category, 3, 1, allowed=(True, False, True))
    assert {c for columns, _ in cards(screened.directions()) for c in columns} == {0, 2}


def test_costs_are_whole_numbers_of_the_unit_that_people_wrote():
    unit = Unit.of(np.array([0.1, 0.25, 3.0]), 100.0)
    assert unit == Unit(Fraction(1, 20), True)
    np.testing.assert_array_equal(unit.whole(np.array([[0.1, 3.0]])), [[2, 60]])
    assert not unit.rounding(np.array([0.1])).any()
    balanced = Unit.of(np.array([300 / (2 * 127), 300 / (2 * 173)]), 300.0)
    assert balanced == Unit(Fraction(150, 127 * 173), True)
    tiny = Unit.of(np.array([1.0, 2.2250738585072014e-308]), 2.0)
    np.testing.assert_array_equal(tiny.whole(np.array([1.0, 1e-308])), [2**48, 0])
    with pytest.raises(ValueError, match="Divide all of them"):
        Unit.of(np.array([1e308]), math.inf)
    rough = Unit.of(np.array([1 / 3, math.pi]), 1000.0)
    assert not rough.is_exact
    values = np.array([1 / 3, math.pi, 7.0])
    off = np.abs(rough.whole(values) * float(rough.size) - values)
    assert (off <= rough.rounding(values)).all()
