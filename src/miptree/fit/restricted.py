"""Fits of points trees of which more is asked: they do without columns, for example.

A restriction makes the family of trees smaller. What is proved then is about
these trees only, and their certificates name the restriction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from miptree.certificate.certificate import certify
from miptree.control.clock import Clock
from miptree.fit.fitted import FittedTree
from miptree.fit.points import PointsResult, PointsTraining
from miptree.fit.points_data import PointsData
from miptree.fit.progress import FitCallback, FitProgress
from miptree.objective.bounds import EXHAUSTIVE, Bound
from miptree.objective.proved import Bounds
from miptree.points.alternatives import Restriction, features_used
from miptree.utils.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class PointsFit:
    """What a fit of a points tree was about, to ask for other trees.

    Attributes
    ----------
    data : PointsData
        Rows and family.
    by_source : float array
        What it costs that a split uses each column of X.
    n_jobs : int
        Threads of the engine.
    max_evaluations : int or None
        Root splits that each search looks at, at most.
    least : float
        No tree of the family costs less at these penalties, as is known before.
    """

    data: PointsData
    by_source: FloatArray
    n_jobs: int = 1
    max_evaluations: int | None = None
    least: float = 0.0

    @property
    def names(self) -> list[str]:
        """Names of the columns of X."""
        return [column.name for column in self.data.table.columns]

    def restricted(self, restriction: Restriction) -> PointsData:
        """Return the rows with the family of the trees that are left."""
        return replace(
            self.data,
            family=restriction.narrowed(self.data.family),
            restriction=restriction.words(self.names),
            asked=restriction,
        )

    def best(
        self,
        restriction: Restriction,
        clock: Clock,
        listeners: Sequence[FitCallback] = (),
    ) -> PointsResult:
        """Find the best tree under a restriction of its columns.

        Parameters
        ----------
        restriction : Restriction
            Without a number of features; for that see :meth:`best_of_few`.
        clock : Clock
        listeners : sequence of callables
            Told of progress; a true answer of one stops this search alone.
        """
        data, listeners = self.restricted(restriction), [*listeners, _is_proved]
        training = PointsTraining(data, clock.heeding(), listeners, self.n_jobs)
        training.best.raise_objective_bound(Bound(self.least, EXHAUSTIVE))
        return training.run(self.by_source, self.max_evaluations)

    def best_of_few(self, price: float, clock: Clock) -> PointsResult:
        """Find a tree that no tree of as few features undercuts.

        It is the best one if every feature in a split costs ``price`` more. Let it
        have f features in all, and a bound B on these costs: then a tree of at most f
        features costs at least B - price * f without the price.
        """
        dearer = np.array([float(f"{cost + price:.12g}") for cost in self.by_source])
        priced = replace(self, by_source=dearer).best(Restriction(), clock)
        # The price as it was counted, which is rounded to a decimal for each column.
        pairs = zip(dearer, self.by_source, strict=True)
        counted = max(_decimal(dear) - _decimal(cost) for dear, cost in pairs)
        return self._without_price(priced, counted)

    def _without_price(self, priced: PointsResult, price: Fraction) -> PointsResult:
        """Certify the tree of a fit with a price of features among trees of as few."""
        tree, points = priced.fitted.tree, priced.points
        n_features = features_used(tree)
        data = self.restricted(Restriction(most_features=n_features))
        problem, depth = data.problem, data.rules.depth
        bound = (priced.found.bound + points.offset) * points.unit - price * n_features
        value = max(self.least, float(bound - Fraction(points.rounding)))
        bounds = Bounds.without_solver(problem, depth)
        if value > bounds.objective.value:
            bounds = bounds._replace(objective=Bound(value, EXHAUSTIVE))
        objective = data.objective(points, data.column_penalty(self.by_source))
        score, seconds = objective.evaluate(problem, tree), priced.fitted.seconds
        certificate = certify(problem, objective, depth, tree, score, bounds, seconds)
        status = priced.fitted.status
        if status == "optimal" and not certificate.objective_optimal:
            status = "unproved"
        n_iter = priced.fitted.n_iter
        fitted = FittedTree.of(
            problem, tree, certificate, status, n_iter, seconds=seconds
        )
        return PointsResult(data, points, priced.found, fitted)


def _is_proved(state: FitProgress) -> bool:
    return state.objective <= state.bound


def _decimal(cost: float) -> Fraction:
    """Return the decimal that a cost is read as."""
    return Fraction(repr(float(cost)))
