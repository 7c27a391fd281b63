"""The steps that turn a problem into a tree within one clock.

start -> search -> proofs (the errors first, then all of (1a)) -> search -> last step of
a proof that has come near -> shorter coefficients of indicators -> certificate.
The best tree under the recounted objective is kept throughout, so the result is never
worse than the start, and any step may be cut short. A step ends when it has stalled:
when neither the tree nor the bound has moved for a while that grows with the time
spent. So the whole training ends when it is done, and the time limit is its upper end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from miptree.control.clock import Clock, interruptible
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.job import Job
from miptree.fit.mips import bound_by_mip, count_errors, have_a_chance
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.fit.proofs import exhaust_errors, prove_by_routes, try_last_step
from miptree.fit.searches import search_first, search_on, search_to_the_end
from miptree.fit.shorter import offer_shorter
from miptree.search.starts import cart_tree
from miptree.tree import HeapTree, ObliqueTree

COUNT_SHARE = 0.3
"""Part of the time left for the proof of the number of errors."""
FLOW_SHARE = 0.5
"""Part of the time then left for the relaxation that often proves (1a) sooner."""


def train(
    problem: Problem,
    plan: Plan,
    clock: Clock | None = None,
    listeners: Sequence[FitCallback] = (),
) -> FittedTree:
    """Train a tree on a problem as a plan says.

    Parameters
    ----------
    problem : Problem
        The rows.
    plan : Plan
        What is minimised, where the training begins, and how far it goes.
    clock : Clock, optional
        Clock of the fit, by default one without a limit.
    listeners : sequence of callables
        Told of progress; a true answer of one stops the training.
    """
    with interruptible(clock or Clock()) as clock:
        best = train_incumbent(problem, plan, clock, listeners)
        return best.end(problem, plan.objective, plan.depth)


def train_incumbent(
    problem: Problem,
    plan: Plan,
    clock: Clock,
    listeners: Sequence[FitCallback] = (),
    on_tree: Callable[[HeapTree], object] | None = None,
    known: ObliqueTree | None = None,
) -> Incumbent:
    """Train as :func:`train` does, for a fit that ends and certifies it itself.

    ``on_tree`` is called with every tree that a step offers, in scaled units. A tree
    that is ``known`` takes part, whatever the training begins from.
    """
    job = Job.begin(problem, plan, clock, listeners, on_tree)
    for tree in (plan.init, known):  # no result is worse than these
        if isinstance(tree, ObliqueTree):
            job.offer(problem.to_scaled(tree, plan.depth))
    for step in (_start, search_first, _prove_errors, _prove_objective, _search_last):
        if job.is_done:
            break
        step(job)
    offer_shorter(job.best, problem, plan)
    job.best.close()
    return job.best


def _start(job: Job) -> None:
    init = job.plan.init
    if isinstance(init, ObliqueTree):
        job.offer_polished(job.problem.to_scaled(init, job.plan.depth))
    elif init == "cart":
        job.offer_polished(cart_tree(job.problem, job.plan.depth))


def _prove_errors(job: Job) -> None:
    """Prove the number of errors first: far easier than the whole objective."""
    if not job.wants_proof or job.best.errors_are_proved:
        return
    only_errors = job.plan.proof == "errors"
    part = 1.0 if only_errors else COUNT_SHARE
    exhaust_errors(job, part)
    if only_errors and not job.is_done:
        search_on(job)
    by_mip = only_errors or (job.plan.proof == "auto" and have_a_chance(job))
    if by_mip and not (job.is_done or job.best.errors_are_proved):
        count_errors(job, job.step_clock(part))


def _prove_objective(job: Job) -> None:
    """Prove (1a), by routes and by MIPs."""
    plan = job.plan
    if plan.proof == "errors":
        return
    if not job.wants_proof:
        if plan.solver != "search" and plan.init != "auto":
            job.best.ended = "time_limit"  # it is too short for the MIP
        return
    prove_by_routes(job)
    if not job.is_done and (have_a_chance(job) or plan.keeps_at_it):
        _solve_mips(job)


def _solve_mips(job: Job) -> None:
    """Solve the MIPs of (1a) from the best tree so far."""
    formulation = job.plan.formulation
    if formulation == "compact":
        bound_by_mip(job, "flow", job.step_clock(FLOW_SHARE))
    if not job.is_done:
        search_on(job)
    if not job.is_done:
        bound_by_mip(job, formulation, job.step_clock())


def _search_last(job: Job) -> None:
    """Search with the time that is left where the proofs ended without success.

    They may have stalled. Or a solver's tolerances took a tree with one error for one
    without: its optimum is then 0, but the recount finds 1, and a better tree may still
    be found. The search ends near the best tree: a proof may lack one step then.
    """
    gave_up = job.wants_proof and job.best.ended in ("stalled", "max_iter")
    if gave_up and (job.clock.limit, job.plan.max_iter) != (None, None):
        search_to_the_end(job)
        if not job.is_done:
            try_last_step(job)
