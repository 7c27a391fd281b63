"""One fold of points trees: train them on some rows, judge them on others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.points_data import PointsData, PointsRules
from miptree.points import solve
from miptree.tree import ObliqueTree
from miptree.tuning.candidates import PointsTree
from miptree.tuning.folds import Fold
from miptree.tuning.scores import FoldScores, nonzeros_per_split
from miptree.tuning.scoring import tree_score

EVALUATIONS = 75
"""Root splits that the search for a tree looks at in a fold."""


def penalty_of(candidate: PointsTree, problem: Problem) -> float:
    """Return the penalty of a feature in errors, a number of two digits."""
    total = float(problem.worst_class_cost.sum())
    return float(f"{candidate.penalty * total:.1e}")


def rules_for_folds(data: PointsData) -> PointsRules:
    """Return rules by which every fold has the family of splits of all rows."""
    family = data.family
    return replace(
        data.rules,
        max_features=family.max_features,
        max_points=family.max_points,
        unknown="majority",
    )


def score_points_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: PointsRules,
    candidates: Sequence[PointsTree],
    n_thresholds: int,
    clock: Clock,
    scoring: str,
) -> FoldScores:
    """Train points trees on some rows by short searches, and judge them on others.

    Their points are whole numbers, none of which is dropped: all thresholds have the
    same scores. Where the clock ends the training, the scores are NaN.
    """
    scores = FoldScores.empty(len(candidates), n_thresholds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = rules.learn(rows.take(fold.train))
        held_out = rows.take(fold.test)
        X = data.table.transform_cells(held_out.cells)
    n_columns = X.shape[1]
    for k, candidate in enumerate(candidates):
        if clock.is_over:
            break
        points = data.points_problem(
            np.full(n_columns, penalty_of(candidate, data.problem))
        )
        heap = solve(points, rules.depth, clock, max_evaluations=EVALUATIONS).heap
        tree = ObliqueTree.from_heap(heap).prune(data.problem.X)
        scores.score[k] = tree_score(
            scoring, held_out, X, tree, data.problem, has_blur=False
        )
        scores.nonzeros[k] = nonzeros_per_split(tree)
        scores.terms[k] = np.count_nonzero(tree.coef)
    return scores
