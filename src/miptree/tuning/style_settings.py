"""The settings that are compared, style by style."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from miptree.data.grid import GridSpec
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.points_data import PointsData, PointsRules
from miptree.objective.penalties import Auto
from miptree.points.solve import DEEPEST_TREE
from miptree.tuning.candidates import (
    DEFAULT_CANDIDATES,
    POINTS_CANDIDATES,
    SPARSE_CANDIDATES,
    ConstantTree,
    PointsTree,
)
from miptree.tuning.cv_results import STYLES, TuningSetting
from miptree.tuning.racing import all_settings

SPARSE_FEATURES, MORE_FEATURES = 4, 8
"""Features that a split of a sparse tree weighs at most: of the simpler ones, and of
those that stand between them and oblique trees."""


def style_settings(
    style: str,
    problem: Problem,
    depths: Sequence[int],
    readings: Sequence[bool],
    max_features: int | None,
    has_rules: bool,
) -> list[TuningSetting]:
    """Return the settings of a style, or of all of them for "auto".

    Parameters
    ----------
    style : str
        "auto" or one of :data:`STYLES`.
    problem : Problem
        The rows. Where they have few features, every oblique tree is a sparse one.
    depths, readings
        Depths, and whether whole numbers of few values are read as categories.
    max_features : int, optional
        The user's limit on the features of a split.
    has_rules : bool
        Whether trees must keep constraints: points trees know none, and stay out.
    """
    shallow = [depth for depth in depths if depth <= DEEPEST_TREE]
    if style == "points" and not shallow:
        raise ValueError(
            f"max_depth of points trees is {DEEPEST_TREE} at most, got "
            f"{min(depths)}: give another style for deeper trees."
        )
    found = {
        "constant": all_settings([ConstantTree()], depths[:1]),
        "points": all_settings(POINTS_CANDIDATES, shallow),
        "sparse": [
            setting
            for k in _sparse_limits(problem, max_features, alone=style == "sparse")
            for setting in all_settings(SPARSE_CANDIDATES, depths, readings[:1], k)
        ],
        "oblique": all_settings(DEFAULT_CANDIDATES, depths, readings),
    }
    if style != "auto":
        return found[style]
    if has_rules:
        del found["points"]
    if _most(problem, max_features) <= SPARSE_FEATURES:
        del found["sparse"]  # they are all oblique trees
    return [setting for name in STYLES for setting in found.get(name, [])]


def _most(problem: Problem, max_features: int | None) -> int:
    """Return how many features a split can weigh at all."""
    return min(problem.n_open, max_features or problem.n_open)


def _sparse_limits(
    problem: Problem, max_features: int | None, alone: bool
) -> list[int]:
    """Return how many features the splits of sparse trees weigh at most.

    Beside oblique trees those are left out that are no sparser.
    """
    few = min(SPARSE_FEATURES, max_features or SPARSE_FEATURES)
    most = _most(problem, max_features)
    more = min(MORE_FEATURES, most)
    return [few, more] if more > few and (alone or more < most) else [few]


def most_points_features(max_features: int | None) -> int | Auto:
    """Return how many features a split of a points tree may add up."""
    return "auto" if max_features is None else min(max_features, 3)


def points_data(
    settings: Sequence[TuningSetting],
    rows: TrainingRows,
    missing: str,
    max_features: int | None = None,
) -> PointsData | None:
    """Return the rows as points trees read them, where such trees take part."""
    depths = [s.depth for s in settings if isinstance(s.candidate, PointsTree)]
    if not depths:
        return None
    if max(depths) > DEEPEST_TREE:
        raise ValueError(
            f"max_depth of a PointsTree is {DEEPEST_TREE} at most, got "
            f"{max(depths)}: leave it out of the candidates of deeper trees."
        )
    most = most_points_features(max_features)
    rules = PointsRules(GridSpec(), max(depths), most, missing=missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever read the rows first has warned
        return rules.learn(rows)
