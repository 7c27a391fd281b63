"""Check a certificate against a tree and its data, in exact rational arithmetic.

Nothing here trusts the float arithmetic of the fit: scores, sides, errors, margins
and the objective (1a) are computed again in Python's integers (``recount.py``).
Values that the fit computed in floats are compared with a stated tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree.certificate.certificate import PARTITIONED, Certificate
from miptree.certificate.check import Check
from miptree.certificate.checks import (
    check_digest,
    check_settings,
    check_tree,
    is_of_baseline,
)
from miptree.certificate.comparing import DATA, compare
from miptree.certificate.given_data import GivenData
from miptree.certificate.points_checks import KnownFamily, verify_points
from miptree.certificate.recount import Recount
from miptree.certificate.resolve import solve_again
from miptree.certificate.rules import check_rules
from miptree.constraints.constraint import Constraint
from miptree.constraints.rules import Rules
from miptree.data import Table, is_frame
from miptree.data.groups import RowGroups
from miptree.data.labels import checked_weight
from miptree.mip.solvers import get_solver
from miptree.tree import ObliqueTree


class VerificationError(ValueError):
    """A certificate that does not fit its tree and data."""


@dataclass(frozen=True)
class Verification:
    """Outcome of :func:`verify`."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    """What the checks do not cover, in sentences."""

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
        causes = [check for check in self.wrong if check.name == DATA]
        if wrong:
            why = "these are not the data of the fit; " if causes else ""
            head = f"NOT verified: {why}{wrong} of {n} checks failed."
        others = [check for check in self.wrong if check not in causes]
        right = [check for check in self.checks if check.ok]
        lines = [f"  {check}" for check in (*causes, *others, *right)]
        return "\n".join([head, *lines, *self.notes])


def verify(
    certificate: Certificate,
    tree: ObliqueTree,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    table: Table | None = None,
    cost_matrix: ArrayLike | None = None,
    row_costs: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    digest: str | None = None,
    resolve_with: str | None = None,
    resolve_seconds: float | None = 60.0,
    constraints: Sequence[Constraint] | None = None,
    sensitive_features: Any = None,
    control_features: Any = None,
) -> Verification:
    """Check every number of a certificate that can be computed again.

    It is about a certificate and its tree; :func:`miptree.verify_model` checks all of
    a model or a model file: probabilities, columns and parameters as well.

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
        ``clf.table_``, needed where X holds categories or missing values, and for
        points trees.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        The costs of errors that the fit was given.
    row_costs : array-like of shape (n_samples, n_classes), optional
        Costs of predicting each class for each row, in place of a ``cost_matrix``:
        ``prediction_costs(model, X)`` for a tree of :func:`miptree.distill`.
    classes : array-like, optional
        The classes in order, for example ``clf.classes_``.
    digest : str, optional
        ``certificate.digest`` as you noted it elsewhere when it was written. A
        certificate that no longer fits its own digest is always caught. Whoever
        changes one *and* computes its digest anew is caught by the numbers or by
        the digest given here; without that, only what leaves every number consistent
        is not seen: the words (``*_proved_by``, of which ``verify_model`` has a closed
        list), ``seconds``, a solver's bound moved between its limits, what trees cost
        that need not keep constraints, a larger
        ``depth`` or ``max_features``, and the margin and penalties where no point lies
        within the margin or all 1-norms are zero; of a points tree also whether signs
        or a choice of columns were given (and which columns, which it does not hold),
        penalties of columns that the tree does not use, and ``cost_unit``.
    resolve_with : {"highs", "scip", "gurobi", "cplex", "points"}, optional
        For a points tree "points": its engine runs again. Otherwise a solver that
        repeats the proofs of a solver: the count MIP for
        ``errors_bound``, the compact MIP for ``objective_bound``. For small data, and
        only if all else holds. A bound that it does not reach in time fails its check.
    resolve_seconds : float or None, default=60
        Seconds for each of them.
    constraints : sequence of Constraint, optional
        ``clf.constraints_`` of a fit with constraints: each is counted again, with
        ``sample_weight`` as the weights of the rates. With a ``class_weight``, which
        rates do not count, :func:`miptree.verify_model` does it.
    sensitive_features, control_features : array-like, optional
        The groups that the fit was given.

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
        raise TypeError(f"verify needs a Certificate, got {certificate!r:.60}.")
    is_of_points = certificate.is_of_points
    if digest is None and not is_of_points and is_of_baseline(certificate):
        raise TypeError(
            "verify checks the certificates of OptimalTreeClassifier and "
            f"PointsTreeClassifier, got one of {certificate.method.rstrip('.')}. That "
            "of a baseline is checked with its model: verify_model(clf, X, y)."
        )
    if is_of_points and table is None:
        raise ValueError(
            "The certificate is about points trees, which read their data on a grid: "
            "give verify the table, table=clf.table_."
        )
    value_feature = None
    if table is not None:
        X = table.transform(X if is_frame(X) else np.asarray(X))
        value_feature = table.value_feature
    groups = None
    if constraints:
        weight = checked_weight(sample_weight, len(np.asarray(y)))
        groups = RowGroups.of(sensitive_features, control_features, weight)
    data = GivenData.of(
        X,
        y,
        sample_weight,
        classes,
        value_feature,
        cost_matrix,
        row_costs,
        groups,
        certificate.data_digest == PARTITIONED,
    )
    rules = None
    if constraints:
        labels = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
        matrix = None if cost_matrix is None else np.asarray(cost_matrix, dtype=float)
        rules = data.rules(constraints, labels, table, matrix)
    return Verification(
        tuple(
            check_certificate(
                certificate,
                tree,
                data,
                table,
                digest,
                resolve_with,
                resolve_seconds,
                rules,
            )
        )
    )


def check_certificate(
    certificate: Certificate,
    tree: ObliqueTree,
    data: GivenData,
    table: Table | None,
    digest: str | None,
    resolve_with: str | None,
    resolve_seconds: float | None,
    rules: Rules | None,
    known: KnownFamily | None = None,
    has_proof_file: bool = False,
) -> list[Check]:
    """Check a certificate against rows that were read already; see :func:`verify`.

    ``rules`` are the constraints of the fit, where there were any. ``known`` is the
    family of a points tree, where the model says it, and ``has_proof_file`` tells
    whether a proof of an oblique tree is checked as well.
    """
    if certificate.is_of_points and table is not None:
        if resolve_with not in (None, "points"):
            raise ValueError(
                f"resolve_with is {resolve_with!r}, but the proof of a points tree is "
                'repeated by its own engine: give "points".'
            )
        again = resolve_seconds if resolve_with is not None else 0.0
        return list(verify_points(certificate, tree, data, table, digest, again, known))
    if resolve_with is not None:
        get_solver(resolve_with)  # one that is missing is told, whatever comes of it
    checks = [check_tree(tree, data), check_settings(certificate)]
    checks.append(check_digest(certificate, digest))
    if all(check.ok for check in checks[:2]):
        recount = Recount(tree, data, certificate)
        checks += compare(certificate, recount, has_proof_file)
        least = 0.0 if rules is None else rules.least_cost(data.problem)
        checks += check_rules(certificate, rules, tree, recount.leaf, least)
        if resolve_with is not None and all(check.ok for check in checks):
            problem = replace(data.problem, max_features=certificate.max_features)
            given = certificate, tree, problem, resolve_with, resolve_seconds
            checks += solve_again(*given, rules)
    return checks
