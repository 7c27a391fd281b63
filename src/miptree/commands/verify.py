"""``miptree verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from miptree.audit import verify_model
from miptree.commands import _tables
from miptree.commands._app import app, plain_errors, printable, say
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import DataFile, ModelFile, Target, read_labelled
from miptree.commands._rules import noted_groups
from miptree.data.files import FileOptions
from miptree.export.json import ChangedFileError, read_model


@app.command()
@plain_errors
@reads_table
def verify(
    model: ModelFile,
    data: DataFile,
    target: Target = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of the weights, if not as in the fit.")
    ] = None,
    digest: Annotated[
        str | None,
        typer.Option(help="Digest of the model file, as you noted it before."),
    ] = None,
    resolve_with: Annotated[
        str | None,
        typer.Option(help="Solver to repeat proofs with; points, of a points tree."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.0, help="Seconds for each repeated proof.")
    ] = 60.0,
    proof: Annotated[
        Path | None, typer.Option(help="Proof file of the fit, to be checked as well.")
    ] = None,
    *,
    file: FileOptions,
) -> None:
    """Compute all that a model file says again from its training data, and compare.

    Errors and costs are counted in exact arithmetic. What data cannot tell, such as
    the time of the fit, is protected by the digest of the file; that is said below the
    checks. Exit code 0 if every check holds, 1 if one does not or the file was changed.

    Example: miptree verify model.json iris.csv
    """
    try:
        saved = read_model(model)
    except ChangedFileError as error:
        say(printable(f"NOT verified: {error}"))
        raise typer.Exit(1) from None
    weights = weights or saved.metadata.get("weights")
    table, rows, y = read_labelled(saved, model, data, file, target, weights)
    found = verify_model(
        saved,
        rows,
        y,
        _tables.weights(table, weights),
        digest=digest,
        resolve_with=resolve_with,
        resolve_seconds=time_limit,
        proof=proof,
        data=data,
        **noted_groups(saved.metadata, table),
    )
    for line in str(found).splitlines():
        say(printable(line))
    raise typer.Exit(0 if found.ok else 1)
