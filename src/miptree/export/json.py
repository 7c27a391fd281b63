"""A fitted classifier as a JSON file: versioned, exact, and loaded without code.

A file is read in two steps: :mod:`json` makes plain numbers, strings and lists of it
(duplicate keys, NaN and absurd numbers refused), then every value is checked for its
type, size and meaning. Nothing in a file names a function or a type to be called.

To change the format: raise ``VERSION`` and write the new version only. Once the
package is released, the readers of all released versions stay.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, astuple, fields
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from miptree._version import __version__
from miptree.data import Table
from miptree.export._json_reader import (
    CLASS_KINDS,
    FORMAT,
    KIND_OF_COLUMN,
    MAX_BYTES,
    VERSION,
    SavedModel,
    model_of,
)
from miptree.export._json_values import MalformedError
from miptree.fit.fitted import FittedTree
from miptree.utils.arrays import AnyArray
from miptree.utils.files import write_atomic


def save_json(
    clf: BaseEstimator,
    path: str | os.PathLike[str],
    force: bool = False,
    *,
    metadata: Mapping[str, str | None] | None = None,
) -> None:
    """Save a fitted classifier as JSON.

    The file appears whole or not at all. Parameters that are no plain value (an
    ``init`` tree, a ``callback``, a ``RandomState``, a dict or an array) are left
    out; they steer a fit, not a prediction. A selector that is left out is warned of.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        A fitted one, or a fitted baseline of ``miptree.baselines``; of an estimator
        with cross-validation its ``best_estimator_``.
    path : path
        File to write, by convention ``*.json``.
    force : bool, default=False
        Whether to overwrite a file.
    metadata : mapping of str to str or None, optional
        Notes to keep with the model.

    Raises
    ------
    FileExistsError
        If there is a file already, without ``force``.
    """
    check_is_fitted(clf)
    clf = getattr(clf, "best_estimator_", clf)
    notes = dict(metadata or {})
    _warn_of_selector(clf)
    text = _to_text(_to_plain(clf, notes))
    try:
        model_of(text)  # what cannot be read again must not be written
    except MalformedError as error:
        raise ValueError(f"The model cannot be saved as JSON: {error}.") from None
    write_atomic(path, text.encode(), force)


def load_json(path: str | os.PathLike[str]) -> Any:
    """Load a classifier that :func:`save_json` wrote.

    It predicts bit for bit as the saved one. Loading runs no code of the file's.

    Raises
    ------
    ValueError
        If the file is no model, of an unknown version, or malformed; the message
        says what is wrong.
    """
    return read_model(path).clf


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Everything in a model file; see :func:`load_json`."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        _refuse(name, f"it is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        _refuse(name, "it is not UTF-8 text")
    try:
        return model_of(text)
    except MalformedError as error:
        _refuse(name, error)


def _refuse(name: str, problem: object) -> NoReturn:
    raise ValueError(
        f"{name} is not a model that miptree {__version__} can load: {problem}. Use a "
        "file that save_json or `miptree fit --out` wrote, unchanged."
    )


# ------------------------------------------------------------------------- writing


def _warn_of_selector(clf: BaseEstimator) -> None:
    """Say that another fit of the loaded model would not select as this one did."""
    selection = getattr(clf, "selection", None)
    if selection is not None and not isinstance(selection, str):
        warnings.warn(
            f"selection={selection!r} is not saved: the loaded classifier predicts "
            "as this one, but has selection=None. Set it again before another fit.",
            UserWarning,
            stacklevel=3,
        )


def _to_plain(clf: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    fitted: FittedTree = clf.fitted_
    names = getattr(clf, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"miptree {__version__}",
        "metadata": metadata,
        "estimator": type(clf).__name__,
        "parameters": _plain_parameters(clf),
        "class_weight": _plain_class_weight(clf),
        "cost_matrix": _plain_costs(clf),
        "feature_names": None if names is None else names.tolist(),
        "table": _plain_table(clf.table_),
        "classes": _plain_classes(clf.classes_),
        "tree": {
            field.name: getattr(clf.tree_, field.name).tolist()
            for field in fields(clf.tree_)
        },
        "node_proba": fitted.node_proba.tolist(),
        "node_count": fitted.node_count.tolist(),
        "digits": fitted.digits.tolist(),
        "certificate": {n: _plain(v) for n, v in asdict(clf.certificate_).items()},
        "status": fitted.status,
        "n_iter": int(fitted.n_iter),
        "fit_time": float(fitted.seconds),
        "trace": [list(astuple(state)) for state in fitted.trace],
    }


def _to_text(plain: dict[str, Any]) -> str:
    """JSON with one line for each entry of the file."""
    lines = (
        f" {json.dumps(name)}: {json.dumps(value, allow_nan=False)}"
        for name, value in plain.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(value: Any) -> Any:
    """A NumPy number as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _plain_parameters(clf: BaseEstimator) -> dict[str, Any]:
    plain = {}
    for name, value in clf.get_params().items():
        value = _plain(value)
        is_number = isinstance(value, (int, float)) and bool(np.isfinite(value))
        if value is None or isinstance(value, str) or is_number:
            plain[name] = value
    return plain


def _plain_class_weight(clf: Any) -> list[float] | None:
    """Weights given for single classes; "balanced" is a plain parameter."""
    given = clf.class_weight
    if given is None or isinstance(given, str):
        return None
    return [float(given.get(label, 1.0)) for label in clf.classes_.tolist()]


def _plain_costs(clf: Any) -> list[list[float]] | None:
    given = getattr(clf, "cost_matrix", None)
    if given is None:
        return None
    costs: list[list[float]] = np.asarray(given, dtype=float).tolist()
    return costs


def _plain_table(table: Table) -> dict[str, Any]:
    columns = [
        {"kind": KIND_OF_COLUMN[type(column)], **asdict(column)}
        for column in table.columns
    ]
    return {"missing": table.missing, "unknown": table.unknown, "columns": columns}


def _plain_classes(classes: AnyArray) -> dict[str, Any]:
    kind = classes.dtype.kind
    values = classes.tolist()
    if kind not in CLASS_KINDS or any(
        type(value) is not CLASS_KINDS[kind] for value in values
    ):
        raise ValueError(
            f"Classes of dtype {classes.dtype} cannot be saved as JSON. Fit with "
            "labels that are strings, integers, floats or booleans."
        )
    return {"dtype": classes.dtype.str, "values": values}
