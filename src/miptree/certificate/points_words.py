"""What the certificate of a points tree says, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate

_DIGITS = range(6, 18)
"""Significant digits to try until two numbers look different."""


def points_sentence(certificate: Certificate) -> str:
    """Say what a points tree costs, and what no tree of its family undercuts."""
    counted, why = certificate.counted_errors, certificate.objective_proved_by
    reason = f"({'; '.join(part for part in (why, _units(certificate)) if part)})"
    if certificate.objective == certificate.cost:
        return f"{counted}{_verdict(certificate)} {reason}."
    value = short(certificate.objective)
    if not certificate.objective_optimal:
        value, _ = told_apart(certificate.objective, certificate.objective_bound)
    terms = certificate.objective_terms
    cost = f"Its cost ({terms}) is {value}{_verdict(certificate)}"
    return f"{counted}. {cost} {reason}."


def _verdict(certificate: Certificate) -> str:
    """Say whether a tree of the family may be cheaper."""
    less = "costs less"
    if certificate.objective == certificate.errors:
        less = "misclassifies fewer"
    if certificate.objective_optimal:
        if certificate.cost_rounding > 0:
            less += f" by more than {2 * certificate.cost_rounding:.2g}"
        return f": no {certificate.trees}, {less}"
    _, bound = told_apart(certificate.objective, certificate.objective_bound)
    return (
        f", not proved optimal: no {certificate.trees}, {less} than {bound}, which "
        f"leaves a gap of {100 * certificate.gap:.3g} %"
    )


def _units(certificate: Certificate) -> str:
    """Say in which units the costs were compared, where that is worth a word."""
    unit = certificate.cost_unit
    if certificate.cost_rounding > 0:
        return f"costs were rounded to units of {unit:.2g}"
    return "" if unit in (0.0, 1.0) else f"counted in units of {unit:.6g}"


def short(number: float) -> str:
    """Write a number as people would: with up to 10 digits if that is all it has."""
    text = f"{number:.10g}"
    is_all = len(text) <= 10 and math.isclose(float(text), number, rel_tol=1e-12)
    return text if is_all else f"{number:.6g}"


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Write two numbers with so many digits that different ones look different."""
    for digits in _DIGITS:
        texts = f"{first:.{digits}g}", f"{second:.{digits}g}"
        if first == second or texts[0] != texts[1]:
            break
    return texts
