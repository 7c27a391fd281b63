"""``miptree explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from miptree.commands import _tables
from miptree.commands._app import app, plain_errors, say
from miptree.commands._file_options import reads_table
from miptree.commands._model_rows import DataFile, Force, ModelFile, read_features
from miptree.commands._outputs import refuse_outputs
from miptree.data.columns import show_value
from miptree.data.files import FileOptions, refuse_format
from miptree.estimator import OptimalTreeClassifier
from miptree.explain import Explanations
from miptree.explain import explain as explain_rows
from miptree.export import load_json
from miptree.export.leaf_words import row_number
from miptree.utils.files import write_atomic

_MOST_SHOWN = 10
"""Rows that are shown if none are named."""


@app.command()
@plain_errors
@reads_table
def explain(
    model: ModelFile,
    data: DataFile,
    row: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Row to explain, counted from 1; repeatable."),
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(help="Column that must not change; repeatable."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Class that a change has to lead to; by default any other."),
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(
            help="Table that shows the ranges of the columns; by default they are "
            "those of the training rows, which the model knows."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV, Excel, Parquet, Feather or JSON file to write."),
    ] = None,
    force: Force = False,
    *,
    file: FileOptions,
) -> None:
    """Explain why rows get their class, and what change would make it another one.

    For each row: its leaf, the rules it meets, what every column adds to the sums or
    points on the way, and the nearest change of columns, within their ranges, after
    which the model predicts another class.
    Without --row and --out the first 10 rows are shown.

    Example: miptree explain model.json new.csv --row 3 --fixed age
    """
    refuse_outputs({"--out": out}, [model, data, background], force)
    refuse_format(None if _is_json(out) else out)
    clf = load_json(model)
    _, rows, written = read_features(clf, data, file)
    places = range(len(rows)) if row is None else [number - 1 for number in row]
    for number in row or []:
        if number > len(rows):
            raise ValueError(
                f"--row {number} is not there: {data} has {len(rows)} rows."
            )
    if isinstance(rows, pd.DataFrame):
        _tables.columns_of(rows, fixed or [])
    shown = None
    if background is not None:
        shown = read_features(clf, background, file).features
    n_left = 0
    if out is None and row is None:
        n_left = max(0, len(rows) - _MOST_SHOWN)
        places = range(len(rows) - n_left)
    found = explain_rows(
        clf,
        rows,
        rows=places,
        background=shown,
        fixed=fixed or [],
        target=None if target is None else _class_of(clf, target),
    )
    if out is not None:
        _write(found, out, force, written)
        say(f"{row_number(len(found))} in {out}.")
        return
    say(str(found))
    if n_left:
        say(
            f"{n_left:,} more rows are not shown: name some by --row, or write all of "
            "them by --out."
        )


def _class_of(clf: OptimalTreeClassifier, text: str) -> Any:
    """Return the class that a text names."""
    classes = clf.classes_.tolist()
    for label in classes:
        if show_value(label) == text:
            return label
    label = _tables.read_label(text, clf.classes_.dtype.kind)
    if label not in classes:
        known = ", ".join(map(show_value, classes))
        raise ValueError(
            f"--target {text} is no class of the model; the classes are {known}."
        )
    return label


def _is_json(out: Path | None) -> bool:
    return out is not None and out.suffix.lower() == ".json"


def _write(found: Explanations, out: Path, force: bool, written: FileOptions) -> None:
    if _is_json(out):
        plain = found.to_dict()
        text = json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(out, f"{text}\n".encode(), force)
    else:
        _tables.write_table(found.to_frame(), out, force, written)
