"""The steps that turn a problem into a tree within one clock.

start -> search -> proofs (the errors first, then all of (1a)) -> certificate. The best
tree under the recounted objective is kept throughout, so the result is never worse
than the start, and any step may be cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from miptree.control.clock import Clock, End, interruptible
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.mip.formulations import FORMULATIONS, CountFormulation, Formulation
from miptree.mip.node_lp import polish
from miptree.mip.size import mip_size, pays
from miptree.mip.solvers import Limits, Progress, Result, get_solver
from miptree.mip.solvers.base import OnProgress
from miptree.objective import Score
from miptree.objective.bounds import Bound
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.objective.proved import Bounds
from miptree.proof import (
    compile_proof_kernels,
    prove_errors,
    seconds_to_compile_proofs,
)
from miptree.search import ITERATIONS, compile_kernels_within, improve, search
from miptree.search.starts import cart_tree, constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray

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
PROOF_FACTOR = 5
"""How many times as long a MIP must take that should prove something."""
EXHAUSTION_MARGIN = 0.1
"""Part of the margin at which errors are counted where (1a) is to be proved as well."""


def train(
    problem: Problem,
    plan: Plan,
    clock: Clock | None = None,
    listeners: Sequence[FitCallback] = (),
) -> FittedTree:
    """Train a tree on a problem as a plan says.

    Parameters
    ----------
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
) -> Incumbent:
    """Train as :func:`train` does, for a fit that ends and certifies it itself."""
    training = _Training(problem, plan, clock, listeners)
    training.run()
    training.best.close()
    return training.best


def end_of(clock: Clock, max_iter: int | None) -> End:
    """Return why rounds of training ended, where nobody stopped them."""
    by_clock = clock.limit is not None and max_iter is None
    return "time_limit" if by_clock or clock.is_over else "max_iter"


def ended_by(result: Result, otherwise: End = "max_iter") -> End:
    """Return the limit that ended a solver, or ``otherwise`` where it was done."""
    limits: tuple[End, ...] = ("time_limit", "node_limit", "interrupted")
    return result.status if result.status in limits else otherwise


