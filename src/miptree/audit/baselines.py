"""The certificate of a baseline, counted again: errors, objective, words, bounds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from miptree.audit.settings import check_proofs, check_words, compare_parameters
from miptree.certificate.certificate import Certificate
from miptree.certificate.checks import (
    Check,
    check_digest,
    check_tree,
    equal,
    say,
    wrong_type,
)
from miptree.certificate.comparing import (
    SUM_TOLERANCE,
    check_any_tree_bound,
    check_routing,
    compare_errors,
    compare_identity,
)
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.data.problem import Problem
from miptree.objective import Score


def check_baseline(
    clf: Any, data: GivenData, problem: Problem, digest: str | None
) -> Iterator[Check]:
    """Check every number of a baseline's certificate."""
    certificate: Certificate = clf.certificate_
    problem_with = wrong_type(certificate)
    first = [
        check_tree(clf.tree_, data),
        Check("settings", problem_with is None, problem_with or "they make sense."),
    ]
    yield from first
    yield check_digest(certificate, digest)
    if not all(check.ok for check in first):
        return
    recount = Recount(clf.tree_, data, certificate)
    yield from compare_identity(certificate, recount)
    yield check_routing(recount)
    try:
        valuation = clf.valuation(problem)
        score = valuation.evaluate(problem, clf.tree_)
    except ValueError as error:
        yield Check("parameters", False, str(error))
        return
    yield from _compare(certificate, recount, score)
    wanted = {**_NOTHING, **valuation.certified(), "depth": clf.max_depth}
    yield compare_parameters(certificate, wanted)
    yield check_words(certificate, problem)
    formulation = getattr(valuation, "formulation", None)
    price = 1.0 if formulation is None else float(formulation.error_price)
    said = certificate.error_price
    yield equal("price of an error", said, Fraction(price), SUM_TOLERANCE)
    yield check_proofs(certificate, price)
    yield from _compare_bounds(clf, recount, price)
    if formulation is not None and formulation.strip is None:
        used = int(np.count_nonzero(clf.tree_.coef, axis=1).max())
        found = f"splits have up to {used} features, and may have one."
        yield Check("features", used <= 1, found)


_NOTHING: dict[str, Any] = {
    "max_features": None,
    "feature_penalties": (),
    "max_points": None,
    "min_samples_leaf": 1,
    "cost_unit": 0.0,
    "cost_rounding": 0.0,
}
"""Fields that say nothing of a baseline."""


def _compare(
    certificate: Certificate, recount: Recount, score: Score
) -> Iterator[Check]:
    yield from compare_errors(certificate, recount)
    given = certificate.cost_at_margin
    yield equal("cost at margin", given, recount.cost, SUM_TOLERANCE)
    given, again = certificate.objective, Fraction(score.objective)
    yield equal("objective", given, again, SUM_TOLERANCE)


def _compare_bounds(clf: Any, recount: Recount, price: float) -> Iterator[Check]:
    certificate: Certificate = clf.certificate_
    yield check_any_tree_bound(certificate, recount)
    least, first = certificate.any_tree_bound, certificate.any_tree_proved_by
    same = certificate.errors_bound == least and certificate.errors_proved_by == first
    found = f"{say(certificate.errors_bound)}, that of any tree is {say(least)}."
    yield Check("errors bound", same, found)
    given, value = certificate.objective_bound, certificate.objective
    least, slip = price * least, SUM_TOLERANCE * max(1.0, abs(value))
    ok = least - slip <= given <= value + slip
    found = f"{say(given)} lies between {say(least)} and {say(value)}"
    if not ok:
        found = f"{say(given)} is not between {say(least)} and {say(value)}"
    elif certificate.objective_proved_by == first:
        ok = given - least <= slip
        found = f"{say(given)}, by the any-tree bound {say(least)}"
    else:
        why = certificate.objective_proved_by
        found += f"; the proof ({why}) is not repeated here"
    yield Check("objective bound", ok, f"{found}.")
