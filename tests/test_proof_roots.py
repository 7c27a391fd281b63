"""Proofs by trying all roots: never above the truth, and as high as it on grids."""

from itertools import combinations

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
from miptree.proof import prove_errors
from miptree.proof.all_roots import all_roots_bound, can_try_roots
from miptree.proof.all_splits import arrangement_bound, in_units
from miptree.proof.conflict_state import begin_conflicts
from miptree.proof.conflicts import NO, YES, few_errors
from miptree.proof.hull_distance import INSEPARABLE, first_basis, separate
from miptree.proof.row_partition import row_partition_bound
from miptree.proof.space import space_of

MARGINS = [1e-4, 1e-3, 0.01, 0.1, 0.4]
margins = st.sampled_from(MARGINS)


def bound_on_all(problem, margin, enough=np.inf, clock=None, nodes=None):
    return all_roots_bound(
        problem, space_of(problem, margin), enough,
        clock=clock or Clock(), max_nodes=nodes,
    )  # fmt: skip


def are_inseparable(X, wanted, points, least):
    """Whether the two sides of some points are too near to each other."""
    left, right = ([i for i in points if wanted[i] == side] for side in (-1, 1))
    if not (left and right):
        return False
    d = X.shape[1]
    basis, inverse = np.zeros(d + 2, dtype=np.int64), np.zeros((d + 2, d + 2))
    weight = np.zeros(d + 2)
    first_basis(X, right[0], left[0], basis, inverse, weight)
    members = np.array(left + right)
    answer, _ = separate(
        X, members, wanted[members], len(members), np.zeros(len(X), dtype=np.bool_),
        least, basis, inverse, weight, np.zeros(d + 1),
    )  # fmt: skip
    return answer == INSEPARABLE


def fewest_by_subsets(X, systems, unit, points, least):
    """Fewest errors after which no system is inseparable, by trying all of them."""
    best = unit[points].sum()
    for size in range(len(points)):
        for errors in combinations(points, size):
            cost = unit[list(errors)].sum()
            if cost < best and not any(
                are_inseparable(
                    X, wanted, [i for i in points if i not in errors], least
                )
                for wanted in systems
            ):
                best = cost
    return best


def question(seed, n, d, n_systems, is_weighted):
    """Points on a grid, their units, and their sides in some systems."""
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n, d)) / 3.0
    unit = rng.integers(1, 6, size=n) if is_weighted else np.ones(n, dtype=np.int64)
    systems = rng.choice([-1, 1] if n_systems == 1 else [-1, 0, 1], (n_systems, n))
    return X, unit, systems, rng


# ------------------------------------------------------------------- errors of a split


@examples(60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 7),
    d=st.integers(1, 3),
    n_systems=st.sampled_from([1, 3]),
    is_weighted=st.booleans(),
)
def test_few_errors_are_those_of_all_subsets(seed, n, d, n_systems, is_weighted):
    X, unit, systems, rng = question(seed, n, d, n_systems, is_weighted)
    least = rng.choice([1e-3, 0.5])
    truth = fewest_by_subsets(X, systems, unit, np.arange(n), least)
    conflicts = begin_conflicts(X, unit, n_systems)
    conflicts.points[:] = rng.permutation(n)
    unknown = np.zeros(n, dtype=np.int64)
    for allowed in range(truth + 2):
        answer, errors = few_errors(conflicts, systems, n, unknown, allowed, least)
        assert answer == (YES if allowed >= truth else NO)
        if answer == NO:
            assert allowed < errors <= truth


@examples(60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 7), is_weighted=st.booleans())
def test_what_is_known_of_earlier_points_changes_no_answer(seed, n, is_weighted):
    X, unit, systems, rng = question(seed, n, 2, 1, is_weighted)
    points, least = rng.permutation(n), 1e-3
    conflicts = begin_conflicts(X, unit, 1)
    conflicts.points[:] = points
    rank = np.zeros(n, dtype=np.int64)
    for size in range(1, n + 1):
        truth = fewest_by_subsets(X, systems, unit, points[:size], least)
        for allowed in range(rank[points[size - 1]], truth + 2):
            answer, errors = few_errors(conflicts, systems, size, rank, allowed, least)
            assert answer == (YES if allowed >= truth else NO)
            if answer == NO:
                assert allowed < errors <= truth
        if size < n:
            # What is known may be less than the truth, but never falls.
            rank[points[size]] = rng.integers(rank[points[size - 1]], truth + 1)


# ----------------------------------------------------------------- against enumeration


@examples(100)
@given(
    problem=problems((3, 5), classes=4),
    margin=margins,
    more=st.sampled_from([np.inf, 1.0]),
)
def test_never_above_the_fewest_errors(problem, margin, more):
    truth = HardMarginEnumeration(problem, margin).fewest(2)
    enough = np.inf if np.isinf(more) else truth + more
    assert bound_on_all(problem, margin, enough).bound <= truth + 1e-9


@examples(40)
@given(problem=problems((4, 5), classes=4, kinds=("grid", "constant")))
def test_meets_the_fewest_errors_on_a_grid(problem):
    unit, units = in_units(problem.weight)
    truth = HardMarginEnumeration(problem, 1e-4).fewest(2)
    found = bound_on_all(problem, 1e-4)
    rounding = (problem.weight - unit * units).sum()
    assert truth - rounding - 1e-9 <= found.bound <= truth + 1e-9
    per_class = np.bincount(problem.y, problem.weight)
    if truth < per_class.sum() - per_class.max() - 1e-9:
        # It hoped for more, and so ended with a tree.
        wrong = wrong_at_margin(problem, problem.into_box(found.tree), 1e-4)
        assert problem.weight[wrong].sum() == pytest.approx(truth, abs=1e-9)


