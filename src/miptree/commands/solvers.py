"""``miptree solvers``."""

from __future__ import annotations

from rich.table import Table

from miptree.commands._app import app, console
from miptree.mip.solvers import SOLVERS, MissingSolverError, get_solver


@app.command()
def solvers() -> None:
    """List the solvers and say how to install those that are missing.

    Example: miptree solvers
    """
    table = Table("solver", "state")
    for name, (_, _, requirement) in SOLVERS.items():
        try:
            get_solver(name)
        except MissingSolverError:
            table.add_row(name, f"missing: pip install '{requirement}'")
        else:
            table.add_row(name, "installed")
    console.print(table, markup=False)
