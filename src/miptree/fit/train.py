"""The loop that turns a problem into a tree within one budget.

start -> search -> MIPs (the errors first, then all of (1a)) -> certificate. The best
tree under the recounted objective is kept throughout, so the result is never worse
than the start, and any step may be cut short.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from miptree.certificate.certificate import Certificate, certify
from miptree.control.clock import Clock
from miptree.control.interrupt import InterruptGuard
from miptree.data.problem import Problem
from miptree.fit.progress import FitCallback, FitProgress, announce
from miptree.mip.formulations import FORMULATIONS, CountFormulation, Formulation
from miptree.mip.node_lp import polish
from miptree.mip.solvers import Limits, Progress, Result, get_solver
from miptree.mip.solvers.base import OnProgress
from miptree.objective import Score, Svm1Objective
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.objective.tolerance import cost_meets, relative_gap
from miptree.proof import (
    compile_proof_kernels,
    prove_errors,
    seconds_to_compile_proofs,
)
from miptree.search import SearchBudget, compile_kernels_within, improve, search
from miptree.search.starts import cart_tree, constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray

Status = Literal[
    "optimal", "gap_tol", "time_limit", "node_limit", "max_iter", "interrupted"
]

SEARCH_SHARE = 0.3
"""Part of the time that search may take before a solver is called."""
FIRST_STALL, SEARCH_STALL = 100, 300
"""Iterations without a better tree after which search hands over to the first proof,
and to the one after it, where the first did not do."""
COUNT_SHARE = 0.3
"""Part of the time then left for the proof of the number of errors."""
FLOW_SHARE = 0.5
"""Part of the time then left for the relaxation that often proves (1a) sooner."""
TRIAL_SHARE, HOPELESS_GAP = 0.4, 0.5
"""Part of a solver's time after which a gap larger than that ends it: a search then
makes more of the time."""
NONZEROS_PER_SECOND = 2e4
"""Size of a MIP, per second of the limit, above which building it would not pay."""

_ENDS: dict[str, Status] = {
    "time_limit": "time_limit",
    "node_limit": "node_limit",
    "interrupted": "interrupted",
}
"""Solver's word -> ours. A solver that is done without a proof has tried all it can."""


@dataclass(frozen=True)
class Plan:
    """What to train and with what; see ``OptimalTreeClassifier`` for the fields."""

    objective: Svm1Objective
    depth: int
    formulation: str = "compact"
    solver: str = "highs"
    init: str | ObliqueTree = "auto"
    time_limit: float | None = 60.0
    max_iter: int | None = None
    node_limit: int | None = None
    gap_tol: float = 0.0
    proof: str = "auto"
    n_jobs: int = 1
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """Outcome of :func:`train`; a tree may be proved and the training stopped."""

    tree: ObliqueTree
    score: Score
    certificate: Certificate
    status: Status
    trace: list[FitProgress]
    n_iter: int
    was_stopped: bool = False


def train(
    problem: Problem,
    plan: Plan,
    clock: Clock | None = None,
    listeners: Sequence[FitCallback] = (),
) -> Trained:
    """Train a tree on a problem.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    clock : Clock, optional
        Clock of the fit, where it began before this call.
    listeners : sequence of callables
        Told of progress; a true answer of one stops the training.
    """
    with InterruptGuard() as guard:
        training = _Training(
            problem, plan, clock or Clock(plan.time_limit), listeners, guard
        )
        return training.run()


def mip_size(problem: Problem, depth: int) -> int:
    """About how many non-zeros a MIP of the problem has."""
    return problem.n_rows * (2**depth - 1) * (2 * problem.n_features + 10)


def end_of(clock: Clock, max_iter: int | None) -> Status:
    """What ended rounds of training that nobody stopped: the clock or its searches."""
    by_clock = clock.limit is not None and max_iter is None
    return "time_limit" if by_clock or clock.is_over else "max_iter"


