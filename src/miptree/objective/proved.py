"""The lower bounds of one fit, and which of them a tree leaves standing."""

from __future__ import annotations

from typing import NamedTuple

from miptree.data.problem import Problem
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.svm1 import Score
from miptree.objective.tolerance import Leeway


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
    cheapest_error : float
        What the cheapest error costs at a row, 0 where that is not known.
    error_price : float
        What an error of cost 1 adds to the objective.
    """

    trivial: Bound
    errors: Bound
    objective: Bound
    cheapest_error: float = 1.0
    error_price: float = 1.0

    @classmethod
    def without_solver(cls, problem: Problem, depth: int, price: float = 1.0) -> Bounds:
        """Return what holds for all trees; errors cost ``price`` in the objective."""
        trivial = combinatorial_bound(problem, depth)
        objective = Bound(price * trivial.value, trivial.proved_by)
        return cls(trivial, trivial, objective, problem.cheapest_error, price)

    @property
    def leeway(self) -> Leeway:
        """How far below the objective its bound may be, and count as met."""
        price = self.error_price
        return Leeway(price * self.trivial.value, price * self.cheapest_error)

    def believed(self, score: Score) -> Bounds:
        """Return the bounds without those that a tree of that score refutes."""
        of_errors = Leeway(0.0, self.cheapest_error)
        trivial = of_errors.believed(self.trivial, score.cost)
        least = trivial.value
        return self._replace(
            trivial=trivial,
            errors=of_errors.believed(self.errors, score.cost_at_margin, least),
            objective=self.leeway.believed(
                self.objective, score.objective, self.error_price * least
            ),
        )
