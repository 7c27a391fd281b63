"""Whether the certificate of a points tree makes sense, and its splits are cards."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.check import Check
from miptree.certificate.checks import wrong_type
from miptree.data import Table
from miptree.objective.points import PointsObjective
from miptree.points import Family
from miptree.points.family import MOST_FEATURES, MOST_POINTS
from miptree.points.solve import DEEPEST_TREE
from miptree.tree import ObliqueTree


def senseless(certificate: Certificate, table: Table) -> str | None:
    """Say what keeps the certificate from meaning anything, None if nothing does."""
    problem = wrong_type(certificate)
    if problem is not None:
        return problem
    if certificate.depth > DEEPEST_TREE:
        most = f"that of points trees {DEEPEST_TREE} at most"
        return f"depth is {certificate.depth}, {most}."
    penalties, n_columns = certificate.feature_penalties, len(table.open_steps)
    if len(penalties) != n_columns or min(penalties, default=0.0) < 0:
        return f"feature_penalties must be {n_columns} numbers >= 0."
    if certificate.max_features not in range(1, MOST_FEATURES + 1):
        return f"max_features is {certificate.max_features}."
    if certificate.max_points not in range(1, MOST_POINTS + 1):
        return f"max_points is {certificate.max_points}."
    if certificate.min_samples_leaf < 1:
        return f"min_samples_leaf is {certificate.min_samples_leaf}."
    unused = (certificate.slack_penalty, certificate.l1_penalty, certificate.margin)
    if unused != (0.0, 0.0, 0.0):
        return "the penalties and the margin are not 0, and a points tree has none."
    if certificate.speaks_of_rules:
        return "it speaks of rules, which points trees do not have."
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
        is_plain=not certificate.has_costs,
    )
    if certificate.objective_terms != objective.terms:
        return "objective_terms does not fit the penalties and costs."
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
    adds_up = family_of(certificate, table).adds_up_values
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


def check_splits(
    certificate: Certificate,
    tree: ObliqueTree,
    table: Table,
    known: Family | None = None,
) -> Check:
    """Check that every split of a tree is a scorecard of the family.

    ``known`` is the family with its signs and columns, where the model says it.
    """
    family = family_of(certificate, table) if known is None else known
    for node in np.flatnonzero(~tree.is_leaf):
        if not _is_card(family, tree.coef[node], tree.threshold[node]):
            found = f"the split of node {node} is not one of the family."
            return Check("splits", False, found)
    return Check("splits", True, "all splits are scorecards of the family.")


def _is_card(family: Family, coef: np.ndarray, threshold: float) -> bool:
    used = np.flatnonzero(coef)
    whole = np.append(coef, threshold)
    if not len(used) or not (whole == np.rint(whole)).all():
        return False
    if len(used) > family.max_features or not set(used) <= set(family.columns):
        return False
    if abs(threshold) > abs(coef) @ np.array(family.steps):
        return False  # which parts no rows
    directions = replace(family, allowed=tuple((coef != 0).tolist())).directions()
    cards = {directions.card(f) for f in range(len(directions.size))}
    points = tuple(int(p) for p in coef[used])
    turned = tuple(-p for p in points)
    columns = tuple(used.tolist())
    return (columns, points) in cards or (columns, turned) in cards


def family_of(certificate: Certificate, table: Table) -> Family:
    """Return the family without the signs, which a certificate does not hold."""
    return Family(
        table.open_steps,
        table.open_sources,
        table.open_is_category,
        certificate.max_features or 0,
        certificate.max_points or 0,
    )
