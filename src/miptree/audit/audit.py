"""All that a model says, beside what its training rows say."""

from __future__ import annotations

import errno
import os
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from miptree.audit.baselines import check_baseline
from miptree.audit.columns import check_columns
from miptree.audit.history import check_status, check_trace
from miptree.audit.limits import check_limits
from miptree.audit.nodes import check_nodes
from miptree.audit.points import check_points, known_family, points_data
from miptree.audit.proof import check_proof_file
from miptree.audit.resting import notes
from miptree.audit.rows import given_data, read_rows
from miptree.audit.settings import check_settings
from miptree.certificate.certificate import PARTITIONED
from miptree.certificate.check import Check
from miptree.certificate.given_data import GivenData
from miptree.certificate.verification import Verification, check_certificate
from miptree.classifiers.table_classifier import TableClassifier
from miptree.constraints.rules import Rules
from miptree.data.rows import TrainingRows
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.export.json import read_model
from miptree.export.json_reader import SavedModel


def verify_model(
    model: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    row_costs: ArrayLike | None = None,
    digest: str | None = None,
    resolve_with: str | None = None,
    resolve_seconds: float | None = 60.0,
    proof: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    sensitive_features: Any = None,
    control_features: Any = None,
) -> Verification:
    """Compute all that a model says again from its training rows, and compare.

    Columns and what fills their gaps, classes, counts, probabilities and digits of
    all nodes, the certificate, and the parameters that these follow from. What no data
    can tell (who wrote a file, how long a fit took, with which solver) is protected by
    the digest of a model file only; printed, the outcome says so.

    Parameters
    ----------
    model : classifier or path
        A fitted classifier of this package, or the model file of one. A file that
        was changed since it was written is refused.
    X : data frame or array-like of shape (n_samples, n_features)
        The rows that it was fitted to, in any order.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), optional
        The weights that the fit was given; the model knows its ``class_weight``.
    row_costs : array-like of shape (n_samples, n_classes), optional
        For a tree of :func:`miptree.distill`: ``prediction_costs(model, X)``.
    digest : str, optional
        Digest of the model file (of the certificate, for a classifier), as you noted
        it when it was written: then nothing at all can have been changed.
    resolve_with, resolve_seconds
        As for :func:`miptree.verify`: repeat the proofs.
    proof, data : path, optional
        Proof file of the fit, and the CSV file of the rows in their order:
        the proof is checked, and compared with the model.
    sensitive_features, control_features : array-like, optional
        The groups that a fit with constraints was given: every constraint is counted
        again.

    Returns
    -------
    Verification
        ``ok``, a record for each check, and notes on what rests on the digest.

    Raises
    ------
    ValueError
        If X and y are no rows with labels, or the file is no model.
    ChangedFileError
        If the file is not as it was written.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier, verify_model
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(solver="search", max_iter=20, random_state=0)
    >>> clf = clf.fit(X, y)
    >>> verify_model(clf, X, y).ok
    True
    >>> clf.fitted_.node_proba[0] = 0.5
    >>> [check.name for check in verify_model(clf, X, y).wrong]
    ['probabilities']
    """
    if isinstance(model, (str, os.PathLike)):
        model = read_model(model)
    checks, of_file = [], None
    if isinstance(model, SavedModel):
        checks.append(_check_file(model, digest))
        of_file, digest, model = model.digest, None, model.clf
    check_is_fitted(model)
    clf = getattr(model, "best_estimator_", model)
    if resolve_with is not None and not isinstance(clf, TableClassifier):
        raise ValueError(
            f"resolve_with is {resolve_with!r}, but a baseline's proof is repeated "
            "by fitting it again."
        )
    given = read_rows(
        clf, X, y, sample_weight, row_costs, sensitive_features, control_features
    )
    checks += given.checks
    if given.rows is None:
        return Verification(tuple(checks))
    try:
        checks += _check_all(
            clf, given.rows, digest, resolve_with, resolve_seconds, proof is not None
        )
    except _CannotReadError as error:
        return Verification((*checks, Check("rows", False, str(error))))
    was_checked = ""
    if proof is not None:
        of_proof, was_checked = _check_proof(clf, given.rows, proof, data)
        checks += of_proof
    said = notes(clf, of_file, resolve_with is not None, was_checked)
    return Verification(tuple(checks), said)


def _check_proof(
    clf: Any,
    rows: TrainingRows,
    proof: str | os.PathLike[str],
    data: str | os.PathLike[str] | None,
) -> tuple[list[Check], str]:
    if not isinstance(clf, (OptimalTreeClassifier, PointsTreeClassifier)):
        raise ValueError(
            "A proof file (--proof) is of an oblique tree or of a points tree, and "
            "this model is neither."
        )
    if data is None:
        raise ValueError("proof needs data, the CSV file of the rows.")
    if not os.path.exists(proof):
        raise FileNotFoundError(errno.ENOENT, "There is no proof file", str(proof))
    return check_proof_file(clf, rows, proof, data)


class _CannotReadError(ValueError):
    """The rows cannot be read as the model says."""


def _check_file(saved: SavedModel, noted: str | None) -> Check:
    ok = noted in (None, saved.digest)
    found = "its content fits its digest: it is as it was written."
    if not ok:
        found = f"its digest is {saved.digest}, not the one that was noted."
    return Check("model file", ok, found)


def _rules(clf: Any, rows: TrainingRows, data: GivenData) -> Rules | None:
    """Return the constraints of the model and the rows that they count, if any."""
    constraints = getattr(clf, "constraints_", ())
    if not constraints:
        return None
    try:
        return data.rules(constraints, clf.classes_, clf.table_, rows.costs)
    except ValueError as error:
        raise _CannotReadError(str(error)) from None


def _check_all(
    clf: Any,
    rows: TrainingRows,
    digest: str | None,
    resolve_with: str | None,
    seconds: float | None,
    has_proof_file: bool,
) -> list[Check]:
    """Check everything that needs the rows."""
    certificate, table = clf.certificate_, clf.table_
    in_partitions = certificate.data_digest == PARTITIONED
    is_of_table = isinstance(clf, TableClassifier)
    checks = []
    try:
        if is_of_table:
            checks.append(check_columns(clf, rows, in_partitions))
        checks.append(check_limits(clf, rows))
        most = certificate.max_features if not certificate.is_of_points else None
        problem, data = rows.problem(table, most), given_data(rows, table)
        points = points_data(clf, rows, problem) if certificate.is_of_points else None
    except ValueError as error:
        raise _CannotReadError(str(error)) from None
    if not is_of_table:
        checks += check_baseline(clf, data, problem, digest)
    else:
        known = None if points is None else known_family(points)
        checks += check_certificate(
            certificate,
            clf.tree_,
            data,
            table,
            digest,
            resolve_with,
            seconds,
            _rules(clf, rows, data),
            known,
            has_proof_file,
        )
        if any(not check.ok for check in checks if check.name in ("tree", "settings")):
            return checks
        if points is None:
            checks += check_settings(clf, problem)
        else:
            checks += check_points(clf, rows, points)
    if all(check.ok for check in checks if check.name == "tree"):
        checks += check_nodes(clf.fitted_, problem, in_partitions)
    return [*checks, check_status(clf), check_trace(clf.fitted_)]
