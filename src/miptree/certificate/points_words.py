"""What the certificate of a points tree says, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from miptree.certificate.proved_words import by_more
from miptree.certificate.reasons import reason
from miptree.objective.bounds import EXHAUSTIVE, ROUTES
from miptree.objective.points import POINTS_TREE
from miptree.objective.tolerance import percent, rounded_down

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate

_DIGITS = range(6, 18)
"""Significant digits to try until two numbers look different."""


def points_sentence(certificate: Certificate) -> str:
    """Say what a points tree costs, and what no tree of its family undercuts."""
    if certificate.n_sampled is not None:
        return f"{_value(certificate)}. {_choice(certificate)}."
    return f"{_value(certificate)}{_verdict(certificate)} ({_details(certificate)})."


def _value(certificate: Certificate) -> str:
    """Say what a tree costs."""
    errors, cost = certificate.errors, short(certificate.cost)
    counted = f"The tree misclassifies {errors} of {certificate.counted_rows}"
    if certificate.has_costs and (errors or certificate.cost):
        counted += f", which {'costs' if errors == 1 else 'cost'} {cost}"
    what, _, penalty = certificate.objective_terms.partition(" + ")
    if not penalty:
        return counted
    value = short(certificate.objective)
    if not certificate.objective_optimal:
        value, _ = told_apart(certificate.objective, certificate.objective_bound)
    if what == "errors":
        return f"{counted}. Its cost ({certificate.objective_terms}) is {value}"
    return f"{counted}. With {penalty} that is {value} in all"


def _choice(certificate: Certificate) -> str:
    """Say which rows the splits were chosen for, and that nothing else is proved."""
    rows = f"a sample of {certificate.n_sampled} of the {certificate.n_rows} rows"
    kind = certificate.trees.removeprefix(f"{POINTS_TREE} of ")
    chosen = f"the best found for {rows}, not proved to be the best for it"
    if certificate.best_of_sample:
        chosen = f"those of the best {POINTS_TREE} of its kind for {rows}"
    proved, bound = "nothing is proved", certificate.any_tree_bound
    if bound > 0:
        why = reason(certificate.any_tree_proved_by)
        proved += f" but that errors cost at least {_short_bound(bound)}, {why}"
    return (
        f"Its splits are {chosen}; its leaves are labelled by all rows, and for all "
        f"rows {proved} (its kind: {kind})"
    )


def _verdict(certificate: Certificate) -> str:
    """Say whether a tree of the family may be cheaper."""
    less = "costs less"
    if certificate.objective_terms == "errors":
        less = "misclassifies fewer"
    if certificate.objective_optimal:
        return f", and no {POINTS_TREE} of its kind {less}{by_more(certificate)}"
    _, bound = told_apart(certificate.objective, certificate.objective_bound)
    return (
        f"; no {POINTS_TREE} of its kind {less} than {bound}, so the best is at most "
        f"{percent(certificate.gap)} below it"
    )


def _details(certificate: Certificate) -> str:
    """Say which trees were compared, and how."""
    kind = certificate.trees.removeprefix(f"{POINTS_TREE} of ")
    why = proof_words(certificate)
    how = (
        f"proved by {why}"
        if certificate.objective_optimal
        else f"bound by {why.removeprefix('bounds of ')}"
    )
    parts = f"its kind: {kind}", how, _units(certificate)
    return "; ".join(part for part in parts if part)


def proof_words(certificate: Certificate) -> str:
    """Say what gave the bound on the cost of a tree."""
    why = certificate.objective_proved_by
    if why.startswith(ROUTES):
        why += "; every step was recomputed from the data"
    if certificate.is_of_points and not certificate.objective_optimal:
        return why.replace(EXHAUSTIVE, "bounds of an unfinished search")
    return why


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


def _short_bound(bound: float) -> str:
    """Write a bound as people would write a number, but never more than it is."""
    text = short(bound)
    is_all = math.isclose(float(text), bound, rel_tol=1e-9)
    return text if is_all else rounded_down(bound)


def told_apart(value: float, bound: float) -> tuple[str, str]:
    """Write a value and a bound with so many digits that different ones look different.

    The bound is rounded down, unless it is the value.
    """
    for digits in _DIGITS:
        text = f"{value:.{digits}g}"
        if value == bound:
            return text, text
        if f"{bound:.{digits}g}" != text:
            break
    return text, rounded_down(bound, digits)
