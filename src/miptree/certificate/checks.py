"""The checks of ``verify`` that need no counting."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np

from miptree.certificate.certificate import PARTITIONED, Certificate
from miptree.certificate.check import Check
from miptree.certificate.digest import NUMBERS, TEXTS, certificate_digest, is_a
from miptree.certificate.given_data import GivenData
from miptree.objective import Svm1Objective
from miptree.tree import LEAF, ObliqueTree


def check_tree(tree: ObliqueTree, data: GivenData) -> Check:
    """Check that the arrays are a tree for such data."""
    problem = malformed(tree, data.n_features, data.n_classes)
    found = f"{tree.n_nodes} nodes, children after parents, finite numbers"
    return Check("tree", problem is None, f"{problem or found}.")


def malformed(tree: ObliqueTree, n_features: int, n_classes: int) -> str | None:
    """Say what keeps arrays from being a tree for such data, None if nothing does."""
    n = tree.n_nodes
    arrays = (tree.children_left, tree.children_right, tree.threshold, tree.label)
    if n == 0 or any(a.shape != (n,) for a in arrays) or len(tree.coef) != n:
        return "the arrays of the tree differ in length"
    if tree.coef.shape != (n, n_features):
        return f"the tree reads {tree.coef.shape[-1]} columns of {n_features}"
    if not (np.isfinite(tree.coef).all() and np.isfinite(tree.threshold).all()):
        return "a coefficient or threshold is not a finite number"
    if not ((tree.label >= 0) & (tree.label < n_classes)).all():
        return f"a label of the tree is none of the {n_classes} classes"
    if not np.array_equal(tree.children_left == LEAF, tree.children_right == LEAF):
        return "a node has one child only"
    branch = np.flatnonzero(tree.children_left != LEAF)
    below = np.stack([tree.children_left[branch], tree.children_right[branch]])
    if not np.array_equal(np.sort(below, axis=None), np.arange(1, n)):
        return "a node other than the root is not the child of exactly one node"
    if (below <= branch).any():
        return "a child comes before its parent"
    return None


def is_of_baseline(certificate: Certificate) -> bool:
    """Tell whether a certificate, unchanged, is about the objective of a baseline."""
    name = certificate.method
    is_named = isinstance(name, str) and name != ""
    return is_named and certificate.digest == certificate_digest(certificate)


def check_settings(certificate: Certificate) -> Check:
    """Check that the certificate's fields mean anything."""
    problem = _unreadable(certificate)
    if problem is not None:
        return Check("settings", False, problem)
    found = (
        f"depth {certificate.depth}, penalties {certificate.slack_penalty:g} and "
        f"{certificate.l1_penalty:g}, margin {certificate.margin:g}."
    )
    return Check("settings", True, found)


def _unreadable(certificate: Certificate) -> str | None:
    """Say what keeps the certificate from meaning anything, None if nothing does."""
    problem = wrong_type(certificate)
    if problem is not None:
        return problem
    for name in _NOT_OF_1A:
        if getattr(certificate, name) != _DEFAULTS[name]:
            given = f"{getattr(certificate, name)!r:.60}"
            return f"{name} is {given}, and an oblique tree has none."
    try:
        objective_of(certificate)
    except ValueError as error:
        return str(error)
    return None


def wrong_type(certificate: Certificate) -> str | None:
    """Say which field is of the wrong type or makes no sense, None if none does."""
    for field in fields(certificate):
        value = getattr(certificate, field.name)
        if not is_a(value, str(field.type)):
            what = _KINDS.get(str(field.type), f"a finite {field.type}")
            return f"{field.name} is not {what}."
    if certificate.depth < 1:
        return f"depth is {certificate.depth}."
    if certificate.scaling != "min-max":
        return f"scaling is {certificate.scaling!r}; only 'min-max' is known."
    if certificate.error_price != 1 and (
        not certificate.method or certificate.is_of_points
    ):
        return f"error_price is {certificate.error_price:g}; it is 1 of such trees."
    return _odd_sample(certificate)


def _odd_sample(certificate: Certificate) -> str | None:
    """Say what is wrong with a sample, None if nothing is.

    A points tree of data in partitions was chosen for a sample, and no other tree was:
    only bounds that need no search hold for all rows then.
    """
    in_partitions = certificate.data_digest == PARTITIONED
    n_sampled = certificate.n_sampled
    if (certificate.is_of_points and in_partitions) != (n_sampled is not None):
        return "n_sampled is for points trees of data in partitions, and needed there."
    if n_sampled is None:
        return (
            "best_of_sample without a sample." if certificate.best_of_sample else None
        )
    if not 1 <= n_sampled <= certificate.n_rows:
        return f"n_sampled is {n_sampled}, of {certificate.n_rows} rows."
    bounds = certificate.errors_bound, certificate.objective_bound
    if bounds != (certificate.any_tree_bound,) * 2:
        return "a bound was proved for a sample, which does not hold for all rows."
    if (certificate.cost_unit, certificate.cost_rounding) != (1.0, 0.0):
        return "cost_unit and cost_rounding are of a proof, but nothing is proved."
    return None


_KINDS = {
    "str": "a string",
    "bool": "true or false",
    NUMBERS: "a tuple of finite numbers",
    TEXTS: "a tuple of strings",
}
"""What the value of a field should be, where its type does not say it well."""
_NOT_OF_1A = (
    "method trees objective_terms feature_penalties max_points min_samples_leaf "
    "cost_unit cost_rounding n_sampled best_of_sample"
).split()
"""Fields that say something of other methods only."""
_DEFAULTS = {field.name: field.default for field in fields(Certificate)}


def objective_of(certificate: Certificate) -> Svm1Objective:
    """Return (1a) with the penalties and the margin of a certificate."""
    return Svm1Objective(
        certificate.slack_penalty, certificate.l1_penalty, certificate.margin
    )


def check_digest(certificate: Certificate, noted: str | None) -> Check:
    """Check that the certificate is as it was written, and as it was noted."""
    digest = certificate_digest(certificate)
    ok = certificate.digest == digest and noted in (None, digest)
    found = "as it was written" if ok else "changed since it was written"
    return Check("certificate digest", ok, f"the certificate is {found}.")


def equal(
    name: str,
    given: float,
    exact: Fraction,
    relative: float,
    absolute: float = 0.0,
    parts: str = "",
) -> Check:
    """Compare a certificate's number with the exact one, to two tolerances."""
    allowed = Fraction(relative) * max(abs(exact), abs(Fraction(given)))
    ok = abs(Fraction(given) - exact) <= allowed + Fraction(absolute)
    return Check(name, ok, f"{say(given)}, recomputed {say(exact)}{parts}.")


def say(number: float | Fraction) -> str:
    """Write a number as the sentences of checks do."""
    return f"{float(number):.10g}"
