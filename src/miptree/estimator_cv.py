"""The scikit-learn estimator that chooses how to train by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from miptree._clock import Clock
from miptree._interrupt import InterruptGuard
from miptree._tabular import TABLE_CONSTRAINTS, TableClassifier
from miptree._typing import IntArray
from miptree.bounds import combinatorial_bound
from miptree.certify import certify
from miptree.estimator import OptimalTreeClassifier
from miptree.objective import Svm1Objective
from miptree.problem import Problem
from miptree.progress import FitProgress
from miptree.rows import TrainingRows, is_levels
from miptree.train import Status, Trained
from miptree.tree import ObliqueTree
from miptree.tuning import (
    DEFAULT_CANDIDATES,
    THRESHOLDS,
    Candidate,
    Contest,
    Fold,
    TableRules,
    Verdict,
    all_settings,
    refit,
)
from miptree.tuning.folds import costs_of

DEPTHS = (1, 2, 3, 4)
"""Depths that max_depth="cv" chooses from."""
MOST_ROWS = 20_000
"""Rows on which candidates are compared and trained, of more a stratified part."""
_TAKEN_OVER = (
    *("tree_", "certificate_", "objective_", "bound_", "gap_", "status_", "trace_"),
    *("_node_proba", "_digits"),
)
"""Attributes of the best estimator that are this one's as well."""
_CV_SHARE = 0.8
"""Part of the time for the folds; training the winner has the rest."""


@dataclass(frozen=True)
class TuningProgress:
    """State of a cross-validation at a moment.

    Attributes
    ----------
    stage : str
        "folds" or "done".
    seconds : float
        Since the fit began.
    n_done, n_folds : int
        Folds done, of how many.
    score : float
        Mean accuracy of the best candidate so far on rows held out.
    """

    stage: str
    seconds: float
    n_done: int
    n_folds: int
    score: float

    def __str__(self) -> str:
        bar = round(20 * self.n_done / max(1, self.n_folds))
        return (
            f"{self.stage:>6} {self.seconds:7.1f} s  [{'#' * bar:<20}] "
            f"{self.n_done}/{self.n_folds} folds  accuracy {100 * self.score:.1f} %"
        )


