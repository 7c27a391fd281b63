"""What a model says of its fit: it must agree with itself, more cannot be known."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from miptree.certificate.certificate import Certificate
from miptree.certificate.check import Check
from miptree.fit.fitted import FittedTree
from miptree.fit.progress import FitProgress
from miptree.objective.bounds import REFUTED


def check_status(clf: Any) -> Check:
    """Check that the status fits what the certificate proves."""
    fitted: FittedTree = clf.fitted_
    certificate, status = fitted.certificate, fitted.status
    is_proved = certificate.objective_optimal
    if status == "optimal" and not is_proved:
        found = "it is 'optimal', but objective and bound do not meet."
        return Check("status", False, found)
    if is_proved and status != "optimal" and _tells_proofs(clf):
        found = f"it is {status!r}, but objective and bound meet."
        return Check("status", False, found)
    allowed = getattr(clf, "gap_tol", -1.0)  # of a points tree there is none
    if status == "gap_tol" and not certificate.gap <= allowed:
        found = f"it is 'gap_tol', but the gap is {certificate.gap:.6g}."
        return Check("status", False, found)
    return Check("status", True, f"{status!r} agrees with objective and bound.")


def _tells_proofs(clf: Any) -> bool:
    """Tell whether a proof is always the status of such a fit.

    That of a cross-validation (which has no solver) says why that ended, and that of
    an alternative tree what its own search came to.
    """
    if getattr(clf, "restriction_", None) is not None:
        return False
    return getattr(clf, "solver", None) != "search"


def check_trace(fitted: FittedTree) -> Check:
    """Check that the history of a fit ends with its certificate."""
    problem = _odd_times(fitted) or _odd_course(fitted)
    found = f"{len(fitted.trace)} states, the last as in the certificate."
    return Check("history", problem is None, problem or found)


def _odd_times(fitted: FittedTree) -> str | None:
    times = [state.seconds for state in fitted.trace]
    if any(a > b for a, b in pairwise([0.0, *times])):
        return "its times do not rise."
    if times and times[-1] > fitted.seconds:
        return "it ends after the fit."
    if not 0 <= fitted.certificate.seconds <= fitted.seconds:
        return "the certificate was not written within the time of the fit."
    return None


def _odd_course(fitted: FittedTree) -> str | None:
    trace, certificate = fitted.trace, fitted.certificate
    if any(b.objective > a.objective for a, b in pairwise(trace)):
        return "the objective rises."
    if any(not 0 <= state.errors <= certificate.n_rows for state in trace):
        return "a state has more errors than rows."
    if not trace:
        return None
    last = trace[-1]
    if last.objective != certificate.objective:
        return "it does not end with the objective of the certificate."
    if not _ends_with_bound(last, certificate):
        return "it does not end with the bound of the certificate."
    return None


def _ends_with_bound(last: FitProgress, certificate: Certificate) -> bool:
    bound = min(certificate.objective_bound, certificate.objective)
    was_lowered = certificate.objective_proved_by.startswith(REFUTED)
    return last.bound == bound or (was_lowered and last.bound >= bound)
