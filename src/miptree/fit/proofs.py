"""The proofs of a training that need no solver: of the errors, and of (1a)."""

from __future__ import annotations

from miptree.control.clock import Clock
from miptree.fit.compiling import (
    COUNT_COMPILERS,
    ROUTE_COMPILERS,
    enters_compiled,
    has_time_to_compile,
)
from miptree.fit.job import Job
from miptree.objective.bounds import Bound
from miptree.proof import (
    Proof,
    compile_proof_kernels,
    compile_recording_kernels,
    prove_errors,
    recorded_proof,
    seconds_to_compile_proofs,
)
from miptree.proof.routes import (
    SMALLEST_GROUP,
    can_prove,
    compile_route_kernels,
    prove_objective,
    seconds_to_compile_routes,
)
from miptree.search.compiling import announced

EXHAUSTION_MARGIN = 0.1
"""Part of the margin at which errors are counted where (1a) is to be proved as well."""
EXHAUSTION_SHARE, RECORD_SHARE = 0.5, 0.9
"""Parts of the time left for a proof of the errors that is to be recorded, and then for
recording it."""
LONGER = 4
"""Times as long that the next proof over routes is tried where one moved the bound."""
LAST_TRIALS = ((0.3, 6.0, True), (0.1, 20.0, False))
"""Gaps up to which a last trial, not to be cut short, is worth so many seconds, and
whether groups of the rows may give more by then."""


def exhaust_errors(job: Job, part: float) -> None:
    """Prove errors by exhaustion, in a part of the time left.

    Where (1a) is to be proved as well, errors are counted at a tenth of the margin. A
    point nearer to a hyperplane than that misses nine tenths of its margin, which has
    a known price in (1a). Exhaustion tells nothing before it ends: where it should end
    when it has stalled, it has a while in all.
    """
    if job.problem.class_cost is not None:
        return  # it counts errors, whatever the class predicted
    plan, objective, best = job.plan, job.plan.objective, job.best
    is_last = plan.proof == "errors"
    expected = seconds_to_compile_proofs()
    if not has_time_to_compile(job, expected, is_last) or not enters_compiled(
        job, "count", compile_proof_kernels, COUNT_COMPILERS, expected
    ):
        return
    is_recorded = plan.record and is_last
    share = part * EXHAUSTION_SHARE if is_recorded else part
    clock = job.step_clock(share).counting(limit=job.a_while)
    at = 1.0 if plan.proof == "errors" else EXHAUSTION_MARGIN
    margin = objective.margin * at
    proof = prove_errors(
        job.problem,
        margin,
        plan.depth,
        best.score.cost_at_margin,
        clock=clock,
        max_nodes=plan.node_limit,
        seed=plan.seed,
        n_jobs=plan.n_jobs,
    )
    if proof.tree is not None and not job.problem.is_limited:
        job.offer_polished(job.problem.into_box(proof.tree))
    best.raise_errors_bound(proof.bound)
    price = min(1.0, objective.slack_penalty * (objective.margin - margin))
    value, proved_by = proof.bound
    best.raise_objective_bound(Bound(price * value, proved_by))
    if is_recorded:
        record_errors(job, proof)


def record_errors(job: Job, proof: Proof | None = None) -> None:
    """Record a proof of the errors for a file, in the time left.

    It may show more than was known.
    """
    plan, problem = job.plan, job.problem
    if problem.class_cost is not None or job.clock.is_over:
        return
    with announced(lambda: job.best.enter("compile")):
        compile_recording_kernels()
    job.best.stage = "count"
    best = job.best
    record = recorded_proof(
        problem,
        plan.objective.margin,
        plan.depth,
        proof,
        best.errors_bound.value,
        best.score.cost_at_margin,
        clock=job.clock.share(RECORD_SHARE),
        max_nodes=plan.node_limit,
        seed=plan.seed,
        n_jobs=plan.n_jobs,
    )
    best.errors_record = record
    if record is not None:
        best.raise_errors_bound(record.bound)


def prove_by_routes(job: Job) -> None:
    """Prove (1a) by branch and bound over routes.

    A proof plans its steps by its time. Where it should end when it has stalled, it is
    tried for a while at first, and again for longer as long as the bound moves.
    """
    plan, best = job.plan, job.best
    if not can_prove(job.problem, plan.objective, plan.depth):
        return
    expected = seconds_to_compile_routes()
    if not has_time_to_compile(job, expected, is_last=True) or not enters_compiled(
        job, "prove", compile_route_kernels, ROUTE_COMPILERS, expected
    ):
        return
    clock, seconds = job.step_clock(), job.a_while
    while not (job.is_done or clock.is_over):
        trial = clock.counting(limit=seconds)
        _prove_by_routes(job, trial)
        if seconds is None or not trial.is_over:
            break  # it could do no more
        seconds *= LONGER
    nodes_are_over = plan.node_limit is not None and best.gap > 0
    best.note_end(clock.ended or ("node_limit" if nodes_are_over else None))


def try_last_step(job: Job) -> None:
    """Give a proof over routes that has come near the time for its last step.

    This one takes longest, and moves nothing before its end.
    """
    if not job.is_patient or job.best.proof is None:
        return
    for gap, limit, by_groups in LAST_TRIALS:
        if job.best.gap <= gap and not job.is_done:
            job.best.enter("prove")
            smallest = SMALLEST_GROUP if by_groups else job.problem.n_rows
            _prove_by_routes(job, job.clock.counting(limit=limit), smallest)


def _prove_by_routes(job: Job, clock: Clock, smallest: int = SMALLEST_GROUP) -> None:
    plan, best = job.plan, job.best

    def take(bound: Bound) -> None:
        best.raise_objective_bound(bound)
        best.tell()

    proof = prove_objective(
        job.problem,
        plan.objective,
        plan.depth,
        best.score.objective,
        clock=clock,
        offer=job.offer,
        max_nodes=plan.node_limit,
        seed=plan.seed,
        n_jobs=plan.n_jobs,
        record=plan.record,
        smallest=smallest,
        on_bound=take,
    )
    best.keep_proof(proof)