class OptimalTreeClassifierCV(TableClassifier):
    """One small oblique tree, trained in the way that cross-validation says.

    Candidates differ in their objective, their regularisation, and how far they trust
    the labels: a label can give way to the votes of trees that did not see its row.
    The best in repeated stratified cross-validation *inside the training data* is
    trained once more on all rows.

    Parameters
    ----------
    max_depth : int or "cv", default=2
        Depth of the tree; "cv" chooses from 1 to 4 as well.
    candidates : "default" or sequence of candidates, default="default"
        What to choose from, see :mod:`miptree.tuning`. The first one is taken where
        the time does not suffice for a single fold.
    cv : int or splitter, default=5
        Number of stratified folds, which never part identical rows; or a splitter of
        scikit-learn, or an iterable of (train, test), for the rows of X.
    n_repeats : int, default=4
        Times that the rows are dealt into that number of folds.
    sparsity : "auto", float or None, default="auto"
        Drop the coefficients below this part of the largest of a split, in features of
        equal spread. "auto" takes the sparsest candidate, with that part from 0 to
        0.3, whose accuracy in cross-validation is within a quarter of a standard error
        of the best.
    levels : bool or "cv", default="cv"
        Whether columns of 3 to 6 different whole numbers are read as categories; "cv"
        does so if it is better by more than a standard error.
    time_limit : float or None, default=60
        Seconds for the whole fit. The folds done by then decide.
    class_weight, cost_matrix, categorical_features, categorical_encoding, missing
        As for :class:`~miptree.OptimalTreeClassifier`.
    max_features_per_split, unknown, verbose
        Likewise.
    n_jobs : int or None, default=None
        Folds that run at a time.
    random_state : int, RandomState or None, default=None
        Seed of folds and candidates.
    callback : callable, default=None
        Called with a :class:`TuningProgress` after each fold; a true answer ends the
        comparison, and the best so far is trained.

    Attributes
    ----------
    best_params_ : dict
        Kind and parameters of the winner, ``max_depth``, and the ``threshold`` below
        which coefficients were dropped.
    best_score_, best_score_se_ : float
        Its mean accuracy on rows held out and the standard error of that mean, NaN if
        no fold was done. As the best of several it is a little optimistic.
    best_index_ : int
        Its row in ``cv_results_``.
    cv_results_ : dict
        Scores of every candidate, in the manner of ``GridSearchCV``. After each
        repetition those drop out that the best one beats by more than a standard
        error; their later scores are NaN.
    n_splits_ : int
        Folds done.
    best_estimator_ : OptimalTreeClassifier
        The tree as a classifier of its own, for exports and reports.
    classes_, table_, tree_, certificate_, objective_, bound_, gap_, trace_, fit_time_
        As of :class:`~miptree.OptimalTreeClassifier`. The certificate is about (1a)
        with its default penalties, with bounds that need no solver.
    status_ : str
        Why the comparison ended: "max_iter" after the last fold, "time_limit" or
        "interrupted".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, where X had string names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifierCV(n_repeats=1, random_state=0).fit(X, y)
    >>> bool(clf.best_score_ > 0.93)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_depth": [Interval(Integral, 1, 10, closed="both"), StrOptions({"cv"})],
        "candidates": [StrOptions({"default"}), list, tuple],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [
            StrOptions({"auto"}), Interval(Real, 0, 1, closed="left"), None,
        ],
        "levels": [StrOptions({"cv"}), "boolean"],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        **TABLE_CONSTRAINTS,
    }  # fmt: skip

    def __init__(
        self,
        *,
        max_depth: int | str = 2,
        candidates: str | Sequence[Candidate] = "default",
        cv: Any = 5,
        n_repeats: int = 4,
        sparsity: str | float | None = "auto",
        levels: str | bool = "cv",
        time_limit: float | None = 60.0,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: ArrayLike | None = None,
        categorical_features: ArrayLike | None = "from_dtype",
        categorical_encoding: str = "both",
        max_features_per_split: int | None = None,
        missing: str = "fill",
        unknown: str = "majority",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.candidates = candidates
        self.cv = cv
        self.n_repeats = n_repeats
        self.sparsity = sparsity
        self.levels = levels
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.max_features_per_split = max_features_per_split
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> OptimalTreeClassifierCV:
        """Choose a candidate and train it.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Finite numbers and categories; missing values where ``missing`` allows.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0: a row of weight 2 counts as two rows.

        Returns
        -------
        OptimalTreeClassifierCV
            The fitted estimator.
        """
        clock = Clock(self.time_limit)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        candidates = self._candidates()
        rows = self._rows(X, y, sample_weight)
        problem = self._problem_of(rows)
        listeners = self._listeners()

        def tell(stage: str, verdict: Verdict) -> bool:
            n_done, n_folds = len(verdict.scores), len(contest.folds)
            score = verdict.choice().score
            state = TuningProgress(stage, clock.elapsed, n_done, n_folds, score)
            answers = [listener(state) for listener in listeners]  # all are told
            return any(answers)

        with InterruptGuard() as guard:
            compared = self._compared_rows(rows, problem, seed)
            contest = self._contest(compared, candidates, seed)
            verdict = contest.run(
                compared,
                self.n_jobs,
                clock.share(_CV_SHARE),
                lambda: guard.requested,
                lambda verdict: tell("folds", verdict),
            )
            choice = verdict.choice()
            if choice.setting.as_levels:
                problem = self._problem_of(rows.with_levels())
            tree = refit(problem, costs_of(rows), choice, seed, MOST_ROWS)
        cut_short = len(verdict.scores) < len(contest.folds)
        status: Status = "time_limit" if cut_short else "max_iter"
        self._keep(
            problem, tree, verdict, clock, "interrupted" if guard.requested else status
        )
        tell("done", verdict)
        if guard.requested:
            warnings.warn(
                f"The fit was interrupted after {len(verdict.scores)} of "
                f"{len(contest.folds)} folds; the best candidate so far was "
                "trained.",
                UserWarning,
                stacklevel=3,
            )
        return self

    # --------------------------------------------------------------- comparing

    def _candidates(self) -> Sequence[Candidate]:
        if isinstance(self.candidates, str):
            return DEFAULT_CANDIDATES
        given = list(self.candidates)
        wrong = [c for c in given if not isinstance(c, Candidate)]
        if wrong or not given:
            raise ValueError(
                "candidates must be a sequence of SoftTree, Svm1Tree, CartTree or "
                f"GreedySvmTree of miptree.tuning, got {wrong[:1] or given!r}."
            )
        return given

    def _compared_rows(
        self, rows: TrainingRows, problem: Problem, seed: int
    ) -> TrainingRows:
        """Rows for the folds: distinct ones, and of very many a part."""
        if not _is_number(self.cv):
            return rows
        rows = rows.distinct(problem)
        if len(rows) > MOST_ROWS:
            rows = rows.take(_stratified(rows.y, MOST_ROWS, seed))
        return rows

    def _contest(
        self, rows: TrainingRows, candidates: Sequence[Candidate], seed: int
    ) -> Contest:
        splits = self._splits(rows, seed)
        seeds = np.random.SeedSequence(seed).generate_state(len(splits))
        thresholds: Sequence[float] = THRESHOLDS
        if self.sparsity != "auto":
            thresholds = (float(self.sparsity or 0.0),)
        depths = DEPTHS if self.max_depth == "cv" else (int(self.max_depth),)
        return Contest(
            all_settings(candidates, depths, self._readings(rows)),
            [
                Fold(np.asarray(train), np.asarray(test), int(s))
                for (train, test), s in zip(splits, seeds, strict=True)
            ],
            max(1, len(splits) // (self.n_repeats if _is_number(self.cv) else 1)),
            TableRules(
                self.categorical_encoding,
                self.missing,
                self.unknown,
                self.max_features_per_split,
            ),
            thresholds,
        )

    def _readings(self, rows: TrainingRows) -> Sequence[bool]:
        """Ways to read whole numbers of few values that are worth a comparison."""
        if not any(is_levels(cells) for cells in rows.cells):
            return (False,)
        return (False, True) if self.levels == "cv" else (bool(self.levels),)

    def _splits(self, rows: TrainingRows, seed: int) -> list[tuple[Any, Any]]:
        """Rows to train on and to hold out."""
        y = rows.y
        splitter = self.cv
        if _is_number(self.cv):
            # Without so many rows of any class there are fewer folds.
            most = int(np.bincount(y).max())
            if most < 2:
                return []
            splitter = RepeatedStratifiedKFold(
                n_splits=min(int(self.cv), most),
                n_repeats=self.n_repeats,
                random_state=seed,
            )
        with warnings.catch_warnings():
            # A rare class cannot be in every fold.
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(check_cv(splitter, y, classifier=True).split(y, y))
        return [
            (train, test)
            for train, test in splits
            if rows.weight[train].any() and rows.weight[test].any()
        ]

    # ----------------------------------------------------------------- keeping

    def _keep(
        self,
        problem: Problem,
        tree: ObliqueTree,
        verdict: Verdict,
        clock: Clock,
        status: Status,
    ) -> None:
        choice = verdict.choice()
        self.cv_results_ = verdict.table()
        self.best_index_ = choice.index
        self.best_params_ = {
            **self.cv_results_["params"][choice.index],
            "threshold": float(choice.threshold),
        }
        self.best_score_ = float(choice.score)
        self.best_score_se_ = float(choice.se)
        self.n_splits_ = len(verdict.scores)
        best = OptimalTreeClassifier(
            max_depth=choice.setting.depth,
            solver="search",
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            categorical_encoding=self.categorical_encoding,
            max_features_per_split=self.max_features_per_split,
            missing=self.missing,
            unknown=self.unknown,
        )
        for name in ("classes_", "table_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(best, name, getattr(self, name))
        self.fit_time_ = best.fit_time_ = clock.elapsed
        best._keep(
            problem, _as_trained(problem, tree, choice.setting.depth, clock, status)
        )
        self.best_estimator_ = best
        for name in _TAKEN_OVER:
            setattr(self, name, getattr(best, name))


def _as_trained(
    problem: Problem, tree: ObliqueTree, depth: int, clock: Clock, status: Status
) -> Trained:
    """The tree as if trained for (1a), counted by prediction, with bounds for free."""
    default = OptimalTreeClassifier()
    dearest = float((problem.dearest / problem.weight).max())
    objective = Svm1Objective(
        max(default.slack_penalty, dearest / default.margin),
        default.l1_penalty,
        default.margin,
    )
    score = objective.evaluate(problem, tree)
    bound = combinatorial_bound(problem, depth)
    certificate = certify(
        problem, objective, depth, tree, score, bound, bound, bound, clock.elapsed
    )
    state = FitProgress(
        "done", clock.elapsed, score.objective, score.errors, bound.value
    )
    return Trained(tree, score, certificate, status, [state], 0)


def _is_number(cv: Any) -> bool:
    return isinstance(cv, Integral)


def _stratified(y: IntArray, n_rows: int, seed: int) -> IntArray:
    """Rows with about the class frequencies of all, at least one of each class."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    first = np.flatnonzero(np.diff(y[order], prepend=-1))
    every = np.linspace(0, len(y) - 1, n_rows).astype(np.intp)
    return np.sort(order[np.union1d(every, first)])
