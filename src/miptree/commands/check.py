"""``miptree check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from miptree.checker import check_proof
from miptree.commands._app import app, plain_errors, say
from miptree.export.text import printable


@app.command()
@plain_errors
def check(
    proof: Annotated[Path, typer.Argument(help="Proof that `miptree fit` wrote.")],
    data: Annotated[
        Path,
        typer.Argument(
            help="Plain CSV or CSV.gz file of the fit; `miptree table` writes one."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="Column of the labels, if not as in the proof.")
    ] = None,
    minutes: Annotated[float, typer.Option(help="When to give up.", min=0)] = 10.0,
) -> None:
    """Check a proof against the data, by a program that shares no code with the fit.

    It prints one line. The exit code is 0 if what the proof claims holds; 1 if it
    does not, or if the proof is damaged, cut off or about other data; 2, with the
    sentence on standard error, if the check needs more time or memory or if a file is
    missing or the data are no table. `python -m miptree.checker` does the same.

    Example: miptree check model.proof data.csv
    """
    outcome = check_proof(proof, data, target, minutes)
    if outcome.exit_code == 2:
        typer.echo(printable(outcome.sentence), err=True)
    else:
        say(printable(outcome.sentence))
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)