@examples(30)
@given(
    problem=problems((8, 18), features=2, classes=3),
    margin=st.sampled_from(MARGINS[:3]),
)
def test_the_proofs_do_not_contradict_each_other(problem, margin):
    """Larger than any enumeration."""
    space = space_of(problem, margin)
    partition = row_partition_bound(
        problem, space, 2, np.inf, clock=Clock(), max_nodes=3000
    )
    arranged = arrangement_bound(problem, space, 2, np.inf, clock=Clock())
    found = bound_on_all(problem, margin)
    bound = max(partition.bound.value, arranged.bound, found.bound)
    for tree in (partition.tree, arranged.tree, found.tree):
        if tree is not None:
            wrong = wrong_at_margin(problem, problem.into_box(tree), margin)
            assert bound <= problem.weight[wrong].sum() + 1e-9


@examples(40)
@given(
    problem=problems((8, 40), 2, 3),
    objective=objectives,
    nodes=st.sampled_from([0, 30, 300]),
    seed=st.integers(0, 9),
)
def test_every_tree_makes_the_errors(problem, objective, nodes, seed):
    found = bound_on_all(problem, objective.margin, nodes=nodes)
    for kind in ("cart", "polished", "random"):
        heap = make_case(problem, objective, 2, kind, seed).heap
        wrong = wrong_at_margin(problem, heap, objective.margin)
        assert problem.weight[wrong].sum() >= found.bound - 1e-9


# -------------------------------------------------------------------------- the margin


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.3])
def test_the_margin_decides_exactly_on_a_line(gap):
    """Three splits of four groups, all of which need the gap."""
    ends = np.array([0.0, 0.5 - gap / 2, 0.5 + gap / 2, 1.0])[:, None]
    problem = Problem.from_data(ends, np.array([0, 0, 1, 1]), 2)
    assert bound_on_all(problem, 0.999 * gap).bound == 0
    assert bound_on_all(problem, 1.001 * gap).bound == 1


# ------------------------------------------------------------------------- the search


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_of_nodes_is_kept_and_more_proves_more(seed):
    problem = random_problem(seed, 40, 2, 3, "gauss")
    bounds = []
    for nodes in (0, 1, 30, 300, 3000):
        found = bound_on_all(problem, 0.01, nodes=nodes)
        assert found.nodes <= nodes
        bounds.append(found.bound)
    assert bounds == sorted(bounds)
    assert bounds[0] == 0 < bounds[-1]
    stopped = bound_on_all(problem, 0.01, clock=Clock().heeding(lambda: True))
    assert (stopped.bound, stopped.nodes) == (0.0, 0)


def test_no_more_is_proved_than_hoped_for():
    problem = random_problem(1, 30, 2, 2, "grid")
    full = bound_on_all(problem, 0.01)
    assert full.is_met
    assert full.bound > 3
    part = bound_on_all(problem, 0.01, 3.0)
    assert (part.bound, part.tree, part.is_met) == (3.0, None, False)
    assert part.nodes < full.nodes
    assert bound_on_all(problem, 0.01, 0.0).nodes == 0


def test_a_search_without_hope_leaves_the_time_to_others():
    """Every look at the clock takes a second."""
    problem = random_problem(0, 200, 2, 2, "gauss")
    seconds = iter(range(10**9))
    clock = Clock(1000.0, time_source=lambda: float(next(seconds)))
    found = bound_on_all(problem, 0.01, clock=clock)
    assert not clock.is_over
    assert found.bound > 0
    assert not found.is_met


def test_it_proves_what_the_other_searches_do_not():
    """Noise on a grid of four features, which have too many splits to list."""
    problem = random_problem(0, 60, 4, 2, "grid")
    nodes = 2000
    by_parts = row_partition_bound(
        problem, space_of(problem, 0.01), 2, np.inf, clock=Clock(), max_nodes=nodes
    )
    found = prove_errors(problem, 0.01, 2, np.inf, clock=Clock(), max_nodes=nodes)
    assert found.bound.value > by_parts.bound.value
    assert found.bound.proved_by == "exhaustive search of all splits of the root"


def test_it_is_for_two_levels():
    space = space_of(random_problem(0, 30, 2, 2, "grid"), 0.01)
    assert [can_try_roots(space, depth) for depth in (1, 2, 3)] == [False, True, False]
    assert not can_try_roots(space._replace(min_distance=1e-9), 2)


def test_no_kernel_is_compiled_for_a_literal():
    """It would be compiled once more, with all that it calls, and never be used."""
    signatures = [key[0] for key in few_errors._cache._cache_file._load_index()]
    assert signatures
    assert not any("Literal" in str(signature) for signature in signatures)


def test_weights_that_count_as_nothing_beside_others_do_not_hang():
    """A step of no error at all would never end."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    weight = np.array([1.7e-5, 3.5e-3, 1.8e4, 0.29])
    problem = Problem.from_data(X, y, 2, weight)
    space = space_of(problem, 0.1)
    assert in_units(weight)[1].min() == 0
    found = all_roots_bound(problem, space, 1e4, clock=Clock())
    assert found.bound <= 0.29 + 1.7e-5 + 1e-9
