"""One file per solver, each importing its package only when it is used."""

from __future__ import annotations

from importlib import import_module

from miptree.control.stop import interrupts_held_back
from miptree.mip.solvers.base import Limits, Progress, Result
from miptree.mip.solvers.solver import Solver

__all__ = [
    "SOLVERS",
    "Limits",
    "MissingSolverError",
    "Progress",
    "Result",
    "Solver",
    "get_solver",
]

SOLVERS = {
    "highs": ("miptree.mip.solvers.highs", "HighsSolver", "miptree"),
    "scip": ("miptree.mip.solvers.scip", "ScipSolver", "miptree[scip]"),
    "portfolio": ("miptree.mip.solvers.portfolio", "PortfolioSolver", "miptree[scip]"),
    "gurobi": ("miptree.mip.solvers.gurobi", "GurobiSolver", "miptree[gurobi]"),
    "cplex": ("miptree.mip.solvers.cplex", "CplexSolver", "miptree[cplex]"),
}
"""Name -> (module, class, what pip must install)."""


class MissingSolverError(ImportError, ValueError):
    """The solver asked for is not installed."""


def get_solver(name: str) -> Solver:
    """Return the solver of that name.

    Raises
    ------
    ValueError
        For a name that is not known.
    MissingSolverError
        When its package is not installed; the message gives the pip line.
    """
    if name not in SOLVERS:
        raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {name!r}.")
    module, backend, requirement = SOLVERS[name]
    try:
        with interrupts_held_back():
            solver: Solver = getattr(import_module(module), backend)()
    except ImportError as error:
        raise MissingSolverError(
            f"solver={name!r} needs a package that is not installed ({error}). "
            f"Run: pip install '{requirement}'"
        ) from error
    return solver
