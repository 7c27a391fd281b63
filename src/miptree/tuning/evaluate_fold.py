"""One fold: train every candidate on its training rows, judge it on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.control.clock import Clock
from miptree.data import EmptyTableError, Table
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.tree import HeapTree
from miptree.tuning.candidates import ObliqueCandidate
from miptree.tuning.folds import Fold
from miptree.tuning.grow import Grower, TrainingEffort
from miptree.tuning.scores import (
    FoldScores,
    costs_of,
    nonzeros_per_split,
)
from miptree.tuning.scoring import tree_score
from miptree.tuning.training_part import TrainingPart

FOLD_EFFORT = TrainingEffort(restarts=8, bag=32, polished=2, rounds=2, max_iter=5)
_JUDGED = 3
"""Trees of a candidate that are judged: one may be lucky."""


@dataclass(frozen=True)
class TableRules:
    """How columns become numbers; see ``OptimalTreeClassifier``."""

    encoding: str = "both"
    missing: str = "fill"
    max_features: int | None = None

    def learn(self, rows: TrainingRows, as_levels: bool) -> tuple[Table, Problem]:
        """Learn table and problem of some rows from these rows alone.

        Rows held out may have categories that these have not: they go with the
        majority, whatever is to happen to those of new rows.
        """
        if as_levels:
            rows = rows.with_levels()
        table = rows.learn_table(self.encoding, self.missing, "majority")
        return table, rows.problem(table, self.max_features)


@dataclass(frozen=True, eq=False)
class TrainedFold:
    """Table and trees learnt from the training rows of a fold, and from no others."""

    table: Table
    part: TrainingPart
    grown: list[list[HeapTree]]


def train_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: TableRules,
    candidates: Sequence[ObliqueCandidate],
    depth: int,
    as_levels: bool = False,
    clock: Clock | None = None,
) -> TrainedFold:
    """Train all candidates on the training rows of a fold.

    Table, scaling, votes about labels and trees come from these rows alone.
    """
    known = rows.take(fold.train)
    table, problem = rules.learn(known, as_levels)
    part = TrainingPart(problem, costs_of(rows))
    share = float(known.weight.sum() / rows.weight.sum())
    grower = Grower(part, depth, FOLD_EFFORT, fold.seed, share, clock or Clock())
    return TrainedFold(table, part, grower.grow(candidates))


def score_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: TableRules,
    candidates: Sequence[ObliqueCandidate],
    depth: int,
    thresholds: Sequence[float],
    as_levels: bool = False,
    clock: Clock | None = None,
    scoring: str = "accuracy",
) -> FoldScores:
    """Train all candidates on some rows, and judge them on others.

    Parameters
    ----------
    thresholds : sequence of float
        Relative sizes below which coefficients are dropped, one after the other.
    as_levels : bool
        Whether whole numbers of few values are read as categories.
    clock : Clock, optional
        Ends the training early; the scores then mean nothing.
    scoring : str
        One of :data:`~miptree.tuning.scoring.SCORINGS`.
    """
    scores = FoldScores.empty(len(candidates), len(thresholds))
    try:
        trained = train_fold(rows, fold, rules, candidates, depth, as_levels, clock)
    except EmptyTableError:
        return scores
    part, held_out = trained.part, rows.take(fold.test)
    X = trained.table.transform_cells(held_out.cells)
    for k, trees in enumerate(trained.grown):
        for t, threshold in enumerate(thresholds if trees else ()):
            if clock is not None and clock.is_over:
                return scores
            thin = [part.thinned(tree, threshold) for tree in trees[:_JUDGED]]
            kept = [part.problem.to_user(tree).prune(part.problem.X) for tree in thin]
            found = [
                tree_score(scoring, held_out, X, tree, part.problem, has_blur=True)
                for tree in kept
            ]
            # Half by the best tree, half by how well the candidate does in general.
            scores.score[k, t] = 0.5 * found[0] + 0.5 * float(np.mean(found))
            scores.nonzeros[k, t] = nonzeros_per_split(thin[0])
            scores.terms[k, t] = np.count_nonzero(kept[0].coef)
    return scores
