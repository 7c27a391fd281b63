"""Reads the fitted tree of a model file, every value checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.checks import malformed
from miptree.certificate.digest import tree_digest
from miptree.certificate.points_sense import check_splits, senseless
from miptree.certificate.reasons import is_known
from miptree.control.clock import End
from miptree.data import Table
from miptree.data.schema import Schema
from miptree.export._json_values import (
    MalformedError,
    a_float,
    a_list,
    an_int,
    an_object,
    exact_keys,
    floats,
    ints,
    record,
)
from miptree.fit.fitted import FittedTree, passing
from miptree.fit.progress import FitProgress
from miptree.tree import LEAF, ObliqueTree
from miptree.tree.rounding import ALL_DIGITS
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

MAX_NODES = 2**13
MAX_DEPTH = 20


def read_fitted(plain: dict[str, Any], schema: Schema, clf: Any) -> FittedTree:
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
        _read_blur(plain["blur"], clf, tree, table),
        _read_counts(plain["node_count"], tree, n_classes),
        _digits(plain["digits"], tree.n_nodes),
        _read_certificate(plain["certificate"], clf, tree, table),
        _read_status(plain["status"]),
        an_int(plain["n_iter"], "n_iter", low=0),
        _read_trace(plain["trace"]),
        a_float(plain["fit_time"], "fit_time"),
        spread=_read_spread(plain["spread"], n_columns),
    )


def _read_blur(given: object, clf: Any, tree: ObliqueTree, table: Table) -> FloatArray:
    blur = floats(given, "blur", (tree.n_nodes,))
    has_none = tree.is_leaf | tree.coef[:, len(table.open_names) :].any(axis=1)
    if getattr(clf, "method", ""):
        has_none[:] = True
    if (blur < 0).any() or blur[has_none].any():
        raise MalformedError(
            '"blur" has a number below 0, or one at a leaf, at a split by categories '
            "or in another than an oblique tree"
        )
    return blur


def _read_spread(given: object, n_columns: int) -> FloatArray | None:
    if given is None:
        return None
    spread = floats(given, "spread", (n_columns,))
    if (spread < 0).any():
        raise MalformedError('"spread" has a number below 0')
    return spread


def _read_certificate(
    given: object, clf: Any, tree: ObliqueTree, table: Table
) -> Certificate:
    """Read a certificate, which must be about this tree and kind of classifier.

    That of a baseline or a points tree must fit its digest, too: ``verify`` cannot
    recount the one, and exports count on the whole points of the other.
    """
    found: Certificate = record(Certificate, given, "certificate")
    if found.method != getattr(clf, "method", ""):
        raise MalformedError("the certificate is about another kind of classifier")
    if found.method and found.digest != found.signed().digest:
        raise MalformedError("the certificate does not fit its digest: it was changed")
    if found.method and found.speaks_of_rules:
        raise MalformedError("the certificate speaks of rules, which such trees lack")
    for name in ("any_tree", "errors", "objective"):
        said = getattr(found, f"{name}_proved_by")
        if not is_known(said, found.method):
            raise MalformedError(f'"{name}_proved_by" names no proof: {said!r:.80}')
    if found.tree_digest != tree_digest(tree):
        raise MalformedError("the tree is not the one of the certificate")
    if found.is_of_points:
        problem = senseless(found, table) or _odd_split(found, tree, table)
        if problem is not None:
            raise MalformedError(problem.rstrip("."))
    return found


def _odd_split(certificate: Certificate, tree: ObliqueTree, table: Table) -> str | None:
    """Say which split of a points tree is none, None if all are."""
    splits = check_splits(certificate, tree, table)
    return None if splits.ok else splits.sentence


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
    is_leaf = tree.is_leaf
    if tree.coef[is_leaf].any() or tree.threshold[is_leaf].any():
        raise MalformedError("a leaf of the tree has a coefficient or a threshold")
    if tree.label[~is_leaf].any():
        raise MalformedError("a split of the tree has a label")
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
    digits = np.array([ints(row, "digits", 2, 0, ALL_DIGITS) for row in rows])
    if not digits[:, 0].all():
        raise MalformedError('"digits" leaves none of a coefficient')
    return digits


def _read_status(given: object) -> End:
    for status in get_args(End):
        if given == status and given not in ("bound", "infeasible"):
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


def _check_subsets(tree: ObliqueTree, table: Table) -> None:
    """Refuse a split of more than one categorical feature, or of one and others."""
    n_open = len(table.open_names)
    for coef in tree.coef[tree.coef[:, n_open:].any(axis=1)]:
        used = np.flatnonzero(coef[n_open:])
        features = set(table.value_feature[used].tolist())
        if coef[:n_open].any() or len(features) > 1 or len(set(coef[coef != 0])) > 1:
            raise MalformedError("a split of the tree is no subset of one feature")