@dataclass
class _Training:
    problem: Problem
    plan: Plan
    clock: Clock
    listeners: Sequence[FitCallback]
    n_searches: int = 0

    @cached_property
    def best(self) -> Incumbent:
        """The best tree, at first the constant one."""
        heap = constant_tree(self.problem, self.plan.depth)
        return Incumbent(
            *self._recount(heap),
            Bounds.without_solver(self.problem, self.plan.depth),
            self.clock,
            self.listeners,
            self.plan.gap_tol,
            heap,
        )

    def run(self) -> None:
        """Run the steps until the tree is proved or the time is over."""
        self.clock = self.best.clock
        if isinstance(self.plan.init, ObliqueTree):  # no result is worse than it
            self._offer(self.problem.to_scaled(self.plan.init, self.plan.depth))
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
        compile_kernels_within(clock, lambda: self.best.enter("compile"))
        self.best.stage = "search"
        if self._mip_follows():
            self._search_within(clock.share(SEARCH_SHARE), FIRST_STALL, plan.seed)
        else:
            ends = (clock.limit, plan.max_iter) != (None, None)
            self._search_within(clock, None if ends else SEARCH_STALL, plan.seed)

    def _search_within(self, clock: Clock, stall: int | None, seed: int) -> None:
        """Search from the best tree so far and keep what is better."""
        plan, best = self.plan, self.best
        left = None if plan.max_iter is None else plan.max_iter - best.n_iter
        result = search(
            self.problem,
            plan.objective,
            plan.depth,
            clock=clock.counting(left, stall).heeding(self._proof_is_done),
            seed=seed,
            starts=[self._heap],
            n_jobs=plan.n_jobs,
            on_improvement=lambda heap, _: self._offer(heap),
            lower_bound=best.objective_bound.value,
        )
        best.n_iter += result.n_iter
        if result.stopped == "time_limit":
            best.ended = "time_limit"
        self._offer_polished(result.tree)

    def _count(self) -> None:
        """Prove the number of errors first: far easier than the whole objective."""
        best, proof = self.best, self.plan.proof
        if not self._mip_follows() or best.errors_are_proved:
            return
        best.stage = "count"
        clock = self.clock.share(1.0 if proof == "errors" else COUNT_SHARE)
        self._exhaust(clock)
        if proof == "errors" and not best.errors_are_proved:
            self._search_on(clock.share(SEARCH_SHARE), SEARCH_STALL)
        if proof != "objective" and not best.errors_are_proved:
            self._count_by_mip(clock)

    def _exhaust(self, clock: Clock) -> None:
        """Prove errors by exhaustion.

        Where (1a) is to be proved as well, errors are counted at a tenth of the
        margin. A point nearer to a hyperplane than that misses nine tenths of its
        margin, which has a known price in (1a).
        """
        if self.problem.class_cost is not None:
            return  # it counts errors, whatever the class predicted
        plan, objective, best = self.plan, self.plan.objective, self.best
        if not self.clock.has_time_for(seconds_to_compile_proofs()):
            return
        compile_proof_kernels()
        part = 1.0 if plan.proof == "errors" else EXHAUSTION_MARGIN
        margin = objective.margin * part
        proof = prove_errors(
            self.problem,
            margin,
            plan.depth,
            best.score.cost_at_margin,
            clock=clock,
            max_nodes=plan.node_limit,
            seed=plan.seed,
            n_jobs=plan.n_jobs,
        )
        if proof.tree is not None and not self.problem.is_limited:
            self._offer_polished(self.problem.into_box(proof.tree))
        best.raise_errors_bound(proof.bound)
        price = min(1.0, objective.slack_penalty * (objective.margin - margin))
        value, proved_by = proof.bound
        best.raise_objective_bound(Bound(price * value, proved_by))

    def _count_by_mip(self, clock: Clock) -> None:
        """Prove the number of errors by a MIP."""
        best = self.best
        best.stage = "count"
        count = CountFormulation(self.problem, self.plan.objective, self.plan.depth)

        def hear(progress: Progress) -> bool:
            best.tell()
            return best.is_stopped

        result = self._run_solver(count, clock, hear)
        best.ended = ended_by(result)
        bound = count.round_up(result.bound)
        best.raise_errors_bound(Bound(bound, f"{result.solver} on the count MIP"))

    def _solve(self) -> None:
        """Solve the MIP of the whole objective from the best tree so far."""
        plan = self.plan
        if plan.proof == "errors":
            return
        if not self._mip_follows():
            if plan.solver != "search" and plan.init != "auto":
                self.best.ended = "time_limit"  # it is too short for the MIP
            return
        if plan.formulation == "compact":
            clock = self.clock.share(FLOW_SHARE)
            trial = clock.share(TRIAL_SHARE)
            self._bound_by("flow", clock)
            if self._is_hopeless(trial):
                self.best.ended = "max_iter"
                return
        if not self._is_done():
            self._search_on(self.clock.share(SEARCH_SHARE), SEARCH_STALL)
        if not self._is_done():
            self._bound_by(plan.formulation, self.clock)

    def _search_to_the_end(self) -> None:
        """Search with the time that is left where the MIPs ended without a proof.

        They may have been hopeless. Or the solver's tolerances took a tree with one
        error for one without: its optimum is then 0, but the recount finds 1, and a
        better tree may still be found.
        """
        gave_up = self._mip_follows() and self.best.ended == "max_iter"
        if gave_up and (self.clock.limit, self.plan.max_iter) != (None, None):
            self._search_on(self.clock, None)

    def _search_on(self, clock: Clock, stall: int | None) -> None:
        """Search with another seed than before."""
        plan, best = self.plan, self.best
        is_left = plan.max_iter is None or best.n_iter < plan.max_iter
        if plan.init == "auto" and is_left:
            best.enter("search")
            self.n_searches += 1
            self._search_within(clock, stall, plan.seed + self.n_searches)

    def _bound_by(self, formulation: str, clock: Clock) -> None:
        """Solve a MIP of (1a), or of a relaxation, from the best tree so far."""
        plan, best = self.plan, self.best
        best.stage = "solve"
        made = FORMULATIONS[formulation](self.problem, plan.objective, plan.depth)
        trial = clock.share(TRIAL_SHARE)

        def take(bound: float, solver: str) -> None:
            text = f"{solver} on the {formulation} MIP"
            best.raise_objective_bound(Bound(bound, text))

        def hear(progress: Progress) -> bool:
            take(progress.bound, plan.solver)
            best.tell()
            return best.is_stopped or best.gap == 0 or self._is_hopeless(trial)

        result = self._run_solver(made, clock, hear)
        best.ended = ended_by(result)
        if best.ended == "interrupted" and not best.is_stopped:
            best.ended = "max_iter"
        take(result.bound, result.solver)

    def _is_hopeless(self, trial: Clock) -> bool:
        """Tell whether a search can use the time better than the solver.

        That is so if the solver had its trial, its gap is still large, and the user
        did not ask for this proof.
        """
        plan = self.plan
        if (plan.proof, plan.init, plan.max_iter) != ("auto", "auto", None):
            return False
        return trial.is_over and self.best.gap > HOPELESS_GAP

    def _run_solver(
        self, formulation: Formulation, clock: Clock, hear: OnProgress
    ) -> Result:
        """Solve a MIP from the best tree and take in what it finds."""
        plan = self.plan
        result = get_solver(plan.solver).solve(
            formulation.model,
            formulation.encode(self._heap),
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
        """Tell whether a MIP is wanted, and the time left is enough for it."""
        size = PROOF_FACTOR * mip_size(self.problem, self.plan.depth)
        return self.plan.solver != "search" and pays(size, self.clock)

    # ------------------------------------------------------------------- trees

    @property
    def _heap(self) -> HeapTree:
        """The best tree in scaled units: all trees here are offered in them."""
        heap = self.best.heap
        assert heap is not None
        return heap

    def _recount(self, heap: HeapTree) -> tuple[ObliqueTree, Score]:
        tree = with_cheapest_labels(self.problem, self.problem.to_user(heap))
        return tree, self.plan.objective.evaluate(self.problem, tree)

    def _offer(self, heap: HeapTree) -> None:
        self.best.offer(*self._recount(heap), heap)

    def _offer_polished(self, heap: HeapTree) -> None:
        self._offer(heap)
        self._offer(polish(self.problem, self.plan.objective, heap, self.clock))

    def _improve(self, formulation: Formulation, x: FloatArray) -> FloatArray | None:
        """Take in a solver's solution and answer with a better one, if any."""
        plan, heap = self.plan, formulation.decode(x)
        self._offer(heap)
        better, _ = improve(
            self.problem,
            plan.objective,
            plan.depth,
            heap,
            seed=plan.seed,
            clock=self.clock.counting(ITERATIONS),
        )
        self._offer(better)
        suggestion, model = formulation.encode(self._heap), formulation.model
        return suggestion if model.objective(suggestion) < model.objective(x) else None

    # ------------------------------------------------------------------ ending

    def _proof_is_done(self) -> bool:
        """Tell whether only the number of errors was to be proved, and is."""
        return self.plan.proof == "errors" and self.best.errors_are_proved

    def _is_done(self) -> bool:
        return self.best.is_done or self._proof_is_done()
