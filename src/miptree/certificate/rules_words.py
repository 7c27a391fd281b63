"""What a certificate says of constraints: that they are kept, and at what price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from miptree.objective.tolerance import COST_ROUNDING, rounded_down, rounded_up

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate

_NAMED = 4
"""Columns that are named where many are left out."""


def rules_words(certificate: Certificate) -> str:
    """Say which rules the tree keeps, and what they cost at most and at least."""
    rules = certificate.rules or ()
    listed = " ".join(f"({n}) {rule}" for n, rule in enumerate(rules, 1))
    count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    cost = f"{_counted(certificate)}{_unpriced(certificate)}{_price(certificate)}"
    return f"It keeps {count}: {listed} {cost}"


def _counted(certificate: Certificate) -> str:
    """Say what errors cost at least where the rules are kept, if that is above all."""
    bound = certificate.rules_bound
    if not bound or bound <= certificate.any_tree_bound:
        return ""
    if certificate.has_costs:
        what = f"has errors that cost at least {rounded_down(bound)}"
    else:
        what = f"misclassifies at least {bound:.0f} rows"
    return f"Every tree that keeps them {what}, by counting alone. "


def _unpriced(certificate: Certificate) -> str:
    """Say which columns no tree compared uses: what that costs is not in the price."""
    if not certificate.left_out or certificate.prices_columns:
        return ""
    return (
        f"No tree compared uses {_listed(certificate.left_out)}, so that what leaving "
        "out such columns costs is not known. Among trees without them: "
    )


def _price(certificate: Certificate) -> str:
    value, bound = certificate.objective, certificate.free_bound
    free = certificate.free_objective
    assert free is not None
    assert bound is not None
    may_use = ""
    if certificate.prices_columns:
        may_use = f" and may use {_listed(certificate.left_out)}"
    best = f"the best tree known that need not keep them{may_use}"
    words = f"T{best[1:]} has a total cost of {free:.6g}, {value - free:.6g} less"
    one = "one"
    if _is_equal(certificate, value, free):
        words, one = f"Keeping them costs nothing against {best}", "a total cost"
    is_proved = _is_equal(certificate, value, bound)
    if bound > COST_ROUNDING * value and not is_proved:
        words += f"; as none has {one} below {rounded_down(bound)}, keeping them "
        words += f"costs at most {rounded_up(value - bound)}"
    least = certificate.objective_bound
    if not _is_equal(certificate, least, free):
        words += f"; as none that keeps them has one below {rounded_down(least)}, it "
        words += f"costs at least {rounded_down(least - free)}"
    return f"{words}.{_without_columns(certificate)}"


def _without_columns(certificate: Certificate) -> str:
    """Say what the best tree costs that keeps no rule but leaves out the columns."""
    one = certificate.columns_objective
    if one is None or _is_equal(certificate, certificate.objective, one):
        return ""  # there may be no other rule
    return (
        f" With {_listed(certificate.left_out, 'and')} left out, but no other rule, "
        f"the best tree known has one of {one:.6g}."
    )


def _is_equal(certificate: Certificate, value: float, least: float) -> bool:
    """Tell whether a value is as low as another, to the leeway of proofs."""
    return certificate.leeway.meets(value, least)


def _listed(columns: Sequence[str] | None, word: str = "or") -> str:
    """List columns, with a word between; only the first where there are many."""
    names = [repr(name) for name in columns or ()]
    n_others = len(names) - _NAMED
    if n_others > 1:
        names = [", ".join(names[:_NAMED]), f"{n_others} other columns"]
    return f" {word} ".join(names)
