"""Cross-validation as a whole: run the folds, and choose by what they say."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from miptree._clock import Clock
from miptree._typing import FloatArray
from miptree.rows import TrainingRows
from miptree.tuning.candidates import Candidate, describe
from miptree.tuning.folds import Fold, FoldScores, TableRules, score_fold

THRESHOLDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
"""Relative sizes below which coefficients may be dropped."""
USUAL_THRESHOLD = 0.1
"""The one at which candidates are compared: it costs no accuracy."""
SPARSER_WITHIN = 0.1
"""Part of a standard error that a sparser tree may cost."""


class Setting(NamedTuple):
    """One way to train a tree."""

    candidate: Candidate
    depth: int
    as_levels: bool
    """Whether whole numbers of few values are read as categories."""


@dataclass(frozen=True)
class Contest:
    """Who takes part, and how they are compared.

    Attributes
    ----------
    candidates : sequence
    depths : sequence of int
    readings : sequence of bool
        Ways to read whole numbers of few values: as categories or not.
    folds : sequence of Fold
    n_splits : int
        Folds of one repetition, which are independent of each other.
    rules : TableRules
    thresholds : sequence of float
    """

    candidates: Sequence[Candidate]
    depths: Sequence[int]
    readings: Sequence[bool]
    folds: Sequence[Fold]
    n_splits: int
    rules: TableRules
    thresholds: Sequence[float]

    @property
    def settings(self) -> list[Setting]:
        """Every candidate at every depth, in every reading."""
        return [
            Setting(candidate, depth, as_levels)
            for as_levels in self.readings
            for depth in self.depths
            for candidate in self.candidates
        ]

    def run(
        self,
        rows: TrainingRows,
        n_jobs: int | None,
        clock: Clock,
        should_stop: Callable[[], bool],
        on_fold: Callable[[Verdict], None],
    ) -> Verdict:
        """Run the folds one after the other, until the time is up."""
        verdict = Verdict(self, [])
        with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
            # What a part of the rows lacks is no news; all rows were warned of.
            warnings.simplefilter("ignore")
            jobs = Parallel(
                n_jobs=n_jobs,
                prefer="threads",
                return_as="generator",
                pre_dispatch="n_jobs",
            )
            tasks = self._tasks(rows, lambda: clock.is_over or should_stop())
            for scores in jobs(tasks):
                verdict = Verdict(self, [*verdict.scores, scores])
                on_fold(verdict)
        return verdict

    def _tasks(self, rows: TrainingRows, is_over: Callable[[], bool]) -> Iterator[Any]:
        for fold in self.folds:
            if is_over():
                return
            yield delayed(self._score)(rows, fold)

    def _score(self, rows: TrainingRows, fold: Fold) -> FoldScores:
        found = [
            score_fold(
                rows.with_levels() if as_levels else rows,
                *(fold, self.rules, self.candidates, depth, self.thresholds),
            )
            for as_levels in self.readings
            for depth in self.depths
        ]
        return FoldScores(
            np.concatenate([scores.score for scores in found]),
            np.concatenate([scores.nonzeros for scores in found]),
        )


@dataclass(frozen=True)
class Choice:
    """The winner of a contest.

    Attributes
    ----------
    index : int
        Place among the settings.
    setting : Setting
    threshold : float
        Coefficients below this part of the largest of a split are dropped.
    score, se : float
        Mean accuracy on the rows held out, and its standard error; NaN if no fold was
        done in time.
    """

    index: int
    setting: Setting
    threshold: float
    score: float
    se: float


@dataclass(frozen=True)
class Verdict:
    """What the folds so far say."""

    contest: Contest
    scores: Sequence[FoldScores]

    def _stacked(self, name: str) -> FloatArray:
        """(folds, settings, thresholds)."""
        shape = (0, len(self.contest.settings), len(self.contest.thresholds))
        found = [getattr(scores, name) for scores in self.scores]
        return np.stack(found) if found else np.empty(shape)

    @property
    def _usual(self) -> int:
        """Place of the usual threshold."""
        away = np.abs(np.asarray(self.contest.thresholds) - USUAL_THRESHOLD)
        return int(away.argmin())

    def choice(self) -> Choice:
        """Best setting, then the sparsest tree that is about as good.

        Without a fold the first setting wins.
        """
        settings, thresholds = self.contest.settings, self.contest.thresholds
        if not self.scores:
            usual = thresholds[self._usual]
            return Choice(0, settings[0], usual, np.nan, np.nan)
        score = self._stacked("score")
        index = self._best(score[:, :, self._usual])
        mean, se = score[:, index].mean(axis=0), self._errors(score[:, index])
        best = int(mean.argmax())
        least = mean[best] - SPARSER_WITHIN * np.nan_to_num(se[best])
        t = int(np.flatnonzero(mean >= least)[-1])
        found = float(mean[t]), float(se[t])
        return Choice(index, settings[index], thresholds[t], *found)

    def _best(self, score: FloatArray) -> int:
        """Place of the best setting.

        Levels are read as categories only where that is better by more than a
        standard error: mostly it makes no difference, and numbers are easier to read.
        """
        # A setting without a tree in some fold has NaN, and cannot win.
        mean = np.nan_to_num(score.mean(axis=0), nan=-np.inf)
        index = int(mean.argmax())
        as_levels = np.array([s.as_levels for s in self.contest.settings])
        if not as_levels[index] or as_levels.all():
            return index
        plain = int(np.where(as_levels, -np.inf, mean).argmax())
        difference = score[:, index] - score[:, plain]
        error = float(np.nan_to_num(self._errors(difference)))
        return index if difference.mean() > error else plain

    def _errors(self, score: FloatArray) -> FloatArray:
        """Standard errors of means over folds, as of one repetition.

        Repetitions share their rows, so they make the mean steadier, but say little
        more about new rows.
        """
        if len(score) < 2:
            return np.full(score.shape[1:], np.nan)
        spread = score.std(axis=0, ddof=1)
        error: FloatArray = spread / np.sqrt(min(len(score), self.contest.n_splits))
        return error

    def table(self) -> dict[str, Any]:
        """The scores in the manner of scikit-learn's ``cv_results_``.

        At the usual threshold; one row per candidate and depth.
        """
        score = self._stacked("score")[:, :, self._usual]
        nonzeros = self._stacked("nonzeros")[:, :, self._usual]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # means of no folds
            mean, spread = score.mean(axis=0), score.std(axis=0)
            sparse = nonzeros.mean(axis=0)
        place = np.argsort(np.argsort(-np.nan_to_num(mean, nan=-np.inf)))
        return {
            "params": [
                {
                    **describe(setting.candidate),
                    "max_depth": setting.depth,
                    "levels": setting.as_levels,
                }
                for setting in self.contest.settings
            ],
            **{f"split{f}_test_score": row for f, row in enumerate(score)},
            "mean_test_score": mean,
            "std_test_score": spread,
            "se_test_score": self._errors(score),
            "rank_test_score": 1 + place,
            "mean_nonzeros": sparse,
        }
