"""What a points tree is asked after its fit: for other trees, and for what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from miptree.certificate.certificate import PARTITIONED
from miptree.certificate.digest import data_digest
from miptree.classifiers.points_parameters import points_rules
from miptree.control.clock import Clock, interruptible
from miptree.data.named import column_index
from miptree.data.schema import Schema
from miptree.fit.alternatives import OtherTrees
from miptree.fit.necessity import Necessity, find_needs
from miptree.fit.points import PointsResult, PointsTraining
from miptree.fit.points_data import PointsData
from miptree.fit.restricted import PointsFit
from miptree.objective.tolerance import rounded_down
from miptree.points.alternatives import sources_used
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray
from miptree.utils.listed import Listed

if TYPE_CHECKING:
    from miptree.estimator_points import PointsTreeClassifier

_HEADINGS = ("", "cost", "errors", "same answer", "features", "found as", "proof")


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another tree of nearly the same cost: the best one under a restriction.

    Attributes
    ----------
    classifier : PointsTreeClassifier
        Fitted with this tree: it predicts, is exported and saved as any other. Its
        certificate is about the trees under the restriction.
    restriction : str
        What was asked of the tree, such as "without income".
    features : tuple of str
        Columns that it uses.
    agreement : float
        Part of the training rows for which it predicts what the first tree does.
    """

    classifier: PointsTreeClassifier
    restriction: str
    features: tuple[str, ...]
    agreement: float

    @property
    def tree(self) -> ObliqueTree:
        """The tree, on the grid columns of the table."""
        return self.classifier.tree_

    @property
    def cost(self) -> float:
        """Errors and feature penalties, recounted by prediction."""
        return self.classifier.objective_

    @property
    def errors(self) -> int:
        """Misclassified training rows."""
        return self.classifier.certificate_.errors

    @property
    def bound(self) -> float:
        """No tree under the restriction costs less."""
        return self.classifier.bound_

    @property
    def is_proved(self) -> bool:
        """Whether no tree under the restriction is better."""
        return self.classifier.certificate_.objective_optimal

    @property
    def proof(self) -> str:
        """What is proved, in words."""
        if self.is_proved:
            return "proved"
        return f"open: none is below {rounded_down(self.bound)}"

    def __str__(self) -> str:
        return (
            f"The best tree found {self.restriction} uses "
            f"{', '.join(self.features) or 'no column'} and predicts as the first tree "
            f"for {100 * self.agreement:.1f} % of the training rows. "
            f"{self.classifier.certificate_}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(Listed[Alternative]):
    """Other trees, as different as possible, the most different one first.

    It is a list of them; printed it is a table.

    Attributes
    ----------
    items : tuple of Alternative
        The trees.
    cost : float
        What the first tree costs.
    limit : float
        What the others may cost.
    is_complete : bool
        Whether there was time for all searches.
    """

    cost: float
    limit: float
    is_complete: bool

    @property
    def title(self) -> str:
        """What the table is about."""
        about = f"of cost up to {self.limit:.6g} (the first tree: {self.cost:.6g})"
        found = "Other trees" if self.items else "No other tree was found"
        about += ", the most different first" * (len(self.items) > 1)
        end = "" if self.is_complete else ". There was no time to look for all of them"
        return f"{found} {about}{end}"

    def table(self) -> list[tuple[str, ...]]:
        """Return the headings of the table and a line for each tree, as texts."""
        return [_HEADINGS, *(_row(k, other) for k, other in enumerate(self.items, 1))]

    def __str__(self) -> str:
        rows = self.table() if self.items else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([f"{self.title}{':' if rows else '.'}", *lines])


def _row(number: int, other: Alternative) -> tuple[str, ...]:
    return (
        str(number),
        f"{other.cost:.6g}",
        str(other.errors),
        f"{100 * other.agreement:.1f} %",
        ", ".join(other.features) or "none",
        other.restriction,
        other.proof,
    )


# ------------------------------------------------------------------------ asking


def check_number(value: Any, name: str, kind: type, least: int) -> None:
    """Refuse what is no finite number of a kind, or too small."""
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if not is_number or not least <= value < np.inf:
        what = "a whole number" if kind is Integral else "a finite number"
        raise ValueError(f"{name} must be {what} >= {least}, got {value!r}.")


def find_alternatives(
    clf: PointsTreeClassifier, fit: PointsFit, n: int, within: float, clock: Clock
) -> Alternatives:
    """Find other trees of a fitted classifier; see ``PointsTreeClassifier``."""
    total = float(fit.data.problem.worst_class_cost.sum())
    with interruptible(clock) as clock:
        _make_ready(fit, clock)
        others = OtherTrees(fit, clf.tree_, clf.objective_, within * total, clock)
        others.search()
        is_complete = not clock.is_over
    items = tuple(_alternative(clf, fit, result) for result in others.choose(n))
    return Alternatives(items, clf.objective_, others.limit, is_complete)


def find_necessity(
    clf: PointsTreeClassifier,
    fit: PointsFit,
    features: Sequence[Any] | None,
    clock: Clock,
) -> Necessity:
    """Find what trees cost without some columns; see ``PointsTreeClassifier``."""
    if isinstance(features, str):
        features = [features]
    if features is None:
        columns = sorted(sources_used(fit.data.family, clf.tree_))
    else:
        columns = [column_index(name, fit.names, "features") for name in features]
    with interruptible(clock) as clock:
        _make_ready(fit, clock)
        return find_needs(fit, list(dict.fromkeys(columns)), clock)


def _make_ready(fit: PointsFit, clock: Clock) -> None:
    PointsTraining(fit.data, clock, (), fit.n_jobs).make_ready(fit.by_source)


def _alternative(
    clf: PointsTreeClassifier, fit: PointsFit, result: PointsResult
) -> Alternative:
    problem, tree = fit.data.problem, result.fitted.tree
    names = getattr(clf, "feature_names_in_", None)
    schema = Schema(clf.table_, clf.classes_, names)
    other = clone(clf).adopt(schema, result.fitted)
    other.family_, other.narrowing_ = result.data.family, fit.data.left_out
    other.restriction_ = result.data.asked
    same = tree.predict(problem.X) == clf.tree_.predict(problem.X)
    used = sorted(sources_used(fit.data.family, tree))
    return Alternative(
        other,
        result.data.restriction,
        tuple(fit.names[column] for column in used),
        float(problem.count[same].sum() / problem.count.sum()),
    )


# ------------------------------------------------------------- what was fitted


def fit_of(
    clf: PointsTreeClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    max_evaluations: int | None,
) -> PointsFit:
    """Return what a classifier was fitted to, kept from its fit or given again."""
    check_is_fitted(clf)
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: give both, or none of them.")
    kept = getattr(clf, "_training", None)
    if clf.certificate_.data_digest == PARTITIONED:
        raise ValueError(
            "This tree was chosen for a sample of rows in partitions, which it does "
            "not hold. Fit a PointsTreeClassifier to a sample in memory, and ask that."
        )
    if X is not None:
        data = _given_again(clf, X, y, sample_weight)
    elif kept is not None:
        data = kept.data
    else:
        raise ValueError(
            "This classifier does not hold its training rows, as it was loaded, or "
            "is another tree of a fit. Give X and y, the rows of the fit."
        )
    n_jobs = int(effective_n_jobs(clf.n_jobs))
    return PointsFit(data, _by_source(clf), n_jobs, max_evaluations, clf.bound_)


def _by_source(clf: PointsTreeClassifier) -> FloatArray:
    """Return the penalty of each column of X, from those of the grid columns."""
    found = np.zeros(clf.n_features_in_)
    found[list(clf.table_.open_sources)] = clf.certificate_.feature_penalties
    return found


def _given_again(
    clf: PointsTreeClassifier, X: Any, y: Any, sample_weight: Any
) -> PointsData:
    """Rebuild rows and family; refuse rows that are not those of the fit."""
    certificate, table = clf.certificate_, clf.table_
    other = clone(clf)
    rows, classes = other._rows(X, y, sample_weight)
    names = [cells.name for cells in rows.cells]
    same = names == [column.name for column in table.columns]
    if not same or not np.array_equal(classes, clf.classes_):
        raise ValueError(
            "X and y are not those of the fit: their columns or classes differ. Give "
            "the rows of the fit."
        )
    rules = replace(
        points_rules(other, rows),
        max_features=certificate.max_features or 1,
        max_points=certificate.max_points or 1,
    )
    problem = rows.problem(table)
    if data_digest(problem) != certificate.data_digest:
        raise ValueError(
            "X, y and sample_weight are not those of the fit: their digest differs "
            "from that of the certificate. Give the rows of the fit."
        )
    data = rules.data(table, problem)
    penalty = np.array(certificate.feature_penalties)
    if data.objective(data.points_problem(penalty), penalty).trees != certificate.trees:
        raise ValueError(
            f"The tree was chosen among every {certificate.trees}, which the "
            "parameters of this classifier do not say again. Ask the classifier that "
            "was fitted."
        )
    return data
