"""SCIP through pyscipopt: free, without size limits, the best free prover."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyscipopt
from pyscipopt import SCIP_EVENTTYPE, SCIP_HEURTIMING, SCIP_RESULT, SCIP_STAGE, Expr
from pyscipopt.scip import ExprCons, Term

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.mip.solvers.base import Result
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.solver import Solver
from miptree.mip.solvers.watch import run_watched
from miptree.utils.arrays import FloatArray

_STATUS: dict[str, End] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "timelimit": "time_limit",
    "nodelimit": "node_limit",
    "totalnodelimit": "node_limit",
    "userinterrupt": "interrupted",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",
}

_LP_FAILED = "error in LP solver"
"""What SCIP says where it cannot solve the LP of a node, whatever it tries."""
_EVENTS = (
    SCIP_EVENTTYPE.PRESOLVEROUND
    | SCIP_EVENTTYPE.LPSOLVED
    | SCIP_EVENTTYPE.NODEFOCUSED
    | SCIP_EVENTTYPE.BESTSOLFOUND
)


class ScipSolver(Solver):
    """SCIP. Runs on one thread whatever ``Limits.threads`` says."""

    name = "scip"

    def _solve(self, listener: Listener) -> Result:
        scip = pyscipopt.Model()
        columns = _build(scip, listener.model)
        _set_options(scip, listener)
        if listener.start is not None:
            scip.addSol(_to_solution(scip, columns, listener.start))
        _subscribe(scip, columns, listener)
        version = f"SCIP {_version(scip)}"
        has_failed = False

        def run() -> None:
            nonlocal has_failed
            try:
                scip.optimizeNogil()
            except Exception as error:  # PySCIPOpt raises nothing more special
                if _LP_FAILED not in str(error):
                    raise
                has_failed = True  # by rounding, at odd costs

        # Also because what a signal handler raises in a callback would be swallowed.
        has_ended = run_watched(run, listener, lambda: interrupt(scip))
        if has_failed or not has_ended:
            return listener.finish_left_behind(version)
        found = (
            _STATUS.get(scip.getStatus(), "interrupted"),
            _best_x(scip, columns),
            scip.getDualbound(),
            scip.getNTotalNodes(),
            version,
        )
        # Model and plugins refer to each other, so Python would free them late.
        scip.freeProb()
        return listener.finish(*found)


def interrupt(scip: pyscipopt.Model) -> None:
    """Ask SCIP to stop, from any thread.

    Between two stages it cannot be asked, and raises. Whoever wants it to stop asks
    again a moment later, so nothing is done then.
    """
    if scip.getStage() in (SCIP_STAGE.PRESOLVING, SCIP_STAGE.SOLVING):
        with suppress(Exception):  # the stage may have ended just now
            scip.interruptSolve()


def _build(scip: pyscipopt.Model, model: Model) -> list[Any]:
    """Fill the problem and return its variables in the model's order."""
    scip.hideOutput()
    kinds = np.where(model.integer, "I", "C").tolist()
    numbers = (_finite(scip, v) for v in (model.lower, model.upper, model.cost))
    given = zip(kinds, *numbers, strict=True)
    columns = [scip.addVar(f"x{j}", *column) for j, column in enumerate(given)]
    scip.addObjoffset(model.constant)
    _add_rows(scip, model, columns)
    return columns


def _add_rows(scip: pyscipopt.Model, model: Model, columns: list[Any]) -> None:
    # A dict of ready-made terms makes a row at once; adding expressions up term by
    # term takes time quadratic in the row's length.
    term = np.empty(model.n_variables, dtype=object)
    term[:] = [Term(column) for column in columns]
    terms = term[model.matrix.indices].tolist()
    values = model.matrix.data.tolist()
    ends = model.matrix.indptr.tolist()
    bounds = (_finite(scip, v) for v in (model.row_lower, model.row_upper))
    rows = zip(ends[:-1], ends[1:], *bounds, strict=True)
    for begin, end, lower, upper in rows:
        row = Expr(dict(zip(terms[begin:end], values[begin:end], strict=True)))
        scip.addCons(ExprCons(row, lower, upper))


def _finite(scip: pyscipopt.Model, values: FloatArray) -> list[float]:
    return np.clip(values, -scip.infinity(), scip.infinity()).tolist()


