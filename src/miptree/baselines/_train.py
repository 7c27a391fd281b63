"""Train a baseline: start tree, the baseline's MIP, recount, certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from miptree.baselines._certificate import BaselineCertificate, certify_baseline
from miptree.baselines._oblique import search_hyperplanes
from miptree.baselines._univariate import univariate_trees
from miptree.control.clock import Clock
from miptree.control.interrupt import InterruptGuard
from miptree.fit.progress import FitCallback, FitProgress
from miptree.mip.formulations.baselines import BaselineFormulation
from miptree.mip.solvers import Limits, Progress, get_solver
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.leaf_labels import relabel
from miptree.objective.tolerance import meets, relative_gap
from miptree.search.starts import cart_tree, constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray

Status = Literal[
    "optimal", "gap_tol", "time_limit", "node_limit", "interrupted", "unproved"
]

NONZEROS_PER_SECOND = 1e5
"""Size of a MIP, per second of the limit, above which building it would not pay."""

SEARCH_SHARE = 0.3
"""Part of the time that a search may take before the solver is called."""

_ENDS: dict[str, Status] = {
    "time_limit": "time_limit",
    "node_limit": "node_limit",
    "interrupted": "interrupted",
}


@dataclass(frozen=True)
class BaselineTrained:
    """Outcome of :func:`train_baseline`."""

    tree: ObliqueTree
    certificate: BaselineCertificate
    status: Status
    trace: list[FitProgress]


def train_baseline(
    baseline: str,
    formulation: BaselineFormulation,
    solver: str,
    limits: Limits,
    clock: Clock,
    listeners: Sequence[FitCallback] = (),
    init: str = "cart",
) -> BaselineTrained:
    """Train a tree by a baseline's formulation.

    Parameters
    ----------
    baseline : str
        Name for the certificate.
    formulation : BaselineFormulation
        The MIP, made for the data.
    solver : str
        One of ``SOLVERS``.
    limits : Limits
        Nodes, gap, threads and seed; the seconds are the clock's.
    clock : Clock
        Clock of the fit.
    listeners : sequence of callables
        Told of progress; a true answer of one stops the training.
    init : {"cart", "search"}
        Whether a local search in the baseline's class comes before the MIP.
    """
    with InterruptGuard() as guard:
        training = _Training(
            baseline, formulation, solver, limits, clock, listeners, guard, init
        )
        return training.run()


@dataclass
class _Training:
    baseline: str
    formulation: BaselineFormulation
    solver: str
    limits: Limits
    clock: Clock
    listeners: Sequence[FitCallback]
    guard: InterruptGuard
    init: str
    stage: str = "start"
    stop_asked: bool = False
    ended_by: Status = "unproved"
    trace: list[FitProgress] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, depth = self.formulation.problem, self.formulation.depth
        any_tree = combinatorial_bound(problem, depth)
        cheapest = self.formulation.error_price * any_tree.value
        self.bound = Bound(cheapest, any_tree.proved_by)
        self.heap = constant_tree(problem, depth)
        self.tree, self.value = self._recount(self.heap)

    def run(self) -> BaselineTrained:
        """Run the steps until the tree is proved or the budget is spent."""
        for step in (self._start, self._search, self._solve):
            if self._is_done():
                break
            step()
        self.stage = "done"
        self._tell()
        certificate = certify_baseline(
            self.baseline, self.formulation, self.tree, self.bound, self.clock.elapsed
        )
        return BaselineTrained(
            self.tree, certificate, self._status(certificate), self.trace
        )

    # ------------------------------------------------------------------------- steps

    def _start(self) -> None:
        formulation = self.formulation
        self._adopt(cart_tree(formulation.start_problem, formulation.depth))

    def _search(self) -> None:
        """Look for better trees of the class, where asked to."""
        if self.init != "search":
            return
        self.stage = "search"
        clock = self.clock.share(SEARCH_SHARE)
        formulation, seed = self.formulation, self.limits.seed
        problem, depth = formulation.start_problem, formulation.depth
        if formulation.strip is not None:
            search_hyperplanes(
                problem, depth, formulation.strip, clock, seed, self._adopt, self._stops
            )
            return
        for heap in univariate_trees(problem, depth, seed):
            self._adopt(heap)
            if clock.is_over or self._stops():
                return

    def _adopt(self, heap: HeapTree) -> None:
        """Offer the tree of the class that is nearest to a start tree."""
        self._offer(relabel(self.formulation.problem, self.formulation.adapt(heap)))

    def _stops(self) -> bool:
        return self._wants_stop() or meets(self.value, self.bound.value)

    def _solve(self) -> None:
        if not self._pays():
            self.ended_by = "time_limit"
            return
        self.stage = "solve"
        formulation, limits = self.formulation, self.limits
        result = get_solver(self.solver).solve(
            formulation.model,
            formulation.encode(self.heap),
            Limits(
                seconds=self.clock.remaining,
                nodes=limits.nodes,
                gap=limits.gap,
                threads=limits.threads,
                seed=limits.seed,
            ),
            self._hear,
            self._take,
        )
        self.ended_by = _ENDS.get(result.status, "unproved")
        if result.x is not None:
            self._take(result.x)
        self._raise_bound(result.bound, result.solver)

    def _pays(self) -> bool:
        """Whether the time suffices to do something with the MIP."""
        limit = self.clock.limit
        return limit is None or self.formulation.size <= NONZEROS_PER_SECOND * limit

    # -------------------------------------------------------- incumbents and bounds

    def _recount(self, heap: HeapTree) -> tuple[ObliqueTree, float]:
        problem = self.formulation.problem
        tree = problem.to_user(heap).prune(problem.X)
        return tree, self.formulation.value(tree)

    def _offer(self, heap: HeapTree) -> None:
        """Keep a tree if its recounted objective is the best so far."""
        tree, value = self._recount(heap)
        if value < self.value:
            self.heap, self.tree, self.value = heap, tree, value
            self._tell()

    def _take(self, x: FloatArray) -> FloatArray | None:
        """Take in a solution, with its labels and with those that cost least."""
        heap = self.formulation.decode(x)
        self._offer(heap)
        self._offer(relabel(self.formulation.problem, heap))
        return None

    def _raise_bound(self, bound: float, solver: str) -> None:
        bound = self.formulation.round_up(bound)
        if np.isfinite(bound) and bound > self.bound.value:
            self.bound = Bound(bound, f"{solver} on the MIP of {self.baseline}")

    # ----------------------------------------------------------- progress and stops

    def _hear(self, progress: Progress) -> bool:
        self._raise_bound(progress.bound, self.solver)
        self._tell()
        return self._stops()

    def _tell(self) -> None:
        problem = self.formulation.problem
        wrong = self.tree.predict(problem.X) != problem.y
        state = FitProgress(
            self.stage,
            self.clock.elapsed,
            self.value,
            int(problem.count[wrong].sum()),
            min(self.bound.value, self.value),
        )
        last = self.trace[-1] if self.trace else None
        if last is None or (last.objective, last.bound) != (
            state.objective,
            state.bound,
        ):
            self.trace.append(state)
        answers = [listener(state) for listener in self.listeners]
        self.stop_asked = self.stop_asked or any(answers)

    def _wants_stop(self) -> bool:
        return self.stop_asked or self.guard.requested

    def _is_done(self) -> bool:
        gap = relative_gap(self.value, self.bound.value)
        if self._wants_stop() or gap <= self.limits.gap:
            return True
        if self.clock.is_over:
            self.ended_by = "time_limit"
            return True
        return False

    def _status(self, certificate: BaselineCertificate) -> Status:
        if certificate.objective_optimal:
            return "optimal"
        if certificate.gap <= self.limits.gap:
            return "gap_tol"
        return "interrupted" if self._wants_stop() else self.ended_by
