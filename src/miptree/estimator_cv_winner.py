"""The winner of a comparison, trained once more: on all rows, with more effort."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from miptree.classifiers.ruled_rows import possible_rules
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
from miptree.objective import Svm1Objective
from miptree.objective.penalties import suited_objective
from miptree.tuning import (
    PointsTree,
    TuningSetting,
    Winner,
    final_fit,
    training_costs,
)
from miptree.tuning.certified import certified
from miptree.tuning.comparison import class_weight_of
from miptree.tuning.points_fold import EVALUATIONS, penalty_of
from miptree.tuning.style_settings import most_points_features

if TYPE_CHECKING:
    from miptree.estimator_cv import OptimalTreeClassifierCV

MOST_ROWS = 20_000
"""Rows on which the winner is trained; of more a stratified part."""
_RESERVE = 0.05
"""Part of the time for counting a points tree of many rows after its training."""
_HASTY_ITERATIONS = 40
"""Iterations of a search under constraints after an interruption."""
_PROOF_SECONDS = 10.0
"""Seconds that the proof of a points tree may take, or as long as the comparison."""
_DEEP_EVALUATIONS = 5000
"""Root splits of a deeper points tree if no clock ends it: its proof may take hours."""


class TrainedWinner(NamedTuple):
    """A tree of all rows, and what it takes to become fitted with it.

    Attributes
    ----------
    winner : Winner
        What was trained.
    estimator : OptimalTreeClassifier or PointsTreeClassifier
        The tree as a classifier of its own, for exports and reports.
    schema : Schema
        How the tree reads rows.
    fitted : FittedTree
        The tree, with the status of the comparison.
    is_searched : bool
        Whether no tree of the winners kept the constraints, and one was searched for
        that does.
    """

    winner: Winner
    estimator: OptimalTreeClassifier | PointsTreeClassifier
    schema: Schema
    fitted: FittedTree
    is_searched: bool = False


@dataclass
class WinnerTraining:
    """The last training of a cross-validation.

    Attributes
    ----------
    clf : OptimalTreeClassifierCV
        The parameters, and the constraints that took effect; it is not changed.
    rows : TrainingRows
    problem, schema : Problem and Schema
        The rows as the usual settings read them, and how that is done.
    given : tuple of X, y and sample_weight
        The rows as the user gave them.
    seed : int
    clock : Clock
        That of the whole fit, with its stop.
    end : End
        Why the comparison ended.
    was_interrupted : bool
        Whether a stop was requested, in the comparison or since.
    """

    clf: OptimalTreeClassifierCV
    rows: TrainingRows
    problem: Problem
    schema: Schema
    given: tuple[ArrayLike, ArrayLike, ArrayLike | None]
    seed: int
    clock: Clock
    end: End
    was_interrupted: bool = field(init=False)

    def __post_init__(self) -> None:
        self.was_interrupted = self.clock.stop.requested

    def run(self, winners: Sequence[Winner]) -> TrainedWinner:
        """Train winners, the first one first, until a tree has a split.

        Raises
        ------
        NoTreeFoundError
            If no tree was found that keeps the constraints.
        """
        last = None
        for winner in winners:
            is_points = isinstance(winner.setting.candidate, PointsTree)
            found = self._points(winner) if is_points else self._oblique(winner)
            last = found or last
            if found and (found.fitted.tree.n_leaves > 1 or self.was_interrupted):
                break  # on all rows a candidate may find no split that it found on some
        return last or self._searched(winner)

    # ----------------------------------------------------------- oblique trees

    def _oblique(self, winner: Winner) -> TrainedWinner | None:
        """Train a winner; return None if its tree does not keep the constraints."""
        with interruptible(self.clock) as clock:
            found = self._grown(winner, clock)
        self.was_interrupted |= clock.stop.requested
        return found

    def _grown(self, winner: Winner, clock: Clock) -> TrainedWinner | None:
        problem, schema, rules = self._read(winner.setting)
        found = final_fit(
            problem,
            training_costs(self.rows),
            winner,
            self.seed,
            MOST_ROWS,
            in_a_hurry=self.end != "unproved",
            # A stop that ended the folds does not end this as well.
            clock=Clock(clock.remaining) if clock.stop.requested else clock,
            rules=rules,
        )
        if found.tree is None:
            return None
        end: End = "interrupted" if clock.stop.requested else self.end
        objective, depth = _default_objective(problem), winner.setting.depth
        fitted = certified(problem, objective, found, depth, clock, end, rules)
        return self._trained(winner, schema, fitted)

    def _searched(self, winner: Winner) -> TrainedWinner:
        """Search for a tree that keeps the rules, as no candidate's does on all rows.

        After an interruption it is a short search.
        """
        with interruptible(self.clock) as clock:
            problem, schema, rules = self._read(winner.setting)
            assert rules is not None
            clf = self._estimator(winner.setting).set_params(random_state=self.seed)
            if self.was_interrupted or self.end == "interrupted":
                clf.set_params(max_iter=_HASTY_ITERATIONS)
                clock = Clock(clock.remaining)
            plan = Plan.of(clf, _default_objective(problem))
            fitted = train_under_rules(problem, plan, rules, clock)
        return self._trained(winner, schema, fitted)._replace(is_searched=True)

    def _read(self, setting: TuningSetting) -> tuple[Problem, Schema, Rules | None]:
        """Return all rows as a setting reads them, and what a tree must keep."""
        clf, rows = self.clf, self.rows
        read = rows.with_levels() if setting.as_levels else rows
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dropped, as")  # told before
            table = read.learn_table(clf.categorical_encoding, clf.missing, clf.unknown)
        schema = replace(self.schema, table=table)
        problem = read.problem(table, self._most_features(setting))
        if not clf.constraints_:
            return problem, schema, None
        return problem, schema, possible_rules(clf.constraints_, problem, schema, rows)

    def _most_features(self, setting: TuningSetting) -> int | None:
        return setting.max_features or self.clf.max_features_per_split

    def _trained(
        self, winner: Winner, schema: Schema, fitted: FittedTree
    ) -> TrainedWinner:
        estimator = self._estimator(winner.setting)
        estimator.constraints_ = self.clf.constraints_
        return TrainedWinner(winner, estimator.adopt(schema, fitted), schema, fitted)

    def _estimator(self, setting: TuningSetting) -> OptimalTreeClassifier:
        """Return a classifier that reads tables as the one of the comparison does."""
        clf = self.clf
        return OptimalTreeClassifier(
            max_depth=setting.depth,
            solver="search",
            constraints=clf.constraints,
            class_weight=class_weight_of(clf, self.rows, self.schema.classes),
            cost_matrix=clf.cost_matrix,
            categorical_features=clf.categorical_features,
            categorical_encoding=clf.categorical_encoding,
            max_features_per_split=self._most_features(setting),
            missing=clf.missing,
            unknown=clf.unknown,
        )

    # ------------------------------------------------------------ points trees

    def _points(self, winner: Winner) -> TrainedWinner:
        """Train a winner, a points tree, and prove it.

        After an interruption there is a short search, and no proof.
        """
        asked, clock, setting = self.clf, self.clock, winner.setting
        assert isinstance(setting.candidate, PointsTree)
        seconds = self._proof_seconds()
        is_endless = seconds is None and setting.depth > 2
        most = _DEEP_EVALUATIONS if is_endless else None
        is_hasty = self.was_interrupted or self.end == "interrupted"
        clf = PointsTreeClassifier(
            max_depth=setting.depth,
            feature_penalty=penalty_of(setting.candidate, self.problem),
            time_limit=None if is_hasty else seconds,
            max_iter=EVALUATIONS if is_hasty else most,
            max_features_per_split=most_points_features(asked.max_features_per_split),
            class_weight=class_weight_of(asked, self.rows, self.schema.classes),
            cost_matrix=asked.cost_matrix,
            categorical_features=asked.categorical_features,
            missing=asked.missing,
            unknown=asked.unknown,
            n_jobs=asked.n_jobs,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Dropped, as")  # told before
            clf.fit(*self.given)
        is_cut = is_hasty and clf.status_ == "max_iter"
        status: End = "interrupted" if is_cut else clf.status_
        fitted = replace(clf.fitted_, seconds=clock.elapsed, status=status)
        schema = replace(self.schema, table=clf.table_)
        return TrainedWinner(winner, clf, schema, fitted)

    def _proof_seconds(self) -> float | None:
        """Return the seconds that a points tree may take, None without a limit."""
        left, spent = self.clock.remaining, self.clock.elapsed
        if left is None:
            return None
        left -= _RESERVE * (left + spent)
        return min(max(_PROOF_SECONDS, spent), max(left, 0.0))


def _default_objective(problem: Problem) -> Svm1Objective:
    default = OptimalTreeClassifier()
    return suited_objective(
        default.slack_penalty, default.l1_penalty, default.margin, problem
    )
