"""One or several independent searches over a problem, merged into one answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from joblib import delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from miptree.control.clock import Clock, End
from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search.data import SearchData
from miptree.search.iterated import IteratedSearch
from miptree.search.measure import Measure, Svm1, ValuedTree, ZeroOne
from miptree.search.schedule import run_plan
from miptree.tree import HeapTree

OnImprovement = Callable[[HeapTree, float], object]

_ITERATIONS_PER_STREAM = 500
_MOST_STREAMS = 8
_FEW_TREES = 2
"""Trees returned for large data, where recounting one takes a second."""

_LARGEST_LP = 20_000
"""Rows up to which the node LPs are quick enough to be a step of the search."""


def n_streams(clock: Clock, n_jobs: int | None) -> int:
    """How many independent searches to run.

    Under the clock alone there is one per job. An iteration budget is dealt out to a
    number of searches that does not depend on the jobs, so that neither does the
    result.
    """
    if clock.max_iter is not None:
        return int(np.clip(clock.max_iter // _ITERATIONS_PER_STREAM, 1, _MOST_STREAMS))
    return 1 if clock.limit is None else effective_n_jobs(n_jobs)


def run_searches(
    problem: Problem,
    data: SearchData,
    objective: Svm1Objective | None,
    starts: Sequence[HeapTree],
    clock: Clock,
    *,
    seed: int,
    n_jobs: int | None,
    on_improvement: OnImprovement | None,
    lower_bound: float,
    warms_up: bool,
) -> tuple[list[HeapTree], int, End]:
    """Search from the starts; return the elite trees, iterations and stop reason.

    ``data`` are the rows of the problem.
    """
    measure: Measure = ZeroOne(data)
    if objective is not None:
        small = problem.n_rows <= _LARGEST_LP
        measure = Svm1(data, objective, problem if small else None)
    streams = n_streams(clock, n_jobs)
    reporter = _Reporter(problem, data.unit, on_improvement)
    seeds = np.random.SeedSequence(seed).spawn(streams)
    # Threads share the data and the callbacks; the kernels release the GIL.
    # One BLAS thread each: more are slower on small matrices and change the rounding.
    with threadpool_limits(1, user_api="blas"):
        found = on_threads(n_jobs)(
            delayed(_one_search)(
                measure,
                starts,
                clock,
                stream_seed,
                lower_bound / data.unit,
                reporter,
                warms_up,
            )
            for clock, stream_seed in zip(clock.dealt(streams), seeds, strict=True)
        )
    candidates = sorted(
        (candidate for pool, _, _ in found for candidate in pool),
        key=lambda candidate: candidate.value,
    )
    most = _FEW_TREES if problem.n_rows > _LARGEST_LP else len(candidates)
    trees = [candidate.tree for candidate in candidates[:most]]
    n_iter = sum(count for _, count, _ in found)
    return trees, n_iter, _first_reason([reason for _, _, reason in found])


def _one_search(
    measure: Measure,
    starts: Sequence[HeapTree],
    clock: Clock,
    seed: np.random.SeedSequence,
    lower_bound: float,
    on_improvement: Callable[[ValuedTree], None],
    warms_up: bool,
) -> tuple[list[ValuedTree], int, End]:
    """One search; a keyboard interrupt ends it with what it has."""
    search = IteratedSearch(
        measure,
        starts[0].depth,
        np.random.default_rng(seed),
        clock,
        lower_bound,
        on_improvement,
    )
    try:
        run_plan(search, starts, warms_up)
    except KeyboardInterrupt:
        clock.end("interrupted")
    return list(search.pool), clock.n_iter, clock.ended or "max_iter"


def _first_reason(reasons: list[End]) -> End:
    """Of several reasons to stop, the one that tells the caller most."""
    order: list[End] = ["interrupted", "bound", "time_limit", "max_iter", "stalled"]
    return min(reasons, key=order.index)


class _Reporter:
    """Passes improvements of any of the searches on, in the user's units."""

    def __init__(
        self, problem: Problem, unit: float, on_improvement: OnImprovement | None
    ) -> None:
        self.problem, self.unit, self.on_improvement = problem, unit, on_improvement
        self.best = np.inf
        self.lock = threading.Lock()

    def __call__(self, candidate: ValuedTree) -> None:
        if self.on_improvement is None:
            return
        with self.lock:
            if candidate.value < self.best:
                self.best = candidate.value
                tree = self.problem.into_box(candidate.tree)
                self.on_improvement(tree, candidate.value * self.unit)


def run_improvement(
    data: SearchData,
    objective: Svm1Objective | None,
    tree: HeapTree,
    clock: Clock,
    seed: int,
) -> list[HeapTree]:
    """Move from one tree only; return the elite trees."""
    measure: Measure = ZeroOne(data)
    if objective is not None:
        measure = Svm1(data, objective)
    search = IteratedSearch(measure, tree.depth, np.random.default_rng(seed), clock)
    search.run_from(tree)
    return [candidate.tree for candidate in search.pool]
