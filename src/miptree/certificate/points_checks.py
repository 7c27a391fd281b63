"""The checks of ``verify`` for points trees: whole numbers, recounted exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.check import Check
from miptree.certificate.checks import check_digest, check_tree, equal, say
from miptree.certificate.comparing import (
    SUM_TOLERANCE,
    check_any_tree_bound,
    check_bound,
    check_routing,
    compare_errors,
    compare_identity,
)
from miptree.certificate.given_data import GivenData
from miptree.certificate.points_sense import check_splits, family_of, senseless
from miptree.certificate.recount import Recount
from miptree.control.clock import Clock
from miptree.data import Table
from miptree.points import Family, PointsProblem, solve
from miptree.tree import ObliqueTree


class KnownFamily(NamedTuple):
    """The family that a points tree was chosen from, as its model says."""

    family: Family
    """With signs, columns and what was asked of the first split."""
    most_features: int | None = None
    """Most features in all splits of a tree, where that was asked."""


def verify_points(
    certificate: Certificate,
    tree: ObliqueTree,
    data: GivenData,
    table: Table,
    noted: str | None,
    seconds: float | None,
    known: KnownFamily | None,
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
    known : KnownFamily or None
        The family, of which a certificate alone has not all.
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
    family = None if known is None else known.family
    checks += [check_splits(certificate, tree, table, family), _check_leaves(recount)]
    checks += [_check_rounding(recount), *_compare_costs(recount)]
    checks += _compare_bounds(recount)
    yield from checks
    if seconds != 0 and all(check.ok for check in checks):
        if certificate.n_sampled is not None:
            found = "nothing is proved of all rows that could be repeated."
            yield Check("proof again", True, found)
            return
        yield _solve_again(certificate, data, table, seconds, known)


FINEST = 2.0**-45
"""Part of the costs of all rows by which one of them is rounded at most."""
MOST_USES = 45
"""Columns in all splits of the deepest tree."""
GRID = ", on the grid of its table"
"""Last words of a family of trees that use all columns."""


def _check_leaves(recount: Recount) -> Check:
    size = np.bincount(recount.leaf, minlength=recount.tree.n_nodes)
    fewest = int(size[recount.tree.is_leaf].min())
    least = recount.certificate.min_samples_leaf
    found = f"the smallest leaf has {fewest} rows, at least {least} must be there."
    return Check("leaves", least == 1 or fewest >= least, found)


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
    yield from compare_errors(certificate, recount)
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
    yield check_any_tree_bound(certificate, recount)
    given = certificate.any_tree_bound
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
    certificate: Certificate,
    data: GivenData,
    table: Table,
    seconds: float | None,
    known: KnownFamily | None,
) -> Check:
    """Run the engine again and compare its bound with the one that is claimed."""
    name, claimed = "proof again", certificate.objective_bound
    if known is None:
        if not certificate.trees.endswith(GRID) or "signs" in certificate.trees:
            found = (
                "the certificate alone does not say which signs or columns were "
                "given: not repeated. Check the model, with verify_model."
            )
            return Check(name, False, found)
        known = KnownFamily(family_of(certificate, table))
    if known.most_features is not None:
        found = "a limit on the features of all splits: its proof is not repeated."
        return Check(name, False, found)
    costs = data.row_costs
    problem = PointsProblem.of(
        data.X,
        data.y,
        data.n_classes,
        data.weight,
        None if costs is None else costs * data.weight[:, None],
        np.ones(data.n_rows, dtype=np.int64),
        known.family,
        np.array(certificate.feature_penalties),
        certificate.min_samples_leaf,
    )
    solved = solve(problem, certificate.depth, Clock(seconds))
    bound = problem.in_user_units(solved.bound) - problem.rounding
    slip = SUM_TOLERANCE * abs(claimed) + 2 * problem.rounding
    verdict = "as well" if claimed - bound <= slip else "only: allow it more time"
    found = f"the engine proves {say(bound)} {verdict} (claimed: {say(claimed)})."
    return Check(name, claimed - bound <= slip, found)
