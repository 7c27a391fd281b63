"""What a certificate says of constraints, in numbers, and whether that can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from miptree.certificate.check import Check
from miptree.constraints.constraint import Finding
from miptree.constraints.effective import left_out
from miptree.constraints.rules import Rules
from miptree.objective.bounds import COUNTING
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
    *,
    free_bound: float,
    columns: tuple[float, float] | None = None,
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
    free_bound : float
        Bound on the objective of all trees, whether they keep the rules or not.
    columns : tuple of float, optional
        Objective and bound of trees that leave out these columns, and need not keep
        other rules; the free ones are of trees that may use them then. By default no
        tree that uses them is known, and none is in the free bound.
    """
    broken = [found.sentence for found in findings if not found.kept]
    if broken:
        raise AssertionError(f"A tree was certified that breaks a rule: {broken[0]}")
    value, bound = certificate.objective, certificate.objective_bound
    if columns is not None:  # a tree of fewer columns is one of all, too
        value = min(value, columns[0])
        bound = min(bound, value, columns[1])
        columns = value, bound
    free_objective = min(float(free_objective), value)
    return replace(
        certificate,
        rules=tuple(found.sentence for found in findings),
        free_objective=free_objective,
        free_bound=min(free_bound, bound, free_objective),
        rules_bound=min(float(rules_bound), certificate.cost),
        left_out=tuple(without),
        columns_objective=None if columns is None else columns[0],
        columns_bound=None if columns is None else columns[1],
    ).signed()


def check_rules(
    certificate: Certificate,
    rules: Rules | None,
    tree: ObliqueTree,
    leaf: IntArray,
    least_cost: float,
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
    ok = said <= least_cost + slip  # in a short time a fit may have proved less
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
    """Check that trees without rules may cost what is said.

    They are not in the model, and are not counted again.
    """
    free, value = certificate.free_objective, certificate.objective
    bound, name = certificate.free_bound, "price of the rules"
    if free is None or bound is None:
        missing = "free_objective" if free is None else "free_bound"
        return Check(name, False, f"{missing} is missing.")
    least, most = certificate.columns_bound, certificate.columns_objective
    if (least is None) != (most is None) or (
        least is not None and not certificate.left_out
    ):
        found = (
            "columns_objective and columns_bound go together, with columns left out."
        )
        return Check(name, False, found)
    least, most = bound if least is None else least, free if most is None else most
    meets = certificate.leeway.meets
    is_possible = meets(bound, free) and meets(free, most) and meets(most, value)
    is_possible &= bound <= least and meets(least, most)
    is_possible &= certificate.any_tree_bound * (1 - 1e-9) <= least
    is_possible &= least <= certificate.objective_bound
    found = (
        f"{free:.10g} without them lies between {bound:.10g} and {value:.10g}; the "
        "model does not hold that tree, so that this rests on the digest."
    )
    return Check(name, is_possible, found)
