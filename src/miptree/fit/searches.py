"""The searches of a training: until they stall, or to its end."""

from __future__ import annotations

from miptree.control.clock import Clock, End
from miptree.control.patience import Patience
from miptree.fit.job import ITERATIONS, Job
from miptree.search import kernels_are_ready_in_time, search
from miptree.search.starts import start_trees

PER_COEFFICIENT = 0.6
"""Iterations that the last search waits longer for each coefficient of a tree."""
SEARCH_SHARE = 0.3
"""Part of the time that a search may take before a proof."""


def search_first(job: Job) -> None:
    """Search until it stalls, or to the end where no proof follows."""
    if job.plan.init != "auto" and job.plan.solver != "search":
        return
    if not kernels_are_ready_in_time(
        job.clock, lambda: job.best.enter("compile"), lambda: _starts_suffice(job)
    ):
        job.best.note_end(job.clock.ended)
        return
    job.best.stage = "search"
    if job.wants_proof:
        _search(job, job.step_clock(SEARCH_SHARE), ITERATIONS)
    else:
        _search_to_the_end(job)


def search_on(job: Job) -> None:
    """Search again, between two proofs, until it stalls."""
    if _may_search(job):
        job.best.enter("search")
        _search(job, job.step_clock(SEARCH_SHARE), ITERATIONS)


def search_to_the_end(job: Job) -> None:
    """Search again, for the rest of the training."""
    if _may_search(job):
        job.best.enter("search")
        _search_to_the_end(job)


def _starts_suffice(job: Job) -> bool:
    """Offer trees that are grown without kernels; tell whether no better one exists."""
    job.best.stage = "start"
    for heap in start_trees(job.problem, job.plan.depth):
        job.offer_polished(heap)
    job.best.stage = "compile"
    return job.is_done


def _may_search(job: Job) -> bool:
    return job.plan.init == "auto" and _is_left(job)


def _is_left(job: Job) -> bool:
    """Tell whether iterations are left."""
    return job.plan.max_iter is None or job.best.n_iter < job.plan.max_iter


def _stalls(job: Job) -> bool:
    """Tell whether a search ends by itself when it has stalled.

    One of many rows goes from sample to sample, by the clock or the iterations.
    """
    # Numba is imported only where a search is wanted.
    from miptree.search.schedule import FIRST_SAMPLE

    has_limit = (job.clock.limit, job.plan.max_iter) != (None, None)
    return job.problem.n_rows <= FIRST_SAMPLE or not has_limit


def _search_to_the_end(job: Job) -> None:
    """Search, again and again with longer and longer searches, until nothing moves.

    The more coefficients there are, the longer a search may take to move one that
    matters. Where a proof was asked for by name, one search takes all that is left.
    """
    best = job.best
    clock = job.clock if _stalls(job) else job.step_clock()
    ends = (clock.limit, job.plan.max_iter) != (None, None)
    if job.plan.keeps_at_it and ends:
        _search(job, clock, None)
        return
    n_coefficients = (2**job.plan.depth - 1) * job.problem.n_features
    least = ITERATIONS.least + PER_COEFFICIENT * n_coefficients
    patience = ITERATIONS._replace(least=least)
    is_moving = True
    while is_moving and _is_left(job) and not clock.is_over:
        n_moves = best.movement.n_moves
        if _search(job, clock, patience) in ("bound", "interrupted"):
            return
        is_moving = best.movement.n_moves > n_moves
    if _is_left(job):
        best.note_end(clock.ended or "stalled")


def _search(job: Job, clock: Clock, patience: Patience | None) -> End:
    """Search from the best tree so far, with a seed of its own; return why it ended."""
    plan, best = job.plan, job.best
    left = None if plan.max_iter is None else plan.max_iter - best.n_iter
    stall = None
    if patience is not None and _stalls(job):
        stall = int(patience.after(best.n_iter))
    result = search(
        job.problem,
        plan.objective,
        plan.depth,
        clock=clock.counting(left, stall).heeding(job.errors_were_enough),
        seed=plan.seed + job.n_searches,
        starts=[job.heap],
        n_jobs=plan.n_jobs,
        on_improvement=lambda heap, _: job.offer(heap),
        lower_bound=best.objective_bound.value,
    )
    job.n_searches += 1
    best.n_iter += result.n_iter
    best.note_end(result.stopped)
    job.offer_polished(result.tree)
    return result.stopped
