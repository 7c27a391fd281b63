"""Reads a model file's text: version by version, every value checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import Any, NoReturn, get_args

import numpy as np

from miptree._typing import AnyArray
from miptree.certify import Certificate
from miptree.estimator import OptimalTreeClassifier
from miptree.progress import FitProgress
from miptree.rounding import ALL_DIGITS
from miptree.table import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    NumericalColumn,
    Table,
    Value,
)
from miptree.train import Status
from miptree.tree import LEAF, ObliqueTree
from miptree.verify import malformed

FORMAT = "miptree-model"
RIVAL_FORMAT = "miptree-rival"
VERSION = 3

MAX_BYTES = 256 * 2**20
MAX_NODES = 2**13
MAX_DEPTH = 20
MAX_COLUMNS = 2**20
MAX_TEXT = 10_000
"""Longest class label or column name."""
MAX_DIGITS = 20
"""Digits of an integer: enough for 64 bits."""

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
        The fitted classifier, or a rival of ``miptree.baselines``.
    metadata : dict
        What the command line keeps: the names of the target and weight columns.
    """

    clf: Any
    metadata: dict[str, str | None]


class MalformedError(ValueError):
    """Something in a file is not as it should be."""


def model_of(text: str) -> SavedModel:
    """The model that a text holds, or a :class:`MalformedError`."""
    plain = _parse(text)
    if plain.get("format") == RIVAL_FORMAT:
        from miptree.export._json_rivals import read_rival

        return read_rival(plain)
    return READERS[_header(plain)](plain)


# ----------------------------------------------------------------- reading the text


def _parse(text: str) -> dict[str, Any]:
    """Plain values of a JSON text, without its traps."""
    try:
        plain = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_int=_short_int,
        )
    except MalformedError:
        raise
    except RecursionError:
        raise MalformedError("its values are nested too deeply") from None
    except ValueError as error:
        raise MalformedError(f"it is not JSON ({error})") from None
    return _an_object(plain, "the file")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedError("a key occurs twice in one object")
    return found


def _no_constant(text: str) -> NoReturn:
    raise MalformedError(f"{text} is not a finite number")


def _short_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise MalformedError(f"an integer has {len(text)} digits")
    return int(text)


def _header(plain: dict[str, Any]) -> int:
    if plain.get("format") != FORMAT:
        raise MalformedError(f'"format" is not "{FORMAT}"')
    version = _an_int(plain.get("version"), "version")
    if version not in READERS:
        known = ", ".join(map(str, READERS))
        raise MalformedError(
            f'"version" is {version}, known: {known}; a newer miptree may read it'
        )
    return version


# ---------------------------------------------------------------- versions, checked


