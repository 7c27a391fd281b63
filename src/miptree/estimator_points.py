"""The scikit-learn estimator of points trees: splits that people can add up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from miptree.classifiers.alternatives import (
    Alternatives,
    check_number,
    find_alternatives,
    find_necessity,
    fit_of,
)
from miptree.classifiers.points_parameters import (
    check_depth,
    check_leaves,
    given_penalty,
    narrowing,
    points_rules,
)
from miptree.classifiers.table_classifier import TABLE_CONSTRAINTS, TableClassifier
from miptree.control.clock import Clock, interruptible
from miptree.data import Column
from miptree.data.rows import Revision, TrainingRows, unrevised
from miptree.data.schema import Schema
from miptree.fit.fitted import FittedTree
from miptree.fit.logged import name_of, with_digest
from miptree.fit.necessity import Necessity
from miptree.fit.points import SHORT_SEARCH, PointsResult, PointsTraining
from miptree.fit.points_data import PointsData
from miptree.fit.points_log import write_points_proof
from miptree.fit.progress import listeners_of
from miptree.objective.penalties import Auto
from miptree.objective.points import POINTS_TREE
from miptree.points.alternatives import Restriction
from miptree.points.family import MOST_FEATURES, MOST_POINTS
from miptree.tuning.points_penalty import LIKELY_PENALTY, choose_penalty
from miptree.utils.arrays import FloatArray
from miptree.utils.files import refuse_overwriting
from miptree.utils.kernel_cache import can_keep_kernels
from miptree.utils.warn import warn

FOLDS_SHARE = 1 / 3
"""Part of the time that choosing the feature penalty may take."""


@dataclass(kw_only=True, eq=False, repr=False)
class PointsTreeClassifier(TableClassifier):
    """Tree whose splits are small scorecards, found and proved to be the best.

    A split adds up whole points for at most three features, each read in steps of a
    round unit, and compares the sum with a whole number. Among all such trees of depth
    ``max_depth`` the one of the lowest cost is found: the errors, and
    ``feature_penalty`` for every feature in a split.

    Parameters
    ----------
    max_depth : int, default=2
        Depth of the tree, 1 to 4. Trees up to depth 3 can be proved to be the best.
    max_features_per_split : {"auto", 1, 2, 3}, default="auto"
        Most features that a split adds up. "auto" takes 3 where all such splits can
        be gone through in seconds, and otherwise 2.
    max_points : int or "auto", default="auto"
        Most points for a step of a number, 1 to 5; "auto" is 1. Beside a number, a
        yes/no feature may count a few more.
    grid_steps : int, default=20
        About how many steps the range of a number is divided into, 2 to 200.
    units : dict or None, default=None
        Steps of numbers by the names of their columns (or positions), such as
        ``{"income": 1000}``. The others get round ones: 1, 2 or 5 times a power of ten.
    signs : dict or None, default=None
        1 or "+", -1 or "-" for columns by name (or position): the points of these in a
        split have these signs, or all the opposite ones.
    feature_penalty : "auto", float or dict, default="auto"
        What a feature in a split costs, in errors; by name (or position) what
        measuring it costs, with 0 for those not named. "auto" chooses a number by
        cross-validation inside the training rows.
    min_samples_leaf : int, default=1
        Fewest training rows at a leaf.
    time_limit : float or None, default=60
        Seconds for the whole fit. Where the first fit on a machine has to compile and
        time is too short for it, the tree is CART's on the grid, and a warning says so.
    max_iter : int or None, default=None
        Root splits that a search looks at, a budget that does not depend on speed.
    class_weight, cost_matrix, categorical_features
        As for :class:`~miptree.OptimalTreeClassifier`.
    missing : {"fill", "error"}, default="fill"
        A number with gaps may be read in two ways, missing as the lowest and as the
        highest value; a missing category is a value of its own. "error" refuses.
    unknown : {"majority", "error"}, default="majority"
        What ``predict`` does with a category that training did not meet: it has none
        of the values. "error" refuses.
    n_jobs : int or None, default=None
        Threads of the search; -1 for all cores.
    random_state : int, RandomState or None, default=None
        Seed of the folds of ``feature_penalty="auto"``. None is 0: what is proved
        should not differ from one fit to the next.
    verbose : int, default=0
        1 shows a live line of progress on standard error.
    callback : callable, default=None
        Called with a :class:`~miptree.fit.progress.FitProgress` now and then; a true
        answer stops the fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    table_ : Table
        How the columns of X become the grid columns that the tree reads.
    tree_ : ObliqueTree
        The tree on the grid columns of ``table_``; its numbers are whole.
    objective_, bound_, gap_ : float
        The cost of ``tree_`` recounted by prediction, a proved lower bound on it for
        all trees of the family, and the relative gap between them.
    status_ : str
        "optimal" when the cost meets the bound; otherwise why the fit stopped:
        "time_limit", "max_iter" (the budget is used up, or nothing is left to try),
        "interrupted", or "unproved" where costs had to be rounded, or where the tree
        is the best for a sample of rows in partitions.
    certificate_ : Certificate
        What is known, in numbers and as a sentence.
    family_ : Family
        The splits that were compared (not in a loaded model).
    narrowing_ : str
        What was left out of the family as there were too many splits, in sentences;
        empty otherwise (not in a loaded model).
    restriction_ : Restriction or None
        What was asked of the trees, where this is one of :meth:`alternatives`.
    feature_penalty_ : float or dict
        What a feature in a split costs.
    penalty_chosen_ : str
        How "auto" chose that (not in a loaded model).
    feature_importances_ : float array of shape (n_features_in_,)
        How much the splits use each column: its share of coefficient times spread,
        weighed by the training rows that reach the split.
    fitted_ : FittedTree
        All that the fit left behind, as one object.
    trace_ : list of FitProgress
        Cost and bound over time.
    n_iter_ : int
        Root splits that the search looked at.
    fit_time_ : float
        Seconds that fit took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, where X had string names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import PointsTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PointsTreeClassifier(feature_penalty=1).fit(X, y)
    >>> clf.status_, clf.certificate_.errors
    ('optimal', 6)
    """

    method: ClassVar[str] = POINTS_TREE

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Integral],
        "max_features_per_split": [
            Interval(Integral, 1, MOST_FEATURES, closed="both"),
            StrOptions({"auto"}),
        ],
        "max_points": [
            Interval(Integral, 1, MOST_POINTS, closed="both"), StrOptions({"auto"}),
        ],
        "grid_steps": [Interval(Integral, 2, 200, closed="both")],
        "units": [dict, None],
        "signs": [dict, None],
        "feature_penalty": [
            Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), dict,
        ],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        **TABLE_CONSTRAINTS,
    }  # fmt: skip

    max_depth: int = 2
    max_features_per_split: int | Auto = "auto"
    max_points: int | Auto = "auto"
    grid_steps: int = 20
    units: Mapping[Any, float] | None = None
    signs: Mapping[Any, int | str] | None = None
    feature_penalty: float | Auto | Mapping[Any, float] = "auto"
    min_samples_leaf: int = 1
    time_limit: float | None = 60.0
    max_iter: int | None = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        proof_log: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> PointsTreeClassifier:
        """Find the best tree.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Finite numbers and categories; missing values where ``missing`` allows.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0: a row of weight 2 counts as two rows.
        proof_log : path, optional
            File to write the proof into, for ``miptree check``.
        force : bool, default=False
            Whether to overwrite that file.

        Returns
        -------
        PointsTreeClassifier
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, proof_log=proof_log, force=force)
        self._warn_if_interrupted()
        return self

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        revise: Revision = unrevised,
        proof_log: str | os.PathLike[str] | None = None,
        force: bool = False,
    ) -> None:
        """Fit to rows that ``revise`` may give other labels and costs."""
        clock = Clock(self.time_limit)
        check_depth(self)
        if proof_log is not None:
            refuse_overwriting(proof_log, force)  # before the work, not after it
        rows, classes = revise(*self._rows(X, y, sample_weight))
        data = self.learn(rows)
        result = self.train(rows, data, clock, proof_log is not None)
        self._training = result
        schema, fitted = self._schema(data.table, classes), result.fitted
        if proof_log is not None:
            known = schema, rows, data.family, fitted.tree, fitted.certificate
            fitted = with_digest(
                fitted,
                lambda: write_points_proof(
                    proof_log, *known, result.found.anchors,
                    target=name_of(y), force=force,
                ),
            )  # fmt: skip
        self.adopt(schema, fitted)

    def learn(
        self, rows: TrainingRows, known: Sequence[Column] | None = None
    ) -> PointsData:
        """Learn from rows what their tree may be, and note how that was narrowed.

        Columns of categories that are ``known`` already are not learnt from the rows,
        which may be a sample.
        """
        check_leaves(self, rows)
        rows.check_ranges()
        rules = points_rules(self, rows)
        table = rules.learn_table(rows)
        if known is not None:
            table = table.with_categories_of(known)
        data = rules.learn(rows, table)
        if data.left_out:
            warn(data.left_out)
        self.family_, self.narrowing_ = data.family, narrowing(self, data)
        return data

    def train(
        self,
        rows: TrainingRows,
        data: PointsData,
        clock: Clock,
        keep_anchors: bool = False,
    ) -> PointsResult:
        """Find the best tree for rows; the classifier is not fitted by that."""
        n_jobs = int(effective_n_jobs(self.n_jobs))
        listeners = listeners_of(self.verbose, self.callback)
        likely = given_penalty(self, rows)
        if likely is None:
            likely = np.full(len(rows.cells), LIKELY_PENALTY)
        with interruptible(clock) as clock:
            training = PointsTraining(data, clock, listeners, n_jobs)
            if can_keep_kernels():
                training.make_ready_in_time(likely)
            else:  # every process compiles them, which is no part of the time limit
                training.make_ready(likely)
                training = PointsTraining(data, clock.begun_now(), listeners, n_jobs)
            penalty = self._penalty(rows, training)
            return training.run(penalty, self.max_iter, keep_anchors)

    def _penalty(self, rows: TrainingRows, training: PointsTraining) -> FloatArray:
        """Return the penalty of each column of X."""
        given = given_penalty(self, rows)
        if given is not None:
            self.penalty_chosen_ = "given"
            return given
        if training.has_kernels:
            training.best.enter("folds")
        seed = 0 if self.random_state is None else self.random_state
        chosen = choose_penalty(
            rows,
            training.data,
            int(check_random_state(seed).randint(2**31 - 1)),
            training.best.clock.share(FOLDS_SHARE),
            training.n_jobs,
            min(SHORT_SEARCH, self.max_iter or SHORT_SEARCH),
        )
        self.penalty_chosen_ = chosen.how
        return np.full(len(rows.cells), chosen.value)

    # --------------------------------------------------------- after the fit

    def alternatives(
        self,
        n: int = 10,
        within: float = 0.01,
        *,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        time_limit: float | None = 60.0,
        max_iter: int | None = None,
    ) -> Alternatives:
        """Find other trees of nearly the same cost, as different as possible.

        Each is the best tree under a restriction: without one or two of the columns,
        with another first question, or with fewer features in all its splits. From
        these, trees are chosen one after another: always the one that differs most
        from the fitted tree and from those chosen before, first in the columns it uses
        and then in what it predicts for the training rows.

        Parameters
        ----------
        n : int, default=10
            Most trees to return.
        within : float, default=0.01
            How much more they may cost, as a part of what it would cost to be wrong
            for all training rows: their number, where an error costs 1.
        X, y, sample_weight : optional
            The rows of the fit, for a classifier that was loaded.
        time_limit : float or None, default=60
            Seconds for all searches.
        max_iter : int or None, default=None
            Root splits that each search looks at.

        Returns
        -------
        Alternatives
            A list of trees, each with a classifier of its own.
        """
        check_number(n, "n", Integral, 1)
        check_number(within, "within", Real, 0)
        clock = Clock(time_limit)
        fit = fit_of(self, X, y, sample_weight, max_iter)
        return find_alternatives(self, fit, int(n), float(within), clock)

    def necessity(
        self,
        features: Sequence[Any] | None = None,
        *,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        time_limit: float | None = 60.0,
        max_iter: int | None = None,
    ) -> Necessity:
        """Find how many errors every tree makes that does without a column.

        Only errors count here (and what they cost), the feature penalty does not.

        Parameters
        ----------
        features : sequence of str or int, optional
            Columns to do without, one at a time, by name or position; by default those
            that the tree uses.
        X, y, sample_weight, time_limit, max_iter
            As for :meth:`alternatives`.

        Returns
        -------
        Necessity
            A list with a proved bound for each column.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from miptree import PointsTreeClassifier
        >>> X, y = load_iris(as_frame=True, return_X_y=True)
        >>> clf = PointsTreeClassifier(max_depth=1, feature_penalty=1).fit(X, y)
        >>> print(clf.necessity(["petal width (cm)"])[0])
        Without petal width (cm) no such tree makes fewer than 50 errors.
        """
        clock = Clock(time_limit)
        fit = fit_of(self, X, y, sample_weight, max_iter)
        return find_necessity(self, fit, features, clock)

    # ------------------------------------------------------------------ fitted

    def adopt(self, schema: Schema, fitted: FittedTree) -> PointsTreeClassifier:
        """Become fitted and return self; ``fit`` and model files use only this."""
        penalties = fitted.certificate.feature_penalties
        sources = schema.table.open_sources
        by_name = {
            schema.table.columns[source].name: penalty
            for source, penalty in zip(sources, penalties, strict=True)
        }
        few = set(by_name.values())
        self.feature_penalty_ = few.pop() if len(few) == 1 else by_name
        self.restriction_: Restriction | None = None
        return super().adopt(schema, fitted)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the training rows."""
        state: dict[str, Any] = super().__getstate__()
        return {name: v for name, v in state.items() if name != "_training"}
