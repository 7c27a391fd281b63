"""Options about a model and a table, and the table as the model reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer

from miptree.commands import _tables
from miptree.commands._new_rows import warn_of_new_values, with_spare_columns
from miptree.data import CategoricalColumn
from miptree.data.files import FileOptions, Roles, read_file, read_table
from miptree.estimator import OptimalTreeClassifier
from miptree.export.json_reader import SavedModel
from miptree.export.readable import readable_tree, table_of
from miptree.utils.arrays import AnyArray

TABLE_HELP = (
    "CSV, TSV, Excel, Parquet or Feather file; also .gz or .zip; - reads stdin."
)
DataFile = Annotated[Path, typer.Argument(help=TABLE_HELP)]
ModelFile = Annotated[Path, typer.Argument(help="Model that `miptree fit` wrote.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file.")]
Details = Annotated[
    bool,
    typer.Option("--details", help="Show all of the certificate: bounds and proofs."),
]
Target = Annotated[
    str | None, typer.Option(help="Column of the labels, if not as in the fit.")
]


class NewRows(NamedTuple):
    """Rows to predict."""

    kept: pd.DataFrame
    """Columns that are carried over as they are written."""
    features: pd.DataFrame | AnyArray
    """Those that a model reads."""
    written: FileOptions
    """How their file is written."""


class ReadRows(NamedTuple):
    """A table, and its features and labels as a model knows them."""

    table: pd.DataFrame
    features: pd.DataFrame | AnyArray
    labels: AnyArray


def read_features(
    clf: OptimalTreeClassifier,
    data: Path,
    file: FileOptions,
    keep: Sequence[str] = (),
) -> NewRows:
    """Read a file; return some columns as they are, and those that a model reads.

    Columns that no split uses may be lacking; that is said, and how many values of
    categories are new.

    Parameters
    ----------
    clf : OptimalTreeClassifier
    data : Path
    file : FileOptions
    keep : sequence of str
        Columns to return as they are written.
    """
    roles = replace(_roles(clf), carried=frozenset(keep), keep_empty=True)
    table, _, carried, written = read_file(data, file, roles)
    _tables.columns_of(table, list(keep))
    if not hasattr(clf, "feature_names_in_"):
        table = table.drop(columns=carried.columns)
    return NewRows(carried[list(keep)], _lenient_features(clf, table), written)


def read_labelled(
    saved: SavedModel,
    model: Path,
    data: Path,
    file: FileOptions,
    target: str | None,
    weights: str | None = None,
    is_strict: bool = True,
) -> ReadRows:
    """Read a file with labels.

    Parameters
    ----------
    saved : SavedModel
        Also names the columns of labels and weights, unless the next ones do.
    model, data : Path
        File of the model, for an error, and file of the rows.
    file : FileOptions
        What is known of the latter.
    target, weights : str, optional
        Columns of the labels and the weights, which are no features.
    is_strict : bool
        Whether columns must be there even if no split uses them.
    """
    target = target or saved.metadata.get("target")
    if target is None:
        raise ValueError(f"{model} does not name the target column; give --target.")
    weights = weights or saved.metadata.get("weights")
    roles = _roles(saved.clf)
    numbers = roles.numbers | ({weights} if weights else set())
    roles = replace(roles, text=roles.text | {target}, numbers=numbers - {target})
    table = read_table(data, file, roles)
    y = _tables.labels_like(table, target, saved.clf.classes_)
    rows = table.drop(columns=[n for n in table.columns if n in (target, weights)])
    features = (_features if is_strict else _lenient_features)(saved.clf, rows)
    return ReadRows(table, features, y)


def _roles(clf: OptimalTreeClassifier) -> Roles:
    """Tell which columns a model reads as text and which as numbers."""
    names = getattr(clf, "feature_names_in_", None)
    if names is None:
        return Roles()
    text = {
        column.name
        for column in table_of(clf).columns
        if isinstance(column, CategoricalColumn) and column.is_text
    }
    numbers = frozenset(str(name) for name in names) - text
    return Roles(frozenset(text), numbers, are_all=True)


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
            f"but the table has {len(table.columns)}. Leave out those that it does not "
            "read, such as the labels."
        )
    return table.to_numpy()


def _lenient_features(
    clf: OptimalTreeClassifier, table: pd.DataFrame
) -> pd.DataFrame | AnyArray:
    """Take these columns where some that no split uses may be lacking."""
    if not hasattr(clf, "feature_names_in_"):
        return _features(clf, table)
    rules = readable_tree(clf)
    used = {rules.name(column) for column in rules.used}
    filled = with_spare_columns(table, rules.columns, used)
    features = _features(clf, filled)
    warn_of_new_values(features, [c for c in rules.columns if c.name in used])
    return features
