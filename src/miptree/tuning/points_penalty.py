"""The feature penalty of a points tree, chosen by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from miptree.control.clock import Clock
from miptree.data.rows import TrainingRows
from miptree.fit.points_data import PointsData, PointsRules
from miptree.points import solve
from miptree.tree import ObliqueTree
from miptree.tuning.folds import Fold, FoldedRows, stratified_folds
from miptree.tuning.points_fold import rules_for_folds
from miptree.tuning.scores import costs_of
from miptree.utils.arrays import FloatArray

SMALLEST_SHARE = 0.0033
"""Smallest penalty above 0, as a part of what all rows cost if all are errors."""
MULTIPLES = (0, 1, 2, 4, 8)
"""The penalties to choose from, in smallest ones."""
USUAL = 2
"""The one that is taken where there is nothing to compare by."""
LIKELY_PENALTY = 0.01
"""A penalty with as many decimals as those to choose from."""
PULL = 0.01
"""Part of the held-out costs that a penalty must save for each place away from the
usual one: folds of some hundred rows hardly tell penalties apart."""
N_FOLDS, _FEWEST_FOLDS = 5, 2
"""Folds, and how many must be done to choose by them."""
MOST_ROWS = 5_000
"""Rows that take part, of more a stratified part."""


@dataclass(frozen=True)
class ChosenPenalty:
    """A feature penalty and how it was chosen.

    Attributes
    ----------
    value : float
        Cost of a feature in a split.
    how : str
        A sentence for people.
    """

    value: float
    how: str


def choose_penalty(
    rows: TrainingRows,
    data: PointsData,
    seed: int,
    clock: Clock,
    n_jobs: int,
    max_evaluations: int,
) -> ChosenPenalty:
    """Choose the penalty whose trees cost least on rows held out.

    Everything of a fold, the grid as well, is learnt from its training rows alone.

    Parameters
    ----------
    rows : TrainingRows
    data : PointsData
        What was learnt of all of them: the family of splits is that of the folds.
    seed : int
        Of the folds.
    clock : Clock
        Ends the comparison early. The folds done by then decide; where these are
        fewer than two, the usual penalty is taken.
    n_jobs : int
        Threads of the engine.
    max_evaluations : int
        Root splits that the search for a tree looks at.
    """
    least = smallest_penalty(data)
    folded = _folded(rows, data.rules, seed)
    rules = rules_for_folds(data)
    losses: list[FloatArray] = []
    for fold in folded.folds:
        found = _losses(folded.rows, fold, rules, clock, n_jobs, max_evaluations)
        if clock.is_over:
            break
        losses.append(found)
    if len(losses) < _FEWEST_FOLDS:
        why = "the rows are too few" if len(folded.folds) < 2 else "time was too short"
        return ChosenPenalty(_round(USUAL * least), f"the usual one, as {why}")
    chosen = MULTIPLES[best_place(np.array(losses))]
    how = f"chosen by cross-validation in {len(losses)} folds"
    return ChosenPenalty(_round(chosen * least), how)


def smallest_penalty(data: PointsData) -> float:
    """Return the smallest penalty to be tried, a number of two digits."""
    total = float(data.problem.worst_class_cost.sum())
    return float(f"{SMALLEST_SHARE * total:.1e}")


def best_place(losses: FloatArray) -> int:
    """Return the place of the best penalty, given (folds, penalties) of losses."""
    places = np.arange(len(MULTIPLES))
    value = losses.mean(axis=0) + PULL * np.abs(places - MULTIPLES.index(USUAL))
    # Of equally good ones the largest: its trees use the fewest features.
    return int(np.flatnonzero(value <= value.min() + 1e-9).max())


def _round(penalty: float) -> float:
    """Undo the rounding of a product of short decimals."""
    return float(f"{penalty:.3g}")


def _folded(rows: TrainingRows, rules: PointsRules, seed: int) -> FoldedRows:
    """Split the rows, told apart by what they hold and not by their grid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user has seen them
        table = rows.learn_table("onehot", rules.missing, rules.unknown)
    return stratified_folds(rows, rows.problem(table), N_FOLDS, 1, MOST_ROWS, seed)


def _losses(
    rows: TrainingRows,
    fold: Fold,
    rules: PointsRules,
    clock: Clock,
    n_jobs: int,
    max_evaluations: int,
) -> FloatArray:
    """Return what the trees of all penalties cost on the rows held out.

    1 is what the rows would cost if all were errors, the most costly ones.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = rules.learn(rows.take(fold.train))
        held_out = rows.take(fold.test)
        X = data.table.transform_cells(held_out.cells)
    cost = _costs(held_out)
    points = data.points_problem(np.full(X.shape[1], smallest_penalty(data)))
    each, found = np.arange(len(cost)), []
    for times in MULTIPLES:
        if clock.is_over:  # the fold does not count
            break
        heap = solve(
            replace(points, penalty=times * points.penalty),
            rules.depth,
            clock,
            n_jobs=n_jobs,
            max_evaluations=max_evaluations,
        ).heap
        predicted = ObliqueTree.from_heap(heap).predict(X)
        found.append(cost[each, predicted].sum())
    return np.array(found) / cost.max(axis=1).sum()


def _costs(rows: TrainingRows) -> FloatArray:
    """Return (n, Y): what it costs to predict each class for each row."""
    costs = costs_of(rows)[rows.y] if rows.row_costs is None else rows.row_costs
    found: FloatArray = rows.weight[:, None] * costs
    return found
