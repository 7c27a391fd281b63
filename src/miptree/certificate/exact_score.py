"""The score of a tree without the rounding of floats, where that could be seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from miptree.certificate.exact_splits import ExactSplits
from miptree.data.problem import Problem
from miptree.objective import Score, Svm1Objective
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

VISIBLE = 1e-11
"""Relative rounding of an objective that a checker in exact arithmetic might see."""
_MOST_NUMBERS = 1_000_000
"""Numbers that are taken as fractions; so many take some seconds."""
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
    coef = tree.coef[~tree.is_leaf]
    size, is_near = _sizes(problem, objective, tree)
    if _rounding(problem, objective, coef, is_near) <= VISIBLE * score.objective:
        return score
    largest = size.max(axis=0, initial=0.0)
    at_edge = (size >= (1 - _NEARLY) * largest).any(axis=1)
    rows = np.flatnonzero(is_near.any(axis=1) | at_edge)
    rows = np.union1d(rows, _ends(problem, coef))
    # Rows alike in the columns used are one: those of a few values are often many.
    used = np.where(coef.any(axis=0), problem.X[rows], 0.0)
    alike, row_of = np.unique(used, axis=0, return_inverse=True)
    if has_too_many(len(alike), problem.n_features, len(coef)):
        return score
    weight = np.zeros(len(alike))
    np.add.at(weight, row_of.ravel(), problem.weight[rows])
    splits = ExactSplits(tree, alike, weight, problem.n_open, objective.margin)
    total = Fraction(score.cost) + Fraction(objective.slack_penalty) * splits.slack
    total += Fraction(objective.l1_penalty) * splits.l1
    return replace(
        score,
        slack=float(splits.slack),
        l1=float(splits.l1),
        objective=float(total),
    )


def has_too_many(n_rows: int, n_columns: int, n_splits: int) -> bool:
    """Tell whether so many different rows are too many to be taken as fractions."""
    return n_rows * (n_columns + n_splits) > _MOST_NUMBERS


def float_rounding(
    problem: Problem, objective: Svm1Objective, tree: ObliqueTree
) -> float:
    """Bound what the rounding of scores in floats can change of the objective."""
    _, is_near = _sizes(problem, objective, tree)
    return _rounding(problem, objective, tree.coef[~tree.is_leaf], is_near)


def _sizes(
    problem: Problem, objective: Svm1Objective, tree: ObliqueTree
) -> tuple[FloatArray, BoolArray]:
    """Return abs(score) of rows at splits, and where rows on their way may be near."""
    branch = np.flatnonzero(~tree.is_leaf)
    size = np.abs(problem.scores(tree.coef[branch], tree.threshold[branch]))
    passes = tree.ancestors[tree.apply(problem.X)][:, branch]
    margin = objective.margin * np.maximum(1.0, size.max(axis=0, initial=0.0))
    return size, passes & (size <= margin * (1 + _NEARLY))


def _rounding(
    problem: Problem, objective: Svm1Objective, coef: FloatArray, is_near: BoolArray
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
