"""Reads a model file's text: version by version, every value checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.checks import malformed
from miptree.data import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    NumericalColumn,
    Table,
)
from miptree.data.labels import checked_costs
from miptree.estimator import OptimalTreeClassifier
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
from miptree.fit.progress import FitProgress
from miptree.fit.train import Status
from miptree.tree import LEAF, ObliqueTree
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import AnyArray

FORMAT = "miptree-model"
BASELINE_FORMAT = "miptree-baseline"
VERSION = 3

MAX_BYTES = 256 * 2**20
MAX_NODES = 2**13
MAX_DEPTH = 20
MAX_COLUMNS = 2**20

KIND_OF_COLUMN: dict[type, str] = {
    NumericalColumn: "numbers",
    CategoricalColumn: "categories",
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
        The fitted classifier, or a baseline of ``miptree.baselines``.
    metadata : dict
        What the command line keeps: the names of the target and weight columns.
    """

    clf: Any
    metadata: dict[str, str | None]


def model_of(text: str) -> SavedModel:
    """The model that a text holds, or a :class:`MalformedError`."""
    plain = parsed(text)
    if plain.get("format") == BASELINE_FORMAT:
        from miptree.export._json_baselines import read_baseline

        return read_baseline(plain)
    return READERS[_header(plain)](plain)


def _header(plain: dict[str, Any]) -> int:
    if plain.get("format") != FORMAT:
        raise MalformedError(f'"format" is not "{FORMAT}"')
    version = an_int(plain.get("version"), "version")
    if version not in READERS:
        known = ", ".join(map(str, READERS))
        raise MalformedError(
            f'"version" is {version}, known: {known}; a newer miptree may read it'
        )
    return version


# ---------------------------------------------------------------- versions, checked


def _read_1(plain: dict[str, Any]) -> SavedModel:
    """Read version 1, in which every column was one of numbers without gaps."""
    n_features = an_int(plain.get("n_features"), "n_features", low=1)
    if n_features > MAX_COLUMNS:
        raise MalformedError(f'"n_features" is {n_features}')
    names = plain.get("feature_names") or [f"x[{j}]" for j in range(n_features)]
    columns = [
        {"kind": "numbers", "name": name, "fill": 0.0, "marks_missing": False}
        for name in texts(names, "feature_names", n_features)
    ]
    if "table" in plain:
        raise MalformedError('the file has an unknown entry "table"')
    # Missing values were refused: so they are by this model.
    table = {"missing": "error", "unknown": "majority", "columns": columns}
    return _read_2({**plain, "table": table})


def _read_2(plain: dict[str, Any]) -> SavedModel:
    """Read version 2, which has the certificate's digest beside it."""
    if "certificate_digest" not in plain:
        raise MalformedError('the file has no "certificate_digest"')
    rest = dict(plain)
    digest = a_text(rest.pop("certificate_digest"), "certificate_digest")
    certificate = an_object(rest.get("certificate"), "certificate")
    if "digest" in certificate:
        raise MalformedError('"certificate" has an unknown entry "digest"')
    return _read_3({**rest, "certificate": {**certificate, "digest": digest}})


def _read_3(plain: dict[str, Any]) -> SavedModel:
    wanted = (
        "format version written_by metadata parameters n_features feature_names "
        "table classes tree node_proba digits certificate status n_iter fit_time "
        "trace class_weight cost_matrix"
    )
    optional = {"digits", "class_weight", "cost_matrix"}
    exact_keys(plain, set(wanted.split()), "the file", optional=optional)
    clf: OptimalTreeClassifier = read_classifier(plain["parameters"])
    clf.n_features_in_ = an_int(plain["n_features"], "n_features", low=1)
    if plain["feature_names"] is not None:
        names = texts(plain["feature_names"], "feature_names", clf.n_features_in_)
        clf.feature_names_in_ = np.array(names, dtype=object)
    clf.table_ = _read_table(plain["table"], clf.n_features_in_)
    clf.classes_ = read_classes(plain["classes"])
    _read_costs(plain, clf)
    n_columns = len(clf.table_.open_names) + len(clf.table_.value_names)
    clf.tree_ = read_tree(plain["tree"], n_columns, len(clf.classes_))
    _check_subsets(clf.tree_, clf.table_)
    shape = (clf.tree_.n_nodes, len(clf.classes_))
    clf._node_proba = floats(plain["node_proba"], "node_proba", shape)
    if ((clf._node_proba < 0) | (clf._node_proba > 1)).any():
        raise MalformedError('"node_proba" has a number outside [0, 1]')
    if plain.get("digits") is not None:
        clf._digits = _digits(plain["digits"], clf.tree_.n_nodes)
    clf.certificate_ = record(Certificate, plain["certificate"], "certificate")
    clf.objective_ = clf.certificate_.objective
    clf.bound_ = clf.certificate_.objective_bound
    clf.gap_ = clf.certificate_.gap
    clf.status_ = _read_status(plain["status"])
    clf.n_iter_ = an_int(plain["n_iter"], "n_iter", low=0)
    clf.fit_time_ = a_float(plain["fit_time"], "fit_time")
    clf.trace_ = read_trace(plain["trace"])
    return SavedModel(clf, read_metadata(plain["metadata"]))


