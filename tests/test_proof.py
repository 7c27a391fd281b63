"""Proofs by exhaustion: never above the truth, and often as high as it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import HardMarginEnumeration
from _data import (
    examples,
    make_case,
    objectives,
    problems,
    random_problem,
    wrong_at_margin,
)
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Subset
from miptree.proof import all_roots, prove_errors
from miptree.proof.branching import advance
from miptree.proof.fewest_errors import fewest_errors
from miptree.proof.row_partition import partition_rows
from miptree.proof.space import space_of
from miptree.proof.state import (
    EXHAUSTED,
    PAUSED,
    begin_search,
    search_fits_memory,
)

MARGINS = [1e-4, 1e-3, 0.01, 0.1, 0.4]
margins = st.sampled_from(MARGINS)


def bound_on_all(problem, margin, depth, known=(), clock=None, max_nodes=None):
    rows, space = np.arange(problem.n_rows), space_of(problem, margin)
    return fewest_errors(
        problem, space, depth, rows, known, np.inf,
        clock=clock or Clock(), max_nodes=max_nodes,
    )  # fmt: skip


def proof_of(problem: Problem, margin: float, depth: int, nodes=300, **options):
    return prove_errors(
        problem, margin, depth, np.inf, clock=Clock(), max_nodes=nodes, **options
    )


# ----------------------------------------------------------------- against enumeration


@examples(200)
@given(problem=problems((3, 6), classes=4), margin=margins)
def test_never_above_the_fewest_errors_of_a_stump(problem, margin):
    truth = HardMarginEnumeration(problem, margin).fewest(1)
    assert bound_on_all(problem, margin, 1).bound <= truth + 1e-9


@examples(100)
@given(problem=problems((3, 5), classes=4), margin=margins)
def test_never_above_the_fewest_errors_at_depth_two(problem, margin):
    truth = HardMarginEnumeration(problem, margin).fewest(2)
    assert bound_on_all(problem, margin, 2).bound <= truth + 1e-9


@examples(60)
@given(problem=problems((3, 6), classes=4, kinds=("grid", "constant")))
def test_meets_the_fewest_errors_of_a_stump_on_a_grid(problem):
    truth = HardMarginEnumeration(problem, 1e-4).fewest(1)
    found = bound_on_all(problem, 1e-4, 1)
    assert found.bound == pytest.approx(truth, abs=1e-9)
    # The search ends with a tree, which is as good.
    wrong = wrong_at_margin(problem, problem.into_box(found.tree), 1e-4)
    assert problem.weight[wrong].sum() == pytest.approx(truth, abs=1e-9)


@examples(30)
@given(problem=problems((4, 5), classes=4, kinds=("grid",)))
def test_meets_the_fewest_errors_at_depth_two_on_a_grid(problem):
    truth = HardMarginEnumeration(problem, 1e-4).fewest(2)
    assert bound_on_all(problem, 1e-4, 2).bound == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.3])
def test_the_margin_decides_exactly_on_a_line(gap):
    """In the box the two halves can be kept ``gap`` apart from a hyperplane."""
    X = np.array([0.0, 0.5 - gap / 2, 0.5 + gap / 2, 1.0])[:, None]
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    assert bound_on_all(problem, 0.999 * gap, 1).bound == 0
    assert bound_on_all(problem, 1.001 * gap, 1).bound == 1


def test_a_bound_is_a_sum_of_weights():
    """Two conflicts cost 1 + 1.6, which is no multiple of the smallest weight."""
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    X[2:] = 1.0
    problem = Problem.from_data(X, y, 2, np.array([1.0, 9.0, 9.0, 1.6]))
    margin = 0.01
    assert bound_on_all(problem, margin, 1).bound == pytest.approx(2.6)
    tight = Problem.from_data(X[:2], y[:2], 2, np.array([1.6, 9.0]))
    assert bound_on_all(tight, margin, 1).bound == pytest.approx(1.6)


@pytest.mark.parametrize("depth", [6, 10])
def test_nothing_is_proved_where_the_leaves_are_too_many(depth):
    problem = random_problem(0, 30, 2, 2, "grid")
    assert proof_of(problem, 0.01, depth).bound.value == 0
    assert not search_fits_memory(10, 2, depth)
    assert not search_fits_memory(10_000, 100, 2)
    assert search_fits_memory(1000, 20, 3)


# ------------------------------------------------------------------------- the search


@examples(60)
@given(
    problem=problems((4, 14), classes=3),
    margin=margins,
    depth=st.sampled_from([1, 2]),
    share=st.sampled_from([0.0, 0.1, 0.3]),
)
def test_a_search_may_pause_at_every_node(problem, margin, depth, share):
    space = space_of(problem, margin)
    most = share * problem.weight.sum()
    ends = []
    for nodes_at_a_time in (1, 10**6):
        state = begin_search(
            space.X, problem.y, problem.weight, depth,
            np.zeros(problem.n_rows), np.zeros(1),
        )  # fmt: skip
        outcome, total = PAUSED, 0
        while outcome == PAUSED:
            outcome, nodes = advance(state, most, space.min_distance, nodes_at_a_time)
            assert nodes <= nodes_at_a_time
            total += nodes
        ends.append((outcome, total, state))
    (outcome, total, paused), (same_outcome, same_total, state) = ends
    assert (outcome, total) == (same_outcome, same_total)
    for one, other in zip(paused, state, strict=True):
        assert np.array_equal(one, other)
    if outcome == EXHAUSTED:
        assert state.turned_back[0] > most


@examples(60)
@given(
    problem=problems((6, 12), classes=3),
    margin=margins,
    depth=st.sampled_from([1, 2]),
    seed=st.integers(0, 99),
)
def test_what_is_known_of_subsets_changes_no_result(problem, margin, depth, seed):
    part = np.random.default_rng(seed).integers(3, size=problem.n_rows)
    space = space_of(problem, margin)
    known = []
    for number in (0, 1):
        rows = np.flatnonzero(part == number)
        if len(rows):
            one = fewest_errors(
                problem, space, depth, rows, (), np.inf, clock=Clock(), max_nodes=2000
            )
            known.append(Subset(rows, one.bound))
    plain = bound_on_all(problem, margin, depth, max_nodes=4000)
    helped = bound_on_all(problem, margin, depth, known, max_nodes=4000)
    assert helped.bound >= sum(subset.errors for subset in known) - 1e-9
    if max(plain.nodes, helped.nodes) < 4000:
        assert helped.bound == pytest.approx(plain.bound, abs=1e-9)


def test_a_budget_of_nodes_is_kept():
    problem = random_problem(0, 40, 2, 3, "gauss")
    bounds = []
    for nodes in (0, 1, 7, 300, 1000):
        found = bound_on_all(problem, 0.01, 2, max_nodes=nodes)
        assert found.nodes <= nodes
        bounds.append(found.bound)
    assert bounds == sorted(bounds)
    assert bounds[0] == 0 < bounds[-1]
    stopped = bound_on_all(problem, 0.01, 2, clock=Clock().heeding(lambda: True))
    assert (stopped.bound, stopped.nodes) == (0.0, 0)


# ------------------------------------------------------------------ disjoint subsets


@examples(40)
@given(
    problem=problems((3, 60), classes=4),
    smallest=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_parts_are_halves_of_halves(problem, smallest, seed):
    levels = partition_rows(problem, smallest, np.random.default_rng(seed))
    everybody = np.arange(problem.n_rows)
    for parts in levels:
        assert np.array_equal(np.sort(np.concatenate(parts)), everybody)
    for below, parts in pairwise(levels):
        assert min(map(len, below)) >= smallest
        for number, rows in enumerate(parts):
            halves = below[2 * number : 2 * number + 2]
            assert np.array_equal(np.sort(np.concatenate(halves)), rows)
            for k in range(problem.n_classes):
                one, other = (np.sum(problem.y[half] == k) for half in halves)
                assert abs(one - other) <= 1
    assert len(levels[-1]) == 1


@examples(40)
@given(
    problem=problems((8, 40), 2, 3),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
    nodes=st.sampled_from([0, 30, 300]),
    seed=st.integers(0, 9),
)
def test_every_tree_makes_the_errors_of_every_subset(
    problem, objective, depth, nodes, seed
):
    margin = objective.margin
    proof = proof_of(problem, margin, depth, nodes, seed=seed)
    for kind in ("cart", "polished", "random"):
        heap = make_case(problem, objective, depth, kind, seed).heap
        cost = problem.weight * wrong_at_margin(problem, heap, margin)
        assert cost.sum() >= proof.bound.value - 1e-9
        for subset in proof.subsets:
            assert cost[subset.rows].sum() >= subset.errors - 1e-9


@pytest.mark.parametrize("weights", ["one", "random"])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("nodes", [20, 300])
def test_bounds_of_subsets_add_up(depth, weights, nodes):
    problem = random_problem(3, 60, 2, 2, "gauss", weights)
    proof = proof_of(problem, 0.01, depth, nodes)
    rows = np.concatenate([subset.rows for subset in proof.subsets])
    assert len(np.unique(rows)) == len(rows)
    total = sum(subset.errors for subset in proof.subsets)
    assert total > 0
    assert proof.bound.value == pytest.approx(total)


def test_a_proof_says_whether_it_needed_subsets(monkeypatch):
    monkeypatch.setattr(all_roots, "can_try_roots", lambda space, depth: False)
    noise = proof_of(random_problem(3, 60, 2, 2, "gauss"), 0.01, 2, nodes=50)
    assert len(noise.subsets) > 1
    text = f"exhaustive search of {len(noise.subsets)} disjoint subsets of the rows"
    assert noise.bound.proved_by == f"{text}, whose errors add up"
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    at_once = proof_of(Problem.from_data(corners, np.array([0, 0, 1, 1]), 2), 0.01, 1)
    assert at_once.bound == (1.0, "exhaustive search")
    ((rows, errors),) = at_once.subsets
    assert (rows.tolist(), errors) == ([0, 1, 2, 3], 1.0)


@pytest.mark.parametrize("nodes", [50, 400])
def test_threads_do_not_change_a_proof(nodes):
    problem = random_problem(5, 60, 3, 3, "gauss", "random")
    one, two = (proof_of(problem, 0.01, 2, nodes, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.bound == two.bound
    for first, second in zip(one.subsets, two.subsets, strict=True):
        assert np.array_equal(first.rows, second.rows)
        assert first.errors == second.errors


def test_enough_is_enough():
    problem = random_problem(3, 40, 2, 2, "gauss")
    full = proof_of(problem, 0.01, 1, 10**5)
    assert full.bound.value > 3
    proof = prove_errors(problem, 0.01, 1, 3.0, clock=Clock(), max_nodes=10**5)
    assert 3 <= proof.bound.value <= full.bound.value


def test_no_time_proves_nothing():
    problem = random_problem(3, 40, 2, 2, "gauss")
    proof = prove_errors(problem, 0.01, 1, np.inf, clock=Clock(0.0))
    assert (proof.bound.value, proof.subsets, proof.tree) == (0.0, [], None)


@pytest.mark.parametrize("gap", [1e-9, 9e-13, 1e-13, 2e-14])
def test_features_that_differ_by_little_are_not_called_the_same(gap):
    """The second is the first but for what tells the classes apart."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    first = rng.permutation(30) / 30
    problem = Problem.from_data(np.c_[first, first + gap * y], y, 2)
    assert proof_of(problem, 0.01, 1).bound.value == 0
