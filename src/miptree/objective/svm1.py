"""The paper's objective (1a), recounted from a tree by prediction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from miptree.data.problem import Problem
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

SMALLEST_MARGIN = 1e-4
"""Below this the margin drowns in the feasibility tolerance of a MIP solver."""
MARGIN_ROUNDING = 1e-9
"""LP solutions sit on the margin to about this; a row so near to it keeps it."""


@dataclass(frozen=True)
class Score:
    """The objective value of a tree and its terms, counted by prediction.

    Attributes
    ----------
    errors : int
        Misclassified rows of the user's data (rows of weight zero aside).
    cost : float
        What they cost, by default their weight: the first sum of (1a).
    cost_at_margin : float
        The same, with rows nearer to a hyperplane on their way than the margin (less
        the rounding of an LP) at the cost of their most costly class.
    slack : float
        Weighted sum of the missing margins m_ib, the second sum.
    l1 : float
        Sum of the 1-norms of the hyperplanes in scaled units, the third sum. Subset
        splits of a categorical feature have none.
    objective : float
        (1a).
    """

    errors: int
    cost: float
    cost_at_margin: float
    slack: float
    l1: float
    objective: float


@dataclass(frozen=True)
class Svm1Objective:
    """Objective (1a): errors + alpha_1 * slack + alpha_2 * 1-norms, at margin epsilon.

    Parameters
    ----------
    slack_penalty : float
        alpha_1.
    l1_penalty : float
        alpha_2.
    margin : float
        epsilon, in units of the box abs(score) <= 1.

    Notes
    -----
    A point that lies on a hyperplane may be sent to either side by the MIP, for the
    price ``slack_penalty * margin``. Below the price of an error that pays: on iris
    with alpha_1 = 1, epsilon = .01 the MIP reports 0 errors and its tree makes 37.
    Hence both are refused here.
    """

    slack_penalty: float
    l1_penalty: float
    margin: float

    def __post_init__(self) -> None:
        for name in ("slack_penalty", "l1_penalty", "margin"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be finite and >= 0, got {value!r}.")
        if not SMALLEST_MARGIN <= self.margin <= 1:
            raise ValueError(
                f"margin must lie in [{SMALLEST_MARGIN:g}, 1], got {self.margin:g}: a "
                "smaller margin is lost in the solver's tolerances, a larger one does "
                "not fit into the box abs(score) <= 1. Try margin=0.01."
            )
        if self.slack_penalty * self.margin < 1 - 1e-12:
            raise ValueError(
                "slack_penalty * margin must be at least 1, got "
                f"{self.slack_penalty:g} * {self.margin:g} = "
                f"{self.slack_penalty * self.margin:g}: otherwise points on a "
                "hyperplane would be cheaper than errors. Set slack_penalty to "
                f"{1 / self.margin:g} or more, or raise the margin."
            )

    def certified(self) -> dict[str, Any]:
        """Return the fields of a certificate that name this objective."""
        return asdict(self)

    def evaluate(
        self, problem: Problem, tree: ObliqueTree, largest: FloatArray | None = None
    ) -> Score:
        """Recount (1a) for a tree in the user's units.

        A hyperplane outside the box counts as its multiple on the edge of the box,
        which routes every point alike. ``largest`` is the largest abs(score) at each
        split, where the problem holds only a part of the rows in the box.
        """
        leaf = tree.apply(problem.X)
        predicted = tree.label[leaf]
        branch = np.flatnonzero(~tree.is_leaf)
        size = np.abs(problem.scores(tree.coef[branch], tree.threshold[branch]))
        largest = size.max(axis=0, initial=0.0) if largest is None else largest
        box = np.maximum(1.0, largest)
        missing = np.maximum(0.0, self.margin - size / box)
        missing *= tree.ancestors[leaf][:, branch]
        slack = float(problem.weight @ missing.sum(axis=1))
        opened = slice(problem.n_open)
        norm = np.abs(tree.coef[branch, opened]) @ problem.scale[opened]
        l1 = float((norm / box).sum())
        error_cost = problem.error_cost(predicted)
        cost = float(error_cost.sum())
        too_near = (missing > MARGIN_ROUNDING).any(axis=1)
        at_margin = np.where(too_near, problem.worst_class_cost, error_cost)
        return Score(
            errors=int(problem.count[predicted != problem.y].sum()),
            cost=cost,
            cost_at_margin=float(at_margin.sum()),
            slack=slack,
            l1=l1,
            objective=cost + self.slack_penalty * slack + self.l1_penalty * l1,
        )
