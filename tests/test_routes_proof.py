"""Bounds of (1a) over routes: no tree that anybody finds is below them."""

from itertools import pairwise

import numpy as np
import pytest

from _bound_checks import (
    hold_groups_to_enumeration,
    hold_to_enumeration,
    hold_to_mip,
    hold_to_search,
)
from _data import random_problem
from _route_cases import Refuter, RouteCase, many_classes_case, prove, route_case
from miptree.control.clock import Clock
from miptree.control.stop import Stop
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.candidates import heap_of
from miptree.proof.routes.groups import group_levels
from miptree.proof.routes.structures import structure_of
from miptree.proof.routes.thresholds import Thresholds

TINY, FEW, SMALL, MEDIUM = (3, 5), (5, 6), (6, 8), (8, 24)
"""Rows for the enumeration, that of many classes, for MIPs, and for searches."""


def check_by_enumeration(seed):
    hold_to_enumeration(route_case(seed, TINY))


def check_groups(seed):
    hold_groups_to_enumeration(route_case(seed, TINY))


def check_by_mip(seed):
    hold_to_mip(route_case(seed, SMALL, (1, 2), ("distinct",)))


def check_by_search(seed):
    hold_to_search(route_case(seed, MEDIUM))


def check_many_classes(seed):
    hold_groups_to_enumeration(many_classes_case(seed, FEW))
    hold_to_search(many_classes_case(seed, MEDIUM))


@pytest.mark.parametrize("seed", range(14))
def test_enumeration_confirms(seed):
    check_by_enumeration(seed)


@pytest.mark.parametrize("seed", range(100, 106))
def test_enumeration_confirms_groups(seed):
    check_groups(seed)


@pytest.mark.parametrize("seed", range(200, 206))
def test_mip_confirms(seed):
    check_by_mip(seed)


@pytest.mark.parametrize("seed", range(300, 312))
def test_search_confirms(seed):
    check_by_search(seed)


@pytest.fixture
def few_labels_at_once(monkeypatch):
    """Make all trees of three classes and more too many to be searched at once."""
    monkeypatch.setattr("miptree.proof.routes.prove.MOST_STRUCTURES", 3)


@pytest.mark.usefixtures("few_labels_at_once")
@pytest.mark.parametrize("seed", range(400, 412))
def test_groups_of_classes_are_confirmed(seed):
    check_groups(seed)
    check_by_search(seed + 100)


@pytest.mark.parametrize("seed", range(600, 602))
def test_groups_of_many_classes_are_confirmed(seed):
    hold_groups_to_enumeration(many_classes_case(seed, FEW))


MANY = [
    *((check_by_enumeration, first) for first in range(1000, 1400, 50)),
    *((check_groups, first) for first in range(2000, 2300, 50)),
    *((check_by_mip, first) for first in range(3000, 3150, 50)),
    *((check_by_search, first) for first in range(4000, 5000, 50)),
    *((check_many_classes, first) for first in range(6000, 6100, 50)),
]


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("check", "first"), MANY)
def test_many(check, first):
    for seed in range(first, first + 50):
        check(seed)


# ----------------------------------------------------------------------------- the API


def a_case(seed=5, n_rows=40, depth=2):
    problem = random_problem(seed, n_rows, 2, 3, "distinct")
    return RouteCase(seed, problem, Svm1Objective(20, 8, 0.05), depth)


def test_nodes_make_the_result_the_same_whatever_the_jobs():
    case = a_case()
    best = Refuter(case).search(30)
    proofs = [
        prove(case, best, max_nodes=400, n_jobs=n_jobs, smallest=8) for n_jobs in (1, 2)
    ]
    assert proofs[0].bound == proofs[1].bound
    assert 0 < proofs[0].bound.value <= best


def test_more_nodes_prove_no_less():
    case = a_case()
    bounds = [prove(case, 30.0, max_nodes=n).bound.value for n in (100, 1000, 10_000)]
    assert bounds == sorted(bounds)


def test_bounds_are_told_as_they_rise():
    case, told = a_case(), []
    proof = prove(case, 30.0, max_nodes=500, smallest=8, on_bound=told.append)
    assert [bound.value for bound in told] == sorted({bound.value for bound in told})
    assert told[-1] == proof.bound


def test_groups_are_named():
    case = a_case(n_rows=60)
    proof = prove(case, 60.0, max_nodes=150, smallest=8)
    assert proof.bound.proved_by.endswith("groups of the rows, whose bounds add up")


def test_recorded_parts_add_up():
    case = a_case()
    proof = prove(case, 30.0, max_nodes=300, smallest=8, record=True)
    parts = proof.parts
    assert parts
    assert sum(part.share for part in parts) <= 1.0
    rows = np.concatenate([part.rows for part in parts])
    assert len(rows) == len(set(rows))
    assert proof.bound.value == pytest.approx(sum(part.threshold for part in parts))
    assert prove(case, 30.0, max_nodes=300, smallest=8).parts is None


def test_a_stop_is_heard():
    case = a_case()
    stop = Stop()
    stop.request()
    proof = prove(case, 30.0, clock=Clock(60.0, stop=stop))
    assert proof.bound.value == -np.inf


