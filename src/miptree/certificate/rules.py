"""What a certificate says of constraints: that they are kept, and at what price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from miptree.certificate.check import Check
from miptree.constraints.constraint import Finding
from miptree.constraints.effective import left_out
from miptree.constraints.rules import Rules
from miptree.objective.bounds import COUNTING
from miptree.objective.tolerance import COST_ROUNDING, meets
from miptree.tree import ObliqueTree
from miptree.utils.arrays import IntArray

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate


def with_rules(
    certificate: Certificate,
    findings: Sequence[Finding],
    free_objective: float,
    rules_bound: float,
    without: Sequence[str] = (),
    free_bound: float | None = None,
) -> Certificate:
    """Add what constraints found of a tree, all of them kept, to its certificate.

    Parameters
    ----------
    certificate : Certificate
        Its bound on the objective is of trees that keep them, others are of all.
    findings : sequence of Finding
        One for each constraint.
    free_objective : float
        Objective of the best tree known that need not keep them.
    rules_bound : float
        What the errors of every tree that keeps them cost at least.
    without : sequence of str
        Columns that no split may use.
    free_bound : float, optional
        Bound on the objective of all trees, whether they keep the rules or not, by
        default that of the certificate.
    """
    broken = [found.sentence for found in findings if not found.kept]
    if broken:
        raise AssertionError(f"A tree was certified that breaks a rule: {broken[0]}")
    free_objective = min(float(free_objective), certificate.objective)
    bound = certificate.objective_bound
    free_bound = bound if free_bound is None else min(free_bound, bound)
    return replace(
        certificate,
        rules=tuple(found.sentence for found in findings),
        free_objective=free_objective,
        free_bound=min(free_bound, free_objective),
        rules_bound=min(float(rules_bound), certificate.cost),
        left_out=tuple(without),
    ).signed()


def check_rules(
    certificate: Certificate,
    rules: Rules | None,
    tree: ObliqueTree,
    leaf: IntArray,
    least_cost: float = 0.0,
) -> Iterator[Check]:
    """Count every constraint again, given the exact leaf of each row.

    Parameters
    ----------
    certificate : Certificate
    rules : Rules or None
        The constraints of the fit and the rows as given, None without constraints.
    tree, leaf
        The tree, and the leaf of each row in exact arithmetic.
    least_cost : float
        What errors cost at least by counting, computed again.
    """
    said = certificate.rules
    if rules is None:
        if certificate.speaks_of_rules:
            found = "the certificate speaks of rules, but no constraints were given."
            yield Check("rules", False, found)
        return
    findings = rules.findings(tree, leaf)
    for number, finding in enumerate(findings, 1):
        yield Check(f"rule {number}", finding.kept, finding.sentence)
    same = said == tuple(finding.sentence for finding in findings)
    found = "the certificate says what was counted again."
    if not same:
        found = "the certificate says something else of them than what was counted."
    yield Check("rules", same, found)
    yield _check_price(certificate)
    yield _check_bound(certificate, least_cost)
    columns = tuple(sorted(left_out(rules.constraints)))
    found = "splits may use every column."
    if columns:
        found = f"no split may use {', '.join(map(repr, columns))}."
    yield Check("columns left out", columns == certificate.left_out, found)


def _check_bound(certificate: Certificate, least_cost: float) -> Check:
    """Check what errors are said to cost at least."""
    said = certificate.rules_bound
    if said is None:
        return Check("bound by counting", False, "rules_bound is missing.")
    slip = 1e-6 * max(1.0, abs(least_cost))
    ok = abs(said - least_cost) <= slip
    found = f"{said:.10g}, counted again {least_cost:.10g}."
    for bound, proved_by in (
        (certificate.objective_bound, certificate.objective_proved_by),
        (certificate.errors_bound, certificate.errors_proved_by),
    ):
        if proved_by == COUNTING and bound > least_cost + slip:
            ok = False
            found += f" It does not prove {bound:.10g}, as is said."
    return Check("bound by counting", ok, found)


def _check_price(certificate: Certificate) -> Check:
    """Check that the tree without rules may cost what is said."""
    free, value = certificate.free_objective, certificate.objective
    bound = certificate.free_bound
    if free is None or bound is None:
        missing = "free_objective" if free is None else "free_bound"
        return Check("price of the rules", False, f"{missing} is missing.")
    is_possible = meets(bound, free) and meets(free, value)
    is_possible &= certificate.any_tree_bound * (1 - 1e-9) <= bound
    is_possible &= bound <= certificate.objective_bound
    found = f"{free:.10g} without them lies between {bound:.10g} and {value:.10g}."
    return Check("price of the rules", is_possible, found)


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
        what = f"has errors that cost at least {bound:.6g}"
    else:
        what = f"misclassifies at least {bound:.0f} rows"
    return f"Every tree that keeps them {what}, by counting alone. "


def _unpriced(certificate: Certificate) -> str:
    """Say which columns no tree compared uses: what that costs is not in the price."""
    if not certificate.left_out:
        return ""
    columns = " or ".join(map(repr, certificate.left_out))
    return (
        f"No tree compared uses {columns}, so that what leaving out such columns costs "
        "is not known. Beside that: "
    )


def _price(certificate: Certificate) -> str:
    value, bound = certificate.objective, certificate.free_bound
    free = certificate.free_objective
    assert free is not None
    assert bound is not None
    if meets(value, free):
        return "Keeping them costs nothing against the best tree known without them."
    words = (
        "The best tree known that need not keep them has a total cost of "
        f"{free:.6g}, {value - free:.6g} less"
    )
    if bound > COST_ROUNDING * value:
        words += f"; as none has one below {bound:.6g}, keeping them costs at most "
        words += f"{value - bound:.6g}"
    least = certificate.objective_bound
    if not meets(least, free):
        words += f"; as none that keeps them has one below {least:.6g}, it costs at "
        words += f"least {least - free:.6g}"
    return f"{words}."
