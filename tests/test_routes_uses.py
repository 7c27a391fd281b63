"""Proofs over routes where a split may use few features: against all that is known."""

from dataclasses import replace

import numpy as np
import pytest

from _bound_checks import (
    hold_groups_to_enumeration,
    hold_to_enumeration,
    hold_to_mip,
    hold_to_search,
)
from _route_cases import Refuter, RouteCase, limited_case, prove
from _routes import brute_force, replay
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.proof.routes.engine import EXHAUSTED, advance, begin
from miptree.proof.routes.structures import structure_of, structures
from miptree.proof.routes.trace import USE
from miptree.proof.routes.units import route_problem

TINY, SMALL, MEDIUM = (3, 5), (6, 8), (8, 24)
"""Rows for the enumeration, for MIPs, and for searches."""
SHAPES = [(0, 1), ((0, 1), 0), ((0, 1), 1), ((0, 1), (0, 1)), ((0, 1), (1, 0))]


def check_by_enumeration(seed):
    hold_to_enumeration(limited_case(seed, TINY))


def check_groups(seed):
    hold_groups_to_enumeration(limited_case(seed, TINY))


def check_by_mip(seed):
    hold_to_mip(limited_case(seed, SMALL, (1, 2)))


def check_by_search(seed):
    hold_to_search(limited_case(seed, MEDIUM))


@pytest.mark.parametrize("seed", range(16))
def test_enumeration_confirms(seed):
    check_by_enumeration(seed)


@pytest.mark.parametrize("seed", range(100, 106))
def test_enumeration_confirms_groups(seed):
    check_groups(seed)


@pytest.mark.parametrize("seed", range(200, 206))
def test_mip_confirms(seed):
    check_by_mip(seed)


@pytest.mark.parametrize("seed", range(300, 308))
def test_search_confirms(seed):
    check_by_search(seed)


MANY = [
    *((check_by_enumeration, first) for first in range(1000, 1500, 50)),
    *((check_groups, first) for first in range(2000, 2300, 50)),
    *((check_by_mip, first) for first in range(3000, 3150, 50)),
    *((check_by_search, first) for first in range(4000, 4500, 50)),
]


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("check", "first"), MANY)
def test_many(check, first):
    for seed in range(first, first + 50):
        check(seed)


# ------------------------------------------------------------------ one structure


def uses_of(trace):
    """Number of branches on features."""
    return int((trace.kind == USE).sum())


@pytest.mark.parametrize("seed", range(24))
def test_optimum_of_a_structure_is_found_and_proved(seed):
    case = limited_case(seed, (5, 6), (1,))
    problem = route_problem(case.problem, case.objective)
    structure = structure_of(SHAPES[seed % len(SHAPES)])
    best = brute_force(problem, structure, with_box=True, reached=True)
    relaxed = brute_force(problem, structure, with_box=True, reached=False)
    for threshold in (0.6 * relaxed, 0.999 * relaxed, relaxed * 1.01, 3 * relaxed + 1):
        if threshold <= 0:
            continue
        state = begin(problem, structure, threshold, record=True)
        assert advance(state, 100_000) == EXHAUSTED
        bound = min(threshold, state.open_value)
        assert bound <= best + 1e-7
        assert bound == pytest.approx(min(threshold, relaxed), abs=1e-4)
        least = replay(problem, structure, state.trace(), state.threshold)
        assert least >= bound - 1e-9


def diagonal(n=24, d=4, seed=0, most=1):
    """Points of two classes that no single feature tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X.sum(axis=1) > 0).astype(int)
    return Problem.from_data(X, y, 2, max_features=most)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_closing_can_be_replayed(most):
    problem = route_problem(diagonal(most=most), Svm1Objective(20.0, 2.0, 0.05))
    n_uses = 0
    for structure in structures(problem.labels, 2):
        state = begin(problem, structure, 6.0, record=True)
        assert advance(state, 100_000) == EXHAUSTED
        trace = state.trace()
        n_uses += uses_of(trace)
        least = replay(problem, structure, trace, state.threshold)
        assert least >= min(state.threshold, state.open_value) - 1e-9
        for tree in state.take_candidates():
            assert (np.abs(tree.coef) > 1e-8).sum(axis=1).max(initial=0) <= most
    assert n_uses > 0


@pytest.mark.parametrize("most", [None, 4, 9])
def test_without_a_limit_nothing_is_branched_on(most):
    objective = Svm1Objective(20.0, 2.0, 0.05)
    free, limited = (
        route_problem(replace(diagonal(), max_features=k), objective)
        for k in (None, most)
    )
    assert not limited.is_limited
    for structure in structures(free.labels, 2):
        states = [begin(one, structure, 4.0, record=True) for one in (free, limited)]
        assert [advance(state, 100_000) for state in states] == 2 * [EXHAUSTED]
        traces = [state.trace() for state in states]
        assert [uses_of(trace) for trace in traces] == [0, 0]
        assert np.array_equal(traces[0].entry, traces[1].entry)


def test_the_bound_is_one_of_trees_with_the_limit():
    """Fewer features, dearer trees; each bound is the optimum of its own class."""
    values = []
    for most in (1, 2, 3, 4):
        problem = diagonal(n=16, most=most)
        case = RouteCase(0, problem, Svm1Objective(20.0, 2.0, 0.05), 1)
        refuter = Refuter(case)
        bound = prove(case, refuter.search(20), refuter, max_nodes=50_000).bound.value
        assert bound == pytest.approx(refuter.best, rel=2e-6)
        values.append(bound)
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1] + 0.1
