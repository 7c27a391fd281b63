"""The MIPs of a training: of the number of errors, and of (1a)."""

from __future__ import annotations

from miptree.control.clock import Clock, End
from miptree.fit.job import Job
from miptree.mip.formulations import FORMULATIONS, CountFormulation, Formulation
from miptree.mip.size import mip_size
from miptree.mip.solvers import Limits, Progress, Result, get_solver
from miptree.mip.solvers.base import OnProgress
from miptree.objective.bounds import Bound
from miptree.proof.routes import can_prove
from miptree.search import improve
from miptree.utils.arrays import FloatArray

_ITERATIONS = 30
"""Iterations of a short search from a tree of the solver."""

SMALL_MIP = 2000
"""Non-zeros up to which a MIP is solved in a moment."""


def ended_by(result: Result, otherwise: End = "stalled") -> End:
    """Return the limit that ended a solver, or ``otherwise`` where it was done."""
    limits: tuple[End, ...] = ("time_limit", "node_limit", "interrupted")
    return result.status if result.status in limits else otherwise


def have_a_chance(job: Job) -> bool:
    """Tell whether MIPs may prove what the other proofs could not.

    Their relaxations hardly see the norms: what routes do not prove, they do not prove
    either. So they are for the kinds of problems that routes do not know, and for those
    so small that they take a moment.
    """
    problem, plan = job.problem, job.plan
    is_small = mip_size(problem, plan.depth) <= SMALL_MIP
    return is_small or not can_prove(problem, plan.objective, plan.depth)


def count_errors(job: Job, clock: Clock) -> None:
    """Prove the number of errors by a MIP."""
    best, plan = job.best, job.plan
    best.enter("count")
    count = CountFormulation(job.problem, plan.objective, plan.depth)

    def hear(progress: Progress) -> bool:
        best.tell()
        return clock.is_over

    result = _solve(job, count, clock, hear)
    bound = count.round_up(result.bound)
    best.raise_errors_bound(Bound(bound, f"{result.solver} on the count MIP"))


def bound_by_mip(job: Job, formulation: str, clock: Clock) -> None:
    """Solve a MIP of (1a), or of a relaxation, from the best tree so far."""
    plan, best = job.plan, job.best
    best.enter("solve")
    made = FORMULATIONS[formulation](job.problem, plan.objective, plan.depth)

    def take(bound: float, solver: str) -> None:
        text = f"{solver} on the {formulation} MIP"
        best.raise_objective_bound(Bound(bound, text))

    def hear(progress: Progress) -> bool:
        take(progress.bound, plan.solver)
        best.tell()
        return best.gap == 0 or clock.is_over

    result = _solve(job, made, clock, hear)
    take(result.bound, result.solver)


def _solve(
    job: Job, formulation: Formulation, clock: Clock, hear: OnProgress
) -> Result:
    """Solve a MIP from the best tree and take in what it finds."""
    plan = job.plan
    result = get_solver(plan.solver).solve(
        formulation.model,
        formulation.encode(job.heap),
        Limits(
            seconds=clock.remaining,
            nodes=plan.node_limit,
            gap=plan.gap_tol,
            threads=plan.n_jobs,
            seed=plan.seed,
        ),
        hear,
        lambda x: _improved(job, formulation, x),
    )
    if result.x is not None:
        job.offer_polished(formulation.decode(result.x))
    end = ended_by(result)
    if end == "interrupted" and not job.best.is_stopped:
        end = clock.ended or "stalled"  # or it met the gap
    job.best.ended = end
    return result


def _improved(job: Job, formulation: Formulation, x: FloatArray) -> FloatArray | None:
    """Take in a solver's solution and answer with a better one, if any."""
    plan, heap = job.plan, formulation.decode(x)
    job.offer(heap)
    better, _ = improve(
        job.problem,
        plan.objective,
        heap,
        seed=plan.seed,
        clock=job.clock.counting(_ITERATIONS),
    )
    job.offer(better)
    suggestion, model = formulation.encode(job.heap), formulation.model
    return suggestion if model.objective(suggestion) < model.objective(x) else None
