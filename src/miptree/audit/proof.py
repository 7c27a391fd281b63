"""The proof file of a tree, checked, and compared with what a model says."""

from __future__ import annotations

import gzip
import json
import os
from typing import Any

from miptree.audit.points import points_data
from miptree.certificate.check import Check
from miptree.certificate.reasons import COUNTED, is_claim
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.fit.errors_log import SECTION as ERRORS
from miptree.fit.errors_log import errors_header
from miptree.fit.points_log import points_header
from miptree.fit.routes_log import routes_header
from miptree.objective.bounds import ROUTES

_CLOSE = 1e-8
"""Relative difference by which the checker's bound, rounded down, may be lower."""
_OWN = ("written_by", "target", "claim")
"""Entries of a header that need not be those of the model."""


def check_proof_file(
    clf: Any,
    rows: TrainingRows,
    proof: str | os.PathLike[str],
    data: str | os.PathLike[str],
) -> tuple[list[Check], str]:
    """Check a proof file, and that it is about this tree, these rows and this bound.

    Return the checks, and of what the file proves as much as the certificate says:
    "errors", "objective" or nothing.

    Parameters
    ----------
    clf : OptimalTreeClassifier or PointsTreeClassifier
        The model.
    rows : TrainingRows
        Its rows, in the order of the data.
    proof : path
        File that ``fit(X, y, proof_log=path)`` wrote.
    data : path
        CSV file of the rows, which the checker reads by itself.
    """
    from miptree.checker import check_proof  # thirty files that no fit needs

    outcome = check_proof(proof, data)
    checks = [Check("proof file", outcome.exit_code == 0, outcome.sentence)]
    if outcome.exit_code != 0 or outcome.bound is None:
        return checks, ""
    certificate = clf.certificate_
    given, digest = _header_and_digest(proof)
    is_of_errors = given["family"].get("kind") == ERRORS
    wanted = _header(clf, rows, is_of_errors)
    other = [
        name
        for name, value in json.loads(json.dumps(wanted)).items()
        if name not in _OWN and given.get(name) != value
    ]
    found = "it is about this tree, these rows and these penalties."
    if other:
        found = f"it is about another tree or other rows: {', '.join(other)} differ."
    checks.append(Check("subject of the proof", not other, found))
    if certificate.proof_digest:
        is_same = certificate.proof_digest == digest
        found = f"that of the file is {digest[:12]}, as the certificate says."
        if not is_same:
            found = f"the file has {digest[:12]}, the fit wrote another one."
        checks.append(Check("digest of the proof", is_same, found))
    claimed, by = certificate.objective_bound, certificate.objective_proved_by
    if is_of_errors:
        claimed, by = certificate.errors_bound, certificate.errors_proved_by
    proved = float(outcome.bound)
    is_enough = proved >= claimed * (1 - _CLOSE)
    # A solver's claim is called one, and other bounds are counted again by verify.
    has_others = not certificate.is_of_points and (is_claim(by) or by in COUNTED)
    is_other = not is_enough and has_others
    found = f"the file proves {proved:.10g}, the certificate says {claimed:.10g}"
    rests = "" if by.startswith(ROUTES) else f"; that rests on {by}, not on the file"
    found += "." if is_enough else f"{rests}."
    checks.append(Check("bound of the proof", is_enough or is_other, found))
    name = ERRORS if is_of_errors else "objective"
    return checks, name if is_enough else ""


def _header(clf: Any, rows: TrainingRows, is_of_errors: bool) -> dict[str, Any]:
    """Return the header that a proof file of the model has."""
    names = getattr(clf, "feature_names_in_", None)
    schema = Schema(clf.table_, clf.classes_, names)
    known = clf.tree_, clf.certificate_
    if not clf.certificate_.is_of_points:
        header_of = errors_header if is_of_errors else routes_header
        return header_of(schema, rows, *known, None, 0.0)
    family = points_data(clf, rows, rows.problem(clf.table_)).family
    return points_header(schema, rows, family, *known, None)


def _header_and_digest(proof: str | os.PathLike[str]) -> tuple[dict[str, Any], str]:
    """Read the first line and the last one of a proof file that was checked."""
    with open(proof, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file = gzip.GzipFile(fileobj=raw) if packed else raw
        first = last = file.readline()
        for line in file:
            last = line
    header: dict[str, Any] = json.loads(first)
    return header, str(json.loads(last)["digest"])
