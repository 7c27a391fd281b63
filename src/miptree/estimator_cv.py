"""The scikit-learn estimator that chooses how to train by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock, End, interruptible
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.fit.constrained import train_under_rules
from miptree.fit.fitted import FittedTree
from miptree.fit.plan import Plan
from miptree.fit.progress import listeners_of
from miptree.objective import Svm1Objective
from miptree.objective.penalties import suited_objective
from miptree.tuning import (
    STYLES,
    Candidate,
    CVResults,
    FoldConstraints,
    PointsTree,
    Race,
    RuleHeldOut,
    TuningSetting,
    Winner,
    final_fit,
    ladder,
    training_costs,
)
from miptree.tuning.candidates import check_candidates
from miptree.tuning.certified import certified
from miptree.tuning.comparison import depths_of, make_race, to_train
from miptree.tuning.fold_constraints import held_out_summary
from miptree.tuning.kernels import LEFT_OUT
from miptree.tuning.ladder import what_fell_short, without_splits
from miptree.tuning.points_fold import EVALUATIONS, penalty_of
from miptree.tuning.scoring import (
    SCORINGS,
    between_rows_and_classes,
    check_scoring,
)
from miptree.tuning.style_settings import (
    most_points_features,
)
from miptree.tuning.taken import what_was_taken
from miptree.tuning.tuning_progress import TuningProgress
from miptree.utils.arrays import AnyArray
from miptree.utils.kernel_cache import can_keep_kernels
from miptree.utils.warn import warn

MOST_ROWS = 20_000
"""Rows on which the winner is trained; of more a stratified part."""
_CV_SHARE = 0.8
"""Part of the time for the folds; training the winner has the rest."""
_RESERVE = 0.05
"""Part of the time for counting a points tree of many rows after its training."""
_HASTY_ITERATIONS = 40
"""Iterations of a search under constraints after an interruption."""
_PROOF_SECONDS = 10.0
"""Seconds that the proof of a points tree may take, or as long as the comparison."""
_DEEP_EVALUATIONS = 5000
"""Root splits of a deeper points tree if no clock ends it: its proof may take hours."""


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
        rows, classes = self._scored_rows(X, y, sample_weight)
        given = GivenGroups(sensitive_features, control_features)
        self.constraints_: tuple[Constraint, ...]
        rows, self.constraints_ = ruled_rows(
            rows, classes, self.constraints, sample_weight, given
        )
        self._refuse_contradictions()
        problem, schema = self._problem_of(rows, classes)
        if self.constraints_:  # what cannot be kept should fail before the work
            self._refuse_points()
            possible_rules(self.constraints_, problem, schema, rows)
        with interruptible(clock) as clock:
            constraints = self._fold_constraints(classes)
            race, kernels = make_race(self, constraints, rows, problem, X, y, seed)
            if not can_keep_kernels():  # every process compiles: no part of the limit
                kernels.load(Clock())
                clock = clock.begun_now()
            tell = self._teller(race, clock)
            results, end = race.run(self.n_jobs, clock.share(_CV_SHARE), kernels, tell)
        self.rungs_ = ladder(results, self.simplest_within, self.tolerance)
        was_interrupted = clock.stop.requested
        taken: Winner | None = None
        for winner in to_train(self, self.rungs_, results):
            if isinstance(winner.setting.candidate, PointsTree):
                end = "interrupted" if was_interrupted else end
                class_weight = self._class_weight(rows, classes)
                self._fit_points(
                    problem, winner, clock, end, class_weight, X, y, sample_weight
                )
                taken = winner
            else:
                with interruptible(clock) as own:
                    is_kept = self._fit_oblique(rows, classes, winner, seed, own, end)
                was_interrupted |= own.stop.requested
                taken = winner if is_kept else taken
            if taken is winner and (self.get_n_leaves() > 1 or was_interrupted):
                break  # on all rows a candidate may find no split that it found on some
        if taken is None:
            with interruptible(clock) as own:
                is_hasty = was_interrupted or end == "interrupted"
                self._search_under_rules(rows, classes, winner, seed, own, is_hasty)
        self._keep_results(results, taken or winner, is_searched=taken is None)
        tell("done", results)
        n_done, n_folds = len(results.scores), len(race.folded.folds)
        has_rules = bool(self.constraints_)
        text = what_fell_short(
            self.rungs_, n_done, n_folds, end, was_interrupted, has_rules
        )
        if kernels.are_late and not was_interrupted:
            text = LEFT_OUT
        if self.why_ == without_splits(self.constraints_) and not was_interrupted:
            text = self.why_
        if text:
            warn(text)
        return self

    # ---------------------------------------------------------------- training

    def _fit_oblique(
        self,
        rows: TrainingRows,
        classes: AnyArray,
        winner: Winner,
        seed: int,
        clock: Clock,
        end: End,
    ) -> bool:
        """Train the winner on all rows; return whether its tree keeps the rules."""
        setting = winner.setting
        problem, schema, rules = self._all_rows(rows, classes, setting)
        found = final_fit(
            problem,
            training_costs(rows),
            winner,
            seed,
            MOST_ROWS,
            in_a_hurry=end != "unproved",
            # A stop that ended the folds does not end this as well.
            clock=Clock(clock.remaining) if clock.stop.requested else clock,
            rules=rules,
        )
        if found.tree is None:
            return False
        end = "interrupted" if clock.stop.requested else end
        objective = _default_objective(problem)
        fitted = certified(problem, objective, found, setting.depth, clock, end, rules)
        self._adopt_both(rows, classes, setting, schema, fitted)
        return True

    def _search_under_rules(
        self,
        rows: TrainingRows,
        classes: AnyArray,
        winner: Winner,
        seed: int,
        clock: Clock,
        is_hasty: bool,
    ) -> None:
        """Search for a tree that keeps the rules, as no candidate's does on all rows.

        After an interruption it is a short search.

        Raises
        ------
        NoTreeFoundError
            If none was found.
        """
        setting = winner.setting
        problem, schema, rules = self._all_rows(rows, classes, setting)
        assert rules is not None
        clf = self._estimator(setting, None).set_params(random_state=seed)
        if is_hasty:
            clf.set_params(max_iter=_HASTY_ITERATIONS)
            clock = Clock(clock.remaining)
        plan = Plan.of(clf, _default_objective(problem))
        fitted = train_under_rules(problem, plan, rules, clock)
        self._adopt_both(rows, classes, setting, schema, fitted)

    def _all_rows(
        self, rows: TrainingRows, classes: AnyArray, setting: TuningSetting
    ) -> tuple[Problem, Schema, Rules | None]:
        """Return all rows as a setting reads them, and what a tree must keep."""
        read = rows.with_levels() if setting.as_levels else rows
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dropped, as")  # told before
            problem, schema = self._problem_of(read, classes)
        if setting.max_features is not None:
            problem = read.problem(schema.table, setting.max_features)
        if not self.constraints_:
            return problem, schema, None
        return problem, schema, possible_rules(self.constraints_, problem, schema, rows)

    def _adopt_both(
        self,
        rows: TrainingRows,
        classes: AnyArray,
        setting: TuningSetting,
        schema: Schema,
        fitted: FittedTree,
    ) -> None:
        """Make this estimator fitted, and the one for exports and reports."""
        class_weight = self._class_weight(rows, classes)
        self.best_estimator_ = self._estimator(setting, class_weight)
        self.best_estimator_.constraints_ = self.constraints_
        self.best_estimator_.adopt(schema, fitted)
        self.adopt(schema, fitted)

    def _fit_points(
        self,
        problem: Problem,
        winner: Winner,
        clock: Clock,
        end: End,
        class_weight: Any,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
    ) -> None:
        """Train the winner, a points tree, on all rows, and prove it.

        After an interruption there is a short search, and no proof.
        """
        candidate = winner.setting.candidate
        assert isinstance(candidate, PointsTree)
        seconds: float | None = None
        if (left := clock.remaining) is not None:
            left -= _RESERVE * (left + clock.elapsed)
            seconds = min(max(_PROOF_SECONDS, clock.elapsed), max(left, 0.0))
        is_hasty = end == "interrupted"
        most = (
            _DEEP_EVALUATIONS if seconds is None and winner.setting.depth > 2 else None
        )
        clf = PointsTreeClassifier(
            max_depth=winner.setting.depth,
            feature_penalty=penalty_of(candidate, problem),
            time_limit=None if is_hasty else seconds,
            max_iter=EVALUATIONS if is_hasty else most,
            max_features_per_split=most_points_features(self.max_features_per_split),
            class_weight=class_weight,
            cost_matrix=self.cost_matrix,
            categorical_features=self.categorical_features,
            missing=self.missing,
            unknown=self.unknown,
            n_jobs=self.n_jobs,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dropped, as")  # told before
            self.best_estimator_ = clf.fit(X, y, sample_weight)
        status = end if is_hasty and clf.status_ == "max_iter" else clf.status_
        fitted = replace(clf.fitted_, seconds=clock.elapsed, status=status)
        self.adopt(self._schema(clf.table_, clf.classes_), fitted)

    def _teller(self, race: Race, clock: Clock) -> Callable[[str, CVResults], bool]:
        """Return a function that tells the listeners and whether one asks to stop."""
        listeners = listeners_of(self.verbose, self.callback)

        def tell(stage: str, results: CVResults) -> bool:
            n_done, n_folds = len(results.scores), len(race.folded.folds)
            score = results.winner().score
            scoring = self.scoring if self.cost_matrix is None else "cost"
            state = TuningProgress(
                stage, clock.elapsed, n_done, n_folds, score, scoring
            )
            answers = [listener(state) for listener in listeners]  # all are told
            return any(answers)

        return tell

    # --------------------------------------------------------------- comparing

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

    def _class_weight(self, rows: TrainingRows, classes: AnyArray) -> Any:
        """Return the weights of the classes, those that ``scoring`` asks for."""
        if self.scoring == "balanced_accuracy":
            return "balanced"
        if self.scoring == "f1_macro":
            weights = rows.class_factor.tolist()
            return dict(zip(classes.tolist(), weights, strict=True))
        return self.class_weight

    def _refuse_points(self) -> None:
        """Refuse points trees beside constraints, which they do not know."""
        given = self.candidates if not isinstance(self.candidates, str) else ()
        if self.style == "points" or any(isinstance(c, PointsTree) for c in given):
            raise ValueError(
                "Points trees know no constraints: give another style or other "
                "candidates, or leave out constraints and groups."
            )

    def _fold_constraints(self, classes: AnyArray) -> FoldConstraints | None:
        if not self.constraints_:
            return None
        return FoldConstraints(self.constraints_, classes)

    def _refuse_contradictions(self) -> None:
        """Refuse rules that contradict each other, or the shape of the trees."""
        most = self.max_features_per_split
        refuse_contradictions(self.constraints_, max(depths_of(self)), most)

    # ----------------------------------------------------------------- keeping

    def _keep_results(
        self, results: CVResults, winner: Winner, is_searched: bool
    ) -> None:
        self.style_, self.why_ = what_was_taken(
            self,
            self.rungs_,
            results,
            winner,
            constraints=self.constraints_,
            is_constant=self.get_n_leaves() == 1,
            is_searched=is_searched,
        )
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

    def _keep_rules(self, results: CVResults, winner: Winner) -> None:
        """Keep how the winner's trees of the folds fare on the rows held out."""
        self.rules_held_out_: list[RuleHeldOut] = []
        constraints = self._fold_constraints(self.classes_)
        if constraints is not None:
            found = results.rules_held_out(winner)
            self.rules_held_out_ = held_out_summary(constraints, found)

    def _estimator(
        self, setting: TuningSetting, class_weight: Any
    ) -> OptimalTreeClassifier:
        """Return a classifier that reads tables as this one does."""
        return OptimalTreeClassifier(
            max_depth=setting.depth,
            solver="search",
            constraints=self.constraints,
            class_weight=class_weight,
            cost_matrix=self.cost_matrix,
            categorical_features=self.categorical_features,
            categorical_encoding=self.categorical_encoding,
            max_features_per_split=setting.max_features or self.max_features_per_split,
            missing=self.missing,
            unknown=self.unknown,
        )


def _default_objective(problem: Problem) -> Svm1Objective:
    default = OptimalTreeClassifier()
    return suited_objective(
        default.slack_penalty, default.l1_penalty, default.margin, problem
    )
