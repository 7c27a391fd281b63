"""Proof files of fits: written, or a warning says why not."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum, inf, nextafter
from typing import TYPE_CHECKING, Any

from miptree.certificate.reasons import reason
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.fit.errors_log import bound_shown, write_errors_proof
from miptree.fit.fitted import FittedTree
from miptree.fit.proof_log import ProofTooLargeError
from miptree.fit.routes_log import write_routes_proof
from miptree.fit.unlogged import why_not_recorded, why_unproved
from miptree.objective.bounds import EXHAUSTIVE, Bound
from miptree.objective.tolerance import rounded_down
from miptree.proof import NOTHING_RECORDED
from miptree.utils.warn import warn

if TYPE_CHECKING:
    from miptree.proof.routes.result import Part

_ROUNDING = 1e-9
"""Relative difference of two bounds that is not worth a word."""


def with_proof_file(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    problem: Problem,
    fitted: FittedTree,
    *,
    target: str | None = None,
    force: bool = False,
) -> FittedTree:
    """Write the proof that a fit recorded, and return the fit with its digest.

    Where there is no proof, or too large a one, a warning says so, and nothing is
    written. A bound that a solver claims, or that errors alone gave, is not in the
    file: what the branch and bound over routes proved is, if less, and a warning says
    so, too. The certificate keeps the claim, which it calls one, but of errors it says
    what they are alone: its bound on the objective is that of the file.

    Parameters
    ----------
    path : path
        File to write.
    schema, rows, problem
        What was fitted to.
    fitted : FittedTree
        The tree with its ``proof``.
    target : str, optional
        Column of the labels, where it is known.
    force : bool
        Whether a file of that name is replaced.
    """
    proof, certificate = fitted.proof, fitted.certificate
    fitted = replace(fitted, proof=None)  # it may be large, and nobody needs it again
    if proof is None or not proof.parts:
        _warn(why_unproved(fitted))
        return fitted
    shown, told = _shown(proof.parts), fitted
    is_less = shown < certificate.objective_bound * (1 - _ROUNDING)
    if is_less and _rests_on_search(fitted):
        told = _with_bound(fitted, Bound(shown, proof.bound.proved_by))
    known = schema, rows, problem, fitted.tree, told.certificate, proof.parts
    written = with_digest(
        told, lambda: write_routes_proof(path, *known, target=target, force=force)
    )
    if not written.certificate.proof_digest:
        return fitted
    if is_less:
        why = reason(certificate.objective_proved_by)
        nor = "" if told is fitted else ", nor in the certificate"
        warn(
            f"The proof file shows that no tree costs less than {rounded_down(shown)}; "
            f"that none costs less than {rounded_down(certificate.objective_bound)}, "
            f"{why}, is not in it{nor}."
        )
    return written


def with_errors_file(
    path: str | os.PathLike[str],
    schema: Schema,
    rows: TrainingRows,
    problem: Problem,
    fitted: FittedTree,
    *,
    target: str | None = None,
    force: bool = False,
) -> FittedTree:
    """Write the proof of the errors that a fit recorded, as ``with_proof_file`` does.

    A bound that was proved in another way is not in the file: what the recorded search
    shows is, if less, and a warning says so. The certificate keeps a solver's claim,
    which it calls one, but of exhaustive search it says what the file shows.

    Parameters
    ----------
    path, schema, rows, problem, fitted, target, force
        As for :func:`with_proof_file`.
    """
    certificate, is_recorded = fitted.certificate, fitted.errors_record is not None
    record = fitted.errors_record or NOTHING_RECORDED
    fitted = replace(fitted, errors_record=None)  # it may be large
    shown = bound_shown(record, problem, certificate.depth).value
    if shown <= 0:
        _warn(why_not_recorded(fitted, is_recorded))
        return fitted
    told, proved_by = fitted, certificate.errors_proved_by
    is_less = shown < certificate.errors_bound * (1 - _ROUNDING)
    if is_less and proved_by.startswith(EXHAUSTIVE):
        told = _with_errors(fitted, bound_shown(record, problem, certificate.depth))
    known = schema, rows, problem, fitted.tree, told.certificate, record
    written = with_digest(
        told, lambda: write_errors_proof(path, *known, target=target, force=force)
    )
    if not written.certificate.proof_digest:
        return fitted
    if is_less:
        nor = "" if told is fitted else ", nor in the certificate"
        bound = rounded_down(certificate.errors_bound)
        warn(
            "The proof file shows that the errors and close calls of every tree cost "
            f"{rounded_down(shown)} or more; that they cost {bound} or more, "
            f"{reason(proved_by)}, is not in it{nor}."
        )
    return written


def _with_errors(fitted: FittedTree, bound: Bound) -> FittedTree:
    """Return a fit whose certificate says no more of the errors than its file."""
    certificate = replace(
        fitted.certificate, errors_bound=bound.value, errors_proved_by=bound.proved_by
    )
    return replace(fitted, certificate=certificate.signed())


def _shown(parts: Sequence[Part]) -> float:
    """Return what parts with recorded proofs show that all trees cost."""
    total = fsum(part.threshold for part in parts)
    return total if len(parts) == 1 else nextafter(total, -inf)


def _rests_on_search(fitted: FittedTree) -> bool:
    """Tell whether a bound on the objective is one on errors, which left no file."""
    is_of_errors = fitted.certificate.objective_proved_by.startswith(EXHAUSTIVE)
    return is_of_errors and fitted.status not in ("optimal", "gap_tol")


def _with_bound(fitted: FittedTree, bound: Bound) -> FittedTree:
    """Return a fit whose certificate says no more of the objective than its file.

    What was proved of the errors stays.
    """
    certificate = fitted.certificate
    trivial = Bound(certificate.any_tree_bound, certificate.any_tree_proved_by)
    value, proved_by = max(bound, trivial, key=lambda one: one.value)
    certificate = replace(
        certificate, objective_bound=value, objective_proved_by=proved_by
    ).signed()
    trace = [replace(one, bound=min(value, one.bound)) for one in fitted.trace]
    return replace(fitted, certificate=certificate, trace=trace)


def with_digest(fitted: FittedTree, write: Callable[[], str]) -> FittedTree:
    """Write a proof file, and return the fit with a certificate that names it.

    Where the proof is too large, or the disk is full, a warning says so, and the fit
    is returned as it is.

    Parameters
    ----------
    fitted : FittedTree
    write : callable
        Writes the file and returns its digest.
    """
    try:
        digest = write()
    except ProofTooLargeError as error:
        _warn(str(error))
        return fitted
    except OSError as error:  # such as a full disk: no reason to lose hours of work
        _warn(error.strerror or str(error))
        return fitted
    certificate = replace(fitted.certificate, proof_digest=digest).signed()
    return replace(fitted, certificate=certificate)


def _warn(why: str) -> None:
    warn(f"No proof file was written: {why}. The tree and its certificate stay.")


def name_of(y: Any) -> str | None:
    """Return the name of the column of labels, where it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None
