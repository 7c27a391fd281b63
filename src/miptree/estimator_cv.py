"""The scikit-learn estimator that chooses how to train by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from miptree.classifiers.oblique_classifier import (
    OBLIQUE_CONSTRAINTS,
    ObliqueClassifier,
)
from miptree.classifiers.ruled_rows import GivenGroups, possible_rules, ruled_rows
from miptree.constraints.constraint import Constraint
from miptree.constraints.contradictions import refuse_contradictions
from miptree.control.clock import Clock, interruptible
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.estimator_cv_winner import TrainedWinner, WinnerTraining
from miptree.fit.progress import listeners_of
from miptree.tuning import (
    STYLES,
    Candidate,
    CVResults,
    FoldConstraints,
    Race,
    RuleHeldOut,
    Winner,
    ladder,
)
from miptree.tuning.candidates import check_candidates
from miptree.tuning.comparison import depths_of, make_race, refuse_points, to_train
from miptree.tuning.fold_constraints import held_out_summary
from miptree.tuning.ladder import what_fell_short
from miptree.tuning.scoring import (
    SCORINGS,
    between_rows_and_classes,
    check_scoring,
)
from miptree.tuning.taken import Taken, warning_of, what_was_taken
from miptree.tuning.tuning_progress import teller
from miptree.utils.arrays import AnyArray
from miptree.utils.kernel_cache import can_keep_kernels
from miptree.utils.warn import warn

_CV_SHARE = 0.8
"""Part of the time for the folds; training the winner has the rest."""


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeClassifierCV(ObliqueClassifier):
    """One small tree, of the kind and trained in the way that cross-validation says.

    Trees come in styles, the simplest first: a constant; points trees, whose splits are
    small scorecards; sparse trees, whose splits weigh at most four features, or eight;
    oblique trees. Within a style, candidates differ in their objective, their
    regularisation, and how far they trust the labels: a label can give way to the votes
    of trees that did not see its row. All are compared in repeated stratified
    cross-validation *inside the training data*. The simplest style that is about as
    good as the best is trained once more on all rows, in its best way.

    Parameters
    ----------
    max_depth : int or "cv", default=2
        Depth of the tree; "cv" chooses from 1 to 4 as well.
    style : {"auto", "points", "sparse", "oblique"}, default="auto"
        Kind of tree; "auto" compares all of them.
    simplest_within : float, default=1
        How far a simpler style may be behind the best one, in standard errors of their
        difference in the same folds. A constant is taken only if no split is of use.
    tolerance : float, default=0.01
        Difference in the score that a simpler style may be behind in any case: with
        many rows, differences that nobody would notice are many standard errors. With
        this and ``simplest_within`` 0 the best one is taken.
    scoring : str, default="accuracy"
        What trees are trained for and compared by. "balanced_accuracy" is the mean of
        the accuracies in each class: rows weigh as ``class_weight="balanced"`` has it,
        in training, in the choice of the leaves' classes and in the folds. "f1_macro"
        is the mean F1 score of the classes, for which they weigh by the square roots
        of that in training. "neg_log_loss" compares probabilities. "cost" needs a
        ``cost_matrix``; with one, "accuracy" is the same.
    candidates : "default" or sequence of candidates, default="default"
        What to choose from, see :mod:`miptree.tuning`. With a sequence the best one is
        taken, whatever its style; and the first one where the time does not suffice
        for a single fold.
    cv : int, splitter, iterable or None, default=5
        Number of stratified folds, 5 for None; or a splitter of scikit-learn (one that
        needs no groups), or pairs (train, test) of rows of X, used as they are.
    n_repeats : int, default=4
        Times that the rows are split into that number of folds. After each, candidates
        drop out that the best one beats by more than two standard errors.
    sparsity : "auto", float or None, default="auto"
        Drop the coefficients below this part of the largest of a split, in features of
        equal spread. "auto" takes the sparsest candidate, with that part from 0 to
        0.3, whose accuracy in cross-validation is within a tenth of a standard error
        of the best.
    levels : bool or "cv", default="cv"
        Whether columns of 3 to 6 different whole numbers are read as categories; "cv"
        does so if it is better by more than a standard error, unless
        ``categorical_features`` names the categories or ``unknown`` refuses new ones.
        Points trees read them as numbers, and so does every tree where a constraint
        gives them a direction or a coefficient.
    time_limit : float or None, default=60
        Seconds for the whole fit. The folds done by then decide.
    constraints : list of Constraint or None, default=None
        Rules that the tree must keep, as for :class:`~miptree.OptimalTreeClassifier`.
        In each fold the trees of a candidate are repaired on the training rows, and a
        candidate counts only if it keeps the rules there in every fold; sizes of
        leaves and budgets are in proportion to the rows. Around a ``FixedSplit``
        candidates grow the other splits, each on the rows that come to it. Points
        trees know no rules and do not take part.
    class_weight, cost_matrix, categorical_features, categorical_encoding, missing
        As for :class:`~miptree.OptimalTreeClassifier`.
    max_features_per_split, unknown, verbose
        Likewise.
    n_jobs : int or None, default=None
        Folds that run at a time, in processes of joblib.
    random_state : int, RandomState or None, default=None
        Seed of folds and candidates.
    callback : callable, default=None
        Called with a :class:`TuningProgress` after each fold; a true answer ends the
        comparison, and the best so far is trained.

    Attributes
    ----------
    style_ : str
        Style of the tree, "constant" where no split was of use but those of
        ``FixedSplit``.
    rungs_ : list of Rung
        The best of each style, the simplest first, beside the best of all: how many
        coefficients it has, its score, and by how much it is behind.
    why_ : str
        Why this style was taken, in a sentence.
    references_ : dict
        Scores of logistic regression, and of CART of the (largest) depth, in the same
        folds; empty unless styles were compared.
    best_params_ : dict
        Kind and parameters of the winner, ``max_depth``, and the ``threshold`` below
        which coefficients were dropped.
    best_score_, best_score_se_ : float
        Its mean score on rows held out and the standard error of that mean, NaN if no
        fold was done. The score is the accuracy (balanced where ``scoring`` says so;
        1 - cost / largest cost with a ``cost_matrix``), half that of its best tree and
        half the mean of its three best. As the score of the best of several it is a
        little optimistic.
    best_index_ : int
        Its row in ``cv_results_``.
    cv_results_ : dict
        Scores of every candidate in the manner of ``GridSearchCV``, with coefficients
        below a tenth of the largest of a split dropped, unless that clearly costs
        accuracy; NaN after it dropped out. With
        ``sparsity="auto"`` the winner may be a sparser one than that of rank 1.
    n_splits_ : int
        Folds done.
    constraints_ : tuple of Constraint
        The constraints that took effect, those on sensitive columns included.
    rules_held_out_ : list of RuleHeldOut
        For each of them the share of the folds in which the winner's tree keeps it on
        the rows held out, too, and by how much it misses it in the mean.
    best_estimator_ : OptimalTreeClassifier or PointsTreeClassifier
        The tree as a classifier of its own, for exports and reports.
    classes_, table_, tree_, certificate_, objective_, bound_, gap_, trace_, fit_time_
        As of :class:`~miptree.OptimalTreeClassifier`. The certificate of a points tree
        is its own; any other is about the total cost with its default penalties, with
        bounds that need no solver.
    status_ : str
        That of a points tree, "optimal" if it is proved to be the best of its kind.
        Otherwise why the comparison ended: "unproved" after the last fold,
        "time_limit", or "interrupted" by Ctrl-C or the callback.
    n_features_in_, feature_names_in_
        As of :class:`~miptree.OptimalTreeClassifier`.

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
        "style": [StrOptions({"auto", *STYLES[1:]})],
        "simplest_within": [Interval(Real, 0, None, closed="left")],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "scoring": [StrOptions(set(SCORINGS))],
        "candidates": [StrOptions({"default"}), list, tuple],
        "cv": ["cv_object"],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [
            StrOptions({"auto"}), Interval(Real, 0, 1, closed="left"), None,
        ],
        "levels": [StrOptions({"cv"}), "boolean"],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "constraints": [list, tuple, None],
        **OBLIQUE_CONSTRAINTS,
    }  # fmt: skip

    max_depth: int | str = 2
    style: str = "auto"
    simplest_within: float = 1.0
    tolerance: float = 0.01
    scoring: str = "accuracy"
    candidates: str | Sequence[Candidate] = "default"
    cv: Any = 5
    n_repeats: int = 4
    sparsity: str | float | None = "auto"
    levels: str | bool = "cv"
    time_limit: float | None = 60.0
    constraints: Sequence[Constraint] | None = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
    ) -> OptimalTreeClassifierCV:
        """Choose a candidate and train it.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Finite numbers and categories; missing values where ``missing`` allows.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0, the largest at least 1e-5: a row of weight 2 counts as two
            rows, and the penalties are meant for rows of weight 1. Where all weights
            are whole, different folds may hold the copies of a row; give weights that
            are no counts as ``weight / weight.mean()``. Under constraints a row is in
            one fold with all of its weight.
        sensitive_features, control_features : array-like or data frame, optional
            Groups that constraints compare, and groups within which they do, as for
            :class:`~miptree.OptimalTreeClassifier`. They are cut with the rows.

        Returns
        -------
        OptimalTreeClassifierCV
            The fitted estimator.
        """
        clock = Clock(self.time_limit)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if not isinstance(self.candidates, str):
            check_candidates(self.candidates)
        given = GivenGroups(sensitive_features, control_features)
        rows, problem, schema = self._read(X, y, sample_weight, given)
        with interruptible(clock) as clock:
            constraints = self._fold_constraints(schema.classes)
            race, kernels = make_race(self, constraints, rows, problem, X, y, seed)
            if not can_keep_kernels():  # every process compiles: no part of the limit
                kernels.load(Clock())
                clock = clock.begun_now()
            tell = self._teller(race, clock)
            results, end = race.run(self.n_jobs, clock.share(_CV_SHARE), kernels, tell)
        self.rungs_ = ladder(results, self.simplest_within, self.tolerance)
        training = WinnerTraining(
            self, rows, problem, schema, (X, y, sample_weight), seed, clock, end
        )
        trained = training.run(to_train(self, self.rungs_, results))
        self.best_estimator_ = trained.estimator
        self.adopt(trained.schema, trained.fitted)
        taken = self._keep_results(results, trained)
        tell("done", results)
        fell_short = what_fell_short(
            self.rungs_,
            len(results.scores),
            len(race.folded.folds),
            end,
            training.was_interrupted,
            bool(self.constraints_),
        )
        are_late, was_interrupted = kernels.are_late, training.was_interrupted
        text = warning_of(taken, fell_short, are_late, was_interrupted)
        if text:
            warn(text)
        return self

    # --------------------------------------------------------------- comparing

    def _read(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        given: GivenGroups,
    ) -> tuple[TrainingRows, Problem, Schema]:
        """Read the rows, and refuse rules that no tree can keep before the work."""
        rows, classes = self._scored_rows(X, y, sample_weight)
        self.constraints_: tuple[Constraint, ...]
        rows, self.constraints_ = ruled_rows(
            rows, classes, self.constraints, sample_weight, given
        )
        depth, most = max(depths_of(self)), self.max_features_per_split
        refuse_contradictions(self.constraints_, depth, most)
        problem, schema = self._problem_of(rows, classes)
        if self.constraints_:
            refuse_points(self)
            possible_rules(self.constraints_, problem, schema, rows)
        return rows, problem, schema

    def _scored_rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[TrainingRows, AnyArray]:
        """Read the rows, weighed as the score asks for."""
        check_scoring(self.scoring, self.class_weight, self.cost_matrix)
        is_balanced = self.scoring == "balanced_accuracy"
        class_weight = "balanced" if is_balanced else None
        rows, classes = self._rows(X, y, sample_weight, class_weight=class_weight)
        if self.scoring == "f1_macro":
            rows = between_rows_and_classes(rows)
        return rows, classes

    def _fold_constraints(self, classes: AnyArray) -> FoldConstraints | None:
        if not self.constraints_:
            return None
        return FoldConstraints(self.constraints_, classes)

    def _teller(self, race: Race, clock: Clock) -> Callable[[str, CVResults], bool]:
        """Return a function that tells the listeners and whether one asks to stop."""
        listeners = listeners_of(self.verbose, self.callback)
        scoring = self.scoring if self.cost_matrix is None else "cost"
        return teller(listeners, clock, len(race.folded.folds), scoring)

    # ----------------------------------------------------------------- keeping

    def _keep_results(self, results: CVResults, trained: TrainedWinner) -> Taken:
        """Keep what the comparison says; return what is to be said of the tree."""
        winner = trained.winner
        taken = what_was_taken(
            self,
            self.rungs_,
            results,
            winner,
            constraints=self.constraints_,
            is_constant=self.get_n_leaves() == 1,
            is_searched=trained.is_searched,
        )
        self.style_, self.why_ = taken.style, taken.why
        self._keep_rules(results, winner)
        self.references_ = results.references
        self.cv_results_ = results.table()
        self.best_index_ = winner.index
        self.best_params_ = {
            **self.cv_results_["params"][winner.index],
            "threshold": float(winner.threshold),
        }
        self.best_score_ = float(winner.score)
        self.best_score_se_ = float(winner.se)
        self.n_splits_ = len(results.scores)
        return taken

    def _keep_rules(self, results: CVResults, winner: Winner) -> None:
        """Keep how the winner's trees of the folds fare on the rows held out."""
        self.rules_held_out_: list[RuleHeldOut] = []
        constraints = self._fold_constraints(self.classes_)
        if constraints is not None:
            found = results.rules_held_out(winner)
            self.rules_held_out_ = held_out_summary(constraints, found)
