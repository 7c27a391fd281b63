"""A fitted baseline of ``miptree.baselines`` as plain values for JSON, and back."""

from __future__ import annotations

from dataclasses import asdict, astuple, fields
from typing import Any, get_args

import numpy as np

from miptree import baselines
from miptree._version import __version__
from miptree.baselines import BaselineCertificate
from miptree.baselines._train import Status
from miptree.certificate.digest import certificate_digest
from miptree.classifiers.numeric_classifier import NumericTreeClassifier
from miptree.export import _json_reader as read
from miptree.export import json as write
from miptree.export._json_values import (
    MalformedError,
    a_float,
    a_text,
    an_int,
    exact_keys,
    floats,
    record,
    texts,
)

VERSION = 1

BASELINES: dict[str, type[NumericTreeClassifier]] = {
    name: getattr(baselines, name)
    for name in baselines.__all__
    if name.endswith("Classifier") and name != "BaselineClassifier"
}
"""The classifiers that a file may hold, by name."""

_ENTRIES = (
    "format version written_by metadata baseline parameters n_features feature_names "
    "classes tree node_proba certificate certificate_digest status fit_time trace"
)


def baseline_to_plain(
    clf: NumericTreeClassifier, metadata: dict[str, Any]
) -> dict[str, Any]:
    """Plain values of a fitted baseline."""
    names = getattr(clf, "feature_names_in_", None)
    tree = clf.tree_
    return {
        "format": read.BASELINE_FORMAT,
        "version": VERSION,
        "written_by": f"miptree {__version__}",
        "metadata": metadata,
        "baseline": type(clf).__name__,
        "parameters": write._plain_parameters(clf),
        "n_features": int(clf.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "classes": write._plain_classes(clf.classes_),
        "tree": {
            field.name: getattr(tree, field.name).tolist() for field in fields(tree)
        },
        "node_proba": clf._node_proba.tolist(),
        "certificate": {
            name: write._plain(value)
            for name, value in asdict(clf.certificate_).items()
        },
        "certificate_digest": certificate_digest(clf.certificate_),
        "status": clf.status_,
        "fit_time": float(clf.fit_time_),
        "trace": [list(astuple(state)) for state in clf.trace_],
    }


def read_baseline(plain: dict[str, Any]) -> read.SavedModel:
    """The baseline that plain values describe, every value checked."""
    exact_keys(plain, set(_ENTRIES.split()), "the file")
    if plain["version"] != VERSION:
        raise MalformedError(f'"version" of a baseline is not {VERSION}')
    kind = BASELINES.get(a_text(plain["baseline"], "baseline"))
    if kind is None:
        raise MalformedError('"baseline" is none of miptree.baselines')
    clf = read.read_classifier(plain["parameters"], kind)
    clf.n_features_in_ = an_int(plain["n_features"], "n_features", low=1)
    if plain["feature_names"] is not None:
        names = texts(plain["feature_names"], "feature_names", clf.n_features_in_)
        clf.feature_names_in_ = np.array(names, dtype=object)
    clf.classes_ = read.read_classes(plain["classes"])
    tree = read.read_tree(plain["tree"], clf.n_features_in_, len(clf.classes_))
    shape = (tree.n_nodes, len(clf.classes_))
    clf._node_proba = floats(plain["node_proba"], "node_proba", shape)
    if ((clf._node_proba < 0) | (clf._node_proba > 1)).any():
        raise MalformedError('"node_proba" has a number outside [0, 1]')
    certificate = record(BaselineCertificate, plain["certificate"], "certificate")
    if plain["status"] not in get_args(Status):
        raise MalformedError('"status" is not a status of a fit')
    clf._set_fitted(tree, certificate, plain["status"], read.read_trace(plain["trace"]))
    clf.fit_time_ = a_float(plain["fit_time"], "fit_time")
    digest = a_text(plain["certificate_digest"], "certificate_digest")
    if digest != certificate_digest(certificate):
        raise MalformedError("the certificate does not fit its digest: it was changed")
    return read.SavedModel(clf, read.read_metadata(plain["metadata"]))
