"""What a fold tells of every setting: how good its trees are, and how large."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from miptree.data.labels import plain_costs
from miptree.data.rows import TrainingRows
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores of settings in one fold.

    Attributes
    ----------
    score : float array of shape (settings, thresholds)
        Accuracy on the rows held out, NaN where a setting has no tree.
    nonzeros : float array of shape (settings, thresholds)
        Coefficients a split.
    terms : float array of shape (settings, thresholds)
        Coefficients of all splits together.
    references : dict from str to float
        Scores of other methods in this fold.
    rules : float array of shape (settings, thresholds, constraints, 2)
        Whether the rows held out keep each constraint, and by how much they miss it.
    """

    score: FloatArray
    nonzeros: FloatArray
    terms: FloatArray
    references: dict[str, float] = field(default_factory=dict)
    rules: FloatArray = field(default_factory=lambda: np.zeros((1, 1, 0, 2)))

    @classmethod
    def empty(cls, n_settings: int, n_thresholds: int, n_rules: int = 0) -> FoldScores:
        """Make scores that are all NaN, to be filled in."""
        nothing = np.full((n_settings, n_thresholds), np.nan)
        rules = np.full((n_settings, n_thresholds, n_rules, 2), np.nan)
        return cls(nothing, nothing.copy(), nothing.copy(), rules=rules)

    def put(self, places: list[int], found: FoldScores) -> None:
        """Take in the scores of some settings."""
        self.score[places] = found.score
        self.nonzeros[places] = found.nonzeros
        self.terms[places] = found.terms
        self.rules[places] = found.rules

    def joined(self, other: FoldScores) -> FoldScores:
        """Return the scores of both, of settings that took part in one of them."""
        is_mine = np.isfinite(self.score)
        return FoldScores(
            np.where(is_mine, self.score, other.score),
            np.where(is_mine, self.nonzeros, other.nonzeros),
            np.where(is_mine, self.terms, other.terms),
            self.references | other.references,
            np.where(is_mine[:, :, None, None], self.rules, other.rules),
        )


def costs_of(rows: TrainingRows) -> FloatArray:
    """Return the costs of the errors (Y, Y), by default 1 each."""
    if rows.costs is not None:
        return rows.costs
    each = np.arange(rows.n_classes)
    return plain_costs(each, np.ones(len(each)), len(each))


def training_costs(rows: TrainingRows) -> FloatArray:
    """Return the costs (Y, Y) that are not in the weights of a problem of the rows."""
    return costs_of(rows if rows.class_price is None else replace(rows, costs=None))


def nonzeros_per_split(tree: HeapTree | ObliqueTree) -> float:
    """Count the coefficients of a split, on average over those that have any."""
    used = np.count_nonzero(tree.coef, axis=1)
    return float(used[used > 0].mean()) if used.any() else 0.0
