"""Gurobi through gurobipy: fast, but needs a licence above 2000 rows or columns."""

from __future__ import annotations

import gurobipy as gp
import numpy as np
from gurobipy import GRB
from scipy import sparse

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.mip.solvers.base import LARGEST_SEED, Result, SolverLicenceError
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.solver import Solver
from miptree.utils.arrays import FloatArray

_STATUS: dict[int, End] = {
    GRB.OPTIMAL: "optimal",
    GRB.TIME_LIMIT: "time_limit",
    GRB.NODE_LIMIT: "node_limit",
    GRB.INTERRUPTED: "interrupted",
    GRB.INFEASIBLE: "infeasible",
    GRB.INF_OR_UNBD: "infeasible",
}

_LICENCE_ERRORS = (GRB.Error.NO_LICENSE, GRB.Error.SIZE_LIMIT_EXCEEDED)


class GurobiSolver(Solver):
    """Gurobi."""

    name = "gurobi"

    def _solve(self, listener: Listener) -> Result:
        start = listener.start
        try:
            with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as gurobi:
                x = _build(gurobi, listener.model)
                if start is not None:
                    x.setAttr(GRB.Attr.Start, start)
                _set_options(gurobi, listener)
                gurobi.optimize(_Callback(x, listener))
                if gurobi.Status == GRB.INTERRUPTED:
                    listener.pass_on_interrupt()
                return listener.finish(
                    _STATUS.get(gurobi.Status, "interrupted"),
                    np.array(x.X) if gurobi.SolCount > 0 else None,
                    _bound(gurobi),
                    gurobi.NodeCount if gurobi.IsMIP else 0,
                    "Gurobi " + ".".join(map(str, gp.gurobi.version())),
                )
        except gp.GurobiError as error:
            if error.errno in _LICENCE_ERRORS:
                raise SolverLicenceError.of("Gurobi", listener.model, error) from error
            raise


def _build(gurobi: gp.Model, model: Model) -> gp.MVar:
    kind = np.where(model.integer, GRB.INTEGER, GRB.CONTINUOUS)
    x = gurobi.addMVar(model.n_variables, model.lower, model.upper, model.cost, kind)
    x.setAttr(GRB.Attr.BranchPriority, model.priority)
    gurobi.ObjCon = model.constant
    matrix, sense, right = _one_sided(model)
    gurobi.addMConstr(matrix, x, sense, right)
    return x


def _one_sided(model: Model) -> tuple[sparse.csr_matrix, np.ndarray, FloatArray]:
    """Return ``matrix @ x  sense  right``: Gurobi has no row with two finite bounds."""
    equal = model.row_lower == model.row_upper
    above = ~equal & np.isfinite(model.row_lower)
    below = ~equal & np.isfinite(model.row_upper)
    parts = (
        (equal, GRB.EQUAL, model.row_upper),
        (above, GRB.GREATER_EQUAL, model.row_lower),
        (below, GRB.LESS_EQUAL, model.row_upper),
    )
    matrix = sparse.vstack([model.matrix[rows] for rows, _, _ in parts], format="csr")
    sense = np.concatenate([np.full(rows.sum(), sign) for rows, sign, _ in parts])
    return matrix, sense, np.concatenate([right[rows] for rows, _, right in parts])


def _set_options(gurobi: gp.Model, listener: Listener) -> None:
    params, limits, seconds = gurobi.Params, listener.limits, listener.remaining
    tolerance = listener.tolerance
    params.FeasibilityTol = tolerance
    params.IntFeasTol = tolerance
    params.OptimalityTol = listener.dual_tolerance
    params.Threads = limits.threads
    params.Seed = limits.seed % LARGEST_SEED
    params.MIPGap = limits.gap
    params.MIPGapAbs = 1e-9
    if seconds is not None:
        params.TimeLimit = seconds
    if limits.nodes is not None:
        params.NodeLimit = limits.nodes


class _Callback:
    """Passes Gurobi's events on, and suggestions back."""

    def __init__(self, x: gp.MVar, listener: Listener) -> None:
        self.x, self.listener = x, listener

    def __call__(self, gurobi: gp.Model, where: int) -> None:
        what, listener = GRB.Callback, self.listener
        if where == what.MIP:
            listener.report(
                gurobi.cbGet(what.MIP_OBJBST),
                gurobi.cbGet(what.MIP_OBJBND),
                gurobi.cbGet(what.MIP_NODCNT),
            )
        elif where == what.MIPSOL and listener.on_incumbent is not None:
            listener.incumbent(np.array(gurobi.cbGetSolution(self.x)))
        elif where == what.MIPNODE and listener.suggestion is not None:
            suggestion = listener.take_suggestion()
            if suggestion is not None:
                gurobi.cbSetSolution(self.x, suggestion)
        else:
            listener.poll()
        if listener.stop:
            gurobi.terminate()


def _bound(gurobi: gp.Model) -> float:
    if gurobi.IsMIP:
        return float(gurobi.ObjBound)
    return float(gurobi.ObjVal) if gurobi.Status == GRB.OPTIMAL else -np.inf
