"""HiGHS, the default solver: free, in every install, without size limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import highspy
import numpy as np

from miptree._typing import FloatArray
from miptree.formulations.model import Model
from miptree.solvers.base import (
    Limits,
    OnIncumbent,
    OnProgress,
    Progress,
    Result,
    Status,
    keep_better,
)

_SECONDS_BETWEEN_REPORTS = 0.05

_STATUS: dict[highspy.HighsModelStatus, Status] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kSolutionLimit: "node_limit",
    highspy.HighsModelStatus.kInterrupt: "interrupted",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible",
}


class HighsSolver:
    """HiGHS through highspy. Also solves the LPs of the polish step."""

    name = "highs"

    def solve(
        self,
        model: Model,
        start: FloatArray | None = None,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        on_progress: OnProgress | None = None,
        on_incumbent: OnIncumbent | None = None,
    ) -> Result:
        """Solve the model; see :class:`miptree.solvers.base.Solver`."""
        began = time.perf_counter()
        highs = _new_highs(limits, bool(model.integer.any()))
        highs.passModel(_to_highs(model))
        if start is not None:
            _set_start(highs, start)
        if model.integer.any():
            listener = _Listener(model, began, on_progress, on_incumbent)
            listener.subscribe(highs)
        highs.run()
        result = _read_result(highs, model, time.perf_counter() - began)
        return keep_better(model, result, start)


_pool_size: int | None = None
"""Threads of HiGHS's global pool, which must be torn down to change its size."""


def _new_highs(limits: Limits, is_mip: bool) -> highspy.Highs:
    global _pool_size
    # An LP may be solved from within a MIP's callback and must leave the pool alone.
    if _pool_size is None or (is_mip and limits.threads != _pool_size):
        highspy.Highs.resetGlobalScheduler(True)
        _pool_size = limits.threads
    highs = highspy.Highs()
    highs.silent()
    options: dict[str, float] = {
        "threads": _pool_size,
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


def _set_start(highs: highspy.Highs, x: FloatArray) -> None:
    solution = highspy.HighsSolution()
    solution.col_value = x.tolist()
    highs.setSolution(solution)


@dataclass
class _Listener:
    """Passes HiGHS's events on, and suggestions back."""

    model: Model
    began: float
    on_progress: OnProgress | None
    on_incumbent: OnIncumbent | None
    suggestion: FloatArray | None = None
    last_report: float = field(default=-np.inf)

    def subscribe(self, highs: highspy.Highs) -> None:
        if self.on_progress is not None:
            highs.cbMipInterrupt.subscribe(self.report)
        if self.on_incumbent is not None:
            highs.cbMipImprovingSolution.subscribe(self.hand_out)
            highs.cbMipUserSolution.subscribe(self.hand_in)

    def report(self, event: highspy.HighsCallbackEvent) -> None:
        now = time.perf_counter()
        if self.on_progress is None:
            return
        if now - self.last_report < _SECONDS_BETWEEN_REPORTS:
            return
        self.last_report = now
        out = event.data_out
        state = Progress(
            now - self.began, out.mip_primal_bound, out.mip_dual_bound, _nodes(out)
        )
        if self.on_progress(state):
            event.interrupt()

    def hand_out(self, event: highspy.HighsCallbackEvent) -> None:
        if self.on_incumbent is not None:
            x = np.array(event.data_out.mip_solution, dtype=np.float64)
            self.suggestion = self.on_incumbent(x)

    def hand_in(self, event: highspy.HighsCallbackEvent) -> None:
        if self.suggestion is not None and event.data_in is not None:
            event.data_in.setSolution(self.suggestion)
            self.suggestion = None


def _nodes(out: object) -> int:
    return max(0, int(getattr(out, "mip_node_count", 0)))


def _read_result(highs: highspy.Highs, model: Model, seconds: float) -> Result:
    info = highs.getInfo()
    status: Status = _STATUS.get(highs.getModelStatus(), "infeasible")
    found = (
        info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    )
    x = np.array(highs.getSolution().col_value) if found else None
    objective = model.objective(x) if x is not None else np.inf
    if model.integer.any():
        bound = float(info.mip_dual_bound)
        if status == "optimal" and objective - bound > 1e-9 * max(1.0, abs(objective)):
            status = "gap"
    else:
        bound = objective if status == "optimal" else -np.inf
    return Result(
        status=status,
        x=x,
        objective=objective,
        bound=bound,
        nodes=_nodes(info),
        seconds=seconds,
        solver=f"HiGHS {highs.version()}",
    )
