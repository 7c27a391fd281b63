"""Repeat with another solver the proofs that a certificate rests on."""

from __future__ import annotations

from collections.abc import Iterator

from miptree.certificate.certificate import Certificate
from miptree.certificate.check import Check
from miptree.certificate.checks import objective_of, say
from miptree.constraints.rules import Rules
from miptree.data.problem import Problem
from miptree.mip.formulations import CompactFormulation, CountFormulation
from miptree.mip.formulations.ruled import RuledFormulation
from miptree.mip.solvers import Limits, Result, get_solver
from miptree.objective.bounds import COUNTING
from miptree.tree import ObliqueTree

BOUND_TOLERANCE = 1e-6
"""Relative difference allowed between a bound and the one proved again."""

MAX_DEPTH = 10
"""Largest depth whose 2**depth leaves are put into a MIP."""


def solve_again(
    certificate: Certificate,
    tree: ObliqueTree,
    problem: Problem,
    solver: str,
    seconds: float | None,
    rules: Rules | None = None,
) -> Iterator[Check]:
    """Repeat the proofs that a solver gave, with the solver asked for.

    ``rules`` are the constraints of the fit, where there were any. What is proved by
    counting under them needs no solver: that was counted again.
    """
    if certificate.depth > MAX_DEPTH:
        sentence = f"depth {certificate.depth} is too large to prove anything again."
        yield Check("proofs again", False, sentence)
        return
    given = (problem, objective_of(certificate), certificate.depth)
    no_solver = {certificate.any_tree_proved_by}
    no_solver |= set() if rules is None else {COUNTING}
    if certificate.errors_proved_by not in no_solver:
        count = CountFormulation(*given)
        result = _solve(count, tree, solver, seconds)
        bound = count.round_up(result.bound)
        yield _confirm("errors bound again", certificate.errors_bound, bound, result)
    if certificate.objective_proved_by not in no_solver:
        made, value = CompactFormulation(*given), certificate.objective
        if certificate.is_of_ruled_trees and rules is not None:
            kept = rules.for_problem(problem)
            made = RuledFormulation(*given, rules=kept, best_value=value)
        result = _solve(made, tree, solver, seconds)
        claimed, bound = certificate.objective_bound, min(result.bound, value)
        yield _confirm("objective bound again", claimed, bound, result)


def _solve(
    formulation: CountFormulation | CompactFormulation,
    tree: ObliqueTree,
    solver: str,
    seconds: float | None,
) -> Result:
    start = formulation.encode(formulation.problem.to_scaled(tree, formulation.depth))
    return get_solver(solver).solve(formulation.model, start, Limits(seconds=seconds))


def _confirm(name: str, given: float, bound: float, result: Result) -> Check:
    """Compare a bound with what another solve proved."""
    if result.status == "infeasible":
        sentence = f"{result.solver} claims that there is no tree at all; this is one."
        return Check(name, False, f"neither confirmed nor refuted: {sentence}")
    tolerance = BOUND_TOLERANCE * max(1.0, abs(given))
    if given - bound <= tolerance:
        sentence = f"{result.solver} proves {say(bound)} as well"
        return Check(name, True, f"{sentence} (claimed: {say(given)}).")
    if result.objective < given - tolerance:
        sentence = f"{result.solver} finds a tree of {say(result.objective)}"
        return Check(name, False, f"{sentence}, below the {say(given)} claimed.")
    return Check(
        name,
        False,
        f"neither confirmed nor refuted: {result.solver} proves {say(bound)} only, in "
        f"{result.seconds:.1f} s; {say(given)} is claimed. Allow it more time.",
    )
