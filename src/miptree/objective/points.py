"""The cost of a points tree: its errors, and the columns that its splits add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from miptree.data.problem import Problem
from miptree.objective.svm1 import Score
from miptree.tree import ObliqueTree

POINTS_TREE = "points tree"
"""The name of the method in certificates."""
INDICATOR_POINTS = {
    1: (1, 4),
    2: (1, 2, 4, 5),
    3: (1, 2, 3, 4, 5, 10),
    4: (1, 2, 3, 4, 5, 10),
    5: (1, 2, 3, 4, 5, 10),
}
"""Points of a yes/no column beside one number, for each ``max_points``."""
_INDICATOR_WORDS = {
    1: "1 or 4",
    2: "1, 2, 4 or 5",
    3: "1 to 5 or 10",
    4: "1 to 5 or 10",
    5: "1 to 5 or 10",
}
"""The same in words."""


@dataclass(frozen=True)
class PointsObjective:
    """What points trees are compared by, and the family that they are compared in.

    Parameters
    ----------
    column_penalty : tuple of float
        What a split costs for each grid column in it, counted in every split anew.
    depth : int
        Depth of the trees.
    max_features, max_points, min_samples_leaf : int
        Limits of the family.
    unit : float
        Unit whose whole multiples the proof compares.
    rounding : float
        How far a cost in whole units may be from the cost itself.
    is_plain : bool
        Whether every error costs 1.
    is_mixed : bool
        Whether a split may add up a yes/no column and a number.
    has_categories : bool
        Whether a split may add up values of one category.
    has_signs : bool
        Whether the user gave signs to columns.
    n_allowed : int or None
        How many grid columns splits may use, None for all of them.
    restriction : str
        What else is asked of the trees, in words.
    """

    column_penalty: tuple[float, ...]
    depth: int
    max_features: int
    max_points: int
    min_samples_leaf: int = 1
    unit: float = 1.0
    rounding: float = 0.0
    is_plain: bool = True
    is_mixed: bool = False
    has_categories: bool = False
    has_signs: bool = False
    n_allowed: int | None = None
    restriction: str = ""

    def evaluate(self, problem: Problem, tree: ObliqueTree) -> Score:
        """Recount the cost of a tree by prediction."""
        predicted = tree.predict(problem.X)
        by_row = problem.error_cost(predicted).tolist()
        errors = int(problem.count[predicted != problem.y].sum())
        return self.score(tree, errors, by_row)

    def score(self, tree: ObliqueTree, errors: int, costs: list[float]) -> Score:
        """Return the score of a tree, given its errors and what they cost in parts."""
        uses = np.count_nonzero(tree.coef[~tree.is_leaf], axis=0).tolist()
        pairs = zip(uses, self.column_penalty, strict=True)
        penalties = [penalty for n, penalty in pairs for _ in range(n)]
        cost = math.fsum(costs)
        return Score(errors, cost, cost, 0.0, 0.0, math.fsum(costs + penalties))

    def certified(self) -> dict[str, Any]:
        """Return the fields of a certificate that name the objective."""
        return {
            "method": POINTS_TREE,
            "trees": self.trees,
            "objective_terms": self.terms,
            "slack_penalty": 0.0,
            "l1_penalty": 0.0,
            "margin": 0.0,
            "feature_penalties": tuple(map(float, self.column_penalty)),
            "max_features": self.max_features,
            "max_points": self.max_points,
            "min_samples_leaf": self.min_samples_leaf,
            "cost_unit": self.unit,
            "cost_rounding": self.rounding,
        }

    @property
    def trees(self) -> str:
        """The family of trees in words."""
        plural = "" if self.max_features == 1 else "s"
        words = (
            f"{POINTS_TREE} of depth {self.depth} with at most {self.max_features} "
            f"feature{plural} a split"
        )
        if self.max_features > 1:
            words += f", points up to {self.max_points}{self._exceptions}"
        if self.min_samples_leaf > 1:
            words += f", at least {self.min_samples_leaf} rows a leaf"
        if self.has_signs:
            words += ", the signs that were given"
        if self.n_allowed is not None:
            words += f", on {self.n_allowed} of {len(self.column_penalty)} grid columns"
        else:
            words += ", on the grid of its table"
        return f"{words}, {self.restriction}" if self.restriction else words

    @property
    def _exceptions(self) -> str:
        """What else the points of a split may be, or may not."""
        words = []
        if self.is_mixed:
            points = _INDICATOR_WORDS[self.max_points]
            words.append(f"{points} for a yes/no column beside one number")
            words[-1] += " of 1 a step" if self.max_points > 1 else ""
            most = max(INDICATOR_POINTS[self.max_points])
            words[-1] += f", such as {most} smoker=yes + age"
        if self.has_categories:
            words.append("the same for values of one category")
        return f" ({'; '.join(words)})" if words else ""

    @property
    def terms(self) -> str:
        """The cost in words."""
        errors = "errors" if self.is_plain else "cost of errors"
        low = min(self.column_penalty, default=0.0)
        high = max(self.column_penalty, default=0.0)
        if high == 0:
            return errors
        price = f"{high:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return f"{errors} + {price} for each feature in a split"
