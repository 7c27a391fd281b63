"""Cross-validation as a race: every fold tells who need not run in the next ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from miptree._clock import Clock
from miptree._typing import BoolArray
from miptree.rows import TrainingRows
from miptree.tuning.candidates import Candidate, SoftTree
from miptree.tuning.folds import Fold, FoldScores, TableRules, score_fold
from miptree.tuning.verdict import Setting, Verdict


@dataclass(frozen=True)
class Contest:
    """Who takes part, and how they are compared.

    Attributes
    ----------
    settings : sequence of Setting
    folds : sequence of Fold
        Repetition after repetition.
    n_splits : int
        Folds of one repetition, which are independent of each other.
    rules : TableRules
    thresholds : sequence of float
        Relative sizes below which coefficients are dropped, to choose from.
    """

    settings: Sequence[Setting]
    folds: Sequence[Fold]
    n_splits: int
    rules: TableRules
    thresholds: Sequence[float]

    def run(
        self,
        rows: TrainingRows,
        n_jobs: int | None,
        clock: Clock,
        should_stop: Callable[[], bool],
        on_fold: Callable[[Verdict], bool],
    ) -> Verdict:
        """Run the folds until the time is up, or a true answer of ``on_fold``.

        After each repetition those drop out that the best has beaten clearly.
        """
        stop_asked = Event()

        def is_over() -> bool:
            return stop_asked.is_set() or clock.is_over or should_stop()

        everybody = np.ones(len(self.settings), dtype=bool)
        verdict = Verdict(self.settings, self.thresholds, self.n_splits, everybody)
        with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
            # What a part of the rows lacks is no news; all rows were warned of.
            warnings.simplefilter("ignore")
            for start in range(0, len(self.folds), self.n_splits):
                folds = self.folds[start : start + self.n_splits]
                jobs = Parallel(
                    n_jobs=n_jobs,
                    prefer="threads",
                    return_as="generator",
                    pre_dispatch="n_jobs",
                )
                tasks = self._tasks(rows, folds, verdict.alive, is_over)
                for scores in jobs(tasks):
                    verdict = verdict.with_fold(scores)
                    if on_fold(verdict):
                        stop_asked.set()
                if len(verdict.scores) < start + len(folds):
                    break
                verdict = verdict.without_losers()
        return verdict

    def _tasks(
        self,
        rows: TrainingRows,
        folds: Sequence[Fold],
        alive: BoolArray,
        is_over: Callable[[], bool],
    ) -> Iterator[Any]:
        for fold in folds:
            if is_over():
                return
            yield delayed(self._score)(rows, fold, alive)

    def _score(self, rows: TrainingRows, fold: Fold, alive: BoolArray) -> FoldScores:
        """Score the settings that are in the race, those alike in one go."""
        shape = (len(self.settings), len(self.thresholds))
        score, nonzeros = np.full(shape, np.nan), np.full(shape, np.nan)
        alike: dict[tuple[int, bool], list[int]] = {}
        for index in np.flatnonzero(alive):
            setting = self.settings[int(index)]
            alike.setdefault((setting.depth, setting.as_levels), []).append(int(index))
        for (depth, as_levels), places in alike.items():
            found = score_fold(
                rows.with_levels() if as_levels else rows,
                fold,
                self.rules,
                [self.settings[index].candidate for index in places],
                depth,
                self.thresholds,
            )
            score[places], nonzeros[places] = found.score, found.nonzeros
        return FoldScores(score, nonzeros)


def all_settings(
    candidates: Sequence[Candidate], depths: Sequence[int], readings: Sequence[bool]
) -> list[Setting]:
    """Every candidate at every depth, in every reading of levels.

    Where there is a choice of readings, the quick soft trees speak for that of levels
    as categories, which has many more columns.
    """
    return [
        Setting(candidate, depth, as_levels)
        for as_levels in readings
        for depth in depths
        for candidate in candidates
        if not as_levels or isinstance(candidate, SoftTree) or len(readings) == 1
    ]
