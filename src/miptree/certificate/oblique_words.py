"""What the certificate of an oblique tree says: first for anybody, then for experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miptree.certificate.points_words import told_apart
from miptree.certificate.proved_words import by_more, left_to_prove
from miptree.certificate.reasons import details, is_claim, reason
from miptree.certificate.rules_words import rules_words
from miptree.objective.tolerance import COST_ROUNDING, percent

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate


def oblique_sentence(certificate: Certificate) -> str:
    """Say how many errors a tree makes, how near to the best it is, and by what."""
    parts = [_errors(certificate), _cost(certificate)]
    if certificate.rules is not None:
        parts.append(rules_words(certificate))
    return " ".join([*parts, _technical(certificate)])


# ---------------------------------------------------------------------- for anybody


def _errors(certificate: Certificate) -> str:
    """Say how many errors the tree makes, and how many every tree makes."""
    counted, trees = certificate.counted_errors, trees_compared(certificate)
    has_costs = certificate.has_costs
    fewer = "has errors that cost less" if has_costs else "misclassifies fewer"
    if certificate.cost == 0:
        return f"{counted}."
    if certificate.has_least_cost:
        why = reason(certificate.any_tree_proved_by)
        return f"{counted}, and no {trees} {fewer}, {why}."
    near, bound = certificate.cost_at_margin, certificate.errors_bound
    if bound <= COST_ROUNDING * near:
        return f"{counted}; whether another {trees} {fewer} is not known."
    if has_costs:
        return f"{counted}{_costs_at_margin(certificate)}"
    return f"{counted}{_close_calls(certificate)}"


def _close_calls(certificate: Certificate) -> str:
    """Say how many rows are close calls, and how many of both every tree has."""
    near, bound = certificate.cost_at_margin, certificate.errors_bound
    more, trees = round(near - certificate.cost), trees_compared(certificate)
    words = f", and {more} more are close calls: right, but next to a split."
    if more == 1:
        words = ", and 1 more is a close call: right, but next to a split."
    if more == 0:
        words = " and has no close calls, rows that are right but next to a split."
    why = reason(certificate.errors_proved_by)
    if certificate.has_least_cost_at_margin:
        these = f"than these {near:.0f} " if more else ""
        return f"{words} No {trees} has fewer {these}errors and close calls, {why}."
    both = "error or close call" if bound == 1 else "errors and close calls"
    _, least = told_apart(near, bound)
    return f"{words} Every {trees} has at least {least} {both}, {why}."


def _costs_at_margin(certificate: Certificate) -> str:
    """Say what errors and close calls cost, and what they cost at least."""
    near, bound = certificate.cost_at_margin, certificate.errors_bound
    near_text, least = told_apart(near, bound)
    why, trees = reason(certificate.errors_proved_by), trees_compared(certificate)
    than = "" if certificate.has_least_cost_at_margin else f" than {least}"
    return (
        f", and {near_text} with close calls, rows that are right but next to a split, "
        f"counted as errors. No {trees} has a lower cost{than} by that count, {why}."
    )


def _cost(certificate: Certificate) -> str:
    """Say what the tree costs in all, and how much less another may cost."""
    what = "what errors cost" if certificate.has_costs else "errors"
    value, bound = certificate.objective, certificate.objective_bound
    value_text, bound_text = told_apart(value, bound)
    charges = (
        f"{what}, plus charges for rows next to a split and for large coefficients"
    )
    counted = f"Its total cost ({charges}) is"
    trees = trees_compared(certificate, certificate.is_of_ruled_trees)
    why = reason(certificate.objective_proved_by)
    if certificate.objective_optimal:
        less = f"no {trees} costs less{by_more(certificate)}"
        verdict = f"proved optimal: {less}, {why}"
        if is_claim(certificate.objective_proved_by):
            verdict = f"optimal {why}: {less}"
        return f"{counted} {value:.6g}, {verdict}."
    if bound <= COST_ROUNDING * value:
        unknown = f"how much less the best {trees} costs is not known"
        return f"{counted} {value:.6g}, not proved optimal: {unknown}."
    return (
        f"{counted} {value_text}, not proved optimal: no {trees} costs less than "
        f"{bound_text}, {why}, so the best is at most {percent(certificate.gap)} "
        "cheaper."
    )


def trees_compared(certificate: Certificate, keeping_rules: bool = False) -> str:
    """Name the trees compared."""
    limit = certificate.max_features
    features = "1 feature" if limit == 1 else f"{limit} features"
    beside = "" if limit is None else f" with at most {features} in a split"
    if certificate.left_out:
        columns = " or ".join(map(repr, certificate.left_out))
        beside += f" that does not use {columns}"
    kept_or_not = ", whether it keeps the rules or not," if certificate.rules else ""
    if keeping_rules:
        kept_or_not = " and keeps the rules" if beside else " that keeps the rules"
    return f"tree of depth {certificate.depth}{beside}{kept_or_not}"


# ---------------------------------------------------------------------- for experts


def _technical(certificate: Certificate) -> str:
    """Give the terms of the objective, the margin and the gap."""
    errors = "cost of errors" if certificate.has_costs else "errors"
    terms = (
        f"{errors} + {certificate.slack_penalty:g} * slack + "
        f"{certificate.l1_penalty:g} * 1-norms"
    )
    box = "on features scaled to [0, 1] with scores in [-1, 1]"
    words = (
        f"In technical terms: the total cost is {terms} {box}; a row is next to a "
        f"split if its score is nearer to it than {certificate.margin:g}; "
        f"gap {left_to_prove(certificate)}"
    )
    words += details(certificate.objective_proved_by)
    if certificate.proof_digest:
        words += f"; the fit wrote a file of digest {certificate.proof_digest[:12]}"
    return f"({words}.)"
