"""A tree that candidates grew, counted as if it had been trained for (1a)."""

from __future__ import annotations

from dataclasses import replace

from miptree.certificate.rules import with_rules
from miptree.constraints.effective import left_out
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock, End
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.objective import Svm1Objective
from miptree.objective.bounds import COUNTING, Bound
from miptree.objective.proved import Bounds
from miptree.tuning.final_fit import FinalTree


def certified(
    problem: Problem,
    objective: Svm1Objective,
    found: FinalTree,
    depth: int,
    clock: Clock,
    end: End,
    rules: Rules | None,
) -> FittedTree:
    """Count a tree, with bounds that need no solver.

    Parameters
    ----------
    problem : Problem
        All rows.
    objective : Svm1Objective
        (1a) with the penalties that it is valued by.
    found : FinalTree
        The tree, and the one without rules that tells their price.
    depth : int
        Depth of the trees that bounds are about.
    clock : Clock
    end : End
        Why the comparison ended: the status.
    rules : Rules or None
        What the tree keeps.
    """
    tree = found.tree
    assert tree is not None
    bounds = Bounds.without_solver(problem, depth)
    score = objective.evaluate(problem, tree)
    incumbent, least = Incumbent(tree, score, bounds, clock), 0.0
    if rules is not None:
        least = rules.least_cost(problem)
        incumbent.raise_objective_bound(Bound(least, COUNTING))
    fitted = incumbent.end(problem, objective, depth)
    if rules is not None:
        certificate = with_rules(
            fitted.certificate,
            rules.findings(fitted.tree, fitted.tree.apply(problem.X)),
            objective.evaluate(problem, found.free).objective,
            least,
            sorted(left_out(rules.constraints)),
            free_bound=bounds.objective.value,
        )
        fitted = replace(fitted, certificate=certificate)
    return replace(fitted, status=end)
