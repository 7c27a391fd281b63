"""Bounds over routes with subset splits: no tree that anybody finds is below them."""

import numpy as np
import pytest

from _bound_checks import (
    hold_groups_to_enumeration,
    hold_to_enumeration,
    hold_to_mip,
    hold_to_search,
)
from _routes import brute_force
from _subset_cases import subset_case
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
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


def check_by_enumeration(seed):
    hold_to_enumeration(subset_case(seed, TINY))


def check_groups(seed):
    hold_groups_to_enumeration(subset_case(seed, TINY))


def check_by_mip(seed):
    hold_to_mip(subset_case(seed, SMALL, (1, 2), is_distinct=True))


def check_by_search(seed):
    hold_to_search(subset_case(seed, MEDIUM, (1, 2, 2, 2, 3)))


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
    relaxed = brute_force(problem, structure, with_box=True, reached=False)
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


def test_too_many_structures_are_left_where_every_label_may_serve_any_rows():
    def can(n_classes, depth, has_costs):
        X = np.column_stack([np.arange(20.0), np.eye(2)[np.arange(20) % 2]])
        feature = np.zeros(2, dtype=np.intp)
        y = np.arange(20) % n_classes
        cost = 1.0 - np.eye(n_classes)[y] if has_costs else None
        problem = Problem.from_data(
            X, y, n_classes, value_feature=feature, class_cost=cost
        )
        return can_prove(problem, Svm1Objective(20, 8, 0.05), depth)

    assert can(6, 2, True)
    assert can(2, 3, True)
    assert not can(7, 2, True)
    assert not can(3, 3, True)
    assert can(7, 2, False)
    assert can(3, 3, False)
