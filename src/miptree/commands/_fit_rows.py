"""The rows of a fit: features, labels and weights out of one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import typer

from miptree.commands import _tables
from miptree.data.files import FileOptions, Roles, identifying_columns, read_file
from miptree.export.names import printable
from miptree.utils.arrays import AnyArray, FloatArray

_MANY_CLASSES = 20
"""More different labels than this are no classes if most rows have one of their own."""


class FitRows(NamedTuple):
    """What a classifier is fitted to."""

    features: pd.DataFrame
    labels: AnyArray
    weights: FloatArray | None
    is_plain: bool
    """Whether the file is one that `miptree check` can read, too."""
    table: pd.DataFrame
    """All columns: groups may be in others than the features."""


class ColumnChoice(NamedTuple):
    """Which columns are what, as the command line says."""

    target: str
    weights: str | None
    drop: Sequence[str]
    use: Sequence[str]
    """Columns to learn from, though they look as if they identified rows."""
    categorical: Sequence[str]
    """Columns whose values are categories, whatever they look like."""

    @property
    def needed(self) -> list[str]:
        """Columns that are read and are no features."""
        return [self.target] + ([] if self.weights is None else [self.weights])

    @property
    def left_out(self) -> list[str]:
        """Columns that are no features."""
        return [*self.needed, *self.drop]


def read_fit_rows(data: Path, columns: ColumnChoice, file: FileOptions) -> FitRows:
    """Read a table and take it apart; columns that identify rows are left out."""
    names = frozenset((columns.target, *columns.categorical))
    table, is_plain, *_ = read_file(data, file, Roles(labels=names))
    labels = _tables.labels(table, columns.target)
    _refuse_names_of_rows(columns.target, labels)
    _refuse_fractions(columns.target, labels)
    weights = _tables.weights(table, columns.weights)
    features = _features(table, columns)
    named = _tables.columns_of(features, list(columns.categorical))
    features = features.astype(dict.fromkeys(named.columns, "category"))
    return FitRows(features, labels, weights, is_plain, table)


def _refuse_names_of_rows(target: str, labels: AnyArray) -> None:
    """Refuse a target that tells rows apart, such as a number of each contract."""
    n_values = len(pd.unique(labels))
    if n_values > _MANY_CLASSES and 2 * n_values > len(labels):
        raise ValueError(
            f"The target {target!r} has {n_values:,} different values in "
            f"{len(labels):,} rows: it names rows rather than classes. Give the column "
            "to predict as --target, or put numbers into a few classes first."
        )


def _refuse_fractions(target: str, labels: AnyArray) -> None:
    """Refuse a target of numbers such as 1.5, which classifiers take for amounts."""
    if labels.dtype.kind != "f":
        return
    fractions = labels[labels != np.round(labels)]
    if len(fractions):
        raise ValueError(
            f"The target {target!r} holds numbers such as {fractions[0]:g}, which are "
            "no classes. Put them into a few classes first, or write them as words, "
            f"such as 'grade {fractions[0]:g}'."
        )


def _features(table: pd.DataFrame, columns: ColumnChoice) -> pd.DataFrame:
    """Take the columns to learn from; those that are named must be there."""
    _tables.columns_of(table, [*columns.left_out, *columns.use])
    return table[_learned_from(table, columns, columns.categorical)]


def left_out_of_blocks(
    data: str, columns: ColumnChoice, groups: Sequence[str]
) -> list[str]:
    """Name what a table in blocks is learned without; its first rows tell.

    ``groups`` are columns that rules compare, which are read whatever they hold.
    """
    from miptree.distributed._files import first_rows

    rows = first_rows(data)
    _tables.columns_of(rows, [*columns.left_out, *columns.use])
    looked_at = f" Its first {len(rows):,} rows were looked at."
    kept = _learned_from(rows, columns, groups, looked_at)
    return [name for name in rows.columns if name not in (*kept, *columns.needed)]


def _learned_from(
    table: pd.DataFrame,
    columns: ColumnChoice,
    named: Sequence[str],
    looked_at: str = "",
) -> list[str]:
    """Name the columns to learn from, and say which identify rows and are left out.

    Those of ``named`` do not, whatever they hold.
    """
    for name in columns.use:
        if name in columns.left_out:
            raise ValueError(
                f"--use names column {name!r}, which is the target, the weights or "
                "left out by --drop. Leave out one of the two."
            )
    names = [name for name in table.columns if name not in columns.left_out]
    found = identifying_columns(table[names], [*columns.use, *named])
    kept = [name for name in names if name not in found]
    listed = ", ".join(f"{name!r} ({why})" for name, why in found.items())
    if not kept:
        also = f" Give --use for those that tell rows apart: {listed}." if found else ""
        raise ValueError(f"No column is left to learn from.{also}")
    if found:
        them = "they tell" if len(found) > 1 else "it tells"
        note(
            f"Left out, because {them} rows apart and say{'s' * (len(found) == 1)} "
            f"nothing of new ones: {listed}. To learn from one anyway: --use "
            f"{next(iter(found))!r}.{looked_at}"
        )
    return kept


def note(sentence: str) -> None:
    """Say something on standard error that is no warning."""
    typer.echo(f"Note: {printable(sentence)}", err=True)


def refuse_with_dask(file: FileOptions) -> None:
    """Refuse options about reading that a table in blocks does not know."""
    for name in ("sep", "decimal", "encoding", "sheet"):
        if getattr(file, name) is not None:
            raise ValueError(
                f"--engine dask reads plain CSV and Parquet only: leave out --{name}, "
                "or write the table anew as Parquet."
            )
