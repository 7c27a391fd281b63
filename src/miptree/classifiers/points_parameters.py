"""What the parameters of a points tree ask for: its rules, penalties and limits."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from miptree.data.grid import GridSpec
from miptree.data.named import by_column
from miptree.data.rows import TrainingRows
from miptree.fit.points_data import PointsData, PointsRules
from miptree.points.solve import DEEPEST_TREE
from miptree.utils.arrays import FloatArray

if TYPE_CHECKING:
    from miptree.estimator_points import PointsTreeClassifier

_SIGNS = {1: 1, -1: -1, "+": 1, "-": -1}


def check_depth(clf: PointsTreeClassifier) -> None:
    """Refuse a depth that no points tree has."""
    if not 1 <= clf.max_depth <= DEEPEST_TREE:
        raise ValueError(
            f"max_depth of PointsTreeClassifier is 1 to {DEEPEST_TREE}, got "
            f"{clf.max_depth}: nobody follows longer cards."
        )


def check_leaves(clf: PointsTreeClassifier, rows: TrainingRows) -> None:
    """Refuse leaves of more rows than there are."""
    n_rows = int((rows.weight > 0).sum())
    if clf.min_samples_leaf > n_rows:
        raise ValueError(
            f"min_samples_leaf is {clf.min_samples_leaf}, but there are {n_rows} "
            "rows (of weight above 0): no tree has such a leaf. Give a smaller one."
        )


def points_rules(clf: PointsTreeClassifier, rows: TrainingRows) -> PointsRules:
    """Return how rows are read, after checks of the columns that are named."""
    names = [cells.name for cells in rows.cells]
    units = by_column(clf.units, names, "units")
    signs = by_column(clf.signs, names, "signs")
    for place, sign in signs.items():
        if sign not in _SIGNS:
            raise ValueError(
                f"signs gives {sign!r} for {names[place]!r}. Give 1 or -1, or "
                '"+" or "-".'
            )
    return PointsRules(
        GridSpec(clf.grid_steps, {names[k]: unit for k, unit in units.items()}),
        int(clf.max_depth),
        clf.max_features_per_split,
        clf.max_points,
        {place: _SIGNS[sign] for place, sign in signs.items()},
        int(clf.min_samples_leaf),
        clf.missing,
        clf.unknown,
    )


def narrowing(clf: PointsTreeClassifier, data: PointsData) -> str:
    """Say how the family was narrowed where the user left it open."""
    sentences = [data.left_out] if data.left_out else []
    if clf.max_features_per_split == "auto" and data.family.max_features < 3:
        fewer = "Splits add up at most 2 features: 3 would be too many ways."
        sentences.insert(0, fewer)
    return " ".join(sentences)


def given_penalty(clf: PointsTreeClassifier, rows: TrainingRows) -> FloatArray | None:
    """Return the penalty of each column of X, None for "auto"."""
    given = clf.feature_penalty
    if isinstance(given, Real):
        return np.full(len(rows.cells), float(given))
    if isinstance(given, Mapping):
        return _named_penalties(given, [cells.name for cells in rows.cells])
    return None


def _named_penalties(given: Mapping[Any, float], names: list[str]) -> FloatArray:
    """Return the penalty of each column, 0 for those not named."""
    penalty = np.zeros(len(names))
    for place, value in by_column(given, names, "feature_penalty").items():
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value < np.inf:
            raise ValueError(
                f"feature_penalty gives {value!r} for {names[place]!r}. Give a finite "
                "number >= 0."
            )
        penalty[place] = float(value)
    return penalty
