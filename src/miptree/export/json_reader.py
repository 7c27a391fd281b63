"""Reads a model file's text, every value checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from miptree.data.labels import checked_costs
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.export._json_constraints import read_constraints
from miptree.export._json_digest import check_digest
from miptree.export._json_fitted import read_fitted
from miptree.export._json_parameters import (
    check_named,
    read_parameter,
    read_restriction,
)
from miptree.export._json_table import check_table, read_schema
from miptree.export._json_values import (
    MalformedError,
    a_text,
    an_int,
    an_object,
    exact_keys,
    floats,
    parsed,
)
from miptree.utils.arrays import AnyArray

FORMAT = "miptree-model"
VERSION = 12

MAX_BYTES = 256 * 2**20

ENTRIES = (
    "format version written_by metadata estimator parameters class_weight cost_matrix "
    "restriction constraints feature_names table classes tree node_proba blur "
    "node_count digits spread certificate status n_iter fit_time trace digest"
)
"""What a file holds, and nothing else."""
MAY_BE_LEFT_OUT = frozenset(
    "init callback random_state selection class_weight cost_matrix constraints".split()
)
"""Parameters that may be no plain value, or have an entry of their own."""


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    clf : fitted classifier of this package
    metadata : dict
        What the command line keeps: the names of the target and weight columns.
    written_by : str
        Who wrote the file.
    digest : str
        SHA-256 of all the rest.
    """

    clf: Any
    metadata: dict[str, str | None]
    written_by: str
    digest: str


def model_of(text: str) -> SavedModel:
    """Return the model that a text holds, or raise a :class:`MalformedError`."""
    plain = parsed(text)
    if plain.get("format") != FORMAT:
        raise MalformedError(f'"format" is not "{FORMAT}"')
    version = an_int(plain.get("version"), "version")
    if version != VERSION:
        advice = "a newer miptree may read it"
        if version < VERSION:
            advice = (
                "it was written before the first release and does not say all that is "
                "said now: fit the model again"
            )
        raise MalformedError(f'"version" is {version}, known: {VERSION}; {advice}')
    digest = check_digest(plain)
    exact_keys(plain, set(ENTRIES.split()), "the file")
    clf = _read_estimator(plain["estimator"], plain["parameters"])
    schema = read_schema(plain)
    names = [column.name for column in schema.table.columns]
    check_named(clf, names)
    _read_costs(plain, clf, schema.classes)
    check_table(clf, schema)
    clf.adopt(schema, read_fitted(plain, schema, clf))
    restriction = read_restriction(plain["restriction"], names)
    if isinstance(clf, PointsTreeClassifier):
        clf.restriction_ = restriction
    elif restriction is not None:
        raise MalformedError('"restriction" is for points trees')
    _keep_constraints(clf, plain["constraints"])
    by = a_text(plain["written_by"], "written_by")
    return SavedModel(clf, _read_metadata(plain["metadata"]), by, digest)


def _keep_constraints(clf: Any, given: object) -> None:
    """Give a classifier the constraints of its fit, to be kept by another one, too."""
    found = read_constraints(given)
    if not isinstance(clf, OptimalTreeClassifier):
        if found:
            raise MalformedError('"constraints" are for OptimalTreeClassifier')
        return
    clf.constraints_ = found
    clf.constraints = list(found) or None


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
    exact_keys(given, set(known), '"parameters"', MAY_BE_LEFT_OUT)
    clf = kind(**{name: read_parameter(name, value) for name, value in given.items()})
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


def _read_metadata(given: object) -> dict[str, str | None]:
    given = an_object(given, "metadata")
    for name, value in given.items():
        if value is not None:
            a_text(value, name)
    return given
