"""One fold: train every candidate on its training rows, judge it on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data import EmptyTableError, Table
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.repair import RepairedTree
from miptree.tree import HeapTree, ObliqueTree
from miptree.tuning.candidates import ObliqueCandidate
from miptree.tuning.fold_constraints import FoldConstraints
from miptree.tuning.folds import Fold
from miptree.tuning.grow import Grower, TrainingEffort
from miptree.tuning.grow_around import grow_around
from miptree.tuning.scores import (
    FoldScores,
    nonzeros_per_split,
    training_costs,
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
    rules: Rules | None = None

    def judged(
        self, trees: Sequence[HeapTree], threshold: float, clock: Clock | None
    ) -> tuple[list[ObliqueTree], float]:
        """Return the trees that speak for a candidate, in the user's units.

        Beside them, how many coefficients the first has a split. Those below the
        threshold are dropped. Under constraints one repaired tree speaks for the
        candidate, and none where none keeps them.
        """
        problem = self.part.problem
        thin = [self.part.thinned(tree, threshold) for tree in trees[:_JUDGED]]
        if self.rules is None:
            kept = [problem.to_user(tree).prune(problem.X) for tree in thin]
            return kept, nonzeros_per_split(thin[0])
        found = RepairedTree(problem, self.rules, thin, clock).tree
        if found is None:
            return [], np.nan
        return [found], nonzeros_per_split(found)


def train_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: TableRules,
    candidates: Sequence[ObliqueCandidate],
    depth: int,
    as_levels: bool = False,
    clock: Clock | None = None,
    constraints: FoldConstraints | None = None,
) -> TrainedFold:
    """Train all candidates on the training rows of a fold.

    Table, scaling, votes about labels and trees come from these rows alone. No trees
    where the constraints cannot be counted on these rows.
    """
    known = rows.take(fold.train)
    table, problem = rules.learn(known, as_levels)
    part, ruled = TrainingPart(problem, training_costs(rows)), None
    if constraints is not None:
        ruled = constraints.on_training(known, problem, table, len(known) / len(rows))
        if ruled is None:
            return TrainedFold(table, part, [[] for _ in candidates])
    share = float(known.weight.sum() / rows.weight.sum())
    grower = Grower(part, depth, FOLD_EFFORT, fold.seed, share, clock or Clock())
    grown = grow_around(grower, () if ruled is None else ruled.fixed, candidates)
    return TrainedFold(table, part, grown, ruled)


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
    constraints: FoldConstraints | None = None,
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
    constraints : FoldConstraints, optional
        What trees must keep on the training rows; a candidate none of whose trees does
        has no score.
    """
    n_rules = 0 if constraints is None else len(constraints)
    scores = FoldScores.empty(len(candidates), len(thresholds), n_rules)
    try:
        trained = train_fold(
            rows, fold, rules, candidates, depth, as_levels, clock, constraints
        )
    except EmptyTableError:
        return scores
    part, held_out = trained.part, rows.take(fold.test)
    X = trained.table.transform_cells(held_out.cells)
    for k, trees in enumerate(trained.grown):
        for t, threshold in enumerate(thresholds if trees else ()):
            if clock is not None and clock.is_over:
                return scores
            kept, nonzeros = trained.judged(trees, threshold, clock)
            if not kept:
                continue
            found = [
                tree_score(scoring, held_out, X, tree, part.problem, has_blur=True)
                for tree in kept
            ]
            # Half by the best tree, half by how well the candidate does in general.
            scores.score[k, t] = 0.5 * found[0] + 0.5 * float(np.mean(found))
            scores.nonzeros[k, t] = nonzeros
            scores.terms[k, t] = np.count_nonzero(kept[0].coef)
            if constraints is not None:
                scores.rules[k, t] = constraints.on_held_out(
                    held_out, trained.table, kept[0], X, len(held_out) / len(rows)
                )
    return scores
