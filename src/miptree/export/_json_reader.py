"""Reads a model file's text, every value checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.checks import malformed
from miptree.classifiers.table_classifier import TableClassifier
from miptree.control.clock import End
from miptree.data import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    GridColumn,
    NumericalColumn,
    Table,
)
from miptree.data.grid import MOST_CUTS
from miptree.data.labels import checked_costs
from miptree.data.schema import Schema
from miptree.data.units import is_grid
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.export._json_values import (
    MAX_TEXT,
    MalformedError,
    a_float,
    a_list,
    a_text,
    an_int,
    an_object,
    exact_keys,
    floats,
    ints,
    parsed,
    record,
    texts,
)
from miptree.fit.fitted import FittedTree, passing
from miptree.fit.progress import FitProgress
from miptree.tree import LEAF, ObliqueTree
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import AnyArray, IntArray

FORMAT = "miptree-model"
VERSION = 5

MAX_BYTES = 256 * 2**20
MAX_NODES = 2**13
MAX_DEPTH = 20
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


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    clf : OptimalTreeClassifier
        The fitted classifier, a points tree, or a baseline of ``miptree.baselines``.
    metadata : dict
        What the command line keeps: the names of the target and weight columns.
    """

    clf: Any
    metadata: dict[str, str | None]


def model_of(text: str) -> SavedModel:
    """Return the model that a text holds, or raise a :class:`MalformedError`."""
    plain = parsed(text)
    if plain.get("format") != FORMAT:
        raise MalformedError(f'"format" is not "{FORMAT}"')
    version = an_int(plain.get("version"), "version")
    if version != VERSION:
        advice = "a newer miptree may read it"
        if version < VERSION:
            advice = "it was written before the first release: fit the model again"
        raise MalformedError(f'"version" is {version}, known: {VERSION}; {advice}')
    exact_keys(plain, set(ENTRIES.split()), "the file")
    clf = _read_estimator(plain["estimator"], plain["parameters"])
    schema = _read_schema(plain)
    _read_costs(plain, clf, schema.classes)
    _check_table(clf, schema)
    clf.adopt(schema, _read_fitted(plain, schema, clf))
    return SavedModel(clf, _read_metadata(plain["metadata"]))


ENTRIES = (
    "format version written_by metadata estimator parameters class_weight cost_matrix "
    "feature_names table classes tree node_proba node_count digits certificate "
    "status n_iter fit_time trace"
)
"""What a file holds, and nothing else."""


def _estimator_class(name: str) -> type[Any]:
    """Return the class of a saved model: one of ours, whatever the file says."""
    for ours in (OptimalTreeClassifier, PointsTreeClassifier):
        if name == ours.__name__:
            return ours
    from miptree import baselines  # which few need

    if name not in baselines.__all__ or name == "BaselineClassifier":
        raise MalformedError('"estimator" is no classifier of miptree')
    found: type[Any] = getattr(baselines, name)
    return found


def _read_estimator(name: object, given: object) -> Any:
    kind = _estimator_class(a_text(name, "estimator"))
    given = an_object(given, "parameters")
    known = kind().get_params()
    for name, value in given.items():
        if name not in known:
            raise MalformedError(f'"parameters" has an unknown entry "{name}"')
        if isinstance(value, (list, dict)):
            raise MalformedError(f'parameter "{name}" is not a plain value')
        if isinstance(value, float):
            a_float(value, name)
    clf = kind(**given)
    try:
        clf._validate_params()
    except ValueError as error:
        raise MalformedError(str(error).rstrip(".")) from None
    return clf


def _read_costs(plain: dict[str, Any], clf: Any, classes: AnyArray) -> None:
    """Read the weights of the classes and the costs of errors, where given."""
    n_classes = len(classes)
    if plain["class_weight"] is not None:
        weight = floats(plain["class_weight"], "class_weight", (n_classes,))
        if (weight < 0).any():
            raise MalformedError('"class_weight" has a number below 0')
        labels = classes.tolist()
        clf.class_weight = dict(zip(labels, weight.tolist(), strict=True))
    if plain["cost_matrix"] is not None:
        shape = (n_classes, n_classes)
        costs = floats(plain["cost_matrix"], "cost_matrix", shape)
        try:
            clf.cost_matrix = checked_costs(costs, classes, np.inf).tolist()
        except ValueError as error:
            raise MalformedError(str(error).rstrip(".")) from None


# ------------------------------------------------------------------ columns and classes


def _read_schema(plain: dict[str, Any]) -> Schema:
    table, names = _read_table(plain["table"]), None
    if plain["feature_names"] is not None:
        names = texts(plain["feature_names"], "feature_names", len(table.columns))
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
    return Table(read, given["missing"], given["unknown"])


def _read_column(given: object) -> Column:
    given = dict(an_object(given, "a column"))
    kinds = {kind: cls for cls, kind in KIND_OF_COLUMN.items()}
    kind = given.pop("kind", None)
    if kind not in kinds:
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


