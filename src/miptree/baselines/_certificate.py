"""What is known of a baseline's tree, under the objective of its own paper."""

from __future__ import annotations

from dataclasses import dataclass

from miptree.certificate.digest import data_digest, tree_digest
from miptree.data.problem import Problem
from miptree.mip.formulations.baselines import BaselineFormulation
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.tolerance import believed, cost_meets, meets, relative_gap
from miptree.tree import ObliqueTree


@dataclass(frozen=True)
class BaselineCertificate:
    """A baseline's errors and objective by prediction, beside what no tree beats.

    Attributes
    ----------
    baseline : str
        Name of the method.
    errors : int
        Misclassified training rows.
    n_rows : int
        Training rows (those of weight zero aside).
    cost : float
        Weight of the misclassified rows; equals ``errors`` without weights.
    any_tree_bound : float
        Lower bound on ``cost`` for every tree of this depth, whatever its splits.
    any_tree_proved_by : str
        The argument for it.
    objective, objective_bound : float
        The baseline's own objective, and a lower bound on it for its class of trees.
    objective_proved_by : str
        The argument, or the solver and its model.
    trees, objective_terms : str
        That class and that objective in words.
    depth : int
        Depth of the trees compared.
    seconds : float
        Time the fit took until the certificate was written.
    tree_digest, data_digest : str
        SHA-256 of the tree and of the training data.
    """

    baseline: str
    errors: int
    n_rows: int
    cost: float
    any_tree_bound: float
    any_tree_proved_by: str
    objective: float
    objective_bound: float
    objective_proved_by: str
    trees: str
    objective_terms: str
    depth: int
    seconds: float
    tree_digest: str
    data_digest: str

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 when they meet."""
        return relative_gap(self.objective, self.objective_bound)

    @property
    def objective_optimal(self) -> bool:
        """Whether the recounted objective meets its bound."""
        return meets(self.objective, self.objective_bound)

    def __str__(self) -> str:
        counted = f"The tree misclassifies {self.errors} of {self.n_rows} training rows"
        if cost_meets(self.cost, self.any_tree_bound):
            why = self.any_tree_proved_by
            counted += f"; no tree of depth {self.depth} does better ({why})"
        value = f"Its objective ({self.objective_terms}) is {self.objective:.6g},"
        if self.objective_optimal:
            verdict = f"proved optimal for {self.baseline}: no {self.trees} does better"
        else:
            verdict = (
                f"not proved optimal for {self.baseline}: no {self.trees} is below "
                f"{self.objective_bound:.6g} (gap {100 * self.gap:.3g} %)"
            )
        return f"{counted}. {value} {verdict} ({self.objective_proved_by})."


def certify_baseline(
    baseline: str,
    formulation: BaselineFormulation,
    tree: ObliqueTree,
    bound: Bound,
    seconds: float,
) -> BaselineCertificate:
    """Put a tree's recounted value beside a bound on its objective."""
    problem = formulation.problem
    value = formulation.value(tree)
    bound = believed(bound, value)
    trees, terms = formulation.wording
    return _certificate(
        baseline, problem, tree, formulation.depth, value, bound, trees, terms, seconds
    )


def certify_errors(
    baseline: str, problem: Problem, tree: ObliqueTree, depth: int, seconds: float
) -> BaselineCertificate:
    """Put the errors of a tree found by a heuristic beside what no tree beats."""
    cost = float(problem.error_cost(tree.predict(problem.X)).sum())
    bound = believed(combinatorial_bound(problem, depth), cost)
    trees = f"tree of depth {depth}"
    return _certificate(
        baseline, problem, tree, depth, cost, bound, trees, "errors", seconds
    )


def _certificate(
    baseline: str,
    problem: Problem,
    tree: ObliqueTree,
    depth: int,
    value: float,
    bound: Bound,
    trees: str,
    terms: str,
    seconds: float,
) -> BaselineCertificate:
    predicted = tree.predict(problem.X)
    cost = float(problem.error_cost(predicted).sum())
    any_tree = believed(combinatorial_bound(problem, depth), cost)
    return BaselineCertificate(
        baseline=baseline,
        errors=int(problem.count[predicted != problem.y].sum()),
        n_rows=int(problem.count.sum()),
        cost=cost,
        any_tree_bound=any_tree.value,
        any_tree_proved_by=any_tree.proved_by,
        objective=value,
        objective_bound=bound.value,
        objective_proved_by=bound.proved_by,
        trees=trees,
        objective_terms=terms,
        depth=depth,
        seconds=seconds,
        tree_digest=tree_digest(tree),
        data_digest=data_digest(problem),
    )
