"""Bounds over routes with subset splits: no tree that anybody finds is below them."""

from itertools import product

import numpy as np
import pytest

from _brute_force import BruteForce, BruteForceWithoutBox
from _data import solve
from _route_cases import Refuter, prove
from _routes import SplitCosts
from _subset_cases import subset_case
from miptree.data.problem import Problem
from miptree.mip.formulations import CompactFormulation
from miptree.objective import Svm1Objective
from miptree.objective.tolerance import meets
from miptree.proof.routes import can_prove
from miptree.proof.routes.candidates import heap_of
from miptree.proof.routes.engine import EXHAUSTED, advance, begin
from miptree.proof.routes.structures import (
    SUBSET,
    count_structures,
    structure_of,
    structures,
)
from miptree.proof.routes.units import route_problem

TINY, SMALL, MEDIUM = (3, 6), (6, 8), (10, 24)
"""Rows for the enumeration, for MIPs, and for searches."""
UNKNOWN = 1e9


def above(bound, value):
    """Whether a bound is above a value by more than rounding."""
    return bound > value + 1e-9 * max(1.0, abs(value))


# --------------------------------------------------------- what the bounds are held to


def check_by_enumeration(seed):
    """The bound is at most the optimum, and at least that of trees without a box."""
    case = subset_case(seed, TINY)
    problem, objective, depth = case[1:]
    optimum = BruteForce(problem, objective, strict=True).optimum(depth)
    relaxed = BruteForceWithoutBox(problem, objective, strict=False).optimum(depth)
    for best_value in (UNKNOWN, optimum):
        bound = max(0.0, prove(case, best_value, Refuter(case)).bound.value)
        assert not above(bound, optimum), case
        assert problem.is_limited or meets(relaxed, bound), case


def check_groups(seed):
    """Bounds of small groups add up to no more than the optimum."""
    case = subset_case(seed, TINY)
    optimum = BruteForce(case.problem, case.objective, True).optimum(case.depth)
    bound = prove(case, UNKNOWN, smallest=1).bound
    assert not above(bound.value, optimum), case


def check_by_mip(seed):
    """No bound is above the optimum of a MIP without points of equal numbers."""
    case = subset_case(seed, SMALL, (1, 2), is_distinct=True)
    model = CompactFormulation(case.problem, case.objective, case.depth).model
    optimum = solve(model).objective
    bound = prove(case, UNKNOWN).bound.value
    assert bound <= optimum + 2e-6 * max(1.0, optimum), case


def check_by_search(seed, iterations=10, max_nodes=1000):
    """No tree found by search, by the proof itself or at random is below a bound."""
    case = subset_case(seed, MEDIUM, (1, 2, 2, 2, 3))
    refuter = Refuter(case)
    found = refuter.search(iterations)
    for best_value in (UNKNOWN, found):
        for smallest in (100, 3):
            proof = prove(case, best_value, refuter, max_nodes, smallest=smallest)
            assert not above(proof.bound.value, refuter.best), (case, smallest)


@pytest.mark.parametrize("seed", range(25))
def test_enumeration_confirms(seed):
    check_by_enumeration(seed)


@pytest.mark.parametrize("seed", range(100, 106))
def test_enumeration_confirms_groups(seed):
    check_groups(seed)


@pytest.mark.parametrize("seed", range(200, 206))
def test_mip_confirms(seed):
    check_by_mip(seed)


@pytest.mark.parametrize("seed", range(300, 304))
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


def brute_force(problem, structure, with_box, reached):
    """The least cost of a structure over all routes of all points."""
    split_cost = SplitCosts(problem, with_box)
    floor = 0.0 if reached else problem.least_split
    best = np.inf
    for leaf in product(range(structure.n_leaves), repeat=problem.n_points):
        if reached and len(set(leaf)) < structure.n_leaves:
            continue
        where = np.array(leaf)
        total = problem.cost[np.arange(len(where)), structure.label[where]].sum()
        for b in range(structure.n_splits):
            if total >= best:
                break
            side = structure.side[b, where]
            if not structure.is_subset[b]:
                total += max(floor, split_cost(tuple(side.tolist())))
            elif not any(are_parted(own, side) for own in problem.values):
                total = np.inf
        best = min(best, float(total))
    return best


def are_parted(values, side):
    return not np.isin(values[side < 0], values[side > 0]).any()


