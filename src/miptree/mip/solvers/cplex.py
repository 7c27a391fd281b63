"""CPLEX through its Python API: needs a licence above 1000 rows or columns."""

from __future__ import annotations

from itertools import pairwise

import cplex
import numpy as np
from cplex.callbacks import Context
from cplex.exceptions import CplexSolverError, error_codes

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.mip.solvers.base import LARGEST_SEED, Result, SolverLicenceError
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.solver import Solver
from miptree.utils.arrays import FloatArray

_CODES = cplex.SolutionInterface.status
_STATUS: dict[int, End] = {
    _CODES.optimal: "optimal",
    _CODES.MIP_optimal: "optimal",
    _CODES.optimal_tolerance: "optimal",
    _CODES.abort_time_limit: "time_limit",
    _CODES.MIP_time_limit_feasible: "time_limit",
    _CODES.MIP_time_limit_infeasible: "time_limit",
    _CODES.node_limit_feasible: "node_limit",
    _CODES.node_limit_infeasible: "node_limit",
    _CODES.infeasible: "infeasible",
    _CODES.MIP_infeasible: "infeasible",
    _CODES.infeasible_or_unbounded: "infeasible",
    _CODES.MIP_infeasible_or_unbounded: "infeasible",
}
_ABORTED = (_CODES.abort_user, _CODES.MIP_abort_feasible, _CODES.MIP_abort_infeasible)


class CplexSolver(Solver):
    """CPLEX. Does not report on, and cannot be stopped in, a model without integers."""

    name = "cplex"

    def _solve(self, listener: Listener) -> Result:
        model = listener.model
        with cplex.Cplex() as problem:
            _build(problem, model)
            _set_options(problem, listener)
            if model.integer.any():
                _set_hints(problem, model, listener.start)
                problem.set_callback(
                    _Callback(listener),
                    Context.id.global_progress | Context.id.local_progress,
                )
            try:
                problem.solve()
            except CplexSolverError as error:
                if error.args[2] == error_codes.CPXERR_RESTRICTED_VERSION:
                    raise SolverLicenceError.of("CPLEX", model, error) from error
                raise
            if problem.solution.get_status() in _ABORTED:
                listener.pass_on_interrupt()
            return listener.finish(
                _STATUS.get(problem.solution.get_status(), "interrupted"),
                _best_x(problem),
                _bound(problem, model),
                problem.solution.progress.get_num_nodes_processed(),
                f"CPLEX {problem.get_version()}",
            )


def _build(problem: cplex.Cplex, model: Model) -> None:
    problem.set_log_stream(None)
    problem.set_results_stream(None)
    problem.set_warning_stream(None)
    problem.set_error_stream(None)
    kinds = "".join(np.where(model.integer, "I", "C"))
    problem.variables.add(
        obj=model.cost.tolist(),
        lb=_finite(model.lower),
        ub=_finite(model.upper),
        # Types, even if all are continuous, would make it a MIP.
        types=kinds if model.integer.any() else "",
    )
    problem.objective.set_offset(model.constant)
    _add_rows(problem, model)


def _add_rows(problem: cplex.Cplex, model: Model) -> None:
    lower, upper = model.row_lower, model.row_upper
    width = np.clip(upper - lower, 0.0, cplex.infinity)
    ranged = np.isfinite(width) & (width < cplex.infinity)
    sense = np.select(
        [lower == upper, ranged, np.isfinite(lower)], ["E", "R", "G"], "L"
    )
    right = np.where(sense == "L", upper, lower)
    columns, values = model.matrix.indices.tolist(), model.matrix.data.tolist()
    ends = model.matrix.indptr.tolist()
    problem.linear_constraints.add(
        lin_expr=[
            (columns[begin:end], values[begin:end]) for begin, end in pairwise(ends)
        ],
        senses="".join(sense),
        rhs=_finite(right),
        range_values=np.where(sense == "R", width, 0.0).tolist(),
    )


def _finite(values: FloatArray) -> list[float]:
    finite: list[float] = np.clip(values, -cplex.infinity, cplex.infinity).tolist()
    return finite


def _set_options(problem: cplex.Cplex, listener: Listener) -> None:
    limits, seconds = listener.limits, listener.remaining
    options, tolerance = problem.parameters, listener.tolerance
    options.mip.tolerances.integrality.set(tolerance)
    options.simplex.tolerances.feasibility.set(tolerance)
    options.simplex.tolerances.optimality.set(listener.dual_tolerance)
    options.threads.set(limits.threads)
    options.randomseed.set(limits.seed % LARGEST_SEED)
    options.mip.tolerances.mipgap.set(limits.gap)
    options.mip.tolerances.absmipgap.set(1e-9)
    if seconds is not None:
        options.timelimit.set(seconds)
    if limits.nodes is not None:
        options.mip.limits.nodes.set(limits.nodes)


def _set_hints(problem: cplex.Cplex, model: Model, start: FloatArray | None) -> None:
    first = np.flatnonzero(model.priority).tolist()
    direction = problem.order.branch_direction.default
    if first:
        problem.order.set([(j, int(model.priority[j]), direction) for j in first])
    if start is not None:
        problem.MIP_starts.add(
            _sparse(start), problem.MIP_starts.effort_level.check_feasibility
        )


class _Callback:
    """Passes CPLEX's events on, and suggestions back."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.best = np.inf

    def invoke(self, context: Context) -> None:
        info, listener = Context.info, self.listener
        value = context.get_double_info(info.best_solution)
        if value < self.best and listener.on_incumbent is not None:
            self.best = value
            listener.incumbent(np.array(context.get_incumbent()))
        if context.in_local_progress() and listener.suggestion is not None:
            self.hand_in(context)
        listener.report(
            value,
            context.get_double_info(info.best_bound),
            context.get_long_info(info.node_count),
        )
        if listener.stop:
            context.abort()

    def hand_in(self, context: Context) -> None:
        x = self.listener.take_suggestion()
        if x is not None:
            context.post_heuristic_solution(
                _sparse(x),
                self.listener.model.objective(x),
                Context.solution_strategy.check_feasible,
            )


def _sparse(x: FloatArray) -> tuple[list[int], list[float]]:
    return list(range(len(x))), x.tolist()


def _best_x(problem: cplex.Cplex) -> FloatArray | None:
    if not problem.solution.is_primal_feasible():
        return None
    return np.array(problem.solution.get_values())


def _bound(problem: cplex.Cplex, model: Model) -> float:
    solution = problem.solution
    if _STATUS.get(solution.get_status()) == "infeasible":
        return np.inf
    if model.integer.any():
        return float(solution.MIP.get_best_objective())
    optimal = solution.get_status() == _CODES.optimal
    return float(solution.get_objective_value()) if optimal else -np.inf
