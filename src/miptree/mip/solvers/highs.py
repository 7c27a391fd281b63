"""HiGHS, the default solver: free, in every install, without size limits."""

from __future__ import annotations

from threading import local

import highspy
import numpy as np

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.mip.solvers.base import (
    LOOSEST_TOLERANCE,
    TIGHTEST_TOLERANCE,
    Limits,
    Result,
)
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.solver import Solver
from miptree.mip.solvers.watch import run_watched
from miptree.utils.arrays import FloatArray

_VERSION = f"HiGHS {highspy.Highs().version()}"

MIP_TOLERANCE = 10 * LOOSEST_TOLERANCE
"""Of rows and integers in MIPs; that of reduced costs is a tenth of it. It is HiGHS's
own, at which it is tested: with a lower one, or without its presolve, HiGHS 1.15 loses
solutions at times, up to once in 2,000 tiny problems, so that bounds are false."""
_STATUS: dict[highspy.HighsModelStatus, End] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kSolutionLimit: "node_limit",
    highspy.HighsModelStatus.kInterrupt: "interrupted",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible",
}


class HighsSolver(Solver):
    """HiGHS through highspy. Also solves the LPs of the polish step."""

    name = "highs"

    def _solve(self, listener: Listener) -> Result:
        model, limits = listener.model, listener.limits
        if not model.integer.any():
            highs = _new_highs(limits, _threads_here())
            highs.setOptionValue("primal_feasibility_tolerance", TIGHTEST_TOLERANCE)
            highs.passModel(_to_highs(model))
            highs.run()
            return listener.finish(*_read(highs, model))
        highs = _new_highs(limits, limits.threads)
        highs.setOptionValue("mip_feasibility_tolerance", MIP_TOLERANCE)
        highs.passModel(_to_highs(model))
        if listener.start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = listener.start.tolist()
            highs.setSolution(solution)
        _Callback(listener).subscribe(highs)

        def run() -> None:
            _pool.size = limits.threads
            highs.run()

        if run_watched(run, listener):
            return listener.finish(*_read(highs, model))
        return listener.finish_left_behind(_VERSION)


_pool = local()
"""The pool of threads that HiGHS keeps for each thread; its size is fixed for life."""


def _threads_here() -> int:
    """Return the size of this thread's pool: an LP in a MIP's callback must use it."""
    if not hasattr(_pool, "size"):
        # Somebody else may have used HiGHS on this thread.
        highspy.Highs.resetGlobalScheduler(True)
        _pool.size = 1
    size: int = _pool.size
    return size


def _new_highs(limits: Limits, threads: int) -> highspy.Highs:
    highs = highspy.Highs()
    highs.silent()
    options: dict[str, float] = {
        "threads": threads,
        "random_seed": limits.seed,
        "mip_rel_gap": limits.gap,
        "mip_abs_gap": 1e-9,
    }
    if limits.seconds is not None:
        options["time_limit"] = max(0.0, limits.seconds)
    if limits.nodes is not None:
        options["mip_max_nodes"] = limits.nodes
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def _to_highs(model: Model) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_variables, model.n_rows
    lp.col_cost_, lp.offset_ = model.cost, model.constant
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    if model.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[integer] for integer in model.integer.astype(int)]
    return lp


class _Callback:
    """Passes HiGHS's events on, and suggestions back."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def subscribe(self, highs: highspy.Highs) -> None:
        highs.cbMipInterrupt.subscribe(self.report)
        highs.cbMipImprovingSolution.subscribe(self.hand_out)
        if self.listener.on_incumbent is not None:
            highs.cbMipUserSolution.subscribe(self.hand_in)

    def report(self, event: highspy.HighsCallbackEvent) -> None:
        out = event.data_out
        self.listener.report(out.mip_primal_bound, out.mip_dual_bound, _nodes(out))
        if self.listener.stop:
            event.interrupt()

    def hand_out(self, event: highspy.HighsCallbackEvent) -> None:
        self.listener.incumbent(np.array(event.data_out.mip_solution, dtype=float))

    def hand_in(self, event: highspy.HighsCallbackEvent) -> None:
        if self.listener.suggestion is None or event.data_in is None:
            return
        x = self.listener.take_suggestion()
        if x is not None:
            event.data_in.setSolution(x)


def _nodes(out: object) -> int:
    return max(0, int(getattr(out, "mip_node_count", 0)))


def _read(
    highs: highspy.Highs, model: Model
) -> tuple[End, FloatArray | None, float, int, str]:
    """Return status, solution, bound, nodes and version."""
    info = highs.getInfo()
    status: End = _STATUS.get(highs.getModelStatus(), "interrupted")
    found = (
        info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    )
    x = np.array(highs.getSolution().col_value) if found else None
    if model.integer.any():
        bound = float(info.mip_dual_bound)
    else:
        bound = model.objective(x) if x is not None and status == "optimal" else -np.inf
    return status, x, bound, _nodes(info), _VERSION
