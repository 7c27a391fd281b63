"""Whether the columns of a model are what its training rows teach."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np

from miptree.certificate.check import Check
from miptree.data import (
    CategoricalColumn,
    Cells,
    Column,
    DroppedColumn,
    GridColumn,
    NumericalColumn,
    Table,
)
from miptree.data.grid import GridSpec
from miptree.data.named import by_column, column_index
from miptree.data.rows import TrainingRows


def check_columns(clf: Any, rows: TrainingRows, in_partitions: bool) -> Check:
    """Learn the columns again, and compare them with those of the model.

    Values of categories, what fills a gap, the cuts of grids: all of them.
    """
    name, table = "columns", clf.table_
    problem = _odd_categories(clf, rows)
    if problem is not None:
        return Check(name, False, problem)
    learnt = _learnt(clf, rows)
    if in_partitions:
        learnt = _with_samples_of(clf, learnt, rows)
    for attribute in ("missing", "unknown"):
        given, wanted = getattr(table, attribute), getattr(learnt, attribute)
        if given != wanted:
            return Check(name, False, f"{attribute!r} is {given!r}, not {wanted!r}.")
    # Their ranges are another check.
    unlimited = (t.with_limits([None] * len(t.columns)) for t in (table, learnt))
    for mine, other in zip(*(t.columns for t in unlimited), strict=True):
        if mine != other:
            return Check(name, False, _difference(mine, other))
    what = "values of categories, what fills a gap"
    if in_partitions:
        what = "but not grids and what fills a gap, which a sample taught"
    return Check(name, True, f"learnt again they are as in the model ({what}).")


def _learnt(clf: Any, rows: TrainingRows) -> Table:
    """Return the table that the rows teach, with the parameters of the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has told them
        if hasattr(clf, "categorical_encoding"):
            return rows.learn_table(clf.categorical_encoding, clf.missing, clf.unknown)
        names = [cells.name for cells in rows.cells]
        units = by_column(clf.units, names, "units")
        grid = GridSpec(clf.grid_steps, {names[k]: unit for k, unit in units.items()})
        return rows.learn_table("onehot", clf.missing, clf.unknown, grid)


def _odd_categories(clf: Any, rows: TrainingRows) -> str | None:
    """Say which column is a category though it was not asked for, None if none is."""
    asked = clf.categorical_features
    names = [cells.name for cells in rows.cells]
    if isinstance(asked, str):
        return None  # a type says so, which a text file does not have
    wanted = {column_index(e, names, "categorical_features") for e in asked or ()}
    for place, column in enumerate(clf.table_.columns):
        is_category = isinstance(column, CategoricalColumn)
        if is_category and place not in wanted:
            return f"{column.name!r} is read as a category, which was not asked for."
        if place in wanted and not isinstance(
            column, (CategoricalColumn, DroppedColumn)
        ):
            return f"{column.name!r} is not read as a category, which was asked for."
    return None


def _with_samples_of(clf: Any, learnt: Table, rows: TrainingRows) -> Table:
    """Take over what a sample taught, where it lies between the numbers.

    Units that were asked for are no matter of a sample.
    """
    names = [column.name for column in learnt.columns]
    units = by_column(getattr(clf, "units", None), names, "units")
    asked = {names[place] for place in units}
    found: list[Column] = []
    for column, mine, cells in zip(
        learnt.columns, clf.table_.columns, rows.cells, strict=True
    ):
        if isinstance(column, NumericalColumn) and isinstance(mine, NumericalColumn):
            if _is_between(cells, mine.fill):
                column = replace(column, fill=mine.fill)
        elif isinstance(column, GridColumn) and isinstance(mine, GridColumn):
            is_asked = column.name in asked and mine.unit not in (column.unit, 0.0)
            if not is_asked and _is_between(cells, mine.fill, *mine.cuts):
                column = replace(mine, name=column.name, has_gaps=column.has_gaps)
        found.append(column)
    return replace(learnt, columns=tuple(found))


def _is_between(cells: Cells, *values: float) -> bool:
    """Tell whether values lie between the lowest and highest number of a column."""
    numbers = np.asarray(cells.numbers)
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    return all(low <= value <= high for value in values)


def _difference(given: Column, wanted: Column) -> str:
    """Say where a column differs from what the rows teach."""
    if type(given) is type(wanted):
        for field in fields(given):
            mine, other = getattr(given, field.name), getattr(wanted, field.name)
            if mine != other:
                return (
                    f"{field.name!r} of column {given.name!r} is {mine!r:.60}, "
                    f"recomputed {other!r:.60}."
                )
    return f"column {given.name!r} is of another kind."
