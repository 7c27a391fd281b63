"""The searches of a training: until they stall, or to its end."""

from __future__ import annotations

from miptree.control.clock import Clock, End
from miptree.fit.job import ITERATIONS, Job
from miptree.search import compile_kernels_within, search

SEARCH_SHARE = 0.3
"""Part of the time that a search may take before a proof."""


def search_first(job: Job) -> None:
    """Search until it stalls, or to the end where no proof follows."""
    if job.plan.init != "auto" and job.plan.solver != "search":
        return
    compile_kernels_within(job.clock, lambda: job.best.enter("compile"))
    job.best.stage = "search"
    if job.wants_proof:
        _search(job, job.step_clock(SEARCH_SHARE), stalls=True)
    else:
        _search_to_the_end(job)


def search_on(job: Job) -> None:
    """Search again, between two proofs, until it stalls."""
    if _may_search(job):
        job.best.enter("search")
        _search(job, job.step_clock(SEARCH_SHARE), stalls=True)


def search_to_the_end(job: Job) -> None:
    """Search again, for the rest of the training."""
    if _may_search(job):
        job.best.enter("search")
        _search_to_the_end(job)


def _may_search(job: Job) -> bool:
    return job.plan.init == "auto" and _is_left(job)


def _is_left(job: Job) -> bool:
    """Tell whether iterations are left."""
    return job.plan.max_iter is None or job.best.n_iter < job.plan.max_iter


def _search_to_the_end(job: Job) -> None:
    """Search, again and again with longer and longer searches, until nothing moves.

    Where a proof was asked for by name, one search takes all that is left.
    """
    clock, best = job.step_clock(), job.best
    ends = (clock.limit, job.plan.max_iter) != (None, None)
    if job.plan.keeps_at_it and ends:
        _search(job, clock, stalls=False)
        return
    is_moving = True
    while is_moving and _is_left(job) and not clock.is_over:
        n_moves = best.movement.n_moves
        if _search(job, clock, stalls=True) in ("bound", "interrupted"):
            return
        is_moving = job.is_patient or best.movement.n_moves > n_moves
    if _is_left(job):
        best.note_end(clock.ended or "stalled")


def _search(job: Job, clock: Clock, stalls: bool) -> End:
    """Search from the best tree so far, with a seed of its own; return why it ended.

    A search of many rows goes from sample to sample, and does not stall by itself.
    """
    # Numba is imported only where a search is wanted.
    from miptree.search.schedule import FIRST_SAMPLE

    plan, best = job.plan, job.best
    left = None if plan.max_iter is None else plan.max_iter - best.n_iter
    if job.problem.n_rows > FIRST_SAMPLE and (clock.limit, left) != (None, None):
        stalls = False
    result = search(
        job.problem,
        plan.objective,
        plan.depth,
        clock=clock.counting(
            left, int(ITERATIONS.after(best.n_iter)) if stalls else None
        ).heeding(job.errors_were_enough),
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
