"""Whether the certificate of an oblique tree is about the model's own parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from miptree.certificate.certificate import PARTITIONED, Certificate
from miptree.certificate.check import Check
from miptree.certificate.checks import say
from miptree.certificate.comparing import SUM_TOLERANCE
from miptree.certificate.reasons import is_known
from miptree.data.problem import Problem
from miptree.objective.bounds import (
    EXHAUSTIVE,
    NO_ERRORS,
    REFUTED,
    TOO_FEW_LEAVES,
    combinatorial_bound,
)
from miptree.objective.penalties import suited_objective


def check_settings(clf: Any, problem: Problem) -> Iterator[Check]:
    """Check the parameters that a certificate of an oblique tree follows from."""
    certificate = clf.certificate_
    yield check_words(certificate, problem)
    yield check_proofs(certificate)
    wanted: dict[str, Any] = {
        "depth": clf.max_depth,
        "max_features": clf.max_features_per_split,
    }
    try:
        wanted |= _penalties(clf, problem)
    except ValueError as error:
        yield Check("parameters", False, str(error))
        return
    yield compare_parameters(certificate, wanted)


def _penalties(clf: Any, problem: Problem) -> dict[str, float]:
    """Return the penalties and the margin that the parameters come to."""
    names = ("slack_penalty", "l1_penalty", "margin")
    given = (clf.slack_penalty, clf.l1_penalty, clf.margin)
    if clf.certificate_.data_digest == PARTITIONED:
        # "auto" was chosen for a sample of the rows.
        pairs = zip(names, given, strict=True)
        return {n: float(value) for n, value in pairs if not isinstance(value, str)}
    objective = suited_objective(*given, problem)
    return {name: float(getattr(objective, name)) for name in names}


def compare_parameters(certificate: Certificate, wanted: dict[str, Any]) -> Check:
    """Compare fields of a certificate with what parameters and rows come to."""
    for name, value in wanted.items():
        mine = getattr(certificate, name)
        if not _same(mine, value):
            found = (
                f"{name} of the certificate is {mine!r:.60}, by the parameters "
                f"{value!r:.60}."
            )
            return Check("parameters", False, found)
    found = "depth, penalties and limits of the certificate are what they ask for."
    return Check("parameters", True, found)


def _same(mine: Any, wanted: Any) -> bool:
    if isinstance(mine, float) and isinstance(wanted, float):
        return math.isclose(mine, wanted, rel_tol=SUM_TOLERANCE, abs_tol=0.0)
    return bool(mine == wanted)


def check_words(certificate: Certificate, problem: Problem) -> Check:
    """Check what is said to prove the bound that needs no solver."""
    said = certificate.any_tree_proved_by
    wanted = combinatorial_bound(problem, certificate.depth).proved_by
    if certificate.data_digest == PARTITIONED:
        wanted = TOO_FEW_LEAVES if certificate.any_tree_bound > 0 else NO_ERRORS
    ok = said == wanted or said.startswith(REFUTED)
    found = f"{said!r} proves the any-tree bound."
    if not ok:
        found = f"the any-tree bound is not proved by {said!r:.80}, but {wanted!r}."
    return Check("any-tree proof", ok, found)


def check_proofs(certificate: Certificate, price: float = 1.0) -> Check:
    """Check that only what is above the any-tree bound is said to need a proof.

    ``price`` is what an error costs in the objective.
    """
    first = certificate.any_tree_proved_by
    for name, least in (("errors", 1.0), ("objective", price)):
        bound = getattr(certificate, f"{name}_bound")
        said = getattr(certificate, f"{name}_proved_by")
        if not is_known(said, certificate.method):
            found = f"the bound on {name} names no proof that is known: {said!r:.80}."
            return Check("proofs", False, found)
        is_more = bound > least * certificate.any_tree_bound
        if said != first and not is_more and not said.startswith(REFUTED):
            found = f"the bound on {name} is that of any tree, not by {said!r:.80}."
            return Check("proofs", False, found)
    errors, value = certificate.errors_bound, certificate.objective_bound
    if said.startswith(EXHAUSTIVE) and value > errors * (1 + SUM_TOLERANCE):
        found = f"{EXHAUSTIVE} counts errors, {say(errors)} of them, not {say(value)}."
        return Check("proofs", False, found)
    return Check("proofs", True, "the bounds name what may have proved them.")
