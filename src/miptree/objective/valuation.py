"""What trees are compared by."""

from __future__ import annotations

from typing import Any, Protocol

from miptree.data.problem import Problem
from miptree.objective.svm1 import Score
from miptree.tree import ObliqueTree


class Valuation(Protocol):
    """An objective: (1a), or that of a baseline."""

    def evaluate(self, problem: Problem, tree: ObliqueTree) -> Score:
        """Recount the objective of a tree in the user's units by prediction."""
        ...

    def certified(self) -> dict[str, Any]:
        """Return the fields of a certificate that name the objective."""
        ...
