"""The search over the sides of the root, against brute force and the other search."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from _route_cases import Refuter, RouteCase, route_case
from _routes import brute_force
from miptree.control.clock import Clock
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root.subtrees import Subtrees
from miptree.proof.routes.by_root.sweep import can_search_roots, sweep_roots
from miptree.proof.routes.candidates import heap_of
from miptree.proof.routes.methods import Methods
from miptree.proof.routes.part import raise_bound
from miptree.proof.routes.result import Part
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
    assert can_search_roots(problem, 2)
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
    if not found.fell_short:
        assert found.bound == pytest.approx(other.bound, rel=1e-5)
    else:  # a tree outside the box was in the way
        assert found.bound <= other.bound


def test_points_that_nearly_coincide_do_not_sink_a_bound():
    # To part them takes multipliers of more than 2**15.
    case = route_case(2276, (5, 28), depths=(2,))
    problem, best = routes_of(case), Refuter(case).search(30)
    trees = list(structures(problem.labels, 2))
    budget = Budget(Clock(), 10**9)
    by_structure = sweep(problem, trees, best, known=0.0, budget=budget)
    assert by_structure.bound == pytest.approx(best)
    assert prove(problem, best).bound == pytest.approx(best)


def test_a_search_that_falls_short_says_so(monkeypatch):
    # As if subtrees could not be proved for want of precision.
    def half(self, *args):
        found = subtree(self, *args)
        return found._replace(bound=0.5 * found.bound)

    subtree = Subtrees.best
    monkeypatch.setattr(Subtrees, "best", half)
    case = route_case(104, (20, 20), depths=(2,))
    problem, best = routes_of(case), Refuter(case).search(30)
    found = prove(problem, best)
    assert found.fell_short
    assert found.bound < best
    assert found.met == inf
    again = sweep_roots(problem, best, known=best - 1e-6, budget=Budget(Clock(), 10**6))
    assert again.bound is None
    assert again.fell_short
    methods = Methods()
    methods.by_root.note(0.5 * best, 10, 1.0)
    methods.by_root.note(0.6 * best, 11, 1.0)
    methods.by_structure.note(0.4 * best, 10, 1.0)
    methods.by_structure.note(0.5 * best, 1000, 1.0)
    raised = raise_bound(
        Part(problem, np.arange(case.problem.n_rows), 1.0, 0.6 * best),
        2,
        lambda: best,
        scale=best,
        budget=Budget(Clock(), 10**6),
        record=False,
        n_jobs=1,
        methods=methods,
    )
    assert not methods.uses_roots
    trees = list(structures(problem.labels, 2))
    budget = Budget(Clock(), 10**9)
    other = sweep(problem, trees, best, known=0.0, budget=budget).bound
    assert raised.part.threshold == pytest.approx(other)
    assert found.bound < other


def test_it_ends_with_its_nodes_and_with_the_clock():
    problem = routes_of(route_case(104, (40, 40), depths=(2,), kinds=("gauss",)))
    few = prove(problem, 30.0, budget=Budget(Clock(), 50))
    assert few.bound is None
    assert few.nodes >= 50
    given_up = sweep_roots(problem, 30.0, 20, known=0.0, budget=Budget(Clock(), 10**6))
    assert given_up.bound is None
    over = Clock()
    over.stop.request()
    assert prove(problem, 30.0, budget=Budget(over, 10**6)).bound is None


def test_the_search_that_goes_farther_is_chosen():
    budget = Budget(Clock(), 10**5)
    methods = Methods()
    methods.begin(0.0, can_use_roots=True)
    for threshold, nodes in ((4.0, 300), (5.0, 3000)):
        methods.by_structure.note(threshold, nodes, 1.0)
    asked = []

    def search(threshold: float, most: int) -> Sweep:
        asked.append((threshold, most))
        return Sweep(threshold, 100 * len(asked), inf, None)

    assert methods.better(9.0, budget) is methods.by_structure
    methods.try_roots(5.0, 6.0, budget, search)
    assert [threshold for threshold, _ in asked] == [3.75, 4.5]
    assert methods.better(9.0, budget) is methods.by_root
    methods.try_roots(5.0, 6.0, budget, search)
    assert len(asked) == 2  # not again before the nodes are many more
    methods.give_up_roots()
    methods.try_roots(9.0, 10.0, budget, search)
    assert len(asked) == 2
    assert methods.better(9.0, budget) is methods.by_structure


def test_roots_that_take_too_many_nodes_are_not_chosen():
    methods = Methods()
    methods.begin(0.0, can_use_roots=True)
    for threshold, nodes in ((4.0, 300), (5.0, 3000)):
        methods.by_structure.note(threshold, nodes, 1.0)
    budget = Budget(Clock(), 10**5)
    methods.try_roots(5.0, 6.0, budget, lambda *_: Sweep(None, 4000, inf, None))
    assert methods.better(9.0, budget) is methods.by_structure


def test_bounds_are_raised_by_root_and_are_valid():
    case = route_case(102, (40, 40), depths=(2,), kinds=("gauss",))
    refuter = Refuter(case)
    refuter.search(30)
    problem = routes_of(case)
    proved = prove(problem, 0.3 * refuter.best).bound
    methods, used = Methods(), []
    # As if the other search had become slow.
    for part, nodes in ((0.2, 10), (0.3, 10**5)):
        methods.by_structure.note(part * refuter.best, nodes, 1.0)

    def offer(found):
        for coef, threshold, structure, values in found:
            refuter.offer(heap_of(case.problem, structure, coef, threshold, 2, values))
        return refuter.best

    raised = raise_bound(
        Part(problem, np.arange(case.problem.n_rows), 1.0, proved),
        2,
        lambda: refuter.best,
        scale=refuter.best,
        budget=Budget(Clock(), 60_000),
        record=False,
        n_jobs=1,
        methods=methods,
        on_candidates=offer,
        on_bound=lambda part: used.append(methods.by_root.last == part.threshold),
    )
    assert any(used)
    assert 0.5 * refuter.best < raised.part.threshold <= refuter.best * (1 + 1e-9)
