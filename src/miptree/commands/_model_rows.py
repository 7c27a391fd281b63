"""Options about a model and a table, and the table as the model reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer

from miptree.commands import _tables
from miptree.data import CategoricalColumn
from miptree.estimator import OptimalTreeClassifier
from miptree.export._json_reader import SavedModel
from miptree.utils.arrays import AnyArray

DataFile = Annotated[Path, typer.Argument(help="CSV, CSV.gz or Parquet file.")]
ModelFile = Annotated[Path, typer.Argument(help="Model that `miptree fit` wrote.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file.")]
Target = Annotated[
    str | None, typer.Option(help="Column of the labels, if not as in the fit.")
]


class LabelledRows(NamedTuple):
    """A table, and its features and labels as a model knows them."""

    table: pd.DataFrame
    features: pd.DataFrame | AnyArray
    labels: AnyArray


def read_features(clf: OptimalTreeClassifier, data: Path) -> pd.DataFrame | AnyArray:
    """Read the columns of a file that a model reads."""
    return _features(clf, _tables.read_table(data, _text_columns(clf)))


def read_labelled(
    saved: SavedModel,
    model: Path,
    data: Path,
    target: str | None,
    weights: str | None = None,
) -> LabelledRows:
    """Read a file with labels.

    Parameters
    ----------
    saved : SavedModel
        Also names the columns of labels and weights, unless the next ones do.
    model, data : Path
        File of the model, for an error, and file of the rows.
    target, weights : str, optional
        Columns of the labels and the weights, which are no features.
    """
    target = target or saved.metadata.get("target")
    if target is None:
        raise ValueError(f"{model} does not name the target column; give --target.")
    table = _tables.read_table(data, {target, *_text_columns(saved.clf)})
    y = _tables.labels_like(table, target, saved.clf.classes_)
    left_out = {target, weights or saved.metadata.get("weights")}
    rows = table.drop(columns=[name for name in table.columns if name in left_out])
    return LabelledRows(table, _features(saved.clf, rows), y)


def _text_columns(clf: OptimalTreeClassifier) -> set[str]:
    """Name the columns that held text in training."""
    table = getattr(clf, "table_", None)  # a baseline's columns are all numbers
    if table is None or not hasattr(clf, "feature_names_in_"):
        return set()
    return {
        column.name
        for column in table.columns
        if isinstance(column, CategoricalColumn) and column.is_text
    }


def _features(
    clf: OptimalTreeClassifier, table: pd.DataFrame
) -> pd.DataFrame | AnyArray:
    """Take the columns that the model reads, by name or, without names, all of them."""
    names = getattr(clf, "feature_names_in_", None)
    if names is not None:
        return _tables.columns_of(table, [str(name) for name in names])
    if len(table.columns) != clf.n_features_in_:
        raise ValueError(
            f"The model has no column names and reads {clf.n_features_in_} columns, "
            f"but the table has {len(table.columns)}."
        )
    return table.to_numpy()
