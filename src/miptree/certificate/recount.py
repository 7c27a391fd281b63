"""The objective value of a tree and its terms, in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.exact_splits import ExactSplits
from miptree.certificate.given_data import GivenData
from miptree.objective import MARGIN_ROUNDING
from miptree.tree import ObliqueTree, rounding_error
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray


class Recount(ExactSplits):
    """The objective value of a tree on data, under a certificate's settings."""

    def __init__(
        self, tree: ObliqueTree, data: GivenData, certificate: Certificate
    ) -> None:
        margin = certificate.margin
        super().__init__(tree, data.X, data.weight, data.n_open, margin)
        self.data, self.certificate = data, certificate

    @cached_property
    def rounding(self) -> FloatArray:
        """(B,): bound on the rounding error of a score in floats."""
        coef, threshold = self.tree.coef[self.branch], self.tree.threshold[self.branch]
        largest = np.abs(self.data.X).max(axis=0)
        return rounding_error(coef, threshold, largest)

    @cached_property
    def is_near(self) -> BoolArray:
        """(n,): rows nearer to a hyperplane on their way than the rounding error."""
        near = self.on_way.copy()
        for b, error in enumerate(self.rounding):
            near[:, b] &= ~abs(self.score[:, b]).is_above(Fraction(error))
        return np.asarray(near.any(axis=1))

    @cached_property
    def wrong(self) -> BoolArray:
        """(n,): whether a row is misclassified."""
        return self.tree.label[self.leaf] != self.data.y

    @cached_property
    def cost(self) -> Fraction:
        """Cost of the misclassified rows."""
        return self._cost(np.zeros_like(self.wrong))

    def _cost(self, at_worst: BoolArray) -> Fraction:
        """Return the cost of the rows, some at that of their most costly error."""
        cost = self.data.class_cost
        others = np.flatnonzero(~at_worst)
        predicted = self.tree.label[self.leaf[others]]
        most = sum(cost.whole[at_worst].max(axis=1, initial=0), start=0) * cost.unit
        return cost[others, predicted].sum() + most

    def cost_at_margin(self, rounding_sign: int) -> Fraction:
        """Return the cost with rows inside the margin at their most costly error.

        A row whose margin is missing by the rounding of an LP keeps it; whether the
        fit saw it so may turn on its own rounding, hence a lower (-1) and an upper
        (1) value.
        """
        bad = np.zeros_like(self.wrong)
        for b, error in enumerate(self.rounding):
            slip = Fraction(MARGIN_ROUNDING) - rounding_sign * Fraction(error)
            need = (Fraction(self.certificate.margin) - slip) * self.box[b]
            bad |= self.on_way[:, b] & abs(self.score[:, b]).is_below(need)
        return self._cost(bad)

    @cached_property
    def slack_rounding(self) -> Fraction:
        """Bound on what rounding can do to the slack in floats."""
        pairs = zip(self.missing_margins, self.rounding, strict=True)
        return sum((near * Fraction(r) for (_, near), r in pairs), start=Fraction(0))

    @cached_property
    def objective(self) -> Fraction:
        """(1a)."""
        certificate = self.certificate
        slack = Fraction(certificate.slack_penalty) * self.slack
        return self.cost + slack + Fraction(certificate.l1_penalty) * self.l1

    @cached_property
    def any_tree_bound(self) -> Fraction:
        """Errors of every tree: classes without a leaf, and conflicts."""
        return max(self.class_bound, self._conflict_bound)

    @cached_property
    def class_bound(self) -> Fraction:
        """Errors of every tree as some classes have no leaf: Proposition 1 (3)."""
        spare = self.data.n_classes - 2 ** min(self.certificate.depth, 64)
        if spare <= 0:
            return Fraction(0)
        in_class, cost = [], self.data.class_cost
        for k in range(self.data.n_classes):
            others = np.delete(cost.whole[self.data.y == k], k, axis=1)
            in_class.append(sum(others.min(axis=1), start=0) * cost.unit)
        return sum(sorted(in_class)[:spare], start=Fraction(0))

    @cached_property
    def _conflict_bound(self) -> Fraction:
        points: dict[bytes, AnyArray] = {}
        rows = self.data.X + 0.0  # -0.0 and 0.0 are one point
        cost = self.data.class_cost
        for row, of_row in zip(rows, cost.whole, strict=True):
            points[row.tobytes()] = points.get(row.tobytes(), 0) + of_row
        return sum(map(min, points.values()), start=0) * cost.unit