def _set_options(scip: pyscipopt.Model, listener: Listener) -> None:
    limits, seconds = listener.limits, listener.remaining
    options: dict[str, bool | float | str] = {
        "numerics/feastol": listener.tolerance,
        "numerics/dualfeastol": listener.dual_tolerance,
        "randomization/randomseedshift": limits.seed,
        "limits/gap": limits.gap,
        "limits/absgap": 1e-9,
        # SCIP's own handler would keep Ctrl-C from Python's.
        "misc/catchctrlc": False,
    }
    if seconds is not None:
        options["limits/time"] = seconds
    if limits.nodes is not None:
        # SCIP counts the root, and would not even solve it for a limit of 0.
        options["limits/totalnodes"] = max(1, limits.nodes)
    scip.setParams(options)


def _subscribe(scip: pyscipopt.Model, columns: list[Any], listener: Listener) -> None:
    events = _Events(columns, listener)
    scip.includeEventhdlr(events, "miptree", "reports and incumbents")
    if listener.on_incumbent is not None:
        scip.includeHeur(
            _Suggestions(columns, listener),
            "miptree",
            "solutions offered by on_incumbent",
            "M",
            priority=1_000_000,
            freq=1,
            timingmask=SCIP_HEURTIMING.BEFORENODE
            | SCIP_HEURTIMING.DURINGLPLOOP
            | SCIP_HEURTIMING.AFTERLPNODE,
        )


class _Events(pyscipopt.Eventhdlr):
    """Passes SCIP's events on; pyscipopt swallows what these methods raise."""

    def __init__(self, columns: list[Any], listener: Listener) -> None:
        self.columns, self.listener = columns, listener
        self.run = 0

    def eventinit(self) -> None:
        self.model.catchEvent(_EVENTS, self)
        # The start was taken before any event could tell of it.
        self.hand_out()

    def eventexec(self, event: Any) -> None:
        scip, listener = self.model, self.listener
        kind = event.getType()
        if kind == SCIP_EVENTTYPE.BESTSOLFOUND:
            self.hand_out()
        elif kind == SCIP_EVENTTYPE.NODEFOCUSED and self.run < scip.getNRuns():
            self.run = scip.getNRuns()
            _set_priorities(scip, self.columns, listener.model)
        listener.report(
            scip.getPrimalbound(), scip.getDualbound(), scip.getNTotalNodes()
        )
        if listener.stop:
            interrupt(scip)

    def hand_out(self) -> None:
        if self.listener.on_incumbent is not None:
            x = _best_x(self.model, self.columns)
            if x is not None:
                self.listener.incumbent(x)


def _set_priorities(scip: pyscipopt.Model, columns: list[Any], model: Model) -> None:
    """Set branching priorities, after presolve, which levels them.

    Aggregating a variable gives all those it is replaced by their highest priority.
    So every integer has to be set, the highest last, and again after a restart.
    """
    if not model.priority.any():
        return
    integers = np.flatnonzero(model.integer)
    for j in integers[np.argsort(model.priority[integers], kind="stable")]:
        scip.chgVarBranchPriority(columns[j], int(model.priority[j]))


class _Suggestions(pyscipopt.Heur):
    """Hands suggestions in."""

    def __init__(self, columns: list[Any], listener: Listener) -> None:
        self.columns, self.listener = columns, listener

    def heurexec(self, timing: int, infeasible: bool) -> dict[str, int]:
        x = self.listener.take_suggestion()
        if x is None:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        solution = _to_solution(self.model, self.columns, x)
        stored = self.model.trySol(solution, printreason=False)
        return {"result": SCIP_RESULT.FOUNDSOL if stored else SCIP_RESULT.DIDNOTFIND}


def _to_solution(scip: pyscipopt.Model, columns: list[Any], x: FloatArray) -> Any:
    solution = scip.createOrigSol()
    for column, value in zip(columns, x.tolist(), strict=True):
        scip.setSolVal(solution, column, value)
    return solution


def _best_x(scip: pyscipopt.Model, columns: list[Any]) -> FloatArray | None:
    if scip.getNSols() == 0:
        return None
    best = scip.getBestSol()
    return np.array([scip.getSolVal(best, column) for column in columns])


def _version(scip: pyscipopt.Model) -> str:
    return f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"