@dataclass
class _Training:
    problem: Problem
    plan: Plan
    clock: Clock
    listeners: Sequence[FitCallback]
    guard: InterruptGuard
    stage: str = "start"
    stop_asked: bool = False
    is_closed: bool = False
    n_iter: int = 0
    n_searches: int = 0
    ended_by: Status = "max_iter"
    trace: list[FitProgress] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.any_tree = combinatorial_bound(self.problem, self.plan.depth)
        self.errors = self.whole = self.any_tree
        self.heap = constant_tree(self.problem, self.plan.depth)
        self.tree, self.score = self._recount(self.heap)

    def run(self) -> Trained:
        """Run the steps until the tree is proved or the budget is spent."""
        steps = (
            self._start,
            self._search,
            self._count,
            self._solve,
            self._search_to_the_end,
        )
        for step in steps:
            if self._is_done():
                break
            step()
        with self.lock:
            self.is_closed = True
        self.stage = "done"
        self._tell()
        certificate = certify(
            self.problem,
            self.plan.objective,
            self.plan.depth,
            self.tree,
            self.score,
            self.any_tree,
            self.errors,
            self.whole,
            self.clock.elapsed,
        )
        return Trained(
            self.tree,
            self.score,
            certificate,
            self._status(certificate),
            self.trace,
            self.n_iter,
            self._wants_stop(),
        )

    # ------------------------------------------------------------------- steps

    def _start(self) -> None:
        init = self.plan.init
        if isinstance(init, ObliqueTree):
            self._offer_polished(self.problem.to_scaled(init, self.plan.depth))
        elif init == "cart":
            self._offer_polished(cart_tree(self.problem, self.plan.depth))

    def _search(self) -> None:
        """Search until it stalls, or to the end where no MIP follows."""
        plan, clock = self.plan, self.clock
        if plan.init != "auto" and plan.solver != "search":
            return
        compile_kernels_within(clock, self._tell_compile)
        self.stage = "search"
        if self._mip_follows():
            self._search_within(clock.share(SEARCH_SHARE), FIRST_STALL, plan.seed)
        else:
            ends = (clock.limit, plan.max_iter) != (None, None)
            self._search_within(clock, None if ends else SEARCH_STALL, plan.seed)

    def _search_within(self, clock: Clock, stall: int | None, seed: int) -> None:
        """Search from the best tree so far and keep what is better."""
        plan = self.plan
        left = None if plan.max_iter is None else plan.max_iter - self.n_iter
        result = search(
            self.problem,
            plan.objective,
            plan.depth,
            budget=SearchBudget(clock.remaining, max_iter=left, stall=stall),
            seed=seed,
            starts=[self.heap],
            n_jobs=plan.n_jobs,
            should_stop=lambda: self._wants_stop() or self._proof_is_done(),
            on_improvement=self._offer_found,
            lower_bound=self.whole.value,
        )
        self.n_iter += result.n_iter
        if result.stopped == "seconds":
            self.ended_by = "time_limit"
        self._offer_polished(result.tree)

    def _count(self) -> None:
        """Prove the number of errors first: far easier than the whole objective."""
        if not self._mip_follows() or self._errors_are_proved():
            return
        self.stage = "count"
        only_errors = self.plan.proof == "errors"
        clock = self.clock.share(1.0 if only_errors else COUNT_SHARE)
        self._exhaust(clock)
        if only_errors and not self._errors_are_proved():
            self._search_on(clock.share(SEARCH_SHARE), SEARCH_STALL)
        if self.plan.proof != "objective" and not self._errors_are_proved():
            self._count_by_mip(clock)

    def _errors_are_proved(self) -> bool:
        return cost_meets(self.score.cost_at_margin, self.errors.value)

    def _exhaust(self, clock: Clock) -> None:
        """Prove errors by exhaustion.

        Where (1a) is to be proved as well, at a tenth of the margin: a point so near
        to a hyperplane misses nine tenths of its margin, or is wrong, and so has a
        known price in (1a).
        """
        if self.problem.class_cost is not None:
            return  # it counts errors, whatever the class predicted
        plan, objective = self.plan, self.plan.objective
        remaining = self.clock.remaining
        if remaining is not None and remaining < seconds_to_compile_proofs():
            return
        compile_proof_kernels()
        margin = objective.margin * (1.0 if plan.proof == "errors" else 0.1)
        proof = prove_errors(
            self.problem,
            margin,
            plan.depth,
            self.score.cost_at_margin,
            clock=clock.heeding(self._wants_stop),
            max_nodes=plan.node_limit,
            seed=plan.seed,
            n_jobs=plan.n_jobs,
        )
        if proof.tree is not None and not self.problem.is_limited:
            self._offer_polished(self.problem.into_box(proof.tree))
        self.errors = max(self.errors, proof.bound, key=lambda bound: bound.value)
        price = min(1.0, objective.slack_penalty * (objective.margin - margin))
        self._raise_bound(Bound(price * proof.bound.value, proof.bound.proved_by))

    def _count_by_mip(self, clock: Clock) -> None:
        """Prove the number of errors by a MIP."""
        self.stage = "count"
        count = CountFormulation(self.problem, self.plan.objective, self.plan.depth)
        result = self._run_solver(count, clock, self._hear_stop)
        self.ended_by = _ENDS.get(result.status, "max_iter")
        bound = count.round_up(result.bound)
        if np.isfinite(bound) and bound > self.errors.value:
            self.errors = Bound(bound, f"{result.solver} on the count MIP")

    def _solve(self) -> None:
        """Solve the MIP of the whole objective from the best tree so far."""
        plan = self.plan
        if plan.proof == "errors":
            return
        if not self._mip_follows():
            if plan.solver != "search" and plan.init != "auto":
                self.ended_by = "time_limit"  # it is too short for the MIP
            return
        if plan.formulation == "compact":
            clock = self.clock.share(FLOW_SHARE)
            trial = clock.share(TRIAL_SHARE)
            self._bound_by("flow", clock)
            if self._is_hopeless(trial):
                self.ended_by = "max_iter"
                return
        if not self._is_done():
            self._search_on(self.clock.share(SEARCH_SHARE), SEARCH_STALL)
        if not self._is_done():
            self._bound_by(plan.formulation, self.clock)

    def _search_to_the_end(self) -> None:
        """Search with the time that is left where the MIPs ended without a proof.

        They may have been hopeless. And a solver's tolerances can take a tree with one
        error for one without: it then calls 0 the optimum, the recount does not, and
        the tree is still to be found.
        """
        gave_up = self._mip_follows() and self.ended_by == "max_iter"
        if gave_up and (self.clock.limit, self.plan.max_iter) != (None, None):
            self._search_on(self.clock, None)

    def _search_on(self, clock: Clock, stall: int | None) -> None:
        """Search with another seed than before."""
        is_left = self.plan.max_iter is None or self.n_iter < self.plan.max_iter
        if self.plan.init == "auto" and is_left:
            self.stage = "search"
            self._tell()
            self.n_searches += 1
            self._search_within(clock, stall, self.plan.seed + self.n_searches)

    def _bound_by(self, formulation: str, clock: Clock) -> None:
        """Solve a MIP of (1a), or of a relaxation, from the best tree so far."""
        self.stage = "solve"
        made = FORMULATIONS[formulation](
            self.problem, self.plan.objective, self.plan.depth
        )

        trial = clock.share(TRIAL_SHARE)

        def hear(progress: Progress) -> bool:
            text = f"{self.plan.solver} on the {formulation} MIP"
            self._raise_bound(Bound(progress.bound, text))
            self._tell()
            proved = self._gap() == 0
            return self._wants_stop() or proved or self._is_hopeless(trial)

        result = self._run_solver(made, clock, hear)
        self.ended_by = _ENDS.get(result.status, "max_iter")
        if self.ended_by == "interrupted" and not self._wants_stop():
            self.ended_by = "max_iter"
        text = f"{result.solver} on the {formulation} MIP"
        self._raise_bound(Bound(result.bound, text))

    def _is_hopeless(self, trial: Clock) -> bool:
        """Whether a solver had its time and is far from a proof that nobody asked for.

        Only where a search can make better use of the time that is left.
        """
        plan = self.plan
        if (plan.proof, plan.init, plan.max_iter) != ("auto", "auto", None):
            return False
        return trial.is_over and self._gap() > HOPELESS_GAP

    def _run_solver(
        self, formulation: Formulation, clock: Clock, hear: OnProgress
    ) -> Result:
        """Solve a MIP from the best tree and take in what it finds."""
        plan = self.plan
        result = get_solver(plan.solver).solve(
            formulation.model,
            formulation.encode(self.heap),
            Limits(
                seconds=clock.remaining,
                nodes=plan.node_limit,
                gap=plan.gap_tol,
                threads=plan.n_jobs,
                seed=plan.seed,
            ),
            hear,
            lambda x: self._improve(formulation, x),
        )
        if result.x is not None:
            self._offer_polished(formulation.decode(result.x))
        return result

    def _mip_follows(self) -> bool:
        """Whether a MIP is wanted, and the time suffices to do something with it."""
        if self.plan.solver == "search":
            return False
        if self.clock.limit is None:
            return True
        size = mip_size(self.problem, self.plan.depth)
        return size <= NONZEROS_PER_SECOND * self.clock.limit

    # ------------------------------------------------------- incumbents and bounds

    def _recount(self, heap: HeapTree) -> tuple[ObliqueTree, Score]:
        tree = with_cheapest_labels(self.problem, self.problem.to_user(heap))
        return tree, self.plan.objective.evaluate(self.problem, tree)

    def _offer(self, heap: HeapTree) -> bool:
        """Keep a tree if its recounted objective is the best so far."""
        tree, score = self._recount(heap)
        with self.lock:
            # A solver that did not hear in time may still come with a tree.
            if self.is_closed or not score.objective < self.score.objective:
                return False
            self.heap, self.tree, self.score = heap, tree, score
        self._tell()
        return True

    def _offer_found(self, heap: HeapTree, value: float) -> None:
        self._offer(heap)

    def _offer_polished(self, heap: HeapTree) -> None:
        self._offer(heap)
        clock = self.clock.heeding(self._wants_stop)
        self._offer(polish(self.problem, self.plan.objective, heap, clock))

    def _improve(self, formulation: Formulation, x: FloatArray) -> FloatArray | None:
        """Take in a solver's solution and answer with a better one, if any."""
        self._offer(formulation.decode(x))
        better, _ = improve(
            self.problem,
            self.plan.objective,
            self.plan.depth,
            formulation.decode(x),
            seed=self.plan.seed,
            should_stop=self._wants_stop,
        )
        self._offer(better)
        suggestion = formulation.encode(self.heap)
        model = formulation.model
        return suggestion if model.objective(suggestion) < model.objective(x) else None

    def _raise_bound(self, bound: Bound) -> None:
        """Take in a bound on (1a)."""
        # An equal bound counts: the last word of a solver names its version.
        least = max(self.whole.value, np.nextafter(self.any_tree.value, np.inf))
        if least <= bound.value < np.inf:
            self.whole = bound

    # --------------------------------------------------------- progress and stops

    def _hear_stop(self, progress: Progress) -> bool:
        self._tell()
        return self._wants_stop()

    def _tell(self) -> None:
        stop = announce(
            self.stage,
            self.clock.elapsed,
            self.score,
            self.whole.value,
            self.trace,
            self.listeners,
        )
        self.stop_asked = self.stop_asked or stop

    def _tell_compile(self) -> None:
        self.stage = "compile"
        self._tell()

    def _wants_stop(self) -> bool:
        return self.stop_asked or self.guard.requested

    def _proof_is_done(self) -> bool:
        """Whether the number of errors is all that is to be proved, and is."""
        return self.plan.proof == "errors" and self._errors_are_proved()

    def _is_done(self) -> bool:
        if self._wants_stop() or self._gap_suffices() or self._proof_is_done():
            return True
        if self.clock.is_over:
            self.ended_by = "time_limit"
            return True
        return False

    def _gap(self) -> float:
        score = self.score
        return relative_gap(score.objective, self.whole.value, score.scale)

    def _gap_suffices(self) -> bool:
        return self._gap() <= self.plan.gap_tol

    def _status(self, certificate: Certificate) -> Status:
        if certificate.objective_optimal:
            return "optimal"
        if certificate.gap <= self.plan.gap_tol:
            return "gap_tol"
        return "interrupted" if self._wants_stop() else self.ended_by
