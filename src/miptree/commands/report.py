"""``miptree evaluate`` and ``miptree report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.table import Table
from rich.text import Text

from miptree.commands import _tables
from miptree.commands._app import app, console, plain_errors, printable
from miptree.commands.model import (
    DataFile,
    Force,
    ModelFile,
    known_features,
    text_columns,
    weight_of,
)
from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import Evaluation
from miptree.evaluate import evaluate as count
from miptree.export._json_reader import SavedModel
from miptree.export.json import read_model
from miptree.report import report_html
from miptree.utils.arrays import AnyArray
from miptree.utils.files import refuse_overwriting, write_atomic

Target = Annotated[
    str | None, typer.Option(help="Column of the labels, if not as in the fit.")
]


@app.command()
@plain_errors
def evaluate(model: ModelFile, data: DataFile, target: Target = None) -> None:
    """Count how a model does on a table: confusion matrix, accuracy of each leaf.

    Example: miptree evaluate model.json test.csv
    """
    saved = read_model(model)
    _, rows, y = _read(saved, data, model, target)
    found = count(saved.clf, rows, y)
    console.print(
        f"{found.n_right:,} of {found.n_rows:,} rows right: "
        f"accuracy {100 * found.accuracy:.2f} %"
    )
    console.print(_confusion(saved.clf, found))
    console.print(_leaves(saved.clf, found))


@app.command()
@plain_errors
def report(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    test: Annotated[
        Path | None, typer.Option(help="Table of rows that the fit did not see.")
    ] = None,
    target: Target = None,
    force: Force = False,
) -> None:
    """Write a page about a model: one HTML file that works without a network.

    DATA are the rows of the fit. The page shows the tree to click through, the
    certificate, accuracy beside CART and logistic regression, a form that predicts a
    row, and how the fit went. It holds up to five example rows of each leaf.

    Example: miptree report model.json iris.csv --out iris.html
    """
    refuse_overwriting(out, force)
    saved = read_model(model)
    table, rows, y = _read(saved, data, model, target)
    other = None if test is None else _read(saved, test, model, target)[1:]
    weights = saved.metadata.get("weights")
    known = weights if weights in table.columns else None
    title = f"{target or saved.metadata.get('target') or 'Class'}: a decision tree"
    page = report_html(
        saved.clf, rows, y, weight_of(table, known), test=other, title=title
    )
    write_atomic(out, page.encode(), force)
    console.print(f"Saved as {out}.", markup=False, soft_wrap=True)


def _read(
    saved: SavedModel, data: Path, model: Path, target: str | None
) -> tuple[pd.DataFrame, Any, AnyArray]:
    """A table, and its features and labels as the model knows them."""
    name = target or saved.metadata.get("target")
    if name is None:
        raise ValueError(f"{model} does not name the target column; give --target.")
    table = _tables.read_table(data, {name, *text_columns(saved.clf)})
    y = _tables.labels_like(table, name, saved.clf.classes_)
    left_out = [name, saved.metadata.get("weights")]
    rows = table.drop(columns=[c for c in left_out if c in table.columns])
    return table, known_features(saved.clf, rows), y


def _confusion(clf: OptimalTreeClassifier, found: Evaluation) -> Table:
    table = Table("true \\ predicted", title="Confusion matrix", title_justify="left")
    for name in clf.classes_:
        table.add_column(Text(printable(name)), justify="right")
    table.add_column("right", justify="right")
    for name, row, share in zip(
        found.labels, found.confusion, found.recall, strict=True
    ):
        right = "" if share != share else f"{100 * share:.1f} %"
        table.add_row(Text(printable(name)), *(f"{n:,}" for n in row), right)
    return table


def _leaves(clf: OptimalTreeClassifier, found: Evaluation) -> Table:
    table = Table("leaf", "class", title="Leaves", title_justify="left")
    for name in ("rows", "right"):
        table.add_column(name, justify="right")
    tree = clf.tree_
    for node in range(tree.n_nodes):
        if tree.is_leaf[node]:
            n, label = int(found.node_counts[node].sum()), tree.label[node]
            right = f"{100 * found.node_counts[node, label] / n:.1f} %" if n else ""
            shown = Text(printable(clf.classes_[label]))
            table.add_row(str(node), shown, f"{n:,}", right)
    return table