def test_nothing_is_claimed_where_it_cannot_be():
    case = a_case(n_rows=12)
    free_norms = case._replace(objective=Svm1Objective(20, 0, 0.05))
    assert prove(free_norms, 5.0).bound.value == -np.inf
    too_deep = case._replace(depth=4)
    assert prove(too_deep, 5.0).bound.value == -np.inf


def test_a_tree_that_is_found_is_offered_and_lowers_the_limit():
    X = np.random.default_rng(0).normal(size=(20, 2))
    problem = Problem.from_data(X, (X.sum(axis=1) > 0).astype(int), 2)
    case = RouteCase(0, problem, Svm1Objective(20, 2, 0.05), 1)
    refuter = Refuter(case)
    constant = case.problem.weight.sum() - case.problem.class_weight.max()
    proof = prove(case, constant, refuter)
    assert refuter.best < constant
    assert proof.bound.value <= refuter.best


# ------------------------------------------------------------------------- its parts


def test_groups_keep_equal_points_together_and_share_classes():
    problem = random_problem(3, 80, 2, 2, "grid")
    levels = group_levels(problem, 3, np.random.default_rng(0))
    assert len(levels[-1]) == 1
    for lower, upper in pairwise(levels):
        assert len(lower) == 2 * len(upper)
        for k, rows in enumerate(upper):
            assert sorted(np.concatenate(lower[2 * k : 2 * k + 2])) == sorted(rows)
    for groups in levels:
        points = [set(problem.same_x[rows]) for rows in groups]
        assert sum(map(len, points)) == len(set.union(*points))


@pytest.mark.parametrize(("most", "sizes"), [(3, [2, 3]), (2, [2, 2])])
def test_groups_have_few_classes(most, sizes):
    problem = random_problem(3, 80, 2, 5, "distinct")
    levels = group_levels(problem, 5, np.random.default_rng(0), most)
    assert len(levels) > 1
    for groups in levels:
        assert max(len(set(problem.y[rows])) for rows in groups) <= most
        rows = np.concatenate(groups)
        assert len(rows) == len(set(rows))
    assert [len(set(problem.y[rows])) for rows in levels[-1]] == sizes


def test_classes_without_rows_make_no_group():
    problem = random_problem(3, 80, 2, 5, "distinct")
    few = problem.subset(np.flatnonzero(problem.y < 4))
    levels = group_levels(few, 5, np.random.default_rng(0), 2)
    assert [len(set(few.y[rows])) for rows in levels[-1]] == [2, 2]


def test_many_classes_are_bounded_by_groups():
    problem = random_problem(3, 60, 2, 7, "distinct")
    case = RouteCase(0, problem, Svm1Objective(20, 8, 0.05), 3)
    refuter = Refuter(case)
    best = refuter.search(10)
    bound = prove(case, best, refuter).bound
    assert 0 < bound.value <= refuter.best
    assert "groups" in bound.proved_by


def test_thresholds_rise_to_the_limit():
    thresholds, bound, nodes = Thresholds(), 0.0, 10
    budget = Budget(Clock(), 10**6)
    tried = []
    while bound < 10.0:
        bound = thresholds.after(bound, 10.0, 10.0, budget)
        nodes *= 2
        thresholds.note(bound, nodes, 1.0)
        tried.append(bound)
    assert tried == sorted(set(tried))
    assert tried[-1] == 10.0
    assert len(tried) < 30


def test_thresholds_tell_whether_the_limit_is_near():
    thresholds = Thresholds()
    assert not thresholds.reaches(10.0, Budget(Clock(), 10**9))
    for threshold, nodes in ((4.0, 10), (5.0, 100)):
        thresholds.note(threshold, nodes, 1.0)
    assert not thresholds.reaches(9.0, Budget(Clock(), 10**9))  # who knows
    assert thresholds.reaches(8.0, Budget(Clock(), 10**5))
    assert not thresholds.reaches(8.0, Budget(Clock(), 5 * 10**4))
    assert thresholds.reaches(8.0, Budget(Clock()))  # nothing limits it


@pytest.mark.parametrize("nested", [(0, 1), ((0, 1), 2), (((0, 1), 2), (1, 2))])
def test_candidates_become_trees(nested):
    problem = random_problem(1, 30, 2, 3, "distinct")
    structure = structure_of(nested)
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(structure.n_splits, 2)) / 10
    threshold = rng.normal(size=structure.n_splits) / 10
    heap = heap_of(problem, structure, coef, threshold, 3)
    side = np.where(problem.scaled @ coef.T <= threshold, -1, 1)
    wrong_way = (structure.side[None] * side[:, :, None] < 0).any(axis=1)
    leaf = wrong_way.argmin(axis=1)
    assert (heap.label[heap.leaf_of(problem.scaled)] == structure.label[leaf]).all()


@pytest.mark.parametrize("seed", [2, 4, 5, 6])
def test_errors_that_cannot_be_avoided_do_not_spoil_a_proof(seed):
    # 420 of them, and norms of a hundredth: bounds are exact beside the norms.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 3)).round(2)
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    twice, other = np.vstack([X, X]), np.concatenate([y, 1 - y])
    problem = Problem.from_data(twice, other, 2, np.repeat([40.0, 30.0], 14))
    case = RouteCase(seed, problem, Svm1Objective(1000, 0.1, 0.01), 2)
    refuter = Refuter(case)
    found = prove(case, refuter.search(60), refuter)
    assert 0.0 <= refuter.best - found.bound.value < 1e-7
