"""The results of a cross-validation, and the choice of the winner."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from miptree.tuning.candidates import Candidate, ConstantTree, PointsTree, describe
from miptree.tuning.scores import FoldScores
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

THRESHOLDS = (0.0, 0.1, 0.2, 0.3)
"""Relative sizes below which coefficients may be dropped."""
USUAL_THRESHOLD = 0.1
"""The one at which settings are compared: it seldom costs accuracy."""
LEVELS_BEYOND, DROPPED_BEYOND = 1.0, 2.0
"""Standard errors by which levels must be better as categories than as numbers, and by
which a setting must be worse than the best to drop out."""
SPARSER_WITHIN = 0.1
"""Part of a standard error that a sparser tree may cost."""
_NO_SCORE = -1e300
"""What counts as the score of a setting without one: the worst of all."""

STYLES = ("constant", "points", "sparse", "oblique")
"""Styles of trees, the simplest first."""


class RungKey(NamedTuple):
    """A place on the ladder of styles; the simpler is the lesser.

    Attributes
    ----------
    style : int
        Place of the style in :data:`STYLES`.
    max_features : int
        Features of a split of a sparse tree, otherwise 0.
    """

    style: int
    max_features: int


class TuningSetting(NamedTuple):
    """One way to train a tree.

    Attributes
    ----------
    as_levels : bool
        Whether whole numbers of few values are read as categories.
    max_features : int, optional
        Features of a split of a sparse tree.
    """

    candidate: Candidate
    depth: int
    as_levels: bool = False
    max_features: int | None = None

    @property
    def style(self) -> str:
        """One of :data:`STYLES`."""
        if isinstance(self.candidate, ConstantTree):
            return "constant"
        if isinstance(self.candidate, PointsTree):
            return "points"
        return "oblique" if self.max_features is None else "sparse"

    @property
    def rung(self) -> RungKey:
        """Place on the ladder: settings of one rung compete for it."""
        return RungKey(STYLES.index(self.style), self.max_features or 0)


@dataclass(frozen=True)
class Winner:
    """The setting that won, and its score.

    Attributes
    ----------
    index : int
        Place among the settings.
    threshold : float
        Coefficients below this part of the largest of a split are dropped.
    score, se : float
        Mean accuracy on the rows held out, and its standard error; NaN if no fold was
        done in time.
    terms : float
        Coefficients of its trees, in the mean.
    """

    index: int
    setting: TuningSetting
    threshold: float
    score: float
    se: float
    terms: float = np.nan

    @property
    def known_score(self) -> float:
        """The score, worse than any other where there is none."""
        return _NO_SCORE if np.isnan(self.score) else self.score


@dataclass(frozen=True, eq=False)
class CVResults:
    """Scores of all settings in the folds done so far.

    Attributes
    ----------
    n_splits : int
        Folds of one repetition.
    alive : bool array
        Settings that are still in the race.
    folds : dict from int to FoldScores
        The folds done, by their numbers, with NaN where a setting did not take part.
    """

    settings: Sequence[TuningSetting]
    thresholds: Sequence[float]
    n_splits: int
    alive: BoolArray
    folds: Mapping[int, FoldScores] = field(default_factory=dict)

    @property
    def scores(self) -> list[FoldScores]:
        """The folds done."""
        return [self.folds[number] for number in sorted(self.folds)]

    def with_fold(self, number: int, scores: FoldScores) -> CVResults:
        """Return the results with the scores of a fold, unless it scored nothing.

        The fold of this number may have been done for other settings before.
        """
        if np.isnan(scores.score).all():
            return self
        known = self.folds.get(number)
        joined = scores if known is None else known.joined(scores)
        return replace(self, folds={**self.folds, number: joined})

    @cached_property
    def _score(self) -> FloatArray:
        """(folds, settings, thresholds): accuracies."""
        return np.stack([scores.score for scores in self.scores])

    @cached_property
    def _threshold_place(self) -> IntArray:
        """(settings,): the threshold at which each setting is compared.

        It is the usual one, unless it clearly costs accuracy to drop coefficients: many
        rows can tell.
        """
        gain = self._score[:, :, 0] - self._score[:, :, self._usual]
        is_clear = gain.mean(axis=0) > np.nan_to_num(self._errors(gain))
        return np.where(is_clear, 0, self._usual)

    @cached_property
    def _compared(self) -> FloatArray:
        """(folds, settings): accuracies, each setting at its own threshold."""
        return self._score[:, np.arange(len(self.settings)), self._threshold_place]

    @property
    def _usual(self) -> int:
        """Place of the usual threshold."""
        away = np.abs(np.asarray(self.thresholds) - USUAL_THRESHOLD)
        return int(away.argmin())

    @property
    def rungs(self) -> list[RungKey]:
        """Rungs of the ladder that took part, the simplest first."""
        return sorted({setting.rung for setting in self.settings})

    def on_rung(self, rung: RungKey) -> BoolArray:
        """Tell which settings compete for a rung."""
        return np.array([setting.rung == rung for setting in self.settings])

    @property
    def _levels(self) -> BoolArray:
        return np.array([setting.as_levels for setting in self.settings])

    # ----------------------------------------------------------------- choosing

    def winner(self, rung: RungKey | None = None) -> Winner:
        """Choose the best setting; of several thresholds, the sparsest about as good.

        Without a fold the first setting wins.

        Parameters
        ----------
        rung : RungKey, optional
            One of :attr:`rungs`, to choose from its settings only.
        """
        usual = self._usual
        among = self._competing(rung)
        if not self.scores:
            index = int(among.argmax())
            threshold = self.thresholds[usual]
            return Winner(index, self.settings[index], threshold, np.nan, np.nan)
        index = self._best(among)
        t = int(self._threshold_place[index])
        mean = self._score.mean(axis=0)
        if np.isnan(mean[index, t]):  # none of them had the time for a tree
            return Winner(
                index, self.settings[index], self.thresholds[t], np.nan, np.nan
            )
        error = self._errors(self._score)
        if len(self.thresholds) > 1:
            slack = SPARSER_WITHIN * np.nan_to_num(error[index, t])
            least = float(mean[index, t]) - slack
            index, t = self._sparsest(among, least, index)
        setting, threshold = self.settings[index], self.thresholds[t]
        terms = float(np.mean([scores.terms[index, t] for scores in self.scores]))
        found = float(mean[index, t]), float(error[index, t])
        return Winner(index, setting, threshold, *found, terms)

    def _competing(self, rung: RungKey | None) -> BoolArray:
        """Return the settings to choose from: those still in the race, if any."""
        given = np.ones(len(self.settings), dtype=bool)
        if rung is not None:
            given = self.on_rung(rung)
        among = given & self.alive
        return among if among.any() else given

    def difference(self, one: Winner, other: Winner) -> tuple[float, float]:
        """Return by how much one is better in the same folds, and its standard error.

        NaN where they share no fold.
        """
        places = [self.thresholds.index(w.threshold) for w in (one, other)]
        found = (
            self._score[:, one.index, places[0]]
            - self._score[:, other.index, places[1]]
        )
        found = found[np.isfinite(found)]
        if not len(found):
            return np.nan, np.nan
        return float(found.mean()), float(self._errors(found))

    def rules_held_out(self, winner: Winner) -> FloatArray:
        """Return (folds, constraints, 2): how its trees keep each on rows held out."""
        place = self.thresholds.index(winner.threshold)
        found = [scores.rules[winner.index, place] for scores in self.scores]
        return np.array(found)

    @property
    def references(self) -> dict[str, float]:
        """Mean scores of other methods in the folds that they took part in."""
        names = dict.fromkeys(name for s in self.scores for name in s.references)
        return {
            name: float(
                np.mean(
                    [s.references[name] for s in self.scores if name in s.references]
                )
            )
            for name in names
        }

    def _best(self, among: BoolArray) -> int:
        """Find the place of the best setting.

        Levels are read as categories only where that is better by a standard error:
        mostly it makes no difference, and numbers are easier to read.
        """
        # A setting without a tree in some fold has NaN, and cannot win.
        mean = np.nan_to_num(self._compared.mean(axis=0), nan=_NO_SCORE)
        index = int(np.where(among, mean, -np.inf).argmax())
        plain = among & ~self._levels
        if not self._levels[index] or not plain.any():
            return index
        baseline = int(np.where(plain, mean, -np.inf).argmax())
        return index if self._is_better(index, baseline, LEVELS_BEYOND) else baseline

    def _is_better(self, one: int, other: int, errors: float) -> bool:
        """Tell whether a setting beats another by so many standard errors."""
        difference = self._compared[:, one] - self._compared[:, other]
        error = float(np.nan_to_num(self._errors(difference)))
        return bool(difference.mean() > errors * error)

    def _sparsest(self, among: BoolArray, least: float, best: int) -> tuple[int, int]:
        """Find the setting and threshold of fewest coefficients among good ones.

        They read levels as the best one does.
        """
        alike = (among & (self._levels == self._levels[best]))[:, None]
        good = alike & (np.nan_to_num(self._score.mean(axis=0), nan=_NO_SCORE) >= least)
        nonzeros = np.mean([scores.nonzeros for scores in self.scores], axis=0)
        flat = int(np.where(good, nonzeros, np.inf).argmin())
        return divmod(flat, len(self.thresholds))

    def _errors(self, score: FloatArray) -> FloatArray:
        """Compute standard errors of means over folds, as of one repetition.

        Repetitions share their rows, so they make the mean steadier, but say little
        more about new rows.
        """
        if len(score) < 2:
            return np.full(score.shape[1:], np.nan)
        spread = score.std(axis=0, ddof=1)
        error: FloatArray = spread / np.sqrt(min(len(score), self.n_splits))
        return error

    # ------------------------------------------------------------------ dropping

    def without_losers(self) -> CVResults:
        """Drop settings that the best one of their rung beats clearly.

        Either reading of levels is dropped as a whole. Of a rung that the best of all
        beats clearly, one setting stays, to show by how much.
        """
        if not self.scores:
            return self
        alive = self.alive & np.isfinite(self._compared).all(axis=0)
        overall = self._best(alive)
        for rung in self.rungs:
            on_rung = self.on_rung(rung)
            if not (alive & on_rung).any():
                continue
            best = self._best(alive & on_rung)
            is_lost = self._is_better(overall, best, DROPPED_BEYOND)
            for index in np.flatnonzero(alive & on_rung):
                is_alike = self._levels[index] == self._levels[best]
                beaten = self._is_better(best, int(index), DROPPED_BEYOND)
                alive[index] = is_alike and not (beaten or is_lost)
            alive[best] = True
        return replace(self, alive=alive)

    # ----------------------------------------------------------------- reporting

    def table(self) -> dict[str, Any]:
        """Tabulate the scores in the manner of scikit-learn's ``cv_results_``.

        One row per setting.
        """
        shape = (0, len(self.settings))
        score, nonzeros = np.empty(shape), np.empty(shape)
        if self.scores:
            score = self._compared
            each = np.arange(len(self.settings))
            nonzeros = np.stack(
                [s.nonzeros[each, self._threshold_place] for s in self.scores]
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # means of no folds
            mean, sparse = np.nanmean(score, axis=0), np.nanmean(nonzeros, axis=0)
            spread = np.nanstd(score, axis=0)
        # Those who dropped out come after those who did not.
        order = np.lexsort((-np.nan_to_num(mean, nan=_NO_SCORE), ~self.alive))
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = 1 + np.arange(len(order))
        return {
            "params": [
                {
                    **describe(setting.candidate),
                    "style": setting.style,
                    "max_depth": setting.depth,
                    "levels": setting.as_levels,
                    "max_features_per_split": setting.max_features,
                }
                for setting in self.settings
            ],
            **{f"split{f}_test_score": row for f, row in enumerate(score)},
            "mean_test_score": mean,
            "std_test_score": spread,
            "rank_test_score": rank,
            "n_splits": np.isfinite(score).sum(axis=0),
            "mean_nonzeros": sparse,
        }
