"""The checks of ``verify`` for points trees: whole numbers, recounted exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.checks import (
    SUM_TOLERANCE,
    Check,
    check_bound,
    check_digest,
    check_routing,
    check_tree,
    compare_identity,
    equal,
    say,
    wrong_type,
)
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.control.clock import Clock
from miptree.data import Table
from miptree.objective.points import PointsObjective
from miptree.points import Family, PointsProblem, solve
from miptree.points.solve import MAX_DEPTH
from miptree.tree import ObliqueTree


def verify_points(
    certificate: Certificate,
    tree: ObliqueTree,
    data: GivenData,
    table: Table,
    noted: str | None,
    seconds: float | None,
) -> Iterator[Check]:
    """Check every number of a points tree's certificate.

    Parameters
    ----------
    certificate, tree, data, table
        What was certified.
    noted : str or None
        The certificate's digest as the user noted it.
    seconds : float or None
        Time for the engine to repeat the proof, None for any; 0 asks for no proof.
    """
    problem = senseless(certificate, table)
    found = "the limits of the family make sense."
    first = [
        check_tree(tree, data),
        Check("settings", problem is None, problem or found),
    ]
    yield from first
    yield check_digest(certificate, noted)
    if not all(check.ok for check in first):
        return
    recount = Recount(tree, data, certificate)
    checks = [*compare_identity(certificate, recount), check_routing(recount)]
    checks += [check_splits(certificate, tree, table), _check_leaves(recount)]
    checks += [_check_terms(recount), _check_rounding(recount)]
    checks += _compare_costs(recount)
    checks += _compare_bounds(recount)
    yield from checks
    if seconds != 0 and all(check.ok for check in checks):
        yield _solve_again(certificate, data, table, seconds)


def senseless(certificate: Certificate, table: Table) -> str | None:
    """Say what keeps the certificate from meaning anything, None if nothing does."""
    problem = wrong_type(certificate)
    if problem is not None:
        return problem
    if certificate.depth > MAX_DEPTH:
        return (
            f"depth is {certificate.depth}, that of points trees {MAX_DEPTH} at most."
        )
    penalties, n_columns = certificate.feature_penalties, len(table.open_steps)
    if len(penalties) != n_columns or min(penalties, default=0.0) < 0:
        return f"feature_penalties must be {n_columns} numbers >= 0."
    if certificate.max_features not in (1, 2, 3):
        return f"max_features is {certificate.max_features}."
    if certificate.max_points not in (1, 2, 3, 4, 5):
        return f"max_points is {certificate.max_points}."
    if certificate.min_samples_leaf < 1:
        return f"min_samples_leaf is {certificate.min_samples_leaf}."
    unused = (certificate.slack_penalty, certificate.l1_penalty, certificate.margin)
    if unused != (0.0, 0.0, 0.0):
        return "the penalties and the margin of (1a) are not 0."
    if not certificate.cost_unit > 0 or not certificate.cost_rounding >= 0:
        return "cost_unit must be above 0, and cost_rounding not below."
    return _wrong_words(certificate, table)


def _wrong_words(certificate: Certificate, table: Table) -> str | None:
    """Say where the words do not fit the numbers, None if they do."""
    objective = PointsObjective(
        certificate.feature_penalties,
        certificate.depth,
        certificate.max_features or 0,
        certificate.max_points or 0,
        certificate.min_samples_leaf,
    )
    terms = {objective.terms, replace(objective, is_plain=False).terms}
    if certificate.objective_terms not in terms:
        return "objective_terms does not fit the penalties."
    if certificate.trees not in _possible_words(certificate, objective, table):
        return "trees does not fit the limits of the family."
    return None


def _possible_words(
    certificate: Certificate, objective: PointsObjective, table: Table
) -> set[str]:
    """Return the words for every family that such a certificate may be about.

    It does not hold the signs, nor which columns were allowed, nor the restriction of
    an alternative: these may be named.
    """
    steps = {n for n in table.open_steps if n > 0}
    is_mixed = 1 in steps and max(steps) > 1
    adds_up = _family(certificate, table).adds_up_values
    named = re.search(
        rf", on (?:the grid of its table|([0-9]{{1,9}}) of [0-9]+ grid columns)"
        rf"({_restrictions(table)})$",
        certificate.trees,
    )
    if named is None:
        return set()
    n_allowed = None if named[1] is None else int(named[1])
    mixed, added = {is_mixed}, {adds_up}
    if n_allowed is not None:
        if n_allowed > sum(n > 0 for n in table.open_steps):
            return set()
        mixed, added = {is_mixed, False}, {adds_up, False}
    return {
        replace(
            objective,
            is_mixed=is_mixed,
            has_categories=has_categories,
            has_signs=has_signs,
            n_allowed=n_allowed,
            restriction=named[2].removeprefix(", "),
        ).trees
        for is_mixed, has_categories, has_signs in product(mixed, added, (False, True))
    }


def _restrictions(table: Table) -> str:
    """Return a pattern of the restrictions of alternatives, which only say less."""
    name = "|".join(re.escape(column.name) for column in table.columns)
    several = rf"(?:{name})(?:, (?:{name}))*(?: (?:and|or) (?:{name}))?"
    first = rf", with a first question about (?:{name})(?:, not {several})?"
    most = r", with at most [0-9]{1,9} features? in all its splits"
    return rf"(?:, without {several})?(?:{first})?(?:{most})?"


FINEST = 2.0**-45
"""Part of the costs of all rows by which one of them is rounded at most."""
MOST_USES = 45
"""Columns in all splits of the deepest tree."""
GRID = ", on the grid of its table"
"""Last words of a family of trees that use all columns."""


def check_splits(certificate: Certificate, tree: ObliqueTree, table: Table) -> Check:
    """Check that every split of a tree is a scorecard of the family."""
    for node in np.flatnonzero(~tree.is_leaf):
        if not _is_card(certificate, table, tree.coef[node], tree.threshold[node]):
            found = f"the split of node {node} is not one of the family."
            return Check("splits", False, found)
    return Check("splits", True, "all splits are scorecards of the family.")


def _is_card(
    certificate: Certificate, table: Table, coef: np.ndarray, threshold: float
) -> bool:
    used = np.flatnonzero(coef)
    whole = np.append(coef, threshold)
    if not len(used) or not (whole == np.rint(whole)).all():
        return False
    if len(used) > (certificate.max_features or 0):
        return False
    if abs(threshold) > abs(coef) @ np.array(table.open_steps):
        return False  # which parts no rows
    family = replace(
        _family(certificate, table), allowed=tuple(bool(c) for c in coef != 0)
    )
    directions = family.directions()
    cards = {directions.card(f) for f in range(len(directions.size))}
    points = tuple(int(p) for p in coef[used])
    turned = tuple(-p for p in points)
    columns = tuple(used.tolist())
    return (columns, points) in cards or (columns, turned) in cards


def _family(certificate: Certificate, table: Table) -> Family:
    """Return the family without the signs, which a certificate does not hold."""
    return Family(
        table.open_steps,
        table.open_sources,
        table.open_is_category,
        certificate.max_features or 0,
        certificate.max_points or 0,
    )


def _check_leaves(recount: Recount) -> Check:
    size = np.bincount(recount.leaf, minlength=recount.tree.n_nodes)
    fewest = int(size[recount.tree.is_leaf].min())
    least = recount.certificate.min_samples_leaf
    found = f"the smallest leaf has {fewest} rows, at least {least} must be there."
    return Check("leaves", least == 1 or fewest >= least, found)


def _check_terms(recount: Recount) -> Check:
    """Check that errors are called so only where each of them costs 1."""
    problem, terms = recount.data.problem, recount.certificate.objective_terms
    is_plain = problem.class_cost is None and np.array_equal(
        problem.weight, problem.count
    )
    says_plain = terms.startswith("errors")
    found = f"an error costs {'1' if is_plain else 'what was given'}."
    return Check("terms", is_plain == says_plain, found)


def _check_rounding(recount: Recount) -> Check:
    """Check that rounding, which a proof may hide, is as small as whole costs allow."""
    data, certificate = recount.data, recount.certificate
    dearest = data.weight
    if data.row_costs is not None:
        dearest = dearest * data.row_costs.max(axis=1)
    total = max(1.0, float(dearest.sum()) + sum(certificate.feature_penalties))
    most = (data.n_rows + MOST_USES) * total * FINEST
    rounding = certificate.cost_rounding
    found = f"costs may be off by {rounding:.3g}, {most:.3g} is allowed."
    return Check("rounding", rounding <= most, found)


def _compare_costs(recount: Recount) -> Iterator[Check]:
    certificate, tree = recount.certificate, recount.tree
    rows, errors = recount.data.n_rows, int(recount.wrong.sum())
    yield equal("rows", certificate.n_rows, Fraction(rows), 0.0)
    yield equal("errors", certificate.errors, Fraction(errors), 0.0)
    yield equal("cost", certificate.cost, recount.cost, SUM_TOLERANCE)
    given = certificate.cost_at_margin
    yield equal("cost at margin", given, recount.cost, SUM_TOLERANCE)
    uses = np.count_nonzero(tree.coef[~tree.is_leaf], axis=0).tolist()
    pairs = zip(uses, certificate.feature_penalties, strict=True)
    penalties = sum((n * Fraction(price) for n, price in pairs), start=Fraction(0))
    parts = f" ({say(recount.cost)} for errors, {say(penalties)} for features)"
    total = recount.cost + penalties
    given = certificate.objective
    yield equal("objective", given, total, SUM_TOLERANCE, parts=parts)


def _compare_bounds(recount: Recount) -> Iterator[Check]:
    certificate = recount.certificate
    rounding = 1e-12 * float(recount.weight.sum())
    bound = min(recount.any_tree_bound, recount.cost)
    given = certificate.any_tree_bound
    yield equal("any-tree bound", given, bound, SUM_TOLERANCE, rounding)
    same = certificate.errors_bound == given
    found = f"{say(certificate.errors_bound)}, that of any tree is {say(given)}."
    yield Check("errors bound", same, found)
    yield check_bound(
        "objective bound",
        certificate.objective_bound,
        certificate.objective_proved_by,
        certificate.objective,
        certificate,
    )


def _solve_again(
    certificate: Certificate, data: GivenData, table: Table, seconds: float | None
) -> Check:
    """Run the engine again and compare its bound with the one that is claimed."""
    name, claimed = "proof again", certificate.objective_bound
    if not certificate.trees.endswith(GRID) or "signs" in certificate.trees:
        found = "signs or a choice of columns are not in the certificate: not repeated."
        return Check(name, False, found)
    costs = data.row_costs
    problem = PointsProblem.of(
        data.X,
        data.y,
        data.n_classes,
        data.weight,
        None if costs is None else costs * data.weight[:, None],
        np.ones(data.n_rows, dtype=np.int64),
        _family(certificate, table),
        np.array(certificate.feature_penalties),
        certificate.min_samples_leaf,
    )
    solved = solve(problem, certificate.depth, Clock(seconds))
    bound = problem.in_user_units(solved.bound) - problem.rounding
    slip = SUM_TOLERANCE * abs(claimed) + 2 * problem.rounding
    verdict = "as well" if claimed - bound <= slip else "only: allow it more time"
    found = f"the engine proves {say(bound)} {verdict} (claimed: {say(claimed)})."
    return Check(name, claimed - bound <= slip, found)
