"""The commands of ``miptree``, written with typer and rich; one file per group."""

from __future__ import annotations

from miptree.commands import (
    alternatives,
    bench,
    check,
    compile,
    demo,
    explain,
    export,
    fit,
    model,
    report,
    solvers,
    table,
    trade_off,
    verify,
)
from miptree.commands._app import app

__all__ = [
    "alternatives",
    "app",
    "bench",
    "check",
    "compile",
    "demo",
    "explain",
    "export",
    "fit",
    "model",
    "report",
    "solvers",
    "table",
    "trade_off",
    "verify",
]
