"""The plan of a training: objective, depth, solver, limits in iterations and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from miptree.objective import Svm1Objective
from miptree.tree import ObliqueTree

PROOFS = ("auto", "errors", "objective")
"""What a fit may be asked to prove."""


@dataclass(frozen=True)
class Plan:
    """How to train a tree; see ``OptimalTreeClassifier`` for the fields.

    How long is not part of it: the clock of a fit says so. Limits in iterations and
    nodes hold for each training, of which a fit on selected rows has several.
    """

    objective: Svm1Objective
    depth: int
    formulation: str = "compact"
    solver: str = "highs"
    init: str | ObliqueTree = "auto"
    max_iter: int | None = None
    node_limit: int | None = None
    gap_tol: float = 0.0
    proof: str = "auto"
    record: bool = False
    n_jobs: int = 1
    seed: int = 0

    @property
    def keeps_at_it(self) -> bool:
        """Whether the user asked for a proof by name: only limits end the training."""
        return self.proof != "auto"

    @classmethod
    def of(cls, parameters: Any, objective: Svm1Objective) -> Plan:
        """Return the plan that the parameters of an estimator ask for."""
        return cls(
            objective,
            int(parameters.max_depth),
            parameters.formulation,
            parameters.solver,
            parameters.init,
            parameters.max_iter,
            parameters.node_limit,
            parameters.gap_tol,
            parameters.proof,
            n_jobs=int(effective_n_jobs(parameters.n_jobs)),
            seed=int(check_random_state(parameters.random_state).randint(2**31 - 1)),
        )
