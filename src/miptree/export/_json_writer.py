"""A fitted classifier as plain values, and these as the text of a model file."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, fields
from typing import Any

import numpy as np

from miptree._version import __version__
from miptree.data import Table
from miptree.export._json_constraints import plain_constraints
from miptree.export._json_digest import content_digest
from miptree.export._json_parameters import (
    plain_parameters,
    plain_restriction,
    plain_value,
)
from miptree.export._json_table import CLASS_KINDS, KIND_OF_COLUMN
from miptree.export.json_reader import FORMAT, VERSION
from miptree.fit.fitted import FittedTree
from miptree.utils.arrays import AnyArray


def to_plain(clf: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    fitted: FittedTree = clf.fitted_
    names = getattr(clf, "feature_names_in_", None)
    columns = [column.name for column in clf.table_.columns]
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"miptree {__version__}",
        "metadata": metadata,
        "estimator": type(clf).__name__,
        "parameters": plain_parameters(clf, columns),
        "class_weight": _plain_class_weight(clf),
        "cost_matrix": _plain_costs(clf),
        "restriction": plain_restriction(getattr(clf, "restriction_", None), columns),
        "constraints": plain_constraints(getattr(clf, "constraints_", ())),
        "feature_names": None if names is None else names.tolist(),
        "table": _plain_table(clf.table_),
        "classes": _plain_classes(clf.classes_),
        "tree": {
            field.name: getattr(clf.tree_, field.name).tolist()
            for field in fields(clf.tree_)
        },
        "node_proba": fitted.node_proba.tolist(),
        "blur": fitted.blur.tolist(),
        "node_count": fitted.node_count.tolist(),
        "digits": fitted.digits.tolist(),
        "spread": None if fitted.spread is None else fitted.spread.tolist(),
        "certificate": {
            name: plain_value(value) for name, value in asdict(clf.certificate_).items()
        },
        "status": fitted.status,
        "n_iter": int(fitted.n_iter),
        "fit_time": float(fitted.seconds),
        "trace": [list(astuple(state)) for state in fitted.trace],
    }
    return {**plain, "digest": content_digest(plain)}


def to_text(plain: dict[str, Any]) -> str:
    """JSON with one line for each entry of the file."""
    lines = (
        f" {json.dumps(name)}: {json.dumps(value, allow_nan=False)}"
        for name, value in plain.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


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
