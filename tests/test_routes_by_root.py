"""The search over the sides of the root, against brute force and the other search."""

from __future__ import annotations

from math import inf

import pytest

from _route_cases import Refuter, RouteCase, route_case
from _routes import brute_force
from miptree.control.clock import Clock
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root import can_search_roots, sweep_roots
from miptree.proof.routes.candidates import heap_of
from miptree.proof.routes.structures import structures
from miptree.proof.routes.sweep import Sweep, sweep
from miptree.proof.routes.units import RouteProblem, route_problem


def routes_of(case: RouteCase) -> RouteProblem:
    return route_problem(case.problem, case.objective)


def prove(problem: RouteProblem, threshold: float, **options) -> Sweep:
    budget = options.pop("budget", Budget(Clock(), 10**9))
    return sweep_roots(problem, threshold, known=0.0, budget=budget, **options)


def least_cost(problem: RouteProblem, with_box: bool) -> float:
    """The least cost of a tree of depth 2 with a split."""
    return min(
        brute_force(problem, one, with_box, reached=True)
        for one in structures(problem.labels, 2)
        if one.n_splits > 0
    )


SLOW = (0, 4, 13, 15)
"""Seeds whose brute force takes half a minute."""


@pytest.mark.parametrize(
    "seed",
    [pytest.param(k, marks=[pytest.mark.long] * (k in SLOW)) for k in range(25)],
)
def test_bounds_meet_brute_force(seed):
    problem = routes_of(route_case(seed, (4, 5), depths=(2,)))
    if not can_search_roots(problem, 2):
        pytest.skip("one class")
    best = least_cost(problem, with_box=True)
    free = least_cost(problem, with_box=False)
    constant = problem.cost[:, problem.labels].sum(axis=0).min()
    high = prove(problem, 1.5 * best + 0.1)
    assert high.bound <= best * (1 + 1e-9)
    assert high.bound >= min(free, constant) * (1 - 1e-6) - 1e-5
    free = min(free, constant)
    low = prove(problem, 0.999 * free)
    assert low.bound == 0.999 * free
    assert low.met == inf


@pytest.mark.parametrize("seed", range(100, 130))
def test_both_searches_prove_the_same(seed):
    case = route_case(seed, (15, 40), depths=(2,))
    problem, refuter = routes_of(case), Refuter(case)
    best = refuter.search(30)
    budget = Budget(Clock(), 10**9)
    trees = list(structures(problem.labels, 2))
    other = sweep(problem, trees, 0.9 * best, known=0.0, budget=budget)
    met = []
    found = prove(problem, 0.9 * best, on_candidates=lambda new: met.extend(new) or inf)
    for coef, threshold, structure, values in met:
        refuter.offer(heap_of(case.problem, structure, coef, threshold, 2, values))
    assert found.bound <= refuter.best * (1 + 1e-9)
    if found.bound < 0.9 * best:
        assert met
    if found.met < inf or not met:
        assert found.bound == pytest.approx(other.bound, rel=1e-5)
    else:  # a tree outside the box was in the way
        assert found.bound <= other.bound
