"""The client's side of a points tree: chosen for a sample, counted on all rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from miptree.classifiers.points_parameters import given_penalty
from miptree.control.clock import Clock, interruptible
from miptree.data.labels import above_tolerance, checked_costs, row_weights
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.distributed import _partition, _points_partition
from miptree.distributed._dask import Partitions
from miptree.distributed._frame import Columns, Frame
from miptree.distributed._overview import Overview
from miptree.distributed._points_finish import finished
from miptree.distributed._points_partition import Drawn
from miptree.distributed._sample import allot, scaled_penalty
from miptree.estimator_points import PointsTreeClassifier
from miptree.fit.points import PointsResult
from miptree.fit.progress import FitCallback, FitProgress, listeners_of
from miptree.utils.arrays import FloatArray

PASSES = 2
"""Passes over the data that the end of the fit takes at most."""


@dataclass
class PointsFitting:
    """A fit of a points tree: what it is given, and what it has learnt so far.

    Attributes
    ----------
    partitions, columns, classifier, max_rows, clock
        What it is given.
    listeners : list of callables
        Who is told of progress.
    pass_seconds : float
        Seconds of a pass over the data.
    seen : Overview
        Ranges, classes and weights of all rows.
    frame : Frame
        How partitions are read.
    factor : float array of shape (Y,)
        Weight of each class by ``class_weight``.
    sample : TrainingRows
        The stratified sample that the tree is chosen for.
    share : float
        Part of all rows, of classes that weigh anything, in the sample.
    """

    partitions: Partitions
    columns: Columns
    classifier: PointsTreeClassifier
    max_rows: int
    clock: Clock
    listeners: list[FitCallback] = field(init=False)
    pass_seconds: float = field(init=False)
    seen: Overview = field(init=False)
    frame: Frame = field(init=False)
    factor: FloatArray = field(init=False)
    sample: TrainingRows = field(init=False)
    share: float = field(init=False)

    def __post_init__(self) -> None:
        clf = self.classifier
        self.listeners = listeners_of(clf.verbose, clf.callback)

    def run(self) -> PointsTreeClassifier:
        """Choose a tree for a sample, count it on all rows, fit the classifier."""
        with interruptible(self.clock) as self.clock:
            self._look()
            self._draw()
            result = self._train()
            fitted = finished(self, result)
        names = np.array(self.columns.features, dtype=object)
        table = result.data.table.with_limits(self.seen.limits(self.factor))
        schema = Schema(table, self.seen.classes, names)
        return self.classifier.adopt(schema, fitted)

    def _look(self) -> None:
        """Check all partitions and learn classes and what these weigh."""
        clf, began = self.classifier, self.clock.elapsed
        found = self.partitions.map(_partition.summarise, self.columns)
        self.pass_seconds = self.clock.elapsed - began
        self.seen = seen = Overview.of(found, self.columns)
        costs = None
        if clf.cost_matrix is not None:
            costs = checked_costs(clf.cost_matrix, seen.classes, np.inf)
        table = seen.learn_table("onehot", clf.missing, clf.unknown)
        # The rows of a class weigh what one row of their total weight would.
        each = np.arange(len(seen.classes))
        totals = seen.class_weight
        _, self.factor = row_weights(clf.class_weight, seen.classes, each, totals)
        frame = seen.frame(table, costs, max_features=None)
        self.frame = replace(frame, class_factor=self.factor)

    def _draw(self) -> None:
        """Bring a stratified sample of all rows to the client."""
        given, frame, columns = self.classifier.random_state, self.frame, self.columns
        random = check_random_state(0 if given is None else given)
        seed = int(random.randint(2**31 - 1))
        allotted = allot(self.seen.class_count, self.max_rows, seed)
        found = self.partitions.map(_points_partition.draw, frame, allotted, seed)
        drawn = Drawn(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        self.sample = TrainingRows(
            columns.cells(drawn.X),
            [name in columns.truths for name in columns.features],
            drawn.y,
            above_tolerance(drawn.weight),
            len(frame.classes),
            self.factor,
            frame.costs,
        )
        counts = self.seen.class_count.sum(axis=0)
        self.share = len(self.sample) / float(counts[self.factor > 0].sum())

    def _train(self) -> PointsResult:
        """Find the best tree for the sample.

        A penalty is in errors of all rows; of the sample's errors it is only a part.
        """
        clf, rows = self.classifier, self.sample
        if clf.min_samples_leaf > len(rows):
            raise ValueError(
                f"min_samples_leaf is {clf.min_samples_leaf}, but the sample that the "
                f"tree is chosen for has {len(rows)} rows. Give a larger max_rows, or "
                "a smaller min_samples_leaf."
            )
        chooser, given = clone(clf), given_penalty(clf, rows)
        chooser.set_params(verbose=0, callback=self._tell)
        if given is not None:
            scaled = [scaled_penalty(p, self.share) for p in given.tolist()]
            named = zip(self.columns.features, scaled, strict=True)
            chooser.feature_penalty = dict(named)
        data = chooser.learn(rows, self.frame.table.columns)
        result = chooser.train(rows, data, self._turn())
        clf.family_, clf.narrowing_ = chooser.family_, chooser.narrowing_
        clf.penalty_chosen_ = chooser.penalty_chosen_
        return result

    def _tell(self, state: FitProgress) -> bool:
        """Tell of the sample; what is known of it must not pass for all rows."""
        if state.stage not in ("compile", "folds"):
            state = replace(state, stage="sample")
        answers = [listener(state) for listener in self.listeners]
        return any(answers)

    def _turn(self) -> Clock:
        """Return the clock of the training, less what the passes will take."""
        remaining = self.clock.remaining
        if remaining is not None:
            remaining = max(0.0, remaining - PASSES * self.pass_seconds)
        return Clock(remaining, stop=self.clock.stop)
