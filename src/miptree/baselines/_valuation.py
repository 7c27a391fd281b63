"""The objectives by which the baselines compare trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation
from miptree.objective import Score
from miptree.tree import ObliqueTree


@dataclass(frozen=True)
class ErrorValuation:
    """The weight of the misclassified rows as an objective.

    Parameters
    ----------
    method : str
        Name of the method.
    trees : str
        Its class of trees, in words.
    """

    method: str
    trees: str

    def evaluate(self, problem: Problem, tree: ObliqueTree) -> Score:
        """Recount the errors of a tree by prediction."""
        cost, errors = _recount(problem, tree)
        return Score(errors, cost, cost, 0.0, 0.0, cost)

    def certified(self) -> dict[str, Any]:
        """Return the fields of a certificate that name the objective."""
        return _named(self.method, self.trees, "errors")


@dataclass(frozen=True)
class BaselineValuation:
    """The objective of a baseline with a MIP.

    Parameters
    ----------
    method : str
        Name of the method.
    formulation : BaselineFormulation
        Its MIP, made for the data.
    """

    method: str
    formulation: BaselineFormulation

    def evaluate(self, problem: Problem, tree: ObliqueTree) -> Score:
        """Recount the objective of a tree by prediction."""
        cost, errors = _recount(problem, tree)
        objective = self.formulation.value(tree)
        return Score(errors, cost, cost, 0.0, 0.0, objective)

    def certified(self) -> dict[str, Any]:
        """Return the fields of a certificate that name the objective."""
        return _named(self.method, *self.formulation.wording)


def _recount(problem: Problem, tree: ObliqueTree) -> tuple[float, int]:
    predicted = tree.predict(problem.X)
    cost = float(problem.error_cost(predicted).sum())
    return cost, int(problem.count[predicted != problem.y].sum())


def _named(method: str, trees: str, terms: str) -> dict[str, Any]:
    words = {"method": method, "trees": trees, "objective_terms": terms}
    return {**words, "slack_penalty": 0.0, "l1_penalty": 0.0, "margin": 0.0}
