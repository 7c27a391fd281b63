"""The provers that the question of routes sets side by side."""

from __future__ import annotations

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.mip.formulations import FORMULATIONS
from miptree.mip.solvers import Limits, get_solver
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.proof.routes import prove_objective
from miptree.tree import HeapTree


class Best:
    """The best tree so far, by the recounted objective."""

    def __init__(self, problem: Problem, objective: Svm1Objective) -> None:
        self.problem, self.objective = problem, objective
        self.value = float("inf")

    def offer(self, heap: HeapTree) -> float:
        """Take a tree in scaled units; return the best objective.

        Of splits with more features than they may use, the largest ones are kept.
        """
        heap = self.problem.limited(heap)
        tree = with_cheapest_labels(self.problem, self.problem.to_user(heap))
        score = self.objective.evaluate(self.problem, tree)
        if score.objective < self.value:
            self.value, self.heap = score.objective, heap
        return self.value


def by_routes(best: Best, depth: int, clock: Clock) -> float:
    """Return the bound of the branch and bound over routes."""
    proof = prove_objective(
        best.problem,
        best.objective,
        depth,
        best.value,
        clock=clock,
        offer=best.offer,
    )
    return max(0.0, proof.bound.value)


def by_mip(best: Best, depth: int, clock: Clock) -> float:
    """Return the better bound of SCIP on two models, half of the time each."""
    bound = 0.0
    for formulation, part in (("flow", 0.5), ("compact", 1.0)):
        step = clock.share(part)
        made = FORMULATIONS[formulation](best.problem, best.objective, depth)
        result = get_solver("scip").solve(
            made.model,
            made.encode(best.heap),
            Limits(),
            lambda progress, step=step: step.is_over,
            lambda x, made=made: best.offer(made.decode(x)) and None,
        )
        if result.x is not None:
            best.offer(made.decode(result.x))
        bound = max(bound, result.bound)
    return bound


PROVERS = {"routes": by_routes, "mip": by_mip}
