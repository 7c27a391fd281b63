"""The score of a tree without the rounding of floats, where that could be seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from miptree.certificate.exact_splits import ExactSplits
from miptree.data.problem import Problem
from miptree.objective import Score, Svm1Objective
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

VISIBLE = 1e-11
"""Relative rounding of an objective that a checker in exact arithmetic might see."""
_MOST_NUMBERS = 2_000_000
"""Cells that are taken as fractions; so many take some seconds."""
_NEARLY = 1e-6
"""Rows within so much of the margin, or of the largest score, count exactly."""


def exact_score(
    problem: Problem, objective: Svm1Objective, tree: ObliqueTree, score: Score
) -> Score:
    """Return the score of a tree, its objective to the last digits of a float.

    Floats do where the errors cost far more than rounding can change. Otherwise missing
    margins and norms are counted in fractions, from the rows that they come from.

    Parameters
    ----------
    problem, objective
        The rows and (1a).
    tree : ObliqueTree
        The tree in the user's units.
    score : Score
        Its score as ``objective.evaluate`` counts it.
    """
    branch = np.flatnonzero(~tree.is_leaf)
    coef, threshold = tree.coef[branch], tree.threshold[branch]
    size = np.abs(problem.scores(coef, threshold))
    largest = size.max(axis=0, initial=0.0)
    passes = tree.ancestors[tree.apply(problem.X)][:, branch]
    margin = objective.margin * np.maximum(1.0, largest)
    is_near = passes & (size <= margin * (1 + _NEARLY))
    if _rounding(problem, objective, coef, is_near) <= VISIBLE * score.objective:
        return score
    at_edge = (size >= (1 - _NEARLY) * largest).any(axis=1)
    rows = np.flatnonzero(is_near.any(axis=1) | at_edge)
    rows = np.union1d(rows, _ends(problem, coef))
    if len(rows) * problem.n_features > _MOST_NUMBERS:
        return score
    splits = ExactSplits(
        tree,
        problem.X[rows],
        problem.weight[rows],
        problem.n_open,
        objective.margin,
    )
    total = Fraction(score.cost) + Fraction(objective.slack_penalty) * splits.slack
    total += Fraction(objective.l1_penalty) * splits.l1
    return replace(
        score,
        slack=float(splits.slack),
        l1=float(splits.l1),
        objective=float(total),
    )


def _rounding(
    problem: Problem, objective: Svm1Objective, coef: FloatArray, is_near: FloatArray
) -> float:
    """Bound what the rounding of scores in the box can change of the objective."""
    digits = 8 * np.finfo(np.float64).eps * (coef.shape[1] + 1)
    reach = 2.0 + (np.abs(coef) @ problem.scale)
    near = problem.weight @ is_near
    return float(objective.slack_penalty * digits * (near @ reach))


def _ends(problem: Problem, coef: FloatArray) -> IntArray:
    """Return rows that have the lowest and highest values of the columns used."""
    used = problem.X[:, coef.any(axis=0)]
    return np.r_[used.argmin(axis=0), used.argmax(axis=0)]
