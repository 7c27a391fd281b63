"""Step 7: what is known of a tree's distance from the best one."""

from __future__ import annotations

from dataclasses import dataclass

from miptree.objective import Score, Svm1Objective

OPTIMALITY_TOLERANCE = 1e-6
"""Relative distance at which a recounted objective counts as meeting its bound."""


@dataclass(frozen=True)
class Certificate:
    """A tree's objective, counted by prediction, beside what no tree can beat.

    ``objective_bound`` speaks of the trees of this depth whose scores lie in the box
    abs(score) <= 1 on the training points, under (1a) with this margin and these
    penalties. ``errors_bound`` speaks of every tree of this depth.

    Attributes
    ----------
    errors : int
        Misclassified training rows.
    n_rows : int
        Training rows (those of weight zero aside).
    cost : float
        Weight of the misclassified rows; equals ``errors`` without weights.
    errors_bound : float
        No tree of this depth has a smaller cost.
    objective : float
        (1a), recounted.
    objective_bound : float
        No tree of the class has a smaller objective.
    proved_by : str
        What gave ``objective_bound``.
    depth : int
        Depth of the trees compared.
    slack_penalty, l1_penalty, margin : float
        alpha_1, alpha_2 and epsilon of (1a).
    """

    errors: int
    n_rows: int
    cost: float
    errors_bound: float
    objective: float
    objective_bound: float
    proved_by: str
    depth: int
    slack_penalty: float
    l1_penalty: float
    margin: float

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 when they meet."""
        return relative_gap(self.objective, self.objective_bound)

    @property
    def objective_optimal(self) -> bool:
        """Whether the recounted objective meets the bound."""
        return meets(self.objective, self.objective_bound)

    @property
    def errors_optimal(self) -> bool:
        """Whether no tree of this depth makes cheaper errors."""
        return meets(self.cost, self.errors_bound)

    def __str__(self) -> str:
        verdict = (
            f"proved optimal by {self.proved_by}"
            if self.objective_optimal
            else f"not proved optimal: no tree is below {self.objective_bound:.6g} "
            f"(gap {100 * self.gap:.3g} %), by {self.proved_by}"
        )
        fewest = ", and no tree makes fewer" if self.errors_optimal else ""
        return (
            f"The tree misclassifies {self.errors} of {self.n_rows} training rows"
            f"{fewest}. Its objective is {self.objective:.6g}, {verdict}. "
            f"(Objective: errors + {self.slack_penalty:g} * slack + "
            f"{self.l1_penalty:g} * 1-norms at margin {self.margin:g}, over trees of "
            f"depth {self.depth} on features scaled to [0, 1].)"
        )


def relative_gap(objective: float, bound: float) -> float:
    """Gap between an objective >= 0 and a bound, relative to the objective."""
    if meets(objective, bound):
        return 0.0
    return (objective - bound) / objective


def meets(objective: float, bound: float) -> bool:
    """Whether an objective is as low as its bound, to the stated tolerance."""
    return objective - bound <= OPTIMALITY_TOLERANCE * max(1.0, abs(objective))


def certify(
    score: Score,
    objective: Svm1Objective,
    depth: int,
    n_rows: int,
    errors_bound: float,
    objective_bound: float,
    proved_by: str,
) -> Certificate:
    """Put a recounted score beside its bounds.

    A bound above the recounted value by rounding is lowered to it: a bound that a
    tree beats says no more than the tree.
    """
    return Certificate(
        errors=score.errors,
        n_rows=n_rows,
        cost=score.cost,
        errors_bound=min(errors_bound, score.cost),
        objective=score.objective,
        objective_bound=min(objective_bound, score.objective),
        proved_by=proved_by,
        depth=depth,
        slack_penalty=objective.slack_penalty,
        l1_penalty=objective.l1_penalty,
        margin=objective.margin,
    )
