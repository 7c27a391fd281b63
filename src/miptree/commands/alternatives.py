"""``miptree alternatives``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from miptree.classifiers.alternatives import Alternatives
from miptree.commands import _tables
from miptree.commands._app import app, plain_errors, printable
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import (
    DataFile,
    ModelFile,
    ReadRows,
    Target,
    read_labelled,
)
from miptree.data.files import FileOptions
from miptree.estimator_points import PointsTreeClassifier
from miptree.export.json import read_model
from miptree.export.json_reader import SavedModel
from miptree.fit.necessity import Necessity

Number = Annotated[int, typer.Option(help="Most trees to list.")]
Within = Annotated[
    float, typer.Option(help="How much more they may cost, as a part of all rows.")
]
Seconds = Annotated[
    float, typer.Option(help="Seconds for other trees, and again for bounds.")
]


@app.command()
@plain_errors
@reads_table
def alternatives(
    model: ModelFile,
    data: DataFile,
    number: Number = 10,
    within: Within = 0.01,
    time_limit: Seconds = 60.0,
    target: Target = None,
    *,
    file: FileOptions,
) -> None:
    """List other points trees that cost nearly the same, and what cannot be spared.

    DATA are the rows of the fit. The trees do without columns of the first one, begin
    with another question, or use fewer features.

    Example: miptree alternatives model.json credit.csv
    """
    saved = read_model(model)
    rows = read_labelled(saved, model, data, file, target, is_strict=False)
    found, needs = other_trees_of(
        saved, rows, n=number, within=within, time_limit=time_limit
    )
    lines = [*str(found).splitlines(), "", *needs.sentences()]
    typer.echo("\n".join(map(printable, lines)))


def other_trees_of(
    saved: SavedModel, rows: ReadRows, time_limit: float, **asked: Any
) -> tuple[Alternatives, Necessity]:
    """Ask a model for other trees and for what it needs; refuse what is no points tree.

    Parameters
    ----------
    saved : SavedModel
        Also names the column of weights, where there is one.
    rows : ReadRows
        The rows of the fit.
    time_limit : float
        Seconds for each of the two questions.
    **asked
        ``n`` and ``within``, where they are given.
    """
    clf: Any = saved.clf
    if not isinstance(clf, PointsTreeClassifier):
        raise ValueError(
            "The model is no points tree. Only one, which `miptree fit --style points` "
            "makes, can be asked for other trees."
        )
    weight = _tables.weights(rows.table, saved.metadata.get("weights"))
    given: dict[str, Any] = {
        "X": rows.features,
        "y": rows.labels,
        "sample_weight": weight,
        "time_limit": time_limit,
    }
    return clf.alternatives(**given, **asked), clf.necessity(**given)
