"""One fold: train every candidate on its training rows, judge it on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from miptree._typing import FloatArray, IntArray
from miptree.costs import plain_costs
from miptree.problem import Problem
from miptree.rows import TrainingRows
from miptree.table import Table
from miptree.tree import HeapTree
from miptree.tuning.candidates import Candidate, Effort, grow
from miptree.tuning.part import Part

FOLD_EFFORT = Effort(restarts=5, bag=24, polished=2, rounds=2, max_iter=0)
_JUDGED = 3
"""Trees of a candidate that are judged: one may be lucky."""


@dataclass(frozen=True)
class TableRules:
    """How columns become numbers; see ``OptimalTreeClassifier``."""

    encoding: str = "both"
    missing: str = "fill"
    unknown: str = "majority"
    max_features: int | None = None

    def learn(self, rows: TrainingRows) -> tuple[Table, Problem]:
        """Table and problem of some rows, learnt from these rows alone."""
        table = rows.learn_table(self.encoding, self.missing, self.unknown)
        return table, rows.problem(table, self.max_features)


@dataclass(frozen=True)
class Fold:
    """Which rows to train on, and which to hold out."""

    train: IntArray
    test: IntArray
    seed: int


@dataclass(frozen=True, eq=False)
class FoldScores:
    """What a fold says.

    Attributes
    ----------
    score : float array of shape (candidates, thresholds)
        Accuracy on the rows held out, NaN where a candidate has no tree.
    nonzeros : float array of shape (candidates, thresholds)
        Coefficients a split.
    """

    score: FloatArray
    nonzeros: FloatArray


def costs_of(rows: TrainingRows) -> FloatArray:
    """(Y, Y): costs of the errors, 1 if nothing is said."""
    if rows.costs is not None:
        return rows.costs
    each = np.arange(rows.n_classes)
    return plain_costs(each, np.ones(len(each)), len(each))


@dataclass(frozen=True, eq=False)
class TrainedFold:
    """What the training rows of a fold gave: nothing of it may know the others."""

    table: Table
    part: Part
    grown: list[tuple[Problem, list[HeapTree]]]


def train_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: TableRules,
    candidates: Sequence[Candidate],
    depth: int,
) -> TrainedFold:
    """Train all candidates on the training rows of a fold.

    Table, scaling, votes about labels and trees come from these rows alone.
    """
    known = rows.take(fold.train)
    table, problem = rules.learn(known)
    part = Part(problem, costs_of(rows))
    share = float(known.weight.sum() / rows.weight.sum())
    grown = grow(part, candidates, depth, FOLD_EFFORT, fold.seed, share)
    return TrainedFold(table, part, grown)


def score_fold(
    rows: TrainingRows,
    fold: Fold,
    rules: TableRules,
    candidates: Sequence[Candidate],
    depth: int,
    thresholds: Sequence[float],
) -> FoldScores:
    """Train all candidates on some rows, and judge them on others.

    Parameters
    ----------
    rows : TrainingRows
    fold : Fold
    rules : TableRules
    candidates : sequence
    depth : int
        Depth of the trees.
    thresholds : sequence of float
        Relative sizes below which coefficients are dropped, one after the other.
    """
    trained = train_fold(rows, fold, rules, candidates, depth)
    part, held_out = trained.part, rows.take(fold.test)
    X = trained.table.transform_cells(held_out.cells)
    shape = (len(candidates), len(thresholds))
    score, nonzeros = np.full(shape, np.nan), np.full(shape, np.nan)
    for k, (labelled, trees) in enumerate(trained.grown):
        for t, threshold in enumerate(thresholds if trees else ()):
            thin = [part.thinned(labelled, tree, threshold) for tree in trees[:_JUDGED]]
            found = [_accuracy(part, tree, X, held_out) for tree in thin]
            # Half by the best tree, half by how well the candidate does in general.
            score[k, t] = 0.5 * found[0] + 0.5 * float(np.mean(found))
            nonzeros[k, t] = nonzeros_per_split(thin[0])
    return FoldScores(score, nonzeros)


def nonzeros_per_split(heap: HeapTree) -> float:
    """Mean number of coefficients of the splits that split."""
    used = np.count_nonzero(heap.coef, axis=1)
    return float(used[used > 0].mean()) if used.any() else 0.0


def _accuracy(part: Part, heap: HeapTree, X: FloatArray, rows: TrainingRows) -> float:
    tree = part.problem.to_user(heap)
    cost = part.costs[rows.y, tree.predict(X)] / part.costs.max()
    total = float(rows.weight.sum())
    return 1.0 - float(rows.weight @ cost) / total if total > 0 else np.nan
