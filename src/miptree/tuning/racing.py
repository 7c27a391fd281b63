"""Cross-validation as a race: after each repetition clear losers drop out.

The first repetition begins with what takes a moment, and goes on with one style after
the other, so that a short clock has something to choose from.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from miptree.control.clock import Clock, End
from miptree.control.compilers import Compilers
from miptree.control.stop import StopFile, stop_file
from miptree.fit.points_data import PointsRules
from miptree.tuning.candidates import (
    Candidate,
    ObliqueCandidate,
    PointsTree,
    SoftTree,
    Svm1Tree,
)
from miptree.tuning.cv_results import CVResults, TuningSetting
from miptree.tuning.evaluate_fold import TableRules, score_fold
from miptree.tuning.fold_constraints import FoldConstraints
from miptree.tuning.folds import Fold, FoldedRows
from miptree.tuning.kernels import RaceKernels
from miptree.tuning.points_fold import score_points_fold
from miptree.tuning.references import score_references
from miptree.tuning.scores import FoldScores
from miptree.utils.arrays import BoolArray

_SECONDS_TO_START = 15.0
"""Seconds up to which no further processes are started."""
_SLOW = (SoftTree, Svm1Tree, PointsTree)
"""Candidates that take longer than a moment."""


@dataclass(frozen=True)
class Race:
    """A cross-validation of settings, with the rows in folds.

    Attributes
    ----------
    thresholds : sequence of float
        Relative sizes below which coefficients are dropped, to choose from.
    points : PointsRules, optional
        How rows become the problem of a points tree, where such trees take part.
    has_references : bool
        Whether methods that everybody knows stand beside the trees.
    scoring : str
        What they are compared by, see :mod:`~miptree.tuning.scoring`.
    constraints : FoldConstraints, optional
        What trees must keep on the training rows of a fold to have a score.
    """

    settings: Sequence[TuningSetting]
    folded: FoldedRows
    rules: TableRules
    thresholds: Sequence[float]
    points: PointsRules | None = None
    has_references: bool = False
    scoring: str = "accuracy"
    constraints: FoldConstraints | None = None

    def run(
        self,
        n_jobs: int | None,
        clock: Clock,
        kernels: RaceKernels,
        tell: Callable[[str, CVResults], bool],
    ) -> tuple[CVResults, End]:
        """Run the folds until the time is up, or a true answer of ``tell``.

        After each repetition those drop out that the best has beaten clearly. Return
        the results of the folds done, and why the race ended.

        Parameters
        ----------
        n_jobs : int or None
            Processes.
        clock : Clock
        kernels : RaceKernels
            What must be compiled for these settings.
        tell : callable
            Called with "folds" and the results after each fold, and before that with
            "compile", if others have to compile.
        """
        clock = clock.heeding()  # tell ends the folds, not the rest of the fit
        folds, n_splits = self.folded.folds, self.folded.n_splits
        everybody = np.ones(len(self.settings), dtype=bool)
        results = CVResults(self.settings, self.thresholds, n_splits, everybody)
        awaited = kernels.begin(clock)
        if awaited and tell("compile", results):
            clock.stop.request()
        with stop_file(clock.stop) as file:
            for start in range(0, len(folds), n_splits):
                waves = iter([results.alive])
                if start == 0:
                    waves = self._waves(kernels, awaited, clock)
                scored = np.zeros_like(everybody)
                for wave in waves:
                    if not clock.is_over:
                        is_long = (wave & self._is_slow).any() and _pays(clock)
                        found = self._scores(
                            start, wave, n_jobs if is_long else 1, clock, file
                        )
                        results = _heard(found, results, clock, tell)
                        scored |= wave
                if clock.is_over or not scored.any():
                    break
                # Those whose kernels were not ready in time are out of the race.
                results = replace(results, alive=results.alive & scored)
                results = results.without_losers()
        if clock.stop.requested:
            return results, "interrupted"
        return results, "time_limit" if clock.is_over else "unproved"

    @cached_property
    def _is_slow(self) -> BoolArray:
        return np.array([isinstance(s.candidate, _SLOW) for s in self.settings])

    def _waves(
        self, kernels: RaceKernels, awaited: Sequence[Compilers], clock: Clock
    ) -> Iterator[BoolArray]:
        """Give the settings that the first repetition scores one after the other.

        While others compile, those come first that need no kernels.
        """
        parts = [np.ones_like(self._is_slow)]
        if awaited:
            parts = [~kernels.needed, kernels.needed]
        for number, part in enumerate(parts):
            if number > 0 and not kernels.are_ready(awaited, clock):
                return
            waves = [wave & part for wave in self._styles()]
            yield from (wave for wave in waves if wave.any())

    def _styles(self) -> list[BoolArray]:
        """Return what is quick, and then the settings of each style."""
        is_slow = self._is_slow
        rungs = [setting.rung for setting in self.settings]
        waves = [
            is_slow & np.array([rung == place for rung in rungs])
            for place in sorted(set(rungs))
        ]
        waves.insert(0, ~is_slow)
        return [wave for wave in waves if wave.any()]

    def _scores(
        self,
        start: int,
        wave: BoolArray,
        n_jobs: int | None,
        clock: Clock,
        file: StopFile,
    ) -> Iterator[tuple[int, FoldScores]]:
        """Score the folds of a repetition, in their order, with their numbers."""
        # Threads would wait for each other: the arrays of a fold are small.
        jobs = Parallel(
            n_jobs=n_jobs,
            prefer="processes",
            return_as="generator",
            pre_dispatch="n_jobs",
        )
        folds = self.folded.folds[start : start + self.folded.n_splits]
        found = jobs(
            delayed(_score)(self, fold, wave, _end_of(clock), file) for fold in folds
        )
        return enumerate(found, start)

    def score(self, fold: Fold, alive: BoolArray, clock: Clock) -> FoldScores:
        """Score the settings that are in the race, those alike in one go."""
        n_rules = 0 if self.constraints is None else len(self.constraints)
        scores = FoldScores.empty(len(self.settings), len(self.thresholds), n_rules)
        alike: dict[tuple[Any, ...], list[int]] = {}
        for index in np.flatnonzero(alive):
            setting = self.settings[int(index)]
            is_points = isinstance(setting.candidate, PointsTree)
            alike.setdefault((is_points, *setting[1:]), []).append(int(index))
        for places in alike.values():
            if clock.is_over:
                break
            scores.put(places, self._score_alike(fold, places, clock))
        if self.has_references and not clock.is_over and alive[0]:
            depth = max(setting.depth for setting in self.settings)
            found = score_references(
                self.folded.rows, fold, self.rules, depth, self.scoring
            )
            scores.references.update(found)
        return scores

    def _score_alike(self, fold: Fold, places: list[int], clock: Clock) -> FoldScores:
        """Score settings that differ in their candidates alone."""
        rows, first = self.folded.rows, self.settings[places[0]]
        candidates: list[Any] = [self.settings[index].candidate for index in places]
        if isinstance(first.candidate, PointsTree):
            assert self.points is not None
            points, n = replace(self.points, depth=first.depth), len(self.thresholds)
            return score_points_fold(
                rows, fold, points, candidates, n, clock, self.scoring
            )
        rules = self.rules
        if first.max_features is not None:
            rules = replace(rules, max_features=first.max_features)
        return score_fold(
            rows,
            fold,
            rules,
            cast(list[ObliqueCandidate], candidates),
            first.depth,
            self.thresholds,
            first.as_levels,
            clock,
            self.scoring,
            self.constraints,
        )


def _heard(
    found: Iterator[tuple[int, FoldScores]],
    results: CVResults,
    clock: Clock,
    tell: Callable[[str, CVResults], bool],
) -> CVResults:
    """Take in the scores of folds as they come, up to the end of the clock."""
    try:
        for number, scores in found:
            if not clock.is_over:
                results = results.with_fold(number, scores)
                if tell("folds", results):
                    clock.stop.request()
    except (KeyboardInterrupt, BrokenExecutor):
        # Ctrl-C goes to the processes as well, and may end them.
        if not clock.stop.requested:
            raise
    except BaseException:
        clock.stop.request()
        list(found)  # nothing may go on behind the user's back
        raise
    return results


def _pays(clock: Clock) -> bool:
    """Tell whether the time left is worth the start of further processes.

    That takes seconds, in which a clock that is over is not heeded.
    """
    left = clock.remaining
    return left is None or left > _SECONDS_TO_START


def _end_of(clock: Clock) -> float | None:
    """Return when a clock is over, in seconds that all processes count alike."""
    left = clock.remaining
    return None if left is None else time.time() + left


def _score(
    race: Race,
    fold: Fold,
    alive: BoolArray,
    end: float | None,
    file: StopFile,
) -> FoldScores:
    """Score a fold in a process of its own, which has a clock of its own.

    It may take long to begin, but has to end at the same time.
    """
    seconds = None if end is None else max(0.0, end - time.time())
    with file.heard() as stop, threadpool_limits(1, user_api="blas"):
        with warnings.catch_warnings():
            # What a part of the rows lacks is no news; all rows were warned of.
            warnings.simplefilter("ignore")
            return race.score(fold, alive, Clock(seconds, stop=stop))


def all_settings(
    candidates: Sequence[Candidate],
    depths: Sequence[int],
    readings: Sequence[bool] = (False,),
    max_features: int | None = None,
) -> list[TuningSetting]:
    """List every candidate at every depth, in every reading of levels.

    Where there is a choice of readings, the quick soft trees speak for that of levels
    as categories, which has many more columns.
    """
    return [
        TuningSetting(candidate, depth, as_levels, max_features)
        for as_levels in readings
        for depth in depths
        for candidate in candidates
        if not as_levels or isinstance(candidate, SoftTree) or len(readings) == 1
    ]