def _read_1(plain: dict[str, Any]) -> SavedModel:
    """Read version 1, in which every column was one of numbers without gaps."""
    n_features = _an_int(plain.get("n_features"), "n_features", low=1)
    if n_features > MAX_COLUMNS:
        raise MalformedError(f'"n_features" is {n_features}')
    names = plain.get("feature_names") or [f"x[{j}]" for j in range(n_features)]
    columns = [
        {"kind": "numbers", "name": name, "fill": 0.0, "marks_missing": False}
        for name in _texts(names, "feature_names", n_features)
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
    digest = _a_text(rest.pop("certificate_digest"), "certificate_digest")
    certificate = _an_object(rest.get("certificate"), "certificate")
    if "digest" in certificate:
        raise MalformedError('"certificate" has an unknown entry "digest"')
    return _read_3({**rest, "certificate": {**certificate, "digest": digest}})


def _read_3(plain: dict[str, Any]) -> SavedModel:
    wanted = (
        "format version written_by metadata parameters n_features feature_names "
        "table classes tree node_proba digits certificate status n_iter fit_time "
        "trace"
    )
    _exact_keys(plain, set(wanted.split()), "the file", optional={"digits"})
    clf: OptimalTreeClassifier = _classifier(plain["parameters"])
    clf.n_features_in_ = _an_int(plain["n_features"], "n_features", low=1)
    if plain["feature_names"] is not None:
        names = _texts(plain["feature_names"], "feature_names", clf.n_features_in_)
        clf.feature_names_in_ = np.array(names, dtype=object)
    clf.table_ = _table(plain["table"], clf.n_features_in_)
    clf.classes_ = _classes(plain["classes"])
    n_columns = len(clf.table_.open_names) + len(clf.table_.value_names)
    clf.tree_ = _tree(plain["tree"], n_columns, len(clf.classes_))
    _check_subsets(clf.tree_, clf.table_)
    shape = (clf.tree_.n_nodes, len(clf.classes_))
    clf._node_proba = _floats(plain["node_proba"], "node_proba", shape)
    if ((clf._node_proba < 0) | (clf._node_proba > 1)).any():
        raise MalformedError('"node_proba" has a number outside [0, 1]')
    if plain.get("digits") is not None:
        clf._digits = _digits(plain["digits"], clf.tree_.n_nodes)
    clf.certificate_ = _record(Certificate, plain["certificate"], "certificate")
    clf.objective_ = clf.certificate_.objective
    clf.bound_ = clf.certificate_.objective_bound
    clf.gap_ = clf.certificate_.gap
    clf.status_ = _status(plain["status"])
    clf.n_iter_ = _an_int(plain["n_iter"], "n_iter", low=0)
    clf.fit_time_ = _a_float(plain["fit_time"], "fit_time")
    clf.trace_ = _trace(plain["trace"])
    return SavedModel(clf, _metadata(plain["metadata"]))


READERS: dict[int, Callable[[dict[str, Any]], SavedModel]] = {
    1: _read_1,
    2: _read_2,
    3: _read_3,
}
"""Version -> its reader."""


def _classifier(given: object, kind: type[Any] = OptimalTreeClassifier) -> Any:
    given = _an_object(given, "parameters")
    known = kind().get_params()
    for name, value in given.items():
        if name not in known:
            raise MalformedError(f'"parameters" has an unknown entry "{name}"')
        if isinstance(value, (list, dict)):
            raise MalformedError(f'parameter "{name}" is not a plain value')
        if isinstance(value, float):
            _a_float(value, name)
    clf = kind(**given)
    try:
        clf._validate_params()
    except ValueError as error:
        raise MalformedError(str(error).rstrip(".")) from None
    return clf


def _table(given: object, n_columns: int) -> Table:
    given = _an_object(given, "table")
    _exact_keys(given, {"missing", "unknown", "columns"}, '"table"')
    if given["missing"] not in ("fill", "error"):
        raise MalformedError('"missing" is neither "fill" nor "error"')
    if given["unknown"] not in ("majority", "error"):
        raise MalformedError('"unknown" is neither "majority" nor "error"')
    columns = _a_list(given["columns"], "columns", n_columns, n_columns)
    read = tuple(_column(column) for column in columns)
    return Table(read, given["missing"], given["unknown"])


def _column(given: object) -> Column:
    given = dict(_an_object(given, "a column"))
    kinds = {kind: cls for cls, kind in KIND_OF_COLUMN.items()}
    kind = given.pop("kind", None)
    if kind not in kinds:
        raise MalformedError('a column has no known "kind"')
    cls = kinds[kind]
    column: Column = _record(cls, given, "a column")
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


def _classes(given: object) -> AnyArray:
    given = _an_object(given, "classes")
    _exact_keys(given, {"dtype", "values"}, '"classes"')
    values = _a_list(given["values"], "classes", 2)
    dtype = _class_dtype(_a_text(given["dtype"], "dtype"))
    kind = CLASS_KINDS[dtype.kind]
    for value in values:
        if type(value) is not kind:
            raise MalformedError(f"class {value!r} is not of dtype {dtype.str}")
        if kind is str:
            _a_text(value, "classes")
        if kind is float:
            _a_float(value, "classes")
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


def _tree(given: object, n_features: int, n_classes: int) -> ObliqueTree:
    given = _an_object(given, "tree")
    _exact_keys(given, {field.name for field in fields(ObliqueTree)}, '"tree"')
    n = len(_a_list(given["threshold"], "threshold", 1, MAX_NODES))
    tree = ObliqueTree(
        _ints(given["children_left"], "children_left", n, LEAF, n - 1),
        _ints(given["children_right"], "children_right", n, LEAF, n - 1),
        _floats(given["coef"], "coef", (n, n_features)),
        _floats(given["threshold"], "threshold", (n,)),
        _ints(given["label"], "label", n, 0, n_classes - 1),
    )
    problem = malformed(tree, n_features, n_classes)
    if problem is not None:
        raise MalformedError(problem)
    if tree.depth > MAX_DEPTH:
        raise MalformedError(f"the tree has depth {tree.depth}")
    return tree


def _digits(given: object, n_nodes: int) -> AnyArray:
    """Significant digits to show of each node's coefficients and threshold."""
    rows = _a_list(given, "digits", n_nodes, n_nodes)
    return np.array([_ints(row, "digits", 2, 1, ALL_DIGITS) for row in rows])


def _status(given: object) -> Status:
    for status in get_args(Status):
        if given == status:
            known: Status = status
            return known
    raise MalformedError('"status" is not a status of a fit')


def _trace(given: object) -> list[FitProgress]:
    names = [field.name for field in fields(FitProgress)]
    found = []
    for row in _a_list(given, "trace", 0):
        values = _a_list(row, "trace", len(names), len(names))
        entry = dict(zip(names, values, strict=True))
        found.append(_record(FitProgress, entry, "trace"))
    return found


def _metadata(given: object) -> dict[str, str | None]:
    given = _an_object(given, "metadata")
    for name, value in given.items():
        if value is not None:
            _a_text(value, name)
    return given


# ------------------------------------------------------------------- checked values


def _record(cls: type[Any], given: object, name: str) -> Any:
    """A dataclass of numbers and strings, each of the type it is declared with."""
    given = _an_object(given, name)
    wanted = {field.name: field for field in fields(cls)}
    optional = {n for n, field in wanted.items() if field.default is not MISSING}
    _exact_keys(given, set(wanted), f'"{name}"', optional)
    return cls(**{n: _SCALARS[str(wanted[n].type)](v, n) for n, v in given.items()})


def _exact_keys(
    given: Mapping[str, Any],
    wanted: set[str],
    where: str,
    optional: set[str] | frozenset[str] = frozenset(),
) -> None:
    missing, unknown = (
        sorted(wanted - optional - set(given)),
        sorted(set(given) - wanted),
    )
    if missing:
        raise MalformedError(f'{where} has no "{missing[0]}"')
    if unknown:
        raise MalformedError(f'{where} has an unknown entry "{unknown[0][:60]}"')


def _an_object(given: object, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise MalformedError(f"{name} is not an object")
    return given


def _a_list(
    given: object, name: str, shortest: int, longest: int | None = None
) -> list[Any]:
    if not isinstance(given, list):
        raise MalformedError(f'"{name}" is not a list')
    if len(given) < shortest or (longest is not None and len(given) > longest):
        raise MalformedError(f'"{name}" has {len(given)} entries')
    return given


def _a_text(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise MalformedError(f'"{name}" is not a string')
    if len(given) > MAX_TEXT:
        raise MalformedError(f'"{name}" has a string of {len(given)} characters')
    if any("\ud800" <= character <= "\udfff" for character in given):
        raise MalformedError(f'"{name}" has a string with half a character')
    return given


def _an_int(given: object, name: str, low: int | None = None) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise MalformedError(f'"{name}" is not an integer')
    if low is not None and given < low:
        raise MalformedError(f'"{name}" is {given}')
    return given


def _a_float(given: object, name: str) -> float:
    if not isinstance(given, (int, float)) or isinstance(given, bool):
        raise MalformedError(f'"{name}" is not a number')
    if not np.isfinite(float(given)):
        raise MalformedError(f'"{name}" is not a finite number')
    return float(given)


def _a_bool(given: object, name: str) -> bool:
    if not isinstance(given, bool):
        raise MalformedError(f'"{name}" is not true or false')
    return given


def _values(given: object, name: str) -> tuple[Value, ...]:
    """Values of a category: text, numbers, truth values, or null for missing."""
    found: list[Value] = []
    for value in _a_list(given, name, 0):
        if isinstance(value, str):
            value = _a_text(value, name)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            _a_float(value, name)
        elif value is not None and not isinstance(value, bool):
            raise MalformedError(f'"{name}" has an entry that is no value')
        found.append(value)
    return tuple(found)


def _an_int_or_none(given: object, name: str) -> int | None:
    return None if given is None else _an_int(given, name)


_SCALARS: dict[str, Callable[[object, str], Any]] = {
    "int": _an_int,
    "int | None": _an_int_or_none,
    "float": _a_float,
    "str": _a_text,
    "bool": _a_bool,
    "tuple[Value, ...]": _values,
}


def _texts(given: object, name: str, n: int) -> list[str]:
    return [_a_text(value, name) for value in _a_list(given, name, n, n)]


def _ints(given: object, name: str, n: int, low: int, high: int) -> AnyArray:
    values = [_an_int(value, name) for value in _a_list(given, name, n, n)]
    if any(not low <= value <= high for value in values):
        raise MalformedError(f'"{name}" has an integer outside {low} to {high}')
    return np.array(values, dtype=np.intp)


def _floats(given: object, name: str, shape: tuple[int, ...]) -> AnyArray:
    rows = _a_list(given, name, shape[0], shape[0])
    if len(shape) == 1:
        return np.array([_a_float(value, name) for value in rows])
    return np.array([_floats(row, name, shape[1:]) for row in rows])
