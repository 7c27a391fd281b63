"""The training rows of a model, read anew: their columns, classes and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from miptree.certificate.certificate import PARTITIONED
from miptree.certificate.check import Check
from miptree.certificate.given_data import GivenData
from miptree.constraints.effective import left_out
from miptree.data import CategoricalColumn, Cells, Table, is_frame, read_cells
from miptree.data.cells import row_name
from miptree.data.groups import RowGroups
from miptree.data.labels import checked_costs, checked_weight, row_weights
from miptree.data.rows import TrainingRows
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


class GivenRows(NamedTuple):
    """What was given to an audit, as a model would have been fitted to it."""

    checks: list[Check]
    """Of columns and classes."""
    rows: TrainingRows | None
    """None where a check failed, so that the rows cannot be those of the model."""


def read_rows(
    clf: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    row_costs: ArrayLike | None,
    sensitive_features: Any = None,
    control_features: Any = None,
) -> GivenRows:
    """Read X and y as a fit of the model would, but for what its table says.

    Which columns are categories is taken from the model, and checked elsewhere.
    """
    if not is_frame(X):
        X = _array(X)
    labels = column_or_1d(y)  # as a fit reads them
    if len(X) != len(labels) or not len(labels):
        raise ValueError(
            f"X and y must have the same number of rows, got {len(X)} and "
            f"{len(labels)}."
        )
    cells = read_cells(X)
    columns = _check_columns(clf, X, cells)
    codes, classes = _read_classes(clf.classes_, labels, row_costs is not None)
    checks = [columns, classes]
    if not all(check.ok for check in checks):
        return GivenRows(checks, None)
    names = [column.name for column in clf.table_.columns]
    pairs = zip(cells, names, strict=True)
    cells = [Cells(name, c.numbers, c.values) for c, name in pairs]
    weight, factor = row_weights(clf.class_weight, clf.classes_, codes, sample_weight)
    costs, given = None, getattr(clf, "cost_matrix", None)
    if given is not None:
        costs = checked_costs(given, clf.classes_, np.inf)
    n_classes, mask = len(clf.classes_), _categories(clf.table_, cells)
    by_row = None if row_costs is None else _costs(row_costs, (len(labels), n_classes))
    if costs is not None and clf.certificate_.data_digest == PARTITIONED:
        by_row = costs[codes]  # there costs are never taken for weights
    rows = TrainingRows(cells, mask, codes, weight, n_classes, factor, costs, by_row)
    constraints = getattr(clf, "constraints_", ())
    if constraints:
        own = checked_weight(sample_weight, len(labels))
        groups = RowGroups.of(sensitive_features, control_features, own)
        rows = replace(rows, groups=groups, left_out=left_out(constraints))
    return GivenRows(checks, rows)


def given_data(rows: TrainingRows, table: Table) -> GivenData:
    """Return the rows of weight above 0 as ``verify`` counts them."""
    kept = rows.take(np.flatnonzero(rows.weight > 0))
    costs = kept.row_costs
    if costs is None and rows.costs is not None and rows.class_price is None:
        costs = rows.costs[kept.y]
    return GivenData(
        table.transform_cells(kept.cells),
        kept.y,
        kept.training_weight,
        rows.n_classes,
        table.value_feature,
        costs,
        len(rows) - len(kept),
        kept.groups,
    )


def _array(X: Any) -> AnyArray:
    """Make an array that keeps text and numbers apart."""
    found = np.asarray(X)
    if found.dtype.kind in "US" and not isinstance(X, np.ndarray):
        found = np.array(X, dtype=object)
    if found.ndim != 2:
        raise ValueError(f"X must be a table, got an array of {found.ndim} dimensions.")
    return found


def _costs(given: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    costs = np.asarray(given, dtype=np.float64)
    if costs.shape != shape or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(f"row_costs must hold finite numbers >= 0 of shape {shape}.")
    return costs


def _categories(table: Table, cells: Sequence[Cells]) -> list[bool]:
    return [
        isinstance(column, CategoricalColumn) or found.values is not None
        for column, found in zip(table.columns, cells, strict=True)
    ]


# ------------------------------------------------------------- columns and classes


def _check_columns(clf: Any, X: Any, cells: Sequence[Cells]) -> Check:
    names = [column.name for column in clf.table_.columns]
    given, name = [found.name for found in cells], "column names"
    if len(given) != len(names):
        found = f"the model reads {len(names)} columns, but there are {len(given)}."
        return Check(name, False, found)
    known = getattr(clf, "feature_names_in_", None)
    if not is_frame(X) and known is not None:
        found = "X has no names of columns: those of the model are not compared."
        return Check(name, True, found)
    if given != names:
        pairs = zip(given, names, strict=True)
        other = next((a, b) for a, b in pairs if a != b)
        found = f"a column is {other[0]!r}, in the model {other[1]!r}."
        return Check(name, False, found)
    has_names = is_frame(X) and all(isinstance(column, str) for column in X.columns)
    if has_names != (known is not None):
        found = "the model does not say the names of the columns."
        return Check(name, False, found)
    return Check(name, True, f"the {len(names)} columns are those of the model.")


def _read_classes(
    classes: AnyArray, labels: AnyArray, may_lack: bool
) -> tuple[IntArray, Check]:
    """Return the class index of each row, and whether the classes are the labels.

    With costs for each row, classes may have no rows.
    """
    index = {(type(label), label): k for k, label in enumerate(classes.tolist())}
    codes = [index.get((type(label), label), -1) for label in labels.tolist()]
    found, ok = f"the {len(index)} classes are the labels of the rows.", True
    lacking = sorted(set(range(len(index))) - set(codes))
    if -1 in codes:
        row = codes.index(-1)
        found = f"{labels.tolist()[row]!r} in {row_name(row)} is no class of the model."
        ok = False
    elif lacking and not may_lack:
        found = f"no row is of class {classes.tolist()[lacking[0]]!r}."
        ok = False
    return np.array(codes, dtype=np.intp), Check("classes", ok, found)
