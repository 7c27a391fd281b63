"""The data as the search and the MIP see them.

Rows of weight zero are dropped, identical rows (x, y) are merged and their weights
added, and every feature is scaled to [0, 1]. Merging is exact for every objective of
this package and sorts the rows by their content, so a row given twice and a row of
weight two are literally the same problem.

The first columns are open to hyperplanes. Those that follow are 0/1 columns of the
values of categorical features, for **subset splits**: one feature, some of whose values
go left. Such a split is a hyperplane too, of coefficients 2 and threshold 1 in size, so
that all scores are -1 or 1: it is routed as any other and never lacks a margin. What
sets it apart is that it has no 1-norm in (1a).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from miptree.data.groups import RowGroups
from miptree.data.labels import ErrorCosts, plain_costs
from miptree.data.merging import identical_rows
from miptree.data.scaling import ScaledPoints, min_max
from miptree.utils.arrays import FloatArray, IntArray

_COST_NOISE = 1e-12
"""Part of a row's largest cost by which rounding alone may tell its costs apart."""


@dataclass(frozen=True, eq=False)
class Problem(ScaledPoints):
    """Training data: merged, weighted, with their scaling.

    Parameters
    ----------
    X : float array of shape (n, d)
        Distinct (x, y) in the user's units.
    y : int array of shape (n,)
        Class indices.
    weight : float array of shape (n,)
        Total weight of the rows merged into each, all positive.
    count : int array of shape (n,)
        Number of the user's rows merged into each.
    n_classes : int
        Number of classes Y.
    offset, scale : float array of shape (d,)
        ``(X - offset) / scale`` lies in [0, 1]; the scale of a constant feature is 1.
    class_cost : float array of shape (n, Y), optional
        What it costs to predict each class for each row, added over the merged rows.
        By default ``weight`` for every class but the row's own.
    value_feature : int array, optional
        Categorical feature of each of the last columns of X, those of values. Of each
        feature exactly one is 1 in a row. By default there are none.
    max_features : int, optional
        Most non-zero coefficients of a hyperplane.
    source : int array of shape (n,), optional
        The first of the user's rows merged into each.
    n_unweighted : int
        Rows of weight zero that were dropped.
    groups : RowGroups, optional
        Groups of the rows, where constraints count them: identical rows of different
        groups are not merged.
    blocks : tuple of int arrays
        Places of the open columns that are the indicators of one categorical column
        each, all of them: in every row exactly one of them is 1.
    class_price : float array of shape (Y,), optional
        Costs of errors by class that are in the weights; frequencies are counted
        without them.
    """

    X: FloatArray
    y: IntArray
    weight: FloatArray
    count: IntArray
    n_classes: int
    offset: FloatArray
    scale: FloatArray
    class_cost: FloatArray | None = None
    value_feature: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    max_features: int | None = None
    source: IntArray | None = None
    n_unweighted: int = 0
    groups: RowGroups | None = None
    class_price: FloatArray | None = None
    blocks: tuple[IntArray, ...] = ()

    @classmethod
    def from_data(
        cls,
        X: FloatArray,
        y: IntArray,
        n_classes: int,
        sample_weight: FloatArray | None = None,
        class_cost: FloatArray | None = None,
        value_feature: IntArray | None = None,
        max_features: int | None = None,
        groups: RowGroups | None = None,
    ) -> Problem:
        """Build the problem from finite X, class indices y and weights >= 0.

        ``class_cost[i, k]`` is what predicting class k for row i costs per unit of
        its weight.
        """
        if value_feature is None:
            value_feature = np.zeros(0, dtype=np.intp)
        X = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
        y = np.asarray(y, dtype=np.intp)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        kept = weight > 0
        if not kept.all():
            X, y, weight = X[kept], y[kept], weight[kept]
        told_apart_by = [X, y.astype(np.float64)]
        if groups is not None:
            groups = groups.take(np.flatnonzero(kept))
            told_apart_by.append(groups.code.astype(np.float64))
        first, group = identical_rows(np.column_stack(told_apart_by))
        groups = None if groups is None else groups.merged(first, group)
        # Light copies first, so that sums do not depend on the order of the rows.
        order = np.argsort(weight, kind="stable")
        merged_weight = np.zeros(len(first))
        np.add.at(merged_weight, group[order], weight[order])
        count = np.bincount(group, minlength=len(first))
        if class_cost is not None:
            total = np.zeros((len(first), n_classes))
            costs = (class_cost[kept].T * weight).T
            np.add.at(total, group[order], costs[order])
            class_cost = total
        X, y, source = X[first], y[first], np.flatnonzero(kept)[first]
        offset, scale = min_max(X)
        n_open = X.shape[1] - len(value_feature)
        offset[n_open:], scale[n_open:] = 0.0, 1.0
        return cls(
            X, y, merged_weight, count, n_classes, offset, scale,
            class_cost, value_feature, max_features, source, int((~kept).sum()),
            groups,
        )  # fmt: skip

    def subset(self, rows: IntArray, weight: FloatArray | None = None) -> Problem:
        """Return some of the rows, scaled as all are, with other weights if given.

        With weights no larger than the rows' own, no tree costs more here than on all
        rows, so a lower bound for the subset is one for all.
        """
        own, class_cost = self.weight[rows], self.class_cost
        weight = own if weight is None else np.asarray(weight, dtype=np.float64)
        if class_cost is not None:
            class_cost = class_cost[rows] * (weight / own)[:, None]
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weight=weight,
            count=self.count[rows],
            class_cost=class_cost,
            source=None if self.source is None else self.source[rows],
            groups=None if self.groups is None else self.groups.take(rows),
        )

    @cached_property
    def has_costs(self) -> bool:
        """Whether weights or costs were given: an error need not cost 1."""
        return self.class_cost is not None or not np.array_equal(
            self.weight, self.count
        )

    @cached_property
    def class_weight(self) -> FloatArray:
        """(Y,): total weight of each class, the paper's abs(N_k)."""
        total = np.zeros(self.n_classes)
        np.add.at(total, self.y, self.weight)
        return total

    @cached_property
    def frequency_weight(self) -> FloatArray:
        """(n,): the weights by which classes are counted, without costs of errors."""
        price = self.class_price
        return self.weight if price is None else self.weight / price[self.y]

    @cached_property
    def costs(self) -> ErrorCosts:
        """The costs of errors, split into the parts that bounds and MIPs need."""
        cost = self.class_cost
        if cost is None:
            cost = plain_costs(self.y, self.weight, self.n_classes)
        return ErrorCosts.of(self.y, cost)

    @cached_property
    def same_x(self) -> IntArray:
        """(n,): group number of each row; rows with identical x share one."""
        return identical_rows(self.X)[1]

    @property
    def worst_class_cost(self) -> FloatArray:
        """(n,): cost of each row's most costly class."""
        return self.weight if self.class_cost is None else self.class_cost.max(axis=1)

    @property
    def largest_error_cost(self) -> float:
        """Cost of the most costly error of all, at a row of weight 1."""
        return float((self.worst_class_cost / self.weight).max())

    @cached_property
    def cheapest_error(self) -> float:
        """What the cheapest error costs at a row, 0 where no error costs anything."""
        if self.class_cost is None:
            return float(self.weight.min())
        more = self.class_cost - self.class_cost.min(axis=1, keepdims=True)
        is_more = more > _COST_NOISE * self.class_cost.max(axis=1, keepdims=True)
        return float(more[is_more].min(initial=np.inf)) if is_more.any() else 0.0

    def error_cost(self, predicted: IntArray) -> FloatArray:
        """Return (n,): the cost of predicting these classes, row by row."""
        if self.class_cost is None:
            return np.where(predicted != self.y, self.weight, 0.0)
        return self.class_cost[np.arange(self.n_rows), predicted]