def _check_subsets(tree: ObliqueTree, table: Table) -> None:
    """Refuse a split of more than one categorical feature, or of one and others."""
    n_open = len(table.open_names)
    for coef in tree.coef[tree.coef[:, n_open:].any(axis=1)]:
        used = np.flatnonzero(coef[n_open:])
        features = set(table.value_feature[used].tolist())
        if coef[:n_open].any() or len(features) > 1 or len(set(coef[coef != 0])) > 1:
            raise MalformedError("a split of the tree is no subset of one feature")


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


# ------------------------------------------------------------------ the fitted tree


def _read_fitted(plain: dict[str, Any], schema: Schema, clf: Any) -> FittedTree:
    table, n_classes = schema.table, len(schema.classes)
    n_columns = len(table.open_names) + len(table.value_names)
    tree = _read_tree(plain["tree"], n_columns, n_classes)
    _check_subsets(tree, table)
    proba = floats(plain["node_proba"], "node_proba", (tree.n_nodes, n_classes))
    if ((proba < 0) | (proba > 1)).any():
        raise MalformedError('"node_proba" has a number outside [0, 1]')
    return FittedTree(
        tree,
        proba,
        _read_counts(plain["node_count"], tree, n_classes),
        _digits(plain["digits"], tree.n_nodes),
        _read_certificate(plain["certificate"], clf, n_columns),
        _read_status(plain["status"]),
        an_int(plain["n_iter"], "n_iter", low=0),
        _read_trace(plain["trace"]),
        a_float(plain["fit_time"], "fit_time"),
    )


def _read_certificate(given: object, clf: Any, n_columns: int) -> Certificate:
    """Read a certificate, which must be about the objective of the classifier.

    That of a baseline must fit its digest, too: ``verify`` cannot recount it.
    """
    found: Certificate = record(Certificate, given, "certificate")
    if found.method != getattr(clf, "method", ""):
        raise MalformedError("the certificate is about another kind of classifier")
    if found.method and found.digest != found.signed().digest:
        raise MalformedError("the certificate does not fit its digest: it was changed")
    if found.is_of_points and len(found.feature_penalties) != n_columns:
        raise MalformedError('"feature_penalties" are not one for each grid column')
    return found


def _check_table(clf: Any, schema: Schema) -> None:
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
    if schema.table != Schema.of_numbers(n_columns, schema.classes, names).table:
        raise MalformedError("the table of a baseline has a column that is no numbers")


def _read_tree(given: object, n_features: int, n_classes: int) -> ObliqueTree:
    given = an_object(given, "tree")
    exact_keys(given, {field.name for field in fields(ObliqueTree)}, '"tree"')
    n = len(a_list(given["threshold"], "threshold", 1, MAX_NODES))
    tree = ObliqueTree(
        ints(given["children_left"], "children_left", n, LEAF, n - 1),
        ints(given["children_right"], "children_right", n, LEAF, n - 1),
        floats(given["coef"], "coef", (n, n_features)),
        floats(given["threshold"], "threshold", (n,)),
        ints(given["label"], "label", n, 0, n_classes - 1),
    )
    problem = malformed(tree, n_features, n_classes)
    if problem is not None:
        raise MalformedError(problem)
    if tree.depth > MAX_DEPTH:
        raise MalformedError(f"the tree has depth {tree.depth}")
    return tree


def _read_counts(given: object, tree: ObliqueTree, n_classes: int) -> IntArray:
    """Training rows of each class at each node, as many as at its children."""
    rows = a_list(given, "node_count", tree.n_nodes, tree.n_nodes)
    most = 2**53
    count = np.array([ints(row, "node_count", n_classes, 0, most) for row in rows])
    if not np.array_equal(passing(tree, count * tree.is_leaf[:, None]), count):
        raise MalformedError('"node_count" of a split is not that of its children')
    return count


def _digits(given: object, n_nodes: int) -> AnyArray:
    """Significant digits to show of each node's coefficients and threshold."""
    rows = a_list(given, "digits", n_nodes, n_nodes)
    return np.array([ints(row, "digits", 2, 1, ALL_DIGITS) for row in rows])


def _read_status(given: object) -> End:
    for status in get_args(End):
        if given == status and given not in ("bound", "infeasible", "stall"):
            known: End = status
            return known
    raise MalformedError('"status" is not a status of a fit')


def _read_trace(given: object) -> list[FitProgress]:
    names = [field.name for field in fields(FitProgress)]
    found = []
    for row in a_list(given, "trace", 0):
        values = a_list(row, "trace", len(names), len(names))
        entry = dict(zip(names, values, strict=True))
        found.append(record(FitProgress, entry, "trace"))
    return found


def _read_metadata(given: object) -> dict[str, str | None]:
    given = an_object(given, "metadata")
    for name, value in given.items():
        if value is not None:
            a_text(value, name)
    return given
