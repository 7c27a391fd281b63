"""The MIP of (1a) with rows for constraints: proves the best tree that keeps them."""

from __future__ import annotations

from miptree.constraints.errors import ImpossibleConstraintsError
from miptree.constraints.free_signs import free_signs
from miptree.control.clock import Clock
from miptree.fit.job import PROOF_FACTOR, awaited, is_patient
from miptree.fit.kept import KeptTrees
from miptree.fit.mips import SMALL_MIP, ended_by
from miptree.mip.formulations.ruled import RuledFormulation
from miptree.mip.node_lp import refit_nodes
from miptree.mip.size import mip_size, pays
from miptree.mip.solvers import Limits, Progress, Result, get_solver
from miptree.mip.solvers.base import is_feasible
from miptree.objective.bounds import Bound
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray

LARGEST_MIP = 20_000
"""Non-zeros up to which the MIP is tried for a while."""


def can_prove_kept(kept: KeptTrees, clock: Clock) -> bool:
    """Tell whether the MIP is wanted, and small enough for the time left."""
    plan = kept.plan
    if plan.solver == "search" or plan.proof == "errors":
        return False
    size = mip_size(kept.problem, plan.depth)
    if not pays(PROOF_FACTOR * size, clock):
        return False
    if plan.keeps_at_it:
        return True
    return size <= (LARGEST_MIP if is_patient(plan, clock) else SMALL_MIP)


def prove_kept(kept: KeptTrees, clock: Clock) -> None:
    """Raise the bound of trees that keep the constraints, and take in better ones.

    Nothing is believed of a MIP that does not have the best tree known as a solution.
    So where none is known, the MIP looks for one first.

    Raises
    ------
    ImpossibleConstraintsError
        If no tree is known and the solver says that there is none.
    """
    if kept.best is None:
        _RuledMip(kept, clock).run()
    if kept.best is not None and not (clock.is_over or kept.best.is_done):
        _RuledMip(kept, clock).run()


class _RuledMip:
    def __init__(self, kept: KeptTrees, clock: Clock) -> None:
        plan = kept.plan
        self.kept, self.plan = kept, plan
        self.clock = clock
        if kept.best is not None:
            self.clock = awaited(kept.best, plan, clock)
        self.best_value = kept.objective
        self.is_believed = False
        # In the MIP rows reach both sides of a fixed split. Below the root a tree may
        # keep the rule without that, so that nothing is said of all trees then.
        self.is_of_all_trees = all(split.node == 0 for split in kept.rules.fixed)
        given = kept.problem, plan.objective, plan.depth
        self.mip = RuledFormulation(
            *given, rules=kept.rules, best_value=self.best_value
        )

    def run(self) -> None:
        """Solve the MIP from the best tree so far."""
        plan, best = self.plan, self.kept.best
        start = None
        if best is not None and best.heap is not None:
            best.enter("solve")
            start = self.mip.encode(best.heap)
            is_solution = is_feasible(self.mip.model, start)
            self.is_believed = is_solution and self.is_of_all_trees
        limits = Limits(
            seconds=self.clock.remaining,
            nodes=plan.node_limit,
            gap=plan.gap_tol,
            threads=plan.n_jobs,
            seed=plan.seed,
        )
        solver = get_solver(plan.solver)
        result = solver.solve(self.mip.model, start, limits, self._hear, self._improved)
        if result.x is not None:
            self._offer(self.mip.decode(result.x))
        self._end(result)

    def _end(self, result: Result) -> None:
        best = self.kept.best
        if best is None:
            if result.status == "infeasible" and self.is_of_all_trees:
                raise ImpossibleConstraintsError(
                    f"{result.solver} claims that no tree of depth {self.plan.depth} "
                    "keeps all constraints: the MIP of such trees has no solution."
                    f"{self.kept.nearest_words} Loosen a constraint, or give more "
                    "depth."
                )
            return
        self._take(result.bound, result.solver)
        end = ended_by(result, "stalled")
        if end == "interrupted" and not best.is_stopped:
            end = self.clock.ended or "stalled"
        best.note_end(end)

    def _take(self, bound: float, solver: str) -> None:
        """Take in a bound; trees that cost more than the first best are not in it."""
        text = f"{solver} on the compact MIP with rows for the rules"
        left_out = " and ".join(self.mip.without_rows)
        text += f" but {left_out}" if left_out else ""
        if self.kept.best is not None and self.is_believed:
            value = min(bound, self.best_value)
            self.kept.best.raise_objective_bound(Bound(value, text))

    def _hear(self, progress: Progress) -> bool:
        best = self.kept.best
        if best is None:
            return self.clock.is_over
        self._take(progress.bound, self.plan.solver)
        best.tell()
        is_proved = self.is_believed and best.gap == 0
        return is_proved or self.clock.is_over

    def _improved(self, x: FloatArray) -> FloatArray | None:
        """Take in a solver's solution and answer with a better one, if any."""
        self._offer(self.mip.decode(x))
        best, model = self.kept.best, self.mip.model
        if best is None or best.heap is None:
            return None
        suggestion = self.mip.encode(best.heap)
        return suggestion if model.objective(suggestion) < model.objective(x) else None

    def _offer(self, heap: HeapTree) -> None:
        """Offer a tree, and the one that LPs of its nodes make of it."""
        problem, objective = self.kept.problem, self.plan.objective
        heap = problem.into_box(heap)
        self.kept.offer(heap)
        signs = free_signs(self.kept.rules, heap)
        self.kept.offer(refit_nodes(problem, objective, heap, self.clock, signs))
