"""``miptree predict`` and ``show``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from miptree.commands import _tables
from miptree.commands._app import (
    app,
    plain_errors,
    say,
    show_certificate,
    show_tree,
)
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import (
    DataFile,
    Details,
    Force,
    ModelFile,
    read_features,
)
from miptree.commands._outputs import refuse_outputs
from miptree.data.files import FileOptions, refuse_format, text_of
from miptree.explain import leaf_reasons
from miptree.export import load_json
from miptree.export.leaf_words import row_number


@app.command()
@plain_errors
@reads_table
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV, Excel, Parquet or Feather file to write."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the rows to carry over, such as an id; repeatable."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the leaf, and the reason in words.")
    ] = False,
    force: Force = False,
    *,
    file: FileOptions,
) -> None:
    """Predict the class of every row, with its probability.

    Columns are found by name; others are ignored, or carried over by --keep. Without
    --out the table goes to standard output. A text file has the separator, decimal sign
    and encoding of DATA. miptree explain tells more about single rows.

    Example: miptree predict model.json new.csv --out predicted.csv
    """
    refuse_outputs({"--out": out}, [model, data], force)
    refuse_format(out)
    clf = load_json(model)
    kept, rows, written = read_features(clf, data, file, _kept_names(keep, explain))
    label = clf.predict(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gaps, of which predict has told
        leaf, proba = clf.apply(rows), clf.predict_proba(rows)
    # With costs, the class predicted need not be the most frequent one.
    place = np.searchsorted(clf.classes_, label)
    probability = proba[np.arange(len(label)), place]
    predicted = kept.assign(prediction=label, probability=probability)
    if explain:
        predicted["leaf"] = leaf
        predicted["reason"] = predicted["leaf"].map(leaf_reasons(clf))
    if out is None:
        # UTF-8 whatever the terminal's encoding, as in a file.
        typer.echo(text_of(predicted, written).encode(), nl=False)
    else:
        _tables.write_table(predicted, out, force, written)
        say(f"{row_number(len(predicted))} in {out}.")


@app.command()
@plain_errors
def show(model: ModelFile, details: Details = False) -> None:
    """Show the tree of a model, and what is proved of it.

    Example: miptree show model.json --details
    """
    clf = load_json(model)
    show_tree(clf)
    show_certificate(clf, details)


def _kept_names(keep: list[str] | None, explain: bool) -> list[str]:
    """Return the columns to carry over, each once."""
    written = ["prediction", "probability", *(["leaf", "reason"] if explain else [])]
    for name in keep or []:
        if name in written:
            raise ValueError(f"--keep {name} has the name of a column that is written.")
    return list(dict.fromkeys(keep or []))
