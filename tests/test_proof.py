"""Proofs by exhaustion: never above the truth, and often as high as it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import HardMarginEnumeration
from _data import examples, make_case, objectives, problems, random_problem
from miptree._clock import Clock
from miptree.bounds import Subset
from miptree.formulations import (
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
)
from miptree.objective import Svm1Objective
from miptree.problem import Problem
from miptree.proof import prove_errors
from miptree.proof.branching import EXHAUSTED, PAUSED, advance
from miptree.proof.count import fewest_errors
from miptree.proof.space import space_of
from miptree.proof.state import begin, is_small_enough
from miptree.proof.subsets import AT_ONCE, BY_SUBSETS, halve

MARGINS = [1e-4, 1e-3, 0.01, 0.1, 0.4]
margins = st.sampled_from(MARGINS)


def bound_on_all(problem: Problem, margin: float, depth: int, known=(), **budget):
    rows = np.arange(problem.n_rows)
    space = space_of(problem, margin)
    return fewest_errors(problem, space, depth, rows, known, np.inf, **budget)


def proof_of(problem: Problem, margin: float, depth: int, nodes=300, **options):
    return prove_errors(
        problem, margin, depth, np.inf, clock=Clock(), max_nodes=nodes, **options
    )


def wrong_at_margin(problem: Problem, heap, margin: float) -> np.ndarray:
    """(n,): whether each row is wrong, or too near to a hyperplane on its way."""
    leaf = heap.leaf_of(problem.scaled)
    score = np.abs(problem.scaled @ heap.coef.T - heap.threshold)
    node, near = leaf + len(heap.threshold), np.zeros(problem.n_rows, dtype=bool)
    for _ in range(heap.depth):
        node = (node - 1) // 2
        near |= score[np.arange(problem.n_rows), node] < margin - 1e-9
    return near | (heap.label[leaf] != problem.y)


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
    assert not is_small_enough(10, 2, depth)
    assert not is_small_enough(10_000, 100, 2)
    assert is_small_enough(1000, 20, 3)


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
        state = begin(
            space.X, problem.y, problem.weight, depth,
            np.zeros(problem.n_rows), np.zeros(1),
        )  # fmt: skip
        outcome, total = PAUSED, 0
        while outcome == PAUSED:
            outcome, nodes = advance(state, most, space.least, nodes_at_a_time)
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
            one = fewest_errors(problem, space, depth, rows, (), np.inf, max_nodes=2000)
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
    stopped = bound_on_all(problem, 0.01, 2, should_stop=lambda: True)
    assert (stopped.bound, stopped.nodes) == (0.0, 0)


# ------------------------------------------------------------------ disjoint subsets


@examples(40)
@given(
    problem=problems((3, 60), classes=4),
    smallest=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_parts_are_halves_of_halves(problem, smallest, seed):
    levels = halve(problem, smallest, np.random.default_rng(seed))
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
def test_bounds_of_subsets_add_up(depth, weights):
    problem = random_problem(3, 60, 2, 2, "gauss", weights)
    proof = proof_of(problem, 0.01, depth)
    smaller = [s for s in proof.subsets if len(s.rows) < problem.n_rows]
    assert len(smaller) > 2
    for subset in smaller:
        assert len(np.unique(subset.rows)) == len(subset.rows)
    # The smallest parts are disjoint, so their errors are errors of the whole.
    size = min(len(s.rows) for s in smaller)
    level = [s for s in smaller if len(s.rows) <= size + 1]
    rows = np.concatenate([s.rows for s in level])
    assert len(np.unique(rows)) == len(rows)
    assert proof.bound.value >= sum(s.errors for s in level) - 1e-9
    assert proof.bound.value > 0
    assert proof.bound.proved_by in (AT_ONCE, BY_SUBSETS)


def test_a_proof_says_whether_it_needed_the_subsets():
    noise = random_problem(3, 60, 2, 2, "gauss")
    by_parts = proof_of(noise, 0.01, 2, nodes=50)
    assert by_parts.bound.proved_by == BY_SUBSETS
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    at_once = proof_of(Problem.from_data(corners, np.array([0, 0, 1, 1]), 2), 0.01, 1)
    assert at_once.bound == (1.0, AT_ONCE)
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


# --------------------------------------------------------------- subsets in the MIPs


def with_subsets(problem, objective, depth, raised=0.0):
    """The MIPs with rows of proved subsets, priced as the training does it."""
    margin = 0.1 * objective.margin
    subsets = proof_of(problem, margin, depth).subsets
    subsets = tuple(Subset(rows, errors + raised) for rows, errors in subsets)
    price = min(1.0, objective.slack_penalty * (objective.margin - margin))
    priced = tuple(Subset(rows, price * errors) for rows, errors in subsets)
    return {
        "count": CountFormulation(problem, objective, depth, subsets=subsets),
        "compact": CompactFormulation(problem, objective, depth, subsets=priced),
        "flow": FlowFormulation(problem, objective, depth, subsets=priced),
    }


def violation(formulation, heap) -> float:
    return formulation.model.violation(formulation.encode(heap))["subsets"]


@examples(60)
@given(
    problem=problems((8, 25), 2, 4),
    objective=objectives,
    depth=st.sampled_from([1, 2]),
)
def test_rows_of_subsets_keep_every_tree(problem, objective, depth):
    made = with_subsets(problem, objective, depth)
    for kind in ("cart", "polished", "random"):
        heap = make_case(problem, objective, depth, kind, 0).heap
        for formulation in made.values():
            if formulation.subsets:
                assert violation(formulation, heap) <= 1e-9


@pytest.mark.parametrize("formulation", ["count", "compact", "flow"])
def test_a_bound_too_high_by_one_would_cut_off_the_best_tree(formulation):
    """On a line, where the search proves the truth: so the test above can fail."""
    y = np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1])
    problem = Problem.from_data(np.arange(10.0)[:, None], y, 2)
    objective = Svm1Objective(1000, 0.1, 0.01)
    best = problem.into_box(bound_on_all(problem, 0.001, 1).tree)
    true = with_subsets(problem, objective, 1)[formulation]
    assert sum(subset.errors for subset in true.subsets) == 2
    assert violation(true, best) <= 1e-9
    false = with_subsets(problem, objective, 1, raised=1.0)[formulation]
    assert violation(false, best) == pytest.approx(1.0)
