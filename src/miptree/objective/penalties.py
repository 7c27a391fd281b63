"""The penalties of (1a) that suit a table, where the user leaves them open."""

from __future__ import annotations

from typing import Literal

import numpy as np

from miptree.data.problem import Problem
from miptree.data.quantiles import weighted_quantile
from miptree.objective import SMALLEST_MARGIN, Svm1Objective
from miptree.utils.arrays import FloatArray

Auto = Literal["auto"]

LARGEST_MARGIN = 0.05
"""Margin for few rows that fill their range."""
_FEW_ROWS = 200.0
"""Weight of the rows up to which it holds; beyond, it shrinks like a standard error."""
_USUAL_L1 = 8.0
"""Price of the 1-norm for that weight and two classes."""
_MOST_READ = 10_000
"""Rows that the spread is read from."""
_TAILS = (0.05, 0.95)


def suited_objective(
    slack_penalty: float | Auto,
    l1_penalty: float | Auto,
    margin: float | Auto,
    problem: Problem | None = None,
    weight: float | None = None,
) -> Svm1Objective:
    """Return (1a) with what the user gave, and the rest chosen for the rows.

    Parameters
    ----------
    slack_penalty, l1_penalty, margin : float or "auto"
        alpha_1, alpha_2 and epsilon. ``slack_penalty * margin`` is made the cost of the
        most costly error if slack_penalty is open; with the margin open it is at least
        that, up to the largest margin.
    problem : Problem, optional
        The rows. Without them the largest margin and the usual 1-norm are taken: enough
        to refuse what no rows can make right.
    weight : float, optional
        Weight of all rows, where the problem holds a sample of them.
    """
    price = 1.0 if problem is None else max(1.0, problem.largest_error_cost)
    if isinstance(margin, str):
        epsilon = LARGEST_MARGIN if problem is None else suited_margin(problem, weight)
        if not isinstance(slack_penalty, str) and slack_penalty > 0:
            epsilon = min(max(epsilon, price / slack_penalty), LARGEST_MARGIN)
    else:
        epsilon = float(margin)
    if isinstance(slack_penalty, str):
        slack_penalty = price / max(epsilon, SMALLEST_MARGIN)  # 0 is refused below
    if isinstance(l1_penalty, str):
        l1_penalty = _USUAL_L1 if problem is None else suited_l1(problem, weight)
    return Svm1Objective(float(slack_penalty), float(l1_penalty), epsilon)


def largest_cost(slack_penalty: float | Auto, margin: float | Auto) -> float:
    """Return the largest cost that an error may have, by what the user gave."""
    if isinstance(slack_penalty, str):
        return np.inf
    return slack_penalty * (LARGEST_MARGIN if isinstance(margin, str) else margin)


def suited_l1(problem: Problem, weight: float | None) -> float:
    """Return a price alpha_2 of the 1-norm for so many rows and classes, to two digits.

    It is in errors. With many classes a split is about a part of the rows only; many
    rows can afford few features, at a price that grows less than they do.
    """
    weight = float(problem.weight.sum()) if weight is None else weight
    many = (weight / _FEW_ROWS) ** 0.25
    return float(f"{_USUAL_L1 * many * 2.0 / problem.n_classes:.2g}")


def suited_margin(problem: Problem, weight: float | None = None) -> float:
    """Return a margin epsilon that the rows can keep, to two digits.

    The box holds the outermost rows, so that with heavy tails most rows have scores
    near each other, and can only keep a small margin. Many rows need less of it.
    """
    weight = float(problem.weight.sum()) if weight is None else weight
    fewness = min(1.0, np.sqrt(_FEW_ROWS / weight))
    margin = LARGEST_MARGIN * _usual_spread(problem) * fewness
    return float(f"{np.clip(margin, SMALLEST_MARGIN, LARGEST_MARGIN):.2g}")


def _usual_spread(problem: Problem) -> float:
    """Return the part of their range that nine rows of ten fill: the median's."""
    X, weight = problem.open_scaled, problem.weight
    if problem.n_rows > _MOST_READ:
        some = np.random.default_rng(0).choice(problem.n_rows, _MOST_READ, False)
        X, weight = X[some], weight[some]
    return float(np.median([_spread(x, weight) for x in X.T] or [1.0]))


def _spread(x: FloatArray, weight: FloatArray) -> float:
    if ((x == x.min()) | (x == x.max())).all():
        return 1.0  # two values are apart however seldom one of them is
    low, high = (weighted_quantile(x, weight, level) for level in _TAILS)
    return high - low
