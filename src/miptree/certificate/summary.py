"""What a certificate comes to, in one sentence for people in a hurry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miptree.certificate.oblique_words import trees_compared
from miptree.certificate.proved_words import by_more
from miptree.certificate.reasons import claimant
from miptree.objective.points import POINTS_TREE
from miptree.objective.tolerance import COST_ROUNDING, percent

if TYPE_CHECKING:
    from miptree.certificate.certificate import Certificate

_USEFUL = 0.9
"""A gap above this says next to nothing about the best tree."""


def summary_sentence(certificate: Certificate) -> str:
    """Say whether the tree is proved to be the best, and else how far from it."""
    if certificate.n_sampled is not None:
        return (
            "Nothing is proved about all rows: the tree was chosen for "
            f"{certificate.n_sampled:,} of them."
        )
    best = _best_by(certificate)
    if best is not None:
        merit, proved_by, trees = best
        says = claimant(proved_by)
        start = "Proved" if says is None else f"Not checked, but {says} says"
        return f"{start}: no {trees} {merit}."
    gap, bound = certificate.gap, certificate.objective_bound
    trees = _trees(certificate, certificate.is_of_ruled_trees)
    if bound <= COST_ROUNDING * certificate.objective or gap > _USEFUL:
        # Whether a proof was tried at all is not known here.
        return f"Nothing useful is proved: another {trees} may be far better."
    return (
        f"Not proved to be the best: the total cost of another {trees} may be up to "
        f"{percent(gap)} lower."
    )


def _best_by(certificate: Certificate) -> tuple[str, str, str] | None:
    """Say in what no tree is better, by what proof, and which trees, if known."""
    has_costs = certificate.has_costs
    fewer = "has errors that cost less" if has_costs else "makes fewer errors"
    if certificate.has_least_cost:
        return fewer, certificate.any_tree_proved_by, _trees(certificate)
    if not certificate.method and certificate.has_least_cost_at_margin:
        calls = "close calls (rows that are right, but next to a split)"
        merit = f"has fewer errors and {calls}"
        if has_costs:
            merit = f"has errors and {calls} that cost less"
        return merit, certificate.errors_proved_by, _trees(certificate)
    if certificate.objective_optimal:
        more = by_more(certificate)
        merit = f"has a total cost lower{more}" if more else "has a lower total cost"
        if certificate.objective_terms == "errors":
            merit = f"{fewer}{more}"
        trees = _trees(certificate, certificate.is_of_ruled_trees)
        return merit, certificate.objective_proved_by, trees
    return None


def _trees(certificate: Certificate, keeping_rules: bool = False) -> str:
    """Name the trees compared, without their details."""
    if not certificate.method:
        return trees_compared(certificate, keeping_rules)
    kind = POINTS_TREE if certificate.is_of_points else "tree"
    return f"{kind} of depth {certificate.depth} and of its kind"
