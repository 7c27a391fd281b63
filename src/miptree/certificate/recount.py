"""What a tree is worth on data, in exact rational arithmetic, for ``verify``."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from miptree.certificate.certificate import Certificate
from miptree.certificate.exact import Exact
from miptree.data.labels import checked_costs, plain_costs
from miptree.data.problem import Problem
from miptree.data.scaling import SMALLEST_SPAN
from miptree.objective import MARGIN_ROUNDING
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GivenData:
    """The rows as given; only those of positive weight count."""

    X: FloatArray
    y: IntArray
    weight: FloatArray
    n_classes: int
    value_feature: IntArray
    row_costs: FloatArray | None

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None,
        value_feature: IntArray | None = None,
        cost_matrix: ArrayLike | None = None,
        row_costs: ArrayLike | None = None,
    ) -> GivenData:
        """Check the rows and what they weigh and cost."""
        table = np.asarray(X, dtype=np.float64)
        labels = np.asarray(y)
        if table.ndim != 2 or labels.shape != (len(table),) or not len(table):
            raise ValueError(
                "X must be a table with one label in y for each of its rows, got "
                f"shapes {table.shape} and {labels.shape}."
            )
        weight = np.ones(len(table))
        if sample_weight is not None:
            weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != labels.shape or not (weight >= 0).all() or not weight.any():
            raise ValueError(
                f"sample_weight must hold {len(table)} numbers >= 0, one for each row, "
                "and one of them above 0."
            )
        if not (np.isfinite(table).all() and np.isfinite(weight).all()):
            raise ValueError("X and sample_weight must be finite numbers.")
        codes, n_classes = _codes(labels, classes)
        if value_feature is None:
            value_feature = np.zeros(0, dtype=np.intp)
        costs = None
        if row_costs is not None and cost_matrix is not None:
            raise ValueError("Give a cost_matrix or row_costs, not both.")
        if row_costs is not None:
            costs = _checked_row_costs(row_costs, (len(table), n_classes))
        elif cost_matrix is not None:
            costs = checked_costs(cost_matrix, np.arange(n_classes), np.inf)[codes]
        return cls(table, codes, weight, n_classes, value_feature, costs)

    @property
    def n_open(self) -> int:
        """Number of columns that hyperplanes may use."""
        return self.X.shape[1] - len(self.value_feature)

    @cached_property
    def counts(self) -> BoolArray:
        """(n,): whether a row has a weight above zero."""
        return self.weight > 0

    @cached_property
    def problem(self) -> Problem:
        """Build the training problem of the rows."""
        return Problem.from_data(
            self.X,
            self.y,
            self.n_classes,
            self.weight,
            self.row_costs,
            self.value_feature,
        )

    @cached_property
    def class_cost(self) -> Exact:
        """(n, Y): what it costs to predict a class for a row, its weight included."""
        costs = self.row_costs
        if costs is None:
            costs = plain_costs(self.y, np.ones(len(self.y)), self.n_classes)
        return Exact.of(costs).times(Exact.of(self.weight[:, None]))


def _checked_row_costs(row_costs: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    costs = np.asarray(row_costs, dtype=np.float64)
    if costs.shape != shape or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(
            f"row_costs must hold a finite number >= 0 for each of {shape[0]} rows and "
            f"{shape[1]} classes, got shape {costs.shape}."
        )
    return costs


def _codes(labels: AnyArray, classes: ArrayLike | None) -> tuple[IntArray, int]:
    """Class index of each label; one that is in no class gets an index of its own."""
    if classes is None:
        known, codes = np.unique(labels, return_inverse=True)
        return codes.ravel(), len(known)
    index = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    found = [index.get(label, len(index)) for label in labels.tolist()]
    return np.array(found, dtype=np.intp), max(len(index), max(found) + 1)


@dataclass(frozen=True, eq=False)
class Recount:
    """What the tree is worth on the data under the certificate's settings."""

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
        coef = Exact.of(self.tree.coef[self.branch])
        threshold = Exact.of(self.tree.threshold[self.branch])
        return Exact.of(self.data.X) @ coef.T - threshold

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
        """(n, B): whether a row that counts passes the node."""
        passed = self.tree.ancestors[self.leaf][:, self.branch]
        return passed & self.data.counts[:, None]

    @cached_property
    def rounding(self) -> FloatArray:
        """(B,): bound on the rounding error of a score in floats."""
        coef, threshold = self.tree.coef[self.branch], self.tree.threshold[self.branch]
        largest = np.abs(self.data.X[self.data.counts]).max(axis=0)
        reach = np.abs(coef) @ largest + np.abs(threshold)
        return 8 * np.finfo(np.float64).eps * (coef.shape[1] + 1) * reach

    @cached_property
    def is_near(self) -> BoolArray:
        """(n,): rows nearer to a hyperplane on their way than the rounding error."""
        near = self.on_way.copy()
        for b, error in enumerate(self.rounding):
            near[:, b] &= ~abs(self.score[:, b]).is_above(Fraction(error))
        return np.asarray(near.any(axis=1))

    @cached_property
    def wrong(self) -> BoolArray:
        """(n,): whether a row that counts is misclassified."""
        return (self.tree.label[self.leaf] != self.data.y) & self.data.counts

    @cached_property
    def weight(self) -> Exact:
        """(n,): weights of the rows, exactly."""
        return Exact.of(self.data.weight)

    @cached_property
    def cost(self) -> Fraction:
        """Cost of the misclassified rows."""
        return self._cost(np.zeros_like(self.wrong))

    def _cost(self, dearest: BoolArray) -> Fraction:
        """Cost of the rows, some of them at that of their dearest error."""
        cost = self.data.class_cost
        others = np.flatnonzero(~dearest)
        predicted = self.tree.label[self.leaf[others]]
        most = sum(cost.whole[dearest].max(axis=1, initial=0), start=0) * cost.unit
        return cost[others, predicted].sum() + most

    @cached_property
    def largest(self) -> list[Fraction]:
        """Largest abs(score) at each branch node."""
        size = abs(self.score[self.data.counts])
        return [size[:, b].max() for b in range(len(self.branch))]

    @cached_property
    def box(self) -> list[Fraction]:
        """What a hyperplane is divided by to lie in the box."""
        return [max(Fraction(1), size) for size in self.largest]

    def cost_at_margin(self, rounding_sign: int) -> Fraction:
        """Cost with rows inside the margin at that of their dearest error.

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
        rows = Exact.of(self.data.X[self.data.counts])
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
        return max(self._class_bound, self._conflict_bound)

    @cached_property
    def _class_bound(self) -> Fraction:
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
