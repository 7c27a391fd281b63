"""The numbers of a certificate beside those that were counted again."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from miptree.certificate.certificate import (
    PARTITIONED,
    Certificate,
    cheapest_in_partitions,
)
from miptree.certificate.check import Check
from miptree.certificate.checks import equal, objective_of, say
from miptree.certificate.digest import data_digest, tree_digest
from miptree.certificate.exact_score import float_rounding, has_too_many
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.objective import MARGIN_ROUNDING

DATA = "data digest"
"""Name of the check that fails for another table, and is the cause of others then."""
SUM_TOLERANCE = 1e-9
"""Relative difference that the rounding of a sum of weights explains."""
BOX_TOLERANCE = 1e-6
"""How far a score may lie outside the box abs(score) <= 1: solvers' tolerances."""


def compare(
    certificate: Certificate, recount: Recount, has_proof_file: bool = False
) -> Iterator[Check]:
    """Compare every number of the certificate with the recomputed one.

    ``has_proof_file`` tells whether other checks are about a proof of the objective.
    """
    yield from compare_identity(certificate, recount)
    yield check_routing(recount)
    yield from _compare_values(certificate, recount)
    yield from _compare_bounds(certificate, recount, has_proof_file)


def compare_identity(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    """Check that tree and data are those that were certified, within its limits."""
    tree, data = recount.tree, recount.data
    same = tree_digest(tree) == certificate.tree_digest
    which = "the one" if same else "not the tree that was"
    yield Check("tree digest", same, f"the tree is {which} certified.")
    yield _check_data(certificate, data)
    most = certificate.max_features
    if most is not None:
        opened = tree.coef[:, : data.n_open]
        used = int(np.count_nonzero(opened, axis=1).max())
        found = f"splits of up to {used} features, certified among up to {most}."
        yield Check("features", used <= most, found)
    depth, most = tree.depth, certificate.depth
    found = f"the tree has depth {depth}, certified among depth {most}."
    yield Check("depth", depth <= most, found)


def _check_data(certificate: Certificate, data: GivenData) -> Check:
    if certificate.data_digest == PARTITIONED:
        found = (
            "the tree was trained on data in partitions, and its certificate has no "
            "digest of them: only the numbers tell that these are the same rows."
        )
        return Check(DATA, True, found)
    same = data_digest(data.problem) == certificate.data_digest
    which = "those" if same else "not the rows, labels, weights and costs that were"
    found = f"the data are {which} certified"
    found += "." if same else ": another table, or one that was changed since."
    return Check(DATA, same, found)


def check_routing(recount: Recount) -> Check:
    """Check that floats and exact arithmetic send every row to the same leaf."""
    differ = recount.leaf != recount.tree.apply(recount.data.X)
    n, near = recount.data.n_rows, int(recount.is_near.sum())
    found = f"{n - differ.sum()} of {n} rows reach the same leaf in exact arithmetic"
    if recount.certificate.is_of_points:  # their sums are whole: nothing is rounded
        return Check("routing", not differ.any(), f"{found}.")
    found += f"; within rounding error of a hyperplane on their way: {near}."
    if differ.any() and not (differ & ~recount.is_near).any():
        found += " The rows that differ are among these: the tree itself is fragile."
    return Check("routing", not differ.any(), found)


def compare_errors(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    """Check rows, errors, what these cost, and whether they are said to cost 1."""
    data, errors = recount.data, int(recount.wrong.sum())
    yield equal("rows", certificate.n_rows, Fraction(data.n_rows), 0.0)
    unweighted = Fraction(data.n_unweighted)
    yield equal("rows of weight zero", certificate.n_unweighted, unweighted, 0.0)
    yield equal("errors", certificate.errors, Fraction(errors), 0.0)
    yield equal("cost", certificate.cost, recount.cost, SUM_TOLERANCE)
    has_costs = data.problem.has_costs
    if certificate.data_digest == PARTITIONED:  # copies of a row were not put together
        has_costs = data.row_costs is not None or bool((data.weight != 1).any())
    found = f"an error costs {'what was given' if has_costs else '1'}."
    if certificate.has_costs != has_costs:
        found = f"{found.rstrip('.')}, which the certificate denies."
    yield Check("costs", certificate.has_costs == has_costs, found)
    cheapest = data.problem.cheapest_error
    if certificate.data_digest == PARTITIONED:
        cheapest = cheapest_in_partitions(has_costs)
    given, again = certificate.cheapest_error, Fraction(cheapest)
    yield equal("cheapest error", given, again, SUM_TOLERANCE)


def _compare_values(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    yield from compare_errors(certificate, recount)
    largest = max(recount.largest, default=Fraction(0))
    allowed = BOX_TOLERANCE + float(recount.rounding.max(initial=0.0))
    found = f"{say(largest)}, at most 1 + {allowed:.3g} is allowed."
    yield Check("box", largest - 1 <= allowed, f"the largest abs(score) is {found}")
    low, high = recount.cost_at_margin(-1), recount.cost_at_margin(1)
    given = Fraction(certificate.cost_at_margin)
    slip = Fraction(SUM_TOLERANCE) * high
    found = f"{say(low)} to {say(high)}" if high > low else say(low)
    yield Check(
        "cost at margin",
        low - slip <= given <= high + slip,
        f"{say(given)}, recomputed {found} (a margin short by {MARGIN_ROUNDING:g} is "
        "kept).",
    )
    rounding = 0.0
    n_rows, n_columns = recount.data.X.shape
    if certificate.data_digest == PARTITIONED:  # whose scores were added up in floats
        rounding = float(Fraction(certificate.slack_penalty) * recount.slack_rounding)
    elif has_too_many(n_rows, n_columns, len(recount.branch)):  # and these, perhaps
        objective = objective_of(certificate)
        rounding = float_rounding(recount.data.problem, objective, recount.tree)
    parts = (
        f" (errors {say(recount.cost)}, distances of rows next to a split "
        f"{say(recount.slack)}, sizes of coefficients {say(recount.l1)})"
    )
    claimed, exact = certificate.objective, recount.objective
    yield equal("objective", claimed, exact, SUM_TOLERANCE, rounding, parts)


def _compare_bounds(
    certificate: Certificate, recount: Recount, has_proof_file: bool
) -> Iterator[Check]:
    yield check_any_tree_bound(certificate, recount)
    given, proof = certificate.errors_bound, certificate.errors_proved_by
    value = certificate.cost_at_margin
    yield check_bound("errors bound", given, proof, value, certificate)
    given, proof = certificate.objective_bound, certificate.objective_proved_by
    name, value = "objective bound", certificate.objective
    yield check_bound(name, given, proof, value, certificate, has_proof_file)


def check_any_tree_bound(certificate: Certificate, recount: Recount) -> Check:
    """Compare the bound that needs no solver with the recomputed one."""
    given, rounding = certificate.any_tree_bound, 1e-12 * float(recount.weight.sum())
    bound = min(recount.any_tree_bound, recount.cost)
    if certificate.data_digest == PARTITIONED:  # identical rows were not looked for
        bound = recount.class_bound
    return equal("any-tree bound", given, bound, SUM_TOLERANCE, rounding)


def check_bound(
    name: str,
    given: float,
    proof: str,
    value: float,
    certificate: Certificate,
    has_proof_file: bool = False,
) -> Check:
    """Check that a bound lies between the any-tree bound and the tree's value."""
    weakest = certificate.any_tree_bound
    slip = SUM_TOLERANCE * abs(value)
    ok = weakest - slip <= given <= value + slip
    found = f"{say(given)} lies between {say(weakest)} and {say(value)}"
    if not ok:
        found = f"{say(given)} is not between {say(weakest)} and {say(value)}"
    elif proof == certificate.any_tree_proved_by:
        ok = given - weakest <= slip
        found = f"{say(given)}, by the any-tree bound {say(weakest)}"
    elif has_proof_file:
        found += f"; of its proof ({proof}), see the check of the proof file"
    else:
        found += f"; the proof ({proof}) is not repeated here"
    return Check(name, ok, f"{found}.")
