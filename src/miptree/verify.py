"""Check a certificate against a tree and its data, in exact rational arithmetic.

Nothing here trusts the float arithmetic of the fit: scores, sides, errors, margins
and the objective (1a) are computed again in Python's integers (``_recount.py``).
Values that the fit computed in floats are compared with a stated tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from miptree._recount import GivenData, Recount
from miptree._resolve import solve_again
from miptree.certify import (
    PARTITIONED,
    Certificate,
    certificate_digest,
    data_digest,
    is_a,
    tree_digest,
)
from miptree.objective import MARGIN_ROUNDING, Svm1Objective
from miptree.table import Table, is_frame
from miptree.tree import LEAF, ObliqueTree

SUM_TOLERANCE = 1e-9
"""Relative difference that the rounding of a sum of weights explains."""
OBJECTIVE_TOLERANCE = 1e-6
"""Relative difference allowed for the objective."""
BOX_TOLERANCE = 1e-6
"""How far a score may lie outside the box abs(score) <= 1: solvers' tolerances."""


class VerificationError(ValueError):
    """A certificate that does not fit its tree and data."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes
    ----------
    name : str
        What.
    ok : bool
        Whether it holds.
    sentence : str
        What was found, in plain words.
    """

    name: str
    ok: bool
    sentence: str

    def __str__(self) -> str:
        return f"{'ok   ' if self.ok else 'WRONG'} {self.name}: {self.sentence}"