def _read_costs(plain: dict[str, Any], clf: OptimalTreeClassifier) -> None:
    """Read the weights of the classes and the costs of errors, where given."""
    n_classes = len(clf.classes_)
    if plain.get("class_weight") is not None:
        weight = floats(plain["class_weight"], "class_weight", (n_classes,))
        if (weight < 0).any():
            raise MalformedError('"class_weight" has a number below 0')
        labels = clf.classes_.tolist()
        clf.class_weight = dict(zip(labels, weight.tolist(), strict=True))
    if plain.get("cost_matrix") is not None:
        shape = (n_classes, n_classes)
        costs = floats(plain["cost_matrix"], "cost_matrix", shape)
        try:
            clf.cost_matrix = checked_costs(costs, clf.classes_, np.inf).tolist()
        except ValueError as error:
            raise MalformedError(str(error).rstrip(".")) from None


READERS: dict[int, Callable[[dict[str, Any]], SavedModel]] = {
    1: _read_1,
    2: _read_2,
    3: _read_3,
}
"""Version -> its reader."""


def read_classifier(given: object, kind: type[Any] = OptimalTreeClassifier) -> Any:
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


def _read_table(given: object, n_columns: int) -> Table:
    given = an_object(given, "table")
    exact_keys(given, {"missing", "unknown", "columns"}, '"table"')
    if given["missing"] not in ("fill", "error"):
        raise MalformedError('"missing" is neither "fill" nor "error"')
    if given["unknown"] not in ("majority", "error"):
        raise MalformedError('"unknown" is neither "majority" nor "error"')
    columns = a_list(given["columns"], "columns", n_columns, n_columns)
    read = tuple(_read_column(column) for column in columns)
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
    return column


def _check_subsets(tree: ObliqueTree, table: Table) -> None:
    """Refuse a split of more than one categorical feature, or of one and others."""
    n_open = len(table.open_names)
    for coef in tree.coef[tree.coef[:, n_open:].any(axis=1)]:
        used = np.flatnonzero(coef[n_open:])
        features = set(table.value_feature[used].tolist())
        if coef[:n_open].any() or len(features) > 1 or len(set(coef[coef != 0])) > 1:
            raise MalformedError("a split of the tree is no subset of one feature")


def read_classes(given: object) -> AnyArray:
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


def read_tree(given: object, n_features: int, n_classes: int) -> ObliqueTree:
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


def _digits(given: object, n_nodes: int) -> AnyArray:
    """Significant digits to show of each node's coefficients and threshold."""
    rows = a_list(given, "digits", n_nodes, n_nodes)
    return np.array([ints(row, "digits", 2, 1, ALL_DIGITS) for row in rows])


def _read_status(given: object) -> Status:
    for status in get_args(Status):
        if given == status:
            known: Status = status
            return known
    raise MalformedError('"status" is not a status of a fit')


def read_trace(given: object) -> list[FitProgress]:
    names = [field.name for field in fields(FitProgress)]
    found = []
    for row in a_list(given, "trace", 0):
        values = a_list(row, "trace", len(names), len(names))
        entry = dict(zip(names, values, strict=True))
        found.append(record(FitProgress, entry, "trace"))
    return found


def read_metadata(given: object) -> dict[str, str | None]:
    given = an_object(given, "metadata")
    for name, value in given.items():
        if value is not None:
            a_text(value, name)
    return given
