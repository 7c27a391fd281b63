"""What bounds over routes are held to: no tree that anybody finds is below them."""

from _brute_force import BruteForce
from _data import solve
from _route_cases import Refuter, prove
from miptree.mip.formulations import CompactFormulation
from miptree.objective.tolerance import Leeway

UNKNOWN = 1e9
"""Value of the best tree where none is at hand: the proof has to find the optimum."""
_ENOUGH = 1_000_000
"""Nodes that end every proof of a few rows."""


def above(bound, value):
    """Whether a bound is above a value by more than rounding."""
    return bound > value + 1e-9 * max(1.0, abs(value))


def hold_to_enumeration(case):
    """The bound is at most the optimum, and at least that of rows on a split's side."""
    problem, objective, depth = case[1:]
    optimum = BruteForce(problem, objective, strict=True).optimum(depth)
    relaxed = BruteForce(problem, objective, strict=False).optimum(depth)
    for best_value in (UNKNOWN, optimum):
        proof = prove(case, best_value, Refuter(case), max_nodes=_ENOUGH)
        bound = max(0.0, proof.bound.value)
        assert not above(bound, optimum), case
        assert Leeway().meets(relaxed, bound), case


def hold_groups_to_enumeration(case):
    """Bounds of small groups add up to no more than the optimum."""
    optimum = BruteForce(case.problem, case.objective, True).optimum(case.depth)
    bound = prove(case, UNKNOWN, smallest=1).bound
    assert not above(bound.value, optimum), case


def hold_to_mip(case):
    """No bound is above the optimum of a MIP without points of equal numbers."""
    model = CompactFormulation(case.problem, case.objective, case.depth).model
    optimum = solve(model).objective
    bound = prove(case, UNKNOWN).bound.value
    assert bound <= optimum + 2e-6 * max(1.0, optimum), case


def hold_to_search(case, iterations=10, max_nodes=1000):
    """No tree found by search, by the proof itself or at random is below a bound."""
    refuter = Refuter(case)
    found = refuter.search(iterations)
    for best_value in (UNKNOWN, found):
        for smallest in (100, 3):
            proof = prove(case, best_value, refuter, max_nodes, smallest=smallest)
            assert not above(proof.bound.value, refuter.best), (case, smallest)
