"""The objective value of a tree and its terms, in exact rational arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.certificate.certificate import Certificate
from miptree.certificate.given_data import GivenData
from miptree.data.scaling import SMALLEST_SPAN
from miptree.objective import MARGIN_ROUNDING
from miptree.tree import ObliqueTree, rounding_error
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from miptree.utils.exact import Exact


@dataclass(frozen=True, eq=False)
class Recount:
    """The objective value of a tree on data, under a certificate's settings."""

    tree: ObliqueTree
    data: GivenData
    certificate: Certificate

    @cached_property
    def branch(self) -> IntArray:
        """(B,): numbers of the nodes that split."""
        return np.flatnonzero(~self.tree.is_leaf)

    @cached_property
    def score(self) -> Exact:
        """(n, B): ``x @ coef - threshold``."""
        coef = Exact.of(self.tree.coef[self.branch].T)
        threshold = Exact.of(self.tree.threshold[self.branch])
        return Exact.of(self.data.X) @ coef - threshold

    @cached_property
    def leaf(self) -> IntArray:
        """(n,): leaf of each row, right iff its score is above zero."""
        right = np.zeros((len(self.data.X), self.tree.n_nodes), dtype=bool)
        right[:, self.branch] = self.score.whole > 0
        node = np.zeros(len(right), dtype=np.intp)
        rows = np.arange(len(right))
        for _ in range(self.tree.depth):
            left, other = self.tree.children_left[node], self.tree.children_right[node]
            below = np.where(right[rows, node], other, left)
            node = np.where(self.tree.is_leaf[node], node, below)
        return node

    @cached_property
    def on_way(self) -> BoolArray:
        """(n, B): whether a row passes the node."""
        return self.tree.ancestors[self.leaf][:, self.branch]

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
    def weight(self) -> Exact:
        """(n,): weights of the rows, exactly."""
        return Exact.of(self.data.weight)

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

    @cached_property
    def largest(self) -> list[Fraction]:
        """Largest abs(score) at each branch node."""
        size = abs(self.score)
        return [size[:, b].max() for b in range(len(self.branch))]

    @cached_property
    def box(self) -> list[Fraction]:
        """What a hyperplane is divided by to lie in the box."""
        return [max(Fraction(1), size) for size in self.largest]

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
    def slack(self) -> Fraction:
        """Weighted sum of the missing margins."""
        return sum((missing for missing, _ in self._missing), start=Fraction(0))

    @cached_property
    def slack_rounding(self) -> Fraction:
        """Bound on what rounding can do to the slack in floats."""
        pairs = zip(self._missing, self.rounding, strict=True)
        return sum((near * Fraction(r) for (_, near), r in pairs), start=Fraction(0))

    @cached_property
    def _missing(self) -> list[tuple[Fraction, Fraction]]:
        """Missing margin at each node, and the weight of the rows that lack it."""
        margin = Fraction(self.certificate.margin)
        found = []
        for b, box in enumerate(self.box):
            size = abs(self.score[:, b])
            near = self.on_way[:, b] & size.is_below(margin * box)
            weight = self.weight[near]
            total = weight.sum()
            kept = (weight @ size[near]).sum() if near.any() else Fraction(0)
            found.append((margin * total - kept / box, total))
        return found

    @cached_property
    def l1(self) -> Fraction:
        """1-norms of the hyperplanes in scaled units, brought into the box."""
        n_open = self.data.n_open
        rows = Exact.of(self.data.X)
        span = [rows[:, j].max() - rows[:, j].min() for j in range(n_open)]
        span = [s if s > SMALLEST_SPAN else Fraction(1) for s in span]
        total = Fraction(0)
        opened = self.tree.coef[self.branch, :n_open]
        for box, coef in zip(self.box, opened, strict=True):
            norm = (abs(Fraction(c)) * s for c, s in zip(coef, span, strict=True) if c)
            total += sum(norm, start=Fraction(0)) / box
        return total

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
