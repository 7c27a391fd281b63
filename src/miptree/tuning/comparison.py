"""What an estimator compares by cross-validation, and which candidates it trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.tuning.candidates import Candidate, PointsTree
from miptree.tuning.cv_results import THRESHOLDS, CVResults, TuningSetting, Winner
from miptree.tuning.evaluate_fold import TableRules
from miptree.tuning.fold_constraints import FoldConstraints
from miptree.tuning.folds import folded_rows
from miptree.tuning.kernels import RaceKernels
from miptree.tuning.ladder import Rung, chosen
from miptree.tuning.points_fold import rules_for_folds
from miptree.tuning.points_penalty import LIKELY_PENALTY
from miptree.tuning.racing import Race, all_settings
from miptree.tuning.style_settings import points_data, style_settings
from miptree.utils.arrays import AnyArray

DEPTHS = (1, 2, 3, 4)
"""Depths that max_depth="cv" chooses from."""
MOST_COMPARED = 6_000
"""Rows on which candidates are compared; of more a stratified part."""


class Asked(Protocol):
    """The parameters of an estimator that say what is compared, and by what."""

    max_depth: int | str
    style: str
    candidates: str | Sequence[Candidate]
    scoring: str
    cv: Any
    n_repeats: int
    sparsity: str | float | None
    levels: str | bool
    max_features_per_split: int | None
    class_weight: Any
    categorical_features: Any
    categorical_encoding: str
    missing: str
    unknown: str


def depths_of(asked: Asked) -> Sequence[int]:
    """Return the depths that are compared."""
    return DEPTHS if asked.max_depth == "cv" else (int(asked.max_depth),)


def class_weight_of(asked: Asked, rows: TrainingRows, classes: AnyArray) -> Any:
    """Return the weights of the classes, those that ``scoring`` asks for."""
    if asked.scoring == "balanced_accuracy":
        return "balanced"
    if asked.scoring == "f1_macro":
        weights = rows.class_factor.tolist()
        return dict(zip(classes.tolist(), weights, strict=True))
    return asked.class_weight


def refuse_points(asked: Asked) -> None:
    """Refuse points trees beside constraints, which they do not know."""
    given = asked.candidates if not isinstance(asked.candidates, str) else ()
    if asked.style == "points" or any(isinstance(c, PointsTree) for c in given):
        raise ValueError(
            "Points trees know no constraints: give another style or other "
            "candidates, or leave out constraints and groups."
        )


def make_race(
    asked: Asked,
    constraints: FoldConstraints | None,
    rows: TrainingRows,
    problem: Problem,
    X: Any,
    y: Any,
    seed: int,
) -> tuple[Race, RaceKernels]:
    """Prepare a comparison; return what must be compiled for it as well.

    Parameters
    ----------
    asked : Asked
    constraints : FoldConstraints or None
        What trees must keep on the rows of their fold.
    rows : TrainingRows
    problem : Problem
        The same rows, as the usual settings read them.
    X, y
        The rows as they were given, for a splitter.
    seed : int
        Seed of the folds.
    """
    settings = _settings(asked, rows, problem, constraints)
    folded = folded_rows(
        rows, problem, X, y, asked.cv, asked.n_repeats, MOST_COMPARED, seed
    )
    most = asked.max_features_per_split
    points = points_data(settings, folded.rows, asked.missing, most)
    kernels = RaceKernels(settings)
    if points is not None:
        likely = points.column_penalty(np.full(len(rows.cells), LIKELY_PENALTY))
        kernels.points = points.points_problem(likely)
        kernels.depth = points.rules.depth
    race = Race(
        settings,
        folded,
        TableRules(asked.categorical_encoding, asked.missing, most),
        THRESHOLDS if asked.sparsity == "auto" else (float(asked.sparsity or 0.0),),
        None if points is None else rules_for_folds(points),
        has_references=asked.style == "auto" and isinstance(asked.candidates, str),
        scoring=asked.scoring,
        constraints=constraints,
    )
    return race, kernels


def _settings(
    asked: Asked,
    rows: TrainingRows,
    problem: Problem,
    constraints: FoldConstraints | None,
) -> list[TuningSetting]:
    """List what is compared: of trees that can hold the fixed splits, if any."""
    least = 1 if constraints is None else constraints.least_depth
    depths = [depth for depth in depths_of(asked) if depth >= least]
    readings = _readings(asked, rows)
    if not isinstance(asked.candidates, str):
        return all_settings(asked.candidates, depths, readings)
    most = asked.max_features_per_split
    has_rules = constraints is not None
    found = style_settings(
        asked.style, problem, depths, readings, most, has_rules=has_rules
    )
    n_terms = 0 if constraints is None else constraints.most_terms
    wide = [s for s in found if s.max_features is None or s.max_features >= n_terms]
    if not wide:
        raise ValueError(
            f"A FixedSplit uses {n_terms} columns, more than a split of a sparse tree "
            f"may, {max(s.max_features or 0 for s in found)}: give another style."
        )
    return wide


def _readings(asked: Asked, rows: TrainingRows) -> Sequence[bool]:
    """Return the ways to read whole numbers of few values that are compared.

    A user who names the categories, or wants unknown ones refused, has decided.
    """
    by_type = isinstance(asked.categorical_features, str)
    if list(rows.with_levels().categorical) == list(rows.categorical):
        return (False,)
    if asked.levels != "cv":
        return (bool(asked.levels),)
    return (False, True) if by_type and asked.unknown != "error" else (False,)


def to_train(asked: Asked, rungs: Sequence[Rung], results: CVResults) -> list[Winner]:
    """Return what to train: what was chosen, and what is as good but less simple.

    Of candidates given it is the best one.
    """
    if isinstance(asked.candidates, str):
        rung = chosen(rungs)
        if rung.style == "constant" or not rung.is_near:
            return [rung.winner]
        return [rung.winner for rung in rungs if rung.is_near]
    best = max(rungs, key=lambda r: r.winner.known_score)
    return [best.winner if results.scores else results.winner()]
