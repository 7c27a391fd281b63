"""Cross-validation as a race: after each repetition clear losers drop out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from miptree.control.clock import Clock, End
from miptree.control.stop import StopFile, stop_file
from miptree.search import compile_kernels_within
from miptree.tuning.candidates import Candidate, SoftTree, Svm1Tree
from miptree.tuning.cv_results import CVResults, TuningSetting
from miptree.tuning.evaluate_fold import FoldScores, TableRules, score_fold
from miptree.tuning.folds import Fold, FoldedRows
from miptree.utils.arrays import BoolArray


@dataclass(frozen=True)
class Race:
    """A cross-validation of settings, with the rows in folds.

    Attributes
    ----------
    thresholds : sequence of float
        Relative sizes below which coefficients are dropped, to choose from.
    """

    settings: Sequence[TuningSetting]
    folded: FoldedRows
    rules: TableRules
    thresholds: Sequence[float]

    def run(
        self,
        n_jobs: int | None,
        clock: Clock,
        on_fold: Callable[[CVResults], bool],
    ) -> tuple[CVResults, End]:
        """Run the folds until the time is up, or a true answer of ``on_fold``.

        After each repetition those drop out that the best has beaten clearly. Return
        the results of the folds done, and why the race ended.
        """
        clock = clock.heeding()  # on_fold ends the folds, not the rest of the fit
        if any(isinstance(setting.candidate, Svm1Tree) for setting in self.settings):
            compile_kernels_within(clock)
        folds, n_splits = self.folded.folds, self.folded.n_splits
        everybody = np.ones(len(self.settings), dtype=bool)
        results = CVResults(self.settings, self.thresholds, n_splits, everybody)
        with stop_file(clock.stop) as file:
            for start in range(0, len(folds), n_splits):
                repetition = folds[start : start + n_splits]
                found = self._scores(repetition, results.alive, n_jobs, clock, file)
                try:
                    for scores in found:
                        if not clock.is_over:
                            results = results.with_fold(scores)
                            if on_fold(results):
                                clock.stop.request()
                except (KeyboardInterrupt, BrokenExecutor):
                    # Ctrl-C goes to the processes as well, and may end them.
                    if not clock.stop.requested:
                        raise
                except BaseException:
                    clock.stop.request()
                    list(found)  # nothing may go on behind the user's back
                    raise
                if clock.is_over:
                    break
                results = results.without_losers()
        if clock.stop.requested:
            return results, "interrupted"
        return results, "time_limit" if clock.is_over else "max_iter"

    def _scores(
        self,
        folds: Sequence[Fold],
        alive: BoolArray,
        n_jobs: int | None,
        clock: Clock,
        file: StopFile,
    ) -> Iterator[FoldScores]:
        """Score folds, in their order."""
        # Threads would wait for each other: the arrays of a fold are small.
        jobs = Parallel(
            n_jobs=n_jobs,
            prefer="processes",
            return_as="generator",
            pre_dispatch="n_jobs",
        )
        found: Iterator[Any] = jobs(
            delayed(_score)(self, fold, alive, clock.remaining, file) for fold in folds
        )
        return found

    def score(self, fold: Fold, alive: BoolArray, clock: Clock) -> FoldScores:
        """Score the settings that are in the race, those alike in one go."""
        scores = FoldScores.empty(len(self.settings), len(self.thresholds))
        alike: dict[tuple[int, bool], list[int]] = {}
        for index in np.flatnonzero(alive):
            setting = self.settings[int(index)]
            alike.setdefault((setting.depth, setting.as_levels), []).append(int(index))
        for (depth, as_levels), places in alike.items():
            if clock.is_over:
                break
            found = score_fold(
                self.folded.rows,
                fold,
                self.rules,
                [self.settings[index].candidate for index in places],
                depth,
                self.thresholds,
                as_levels,
                clock,
            )
            scores.score[places], scores.nonzeros[places] = found.score, found.nonzeros
        return scores


def _score(
    race: Race,
    fold: Fold,
    alive: BoolArray,
    seconds: float | None,
    file: StopFile,
) -> FoldScores:
    """Score a fold in a process of its own, which has a clock of its own."""
    with file.heard() as stop, threadpool_limits(1, user_api="blas"):
        with warnings.catch_warnings():
            # What a part of the rows lacks is no news; all rows were warned of.
            warnings.simplefilter("ignore")
            return race.score(fold, alive, Clock(seconds, stop=stop))


def all_settings(
    candidates: Sequence[Candidate], depths: Sequence[int], readings: Sequence[bool]
) -> list[TuningSetting]:
    """List every candidate at every depth, in every reading of levels.

    Where there is a choice of readings, the quick soft trees speak for that of levels
    as categories, which has many more columns.
    """
    return [
        TuningSetting(candidate, depth, as_levels)
        for as_levels in readings
        for depth in depths
        for candidate in candidates
        if not as_levels or isinstance(candidate, SoftTree) or len(readings) == 1
    ]