SHAPES = [
    (0, 1, SUBSET),
    ((0, 1), 0, SUBSET),
    ((0, 1, SUBSET), 1),
    ((0, 1, SUBSET), 0, SUBSET),
    ((0, 1, SUBSET), (0, 1)),
    ((0, 1, SUBSET), (0, 1, SUBSET)),
    ((0, 1), (0, 1), SUBSET),
    ((0, 1, SUBSET), (0, 1, SUBSET), SUBSET),
]


@pytest.mark.parametrize("seed", range(24))
def test_optimum_of_a_structure_is_found_and_proved(seed):
    case = subset_case(seed, (5, 6), (1,))
    problem = route_problem(case.problem, case.objective)
    structure = structure_of(SHAPES[seed % len(SHAPES)])
    best = brute_force(problem, structure, with_box=True, reached=True)
    relaxed = brute_force(problem, structure, with_box=False, reached=False)
    for threshold in (0.6 * relaxed, 0.999 * relaxed, relaxed * 1.01, 3 * relaxed + 1):
        if threshold <= 0:
            continue
        state = begin(problem, structure, threshold, record=True)
        assert advance(state, 100_000) == EXHAUSTED
        bound = min(threshold, state.open_value)
        assert bound <= best + 1e-7
        assert bound >= min(threshold, relaxed) - 1e-4


def test_a_free_split_by_values_is_found():
    """Values tell the classes apart: one subset split costs nothing at all."""
    values = np.eye(3)[[0, 0, 1, 1, 2, 2]]
    X = np.column_stack([np.zeros(6), values])
    problem = Problem.from_data(
        X, np.array([0, 0, 1, 1, 0, 0]), 2, value_feature=np.zeros(3, dtype=np.intp)
    )
    routes = route_problem(problem, Svm1Objective(20, 8, 0.05))
    state = begin(routes, structure_of((0, 1, SUBSET)), 1.0)
    assert advance(state, 1000) == EXHAUSTED
    assert state.open_value == pytest.approx(0.0, abs=1e-9)
    (found,) = state.take_candidates()
    heap = heap_of(problem, found.structure, *found[:2], 1, found.left_values)
    assert (heap.label[heap.leaf_of(problem.scaled)] == problem.y).all()


# -------------------------------------------------------------------- the structures


def mirrored(nested):
    """The canonical one of all mirror images of a structure."""
    if not isinstance(nested, tuple):
        return nested
    return (*sorted(map(mirrored, nested[:2]), key=repr), *nested[2:])


@pytest.mark.parametrize(("n_labels", "depth", "count"), [
    (2, 1, 4), (3, 1, 9), (2, 2, 18), (3, 2, 87), (2, 3, 340),
])  # fmt: skip
def test_number_of_structures(n_labels, depth, count):
    found = [one.nested for one in structures(range(n_labels), depth, has_subsets=True)]
    assert len(found) == count == count_structures(n_labels, depth, True)
    assert len({repr(mirrored(one)) for one in found}) == count


def test_kinds_are_part_of_a_structure():
    one = structure_of((((0, 1), 2, SUBSET), (0, 1, SUBSET)))
    assert one.is_subset.tolist() == [False, True, False, True]
    assert one.n_hyperplanes == 2
    assert not structure_of(((0, 1, SUBSET), (0, 1))).is_symmetric
    assert structure_of(((0, 1, SUBSET), (0, 1, SUBSET))).is_symmetric


def test_rows_of_other_values_are_other_points():
    X = np.array([[1.0, 1, 0], [1, 1, 0], [1, 0, 1]])
    feature = np.zeros(2, dtype=np.intp)
    problem = Problem.from_data(X, np.array([0, 1, 0]), 2, value_feature=feature)
    route = route_problem(problem, Svm1Objective(20, 8, 0.05))
    assert route.n_points == 2
    assert sorted(route.values[0]) == [0, 1]


def test_too_many_structures_are_left():
    def can(n_classes, depth):
        X = np.column_stack([np.arange(20.0), np.eye(2)[np.arange(20) % 2]])
        feature = np.zeros(2, dtype=np.intp)
        y = np.arange(20) % n_classes
        problem = Problem.from_data(X, y, n_classes, value_feature=feature)
        return can_prove(problem, Svm1Objective(20, 8, 0.05), depth)

    assert can(6, 2)
    assert can(2, 3)
    assert not can(7, 2)
    assert not can(3, 3)
