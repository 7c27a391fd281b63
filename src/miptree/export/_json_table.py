"""Reads the columns and classes of a model file, every value checked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from miptree.classifiers.table_classifier import TableClassifier
from miptree.data import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    GridColumn,
    NumericalColumn,
    Table,
)
from miptree.data.columns import OF_NUMBERS
from miptree.data.grid import MOST_CUTS
from miptree.data.schema import Schema
from miptree.data.units import is_grid
from miptree.estimator_points import PointsTreeClassifier
from miptree.export._json_values import (
    MAX_TEXT,
    MalformedError,
    a_float,
    a_list,
    a_text,
    an_object,
    exact_keys,
    record,
    texts,
)
from miptree.utils.arrays import AnyArray

MAX_COLUMNS = 2**20
MAX_CUTS = MOST_CUTS + 1  # one more where there are gaps

KIND_OF_COLUMN: dict[type, str] = {
    NumericalColumn: "numbers",
    CategoricalColumn: "categories",
    GridColumn: "grid",
    DroppedColumn: "dropped",
}

CLASS_KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
"""Kind of a NumPy dtype -> what its values are in JSON."""


def read_schema(plain: dict[str, Any]) -> Schema:
    table, names = _read_table(plain["table"]), None
    if plain["feature_names"] is not None:
        names = texts(plain["feature_names"], "feature_names", len(table.columns))
        if names != [column.name for column in table.columns]:
            raise MalformedError('"feature_names" are not those of the columns')
    return Schema(
        table,
        _read_classes(plain["classes"]),
        None if names is None else np.array(names, dtype=object),
    )


def _read_table(given: object) -> Table:
    given = an_object(given, "table")
    exact_keys(given, {"missing", "unknown", "columns"}, '"table"')
    if given["missing"] not in ("fill", "error"):
        raise MalformedError('"missing" is neither "fill" nor "error"')
    if given["unknown"] not in ("majority", "error"):
        raise MalformedError('"unknown" is neither "majority" nor "error"')
    columns = a_list(given["columns"], "columns", 1, MAX_COLUMNS)
    read = tuple(_read_column(column) for column in columns)
    if any(isinstance(column, GridColumn) for column in read):
        off_grid = any(isinstance(column, NumericalColumn) for column in read)
        if off_grid or any(getattr(column, "as_subsets", False) for column in read):
            raise MalformedError("a column is on a grid, and another is not")
    if any(c.limits is None for c in read if isinstance(c, OF_NUMBERS)):
        raise MalformedError('the "limits" of a column of numbers are null')
    return Table(read, given["missing"], given["unknown"])


def _read_column(given: object) -> Column:
    given = dict(an_object(given, "a column"))
    kinds = {kind: cls for cls, kind in KIND_OF_COLUMN.items()}
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in kinds:
        raise MalformedError('a column has no known "kind"')
    cls = kinds[kind]
    column: Column = record(cls, given, "a column")
    if isinstance(column, CategoricalColumn):
        known = [*column.values, *column.rare]
        if not known or len(set(known)) < len(known):
            raise MalformedError("a column has no values, or one twice")
    if isinstance(column, GridColumn):
        if len(column.cuts) > MAX_CUTS:
            raise MalformedError(f"a column has {len(column.cuts)} cuts")
        if not is_grid(column.cuts, column.unit):
            raise MalformedError('"cuts" are not one multiple of "unit" after another')
    return column


def _read_classes(given: object) -> AnyArray:
    given = an_object(given, "classes")
    exact_keys(given, {"dtype", "values"}, '"classes"')
    values = a_list(given["values"], "classes", 2)
    dtype = _class_dtype(a_text(given["dtype"], "dtype"))
    kind = CLASS_KINDS[dtype.kind]
    for value in values:
        if type(value) is not kind:
            raise MalformedError(f"class {value!r} is not of dtype {dtype.str}")
        if kind is str:
            a_text(value, "classes")
        if kind is float:
            a_float(value, "classes")
    try:
        classes = np.array(values, dtype=dtype)
    except OverflowError:
        raise MalformedError(f"a class does not fit into dtype {dtype.str}") from None
    if classes.tolist() != values:
        raise MalformedError(f"a class does not fit into dtype {dtype.str}")
    if any(a >= b for a, b in pairwise(values)):
        raise MalformedError('"classes" are not sorted, or one occurs twice')
    return classes


def _class_dtype(text: str) -> np.dtype[Any]:
    """The dtype of a name, if it is one of a label."""
    plain = {"|b1", "|i1", "|u1", "|O"}
    plain |= {f"{order}{kind}" for order in "<>" for kind in _WIDE_KINDS}
    width = text[2:]
    is_text = text[:2] in ("<U", ">U") and width.isascii() and width.isdigit()
    if text in plain or (is_text and len(width) < 6 and 0 < int(width) <= MAX_TEXT):
        return np.dtype(text)
    raise MalformedError(f"{text!r} is not a dtype of labels")


_WIDE_KINDS = ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8")


def check_table(clf: Any, schema: Schema) -> None:
    """Refuse columns that a classifier does not read.

    A points tree has numbers on a grid only, and a baseline nothing but numbers.
    """
    columns = schema.table.columns
    if isinstance(clf, PointsTreeClassifier):
        if any(isinstance(column, NumericalColumn) for column in columns):
            raise MalformedError("the table of a points tree has numbers on no grid")
    if isinstance(clf, TableClassifier):
        return
    n_columns, names = len(columns), schema.feature_names
    limits = [getattr(column, "limits", None) for column in columns]
    plain = Schema.of_numbers(n_columns, schema.classes, names, limits)
    if schema.table != plain.table:
        raise MalformedError("the table of a baseline has a column that is no numbers")