@dataclass(frozen=True)
class Verification:
    """Outcome of :func:`verify`."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.ok)

    def raise_if_wrong(self) -> None:
        """Raise a :class:`VerificationError` that says what does not hold."""
        if not self.ok:
            raise VerificationError(str(self))

    def __str__(self) -> str:
        n, wrong = len(self.checks), len(self.wrong)
        head = f"Verified: all {n} checks hold."
        if wrong:
            head = f"NOT verified: {wrong} of {n} checks failed."
        return "\n".join([head, *(f"  {check}" for check in self.checks)])


def verify(
    certificate: Certificate,
    tree: ObliqueTree,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    table: Table | None = None,
    cost_matrix: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    digest: str | None = None,
    resolve_with: str | None = None,
    resolve_seconds: float | None = 60.0,
) -> Verification:
    """Check every number of a certificate that can be computed again.

    Sides, errors, margins and the objective are recomputed exactly. A bound that a
    solver proved can only be bracketed, unless ``resolve_with`` repeats the proof.

    Parameters
    ----------
    certificate : Certificate
        For example ``clf.certificate_``.
    tree : ObliqueTree
        For example ``clf.tree_``.
    X : data frame or array-like of shape (n_samples, n_features)
        The training data.
    y : array-like of shape (n_samples,)
        Their labels; class k is the k-th of ``np.unique(y)``, or of ``classes``.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit, those of ``class_weight`` multiplied in.
    table : Table, optional
        ``clf.table_``, needed where X holds categories or missing values.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        The costs of errors that the fit was given.
    classes : array-like, optional
        The classes in order, for example ``clf.classes_``.
    digest : str, optional
        ``certificate.digest`` as you noted it elsewhere when it was written. A
        certificate that no longer fits its own digest is always caught. Whoever
        changes one *and* computes its digest anew is caught by the numbers or by
        the digest given here; without that, only what leaves every number consistent
        is not seen: the words (``*_proved_by``), ``seconds``, a solver's bound moved
        between its limits, a larger ``depth``, penalties of a slack that is zero.
    resolve_with : {"highs", "scip", "gurobi", "cplex"}, optional
        Solver that repeats the proofs of a solver: the count MIP for
        ``errors_bound``, the compact MIP for ``objective_bound``. For small data. A
        bound that it does not reach in time fails its check.
    resolve_seconds : float or None, default=60
        Seconds for each of them.

    Returns
    -------
    Verification
        ``ok``, and one record for each check; ``print`` it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(solver="search", max_iter=20, random_state=0)
    >>> clf = clf.fit(X, y)
    >>> verify(clf.certificate_, clf.tree_, X, y).ok
    True
    >>> y[0] = 2
    >>> verify(clf.certificate_, clf.tree_, X, y).ok
    False
    """
    if not isinstance(certificate, Certificate):
        raise TypeError(
            "verify checks the certificates of OptimalTreeClassifier, got a "
            f"{type(certificate).__name__}. A rival's errors are those of "
            "clf.tree_.predict(X)."
        )
    if certificate.data_digest == PARTITIONED:
        raise ValueError(
            "The tree was trained on data in partitions, whose certificate has no "
            "digest of the data: verify cannot know that these are the same rows. "
            "clf.score and miptree evaluate recount its errors."
        )
    value_feature = None
    if table is not None:
        X = table.transform(X if is_frame(X) else np.asarray(X))
        value_feature = table.value_feature
    data = GivenData.of(X, y, sample_weight, classes, value_feature, cost_matrix)
    checks = [_check_tree(tree, data), _check_settings(certificate)]
    checks.append(_check_digest(certificate, digest))
    if all(check.ok for check in checks[:2]):
        recount = Recount(tree, data, certificate)
        checks += _compare(certificate, recount)
        if resolve_with is not None:
            problem = replace(data.problem, max_features=certificate.max_features)
            proofs = solve_again(
                certificate, tree, problem, resolve_with, resolve_seconds
            )
            checks += [Check(*proof) for proof in proofs]
    return Verification(tuple(checks))


# --------------------------------------------------------------------- the checks


def _check_tree(tree: ObliqueTree, data: GivenData) -> Check:
    problem = malformed(tree, data.X.shape[1], data.n_classes)
    found = f"{tree.n_nodes} nodes, children after parents, finite numbers"
    return Check("tree", problem is None, f"{problem or found}.")


def malformed(tree: ObliqueTree, n_features: int, n_classes: int) -> str | None:
    """What keeps arrays from being a tree for such data, or None."""
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


def _check_settings(certificate: Certificate) -> Check:
    problem = _unreadable(certificate)
    found = (
        f"depth {certificate.depth}, penalties {certificate.slack_penalty:g} and "
        f"{certificate.l1_penalty:g}, margin {certificate.margin:g}."
        if problem is None
        else ""
    )
    return Check("settings", problem is None, problem or found)


def _unreadable(certificate: Certificate) -> str | None:
    """What keeps the certificate from meaning anything."""
    for field in fields(certificate):
        value = getattr(certificate, field.name)
        if not is_a(value, str(field.type)):
            what = "string" if field.type == "str" else f"finite {field.type}"
            return f"{field.name} is not a {what}."
    if certificate.depth < 1:
        return f"depth is {certificate.depth}."
    if certificate.scaling != "min-max":
        return f"scaling is {certificate.scaling!r}; only 'min-max' is known."
    try:
        Svm1Objective(
            certificate.slack_penalty, certificate.l1_penalty, certificate.margin
        )
    except ValueError as error:
        return str(error)
    return None


def _check_digest(certificate: Certificate, noted: str | None) -> Check:
    digest = certificate_digest(certificate)
    ok = certificate.digest == digest and noted in (None, digest)
    found = "as it was written" if ok else "changed since it was written"
    return Check("certificate digest", ok, f"the certificate is {found}.")


def _compare(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    """Put every recomputed number beside the certificate's."""
    yield from _compare_identity(certificate, recount)
    yield _check_routing(recount)
    yield from _compare_counts(certificate, recount)
    yield from _compare_margins(certificate, recount)
    yield from _compare_bounds(certificate, recount)


