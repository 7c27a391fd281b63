"""The lower bounds of one fit, and which of them a tree leaves standing."""

from __future__ import annotations

from typing import NamedTuple

from miptree.data.problem import Problem
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.svm1 import Score
from miptree.objective.tolerance import believed


class Bounds(NamedTuple):
    """Lower bounds that a fit has proved.

    Attributes
    ----------
    trivial : Bound
        On the cost of the errors of every tree of the depth; it needs no solver.
    errors : Bound
        On the cost of the errors at the margin.
    objective : Bound
        On the objective.
    error_price : float
        What an error of cost 1 adds to the objective.
    """

    trivial: Bound
    errors: Bound
    objective: Bound
    error_price: float = 1.0

    @classmethod
    def without_solver(cls, problem: Problem, depth: int, price: float = 1.0) -> Bounds:
        """Return what holds for all trees; errors cost ``price`` in the objective."""
        trivial = combinatorial_bound(problem, depth)
        objective = Bound(price * trivial.value, trivial.proved_by)
        return cls(trivial, trivial, objective, price)

    def believed(self, score: Score) -> Bounds:
        """Return the bounds without those that a tree of that score refutes."""
        scale = score.scale
        trivial = believed(self.trivial, score.cost, scale)
        least = trivial.value
        return Bounds(
            trivial,
            believed(self.errors, score.cost_at_margin, scale, least),
            believed(self.objective, score.objective, scale, self.error_price * least),
            self.error_price,
        )
