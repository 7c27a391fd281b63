"""``miptree evaluate`` and ``miptree report``."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from miptree.commands import _tables
from miptree.commands._app import app, console, plain_errors, printable, say
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import (
    DataFile,
    Force,
    ModelFile,
    ReadRows,
    Target,
    read_labelled,
)
from miptree.commands._outputs import refuse_outputs
from miptree.commands._rules import noted_groups
from miptree.commands.alternatives import other_trees_of
from miptree.constraints.constraint import CountingConstraint
from miptree.data.columns import show_value
from miptree.data.files import FileOptions
from miptree.estimator import OptimalTreeClassifier
from miptree.evaluate import Evaluation, evaluate_rules
from miptree.evaluate import evaluate as count
from miptree.export.json import read_model
from miptree.export.json_reader import SavedModel
from miptree.report import report_html
from miptree.utils.files import write_atomic
from miptree.utils.warn import warn


@app.command()
@plain_errors
@reads_table
def evaluate(
    model: ModelFile, data: DataFile, target: Target = None, *, file: FileOptions
) -> None:
    """Count how a model does on a table: confusion matrix, accuracy of each leaf.

    The rules of a model that was fitted with any are counted on these rows, too.

    Example: miptree evaluate model.json test.csv
    """
    saved = read_model(model)
    given = read_labelled(saved, model, data, file, target, is_strict=False)
    found = count(saved.clf, given.features, given.labels)
    if not set(given.labels.tolist()) & set(saved.clf.classes_.tolist()):
        known = ", ".join(map(show_value, saved.clf.classes_.tolist()[:5]))
        warn(f"No label of the table is a class of the model, such as {known}.")
    console.print(
        f"{found.n_right:,} of {found.n_rows:,} rows right: "
        f"accuracy {100 * found.accuracy:.2f} %"
    )
    console.print(_confusion(saved.clf, found))
    console.print(_leaves(saved.clf, found))
    if getattr(saved.clf, "constraints_", ()):
        _show_rules(saved, given)


def _show_rules(saved: SavedModel, rows: ReadRows) -> None:
    """Say what was counted of each rule in training, and on these rows if it can be."""
    findings, weight, why, is_counted = [], None, None, False
    try:
        groups = noted_groups(saved.metadata, rows.table)
        weight = _tables.noted_weights(saved.metadata, rows.table)
        given = saved.clf, rows.features, rows.labels, weight
        findings = evaluate_rules(*given, **groups)
    except ValueError as error:  # such as rows of one group alone
        why = str(error)
    rules = zip_longest(saved.clf.constraints_, saved.clf.certificate_.rules, findings)
    for number, (rule, in_training, finding) in enumerate(rules, 1):
        say(printable(f"Rule {number} in training: {in_training}"))
        # Others are about the splits, or about the training rows.
        is_of_rows = isinstance(rule, CountingConstraint) and not rule.is_about_training
        if finding is not None and is_of_rows:
            say(printable(f"Rule {number} on these rows: {finding.sentence}"))
            is_counted = True
    named = saved.metadata.get("weights")
    if is_counted and named and weight is None:
        words = f"They have no column {named!r} of weights: each of these rows counts 1"
        say(printable(f"{words}, while those of training have weights."))
    if why is not None:
        say(printable(f"Rules were not counted on these rows: {why}"))


@app.command()
@plain_errors
@reads_table
def report(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    test: Annotated[
        Path | None, typer.Option(help="Table of rows that the fit did not see.")
    ] = None,
    alternatives: Annotated[
        bool,
        typer.Option(
            "--alternatives", help="Of a points tree list other trees (2 minutes)."
        ),
    ] = False,
    target: Target = None,
    force: Force = False,
    *,
    file: FileOptions,
) -> None:
    """Write a page about a model: one HTML file that works without a network.

    DATA are the rows of the fit. The page shows the tree to click through, the
    certificate, accuracy beside CART and logistic regression, a form that predicts a
    row, and how the fit went. It holds up to five example rows of each leaf.

    Example: miptree report model.json iris.csv --out iris.html
    """
    refuse_outputs({"--out": out}, [model, data, test], force)
    saved = read_model(model)
    given = read_labelled(saved, model, data, file, target)
    table, rows, y = given
    found = other_trees_of(saved, given, 60.0) if alternatives else (None, None)
    has_rules = bool(getattr(saved.clf, "constraints_", ()))
    groups = noted_groups(saved.metadata, table) if has_rules else {}
    other = None
    if test is not None:
        tested, *other = read_labelled(saved, model, test, file, target)
        there = noted_groups(saved.metadata, tested) if has_rules else {}
        other += [there.get("sensitive_features"), there.get("control_features")]
        if has_rules:  # nothing else counts them there
            other.append(_tables.noted_weights(saved.metadata, tested))
    weight = _tables.noted_weights(saved.metadata, table)
    kind = "points tree" if saved.clf.certificate_.is_of_points else "decision tree"
    title = f"{target or saved.metadata.get('target') or 'Class'}: a {kind}"
    page = report_html(
        saved.clf,
        rows,
        y,
        weight,
        test=other,
        **groups,
        alternatives=found[0],
        necessity=found[1],
        title=title,
    )
    write_atomic(out, page.encode(), force)
    say(f"Saved as {out}.")


def _confusion(clf: OptimalTreeClassifier, found: Evaluation) -> Table:
    table = Table("true \\ predicted", title="Confusion matrix", title_justify="left")
    for name in clf.classes_:
        table.add_column(Text(printable(name)), justify="right")
    table.add_column("right", justify="right")
    for name, row, share in zip(
        found.labels, found.confusion, found.recall, strict=True
    ):
        right = "" if share != share else _share(share)
        table.add_row(Text(printable(name)), *(f"{n:,}" for n in row), right)
    return table


def _leaves(clf: OptimalTreeClassifier, found: Evaluation) -> Table:
    table = Table("leaf", "class", title="Leaves", title_justify="left")
    for name in ("rows", "right"):
        table.add_column(name, justify="right")
    for node in np.flatnonzero(clf.tree_.is_leaf):
        counts, label = found.node_counts[node], clf.tree_.label[node]
        n = int(counts.sum())
        right = _share(counts[label] / n) if n else ""
        shown = Text(printable(clf.classes_[label]))
        table.add_row(str(node), shown, f"{n:,}", right)
    return table


def _share(share: float) -> str:
    """Write a share in percent; 0.0 and 100.0 % are exact."""
    if 0 < share < 0.0005 or 0.9995 <= share < 1:
        return "under 0.1 %" if share < 0.5 else "over 99.9 %"
    return f"{100 * share:.1f} %"
