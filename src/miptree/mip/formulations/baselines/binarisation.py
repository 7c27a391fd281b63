"""0/1 features in the place of numbers, for baselines that know nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree.data.problem import Problem
from miptree.mip.formulations.baselines.ranks import Ranks
from miptree.utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Binarisation:
    """0/1 features ``x_j > threshold`` that stand for numerical ones.

    Attributes
    ----------
    feature : int array of shape (F,)
        j of each.
    threshold : float array of shape (F,)
        In scaled units.
    """

    feature: IntArray
    threshold: FloatArray

    @classmethod
    def of(cls, problem: Problem, n_thresholds: int | None) -> Binarisation:
        """Choose at most so many thresholds per feature, or all (None).

        They lie between distinct values, at the places nearest to the quantiles
        1 / (n_thresholds + 1), 2 / (n_thresholds + 1), ... of the rows' weights. A
        feature with no more places than that keeps them all, so 0/1 features stay
        what they are.
        """
        ranks = Ranks.of(problem)
        pairs = [
            (feature, ranks.threshold(feature, int(n_left)))
            for feature in range(problem.n_features)
            for n_left in _places(problem, ranks, feature, n_thresholds)
        ]
        feature = np.array([j for j, _ in pairs], dtype=np.intp)
        return cls(feature, np.array([t for _, t in pairs]))

    def apply(self, scaled: FloatArray) -> BoolArray:
        """Return (n, F): the 0/1 features of rows in scaled units."""
        return scaled[:, self.feature] > self.threshold


def _places(problem: Problem, ranks: Ranks, feature: int, most: int | None) -> IntArray:
    """Return the number of distinct values left of each threshold."""
    steps = int(ranks.steps[feature])
    if most is None or steps <= most:
        return np.arange(1, steps + 1)
    in_value = np.bincount(ranks.number[:, feature], problem.weight)
    below = np.cumsum(in_value)[:-1] / problem.weight.sum()
    wanted = np.arange(1, most + 1) / (most + 1)
    return 1 + np.unique(np.abs(below[None, :] - wanted[:, None]).argmin(axis=1))