def _compare_identity(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    tree, data = recount.tree, recount.data
    same = tree_digest(tree) == certificate.tree_digest
    which = "the one" if same else "not the tree that was"
    yield Check("tree digest", same, f"the tree is {which} certified.")
    same = data_digest(data.problem) == certificate.data_digest
    which = "those" if same else "not the rows, labels and weights that were"
    yield Check("data digest", same, f"the data are {which} certified.")
    most = certificate.max_features
    if most is not None:
        opened = tree.coef[:, : data.n_open]
        used = int(np.count_nonzero(opened, axis=1).max())
        found = f"splits of up to {used} features, certified among up to {most}."
        yield Check("features", used <= most, found)
    yield Check(
        "depth",
        tree.depth <= certificate.depth,
        f"the tree has depth {tree.depth}, certified among depth {certificate.depth}.",
    )


def _check_routing(recount: Recount) -> Check:
    differ = recount.leaf != recount.tree.apply(recount.data.X)
    n, near = len(differ), int(recount.is_near.sum())
    found = (
        f"{n - differ.sum()} of {n} rows reach the same leaf in exact arithmetic; "
        f"within rounding error of a hyperplane on their way: {near}."
    )
    if differ.any() and not (differ & ~recount.is_near).any():
        found += " The rows that differ are among these: the tree itself is fragile."
    return Check("routing", not differ.any(), found)


def _compare_counts(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    n_rows = int(recount.data.counts.sum())
    yield _equal("rows", certificate.n_rows, Fraction(n_rows), 0.0)
    errors = Fraction(int(recount.wrong.sum()))
    yield _equal("errors", certificate.errors, errors, 0.0)
    yield _equal("cost", certificate.cost, recount.cost, SUM_TOLERANCE)


def _compare_margins(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    largest = max(recount.largest, default=Fraction(0))
    allowed = BOX_TOLERANCE + float(recount.rounding.max(initial=0.0))
    yield Check(
        "box",
        largest - 1 <= allowed,
        f"the largest abs(score) is {_say(largest)}, at most 1 + {allowed:.3g} is "
        "allowed.",
    )
    low, high = recount.cost_at_margin(-1), recount.cost_at_margin(1)
    given = Fraction(certificate.cost_at_margin)
    slip = Fraction(SUM_TOLERANCE) * high
    yield Check(
        "cost at margin",
        low - slip <= given <= high + slip,
        f"{_say(given)}, recomputed {_say(low)}"
        + (f" to {_say(high)}" if high > low else "")
        + f" (a margin short by {MARGIN_ROUNDING:g} is kept).",
    )
    rounding = Fraction(certificate.slack_penalty) * recount.slack_rounding
    parts = (
        f"{_say(recount.cost)} errors, {_say(recount.slack)} slack, "
        f"{_say(recount.l1)} 1-norms"
    )
    yield _equal(
        "objective",
        certificate.objective,
        recount.objective,
        OBJECTIVE_TOLERANCE,
        float(rounding),
        parts,
    )


def _compare_bounds(certificate: Certificate, recount: Recount) -> Iterator[Check]:
    total = float(recount.weight.sum())
    bound = min(recount.any_tree_bound, recount.cost)
    yield _equal(
        "any-tree bound",
        certificate.any_tree_bound,
        bound,
        SUM_TOLERANCE,
        1e-12 * total,
    )
    for name, given, proof, value in (
        (
            "errors bound",
            certificate.errors_bound,
            certificate.errors_proved_by,
            certificate.cost_at_margin,
        ),
        (
            "objective bound",
            certificate.objective_bound,
            certificate.objective_proved_by,
            certificate.objective,
        ),
    ):
        yield _check_bound(name, given, proof, value, certificate)


def _check_bound(
    name: str, given: float, proof: str, value: float, certificate: Certificate
) -> Check:
    """Bracket a bound: not below the any-tree bound, not above the tree's value."""
    weakest = certificate.any_tree_bound
    slip = SUM_TOLERANCE * abs(value)
    ok = weakest - slip <= given <= value + slip
    found = f"{_say(given)} lies between {_say(weakest)} and {_say(value)}"
    if not ok:
        found = f"{_say(given)} is not between {_say(weakest)} and {_say(value)}"
    elif proof == certificate.any_tree_proved_by:
        ok = given - weakest <= slip
        found = f"{_say(given)}, by the any-tree bound {_say(weakest)}"
    else:
        found += f"; the proof ({proof}) is not repeated here"
    return Check(name, ok, f"{found}.")


def _equal(
    name: str,
    given: float,
    exact: Fraction,
    relative: float,
    absolute: float = 0.0,
    parts: str = "",
) -> Check:
    """Compare a certificate's number with the exact one."""
    allowed = Fraction(relative) * max(abs(exact), abs(Fraction(given)))
    ok = abs(Fraction(given) - exact) <= allowed + Fraction(absolute)
    sentence = f"{_say(given)}, recomputed {_say(exact)}"
    sentence += f" ({parts})" if parts else ""
    return Check(name, ok, f"{sentence}.")


def _say(number: float | Fraction) -> str:
    return f"{float(number):.10g}"
