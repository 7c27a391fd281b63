"""Step 1 of the pipeline: the data as the search and the MIP see them.

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

from miptree.data.costs import ErrorCosts, plain_costs
from miptree.tree import HeapTree, ObliqueTree, rounding_error
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray

SMALLEST_SPAN = 1e-290
"""A feature whose values differ by less counts as constant: 1 / span overflows."""
_BLOCK = 1 << 16
"""Rows hashed at a time."""
_SMALLEST_COEFFICIENT = 1e-13
"""Relative to the largest of a split, what is smaller is a rounding error."""


@dataclass(frozen=True, eq=False)
class Problem:
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
        first, group = identical_rows(np.column_stack([X, y.astype(np.float64)]))
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
        offset, scale = _min_max(X)
        n_open = X.shape[1] - len(value_feature)
        offset[n_open:], scale[n_open:] = 0.0, 1.0
        return cls(
            X, y, merged_weight, count, n_classes, offset, scale,
            class_cost, value_feature, max_features, source,
        )  # fmt: skip

    def subset(self, rows: IntArray, weight: FloatArray | None = None) -> Problem:
        """Some of the rows, scaled as all are, with other weights if given.

        With weights no larger than the rows' own, no tree is dearer here than on all
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
        )

    @property
    def n_rows(self) -> int:
        """Number n of distinct rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return self.X.shape[1]

    @property
    def n_open(self) -> int:
        """Number of features open to hyperplanes: the first ones."""
        return self.n_features - len(self.value_feature)

    @cached_property
    def open_scaled(self) -> FloatArray:
        """(n, n_open): those features in [0, 1]."""
        return np.ascontiguousarray(self.scaled[:, : self.n_open])

    @property
    def is_limited(self) -> bool:
        """Whether a hyperplane may not use all the open features."""
        return self.max_features is not None and self.max_features < self.n_open

    @property
    def n_categorical(self) -> int:
        """Number of categorical features that have subset splits."""
        return int(self.value_feature.max(initial=-1)) + 1

    @cached_property
    def value_codes(self) -> IntArray:
        """(n_categorical, n): place of each row's value among the value columns."""
        return value_places(self.X[:, self.n_open :], self.value_feature)

    @cached_property
    def scaled(self) -> FloatArray:
        """(n, d): the features in [0, 1].

        Column by column in memory: transposed it is what the kernels of the search
        read, without a copy.
        """
        scaled = np.empty(self.X.shape, order="F")
        np.subtract(self.X, self.offset, out=scaled)
        scaled /= self.scale
        return scaled

    @cached_property
    def in_scaled_units(self) -> Problem:
        """The same rows with the scaled features as X, for trees in scaled units."""
        unit = np.zeros(self.n_features), np.ones(self.n_features)
        return replace(self, X=self.scaled, offset=unit[0], scale=unit[1])

    @cached_property
    def class_weight(self) -> FloatArray:
        """(Y,): total weight of each class, the paper's abs(N_k)."""
        total = np.zeros(self.n_classes)
        np.add.at(total, self.y, self.weight)
        return total

    @cached_property
    def costs(self) -> ErrorCosts:
        """What errors cost, taken apart."""
        cost = self.class_cost
        if cost is None:
            cost = plain_costs(self.y, self.weight, self.n_classes)
        return ErrorCosts.of(self.y, cost)

    @cached_property
    def same_x(self) -> IntArray:
        """(n,): group number of each row; rows with identical x share one."""
        return identical_rows(self.X)[1]

    @property
    def dearest(self) -> FloatArray:
        """(n,): cost of each row's dearest class."""
        return self.weight if self.class_cost is None else self.class_cost.max(axis=1)

    @property
    def dearest_error(self) -> float:
        """Cost of the dearest error of all, at a row of weight 1."""
        return float((self.dearest / self.weight).max())

    def error_cost(self, predicted: IntArray) -> FloatArray:
        """(n,): what predicting these classes costs, row by row."""
        if self.class_cost is None:
            return np.where(predicted != self.y, self.weight, 0.0)
        return self.class_cost[np.arange(self.n_rows), predicted]

    # --------------------------------------------------------- trees in and out

    def to_user(self, heap: HeapTree) -> ObliqueTree:
        """Tree in the user's units that routes the rows as the scaled tree does.

        Scores ``x @ coef - threshold`` keep their values. Coefficients that are
        rounding errors vanish, and thresholds move a few rounding errors where a row
        would be so near to one that the order of summation decided its side.
        """
        size = np.abs(heap.coef)
        used = size > _SMALLEST_COEFFICIENT * size.max(axis=1, initial=0, keepdims=True)
        coef = np.where(used, heap.coef, 0.0) / self.scale
        threshold = heap.threshold + coef @ self.offset
        scaled = ObliqueTree.from_heap(heap)
        right = scaled.goes_right(self.scaled)
        passes = scaled.ancestors[scaled.apply(self.scaled)]
        value = self.X @ coef.T
        error = rounding_error(coef, threshold, np.abs(self.X).max(axis=0))
        is_subset = self.is_subset_split(heap.coef)
        for node in range(len(threshold)):
            rows = passes[:, node]
            if is_subset[node]:
                coef[node], threshold[node] = self._with_majority(
                    coef[node], rows, right[:, node]
                )
                continue
            threshold[node] = _clear_threshold(
                value[rows, node], right[rows, node], threshold[node], error[node]
            )
        return ObliqueTree.from_heap(HeapTree(coef, threshold, heap.label))

    def _with_majority(
        self, coef: FloatArray, reaches: BoolArray, right: BoolArray
    ) -> tuple[FloatArray, float]:
        """Subset split that sends any value not met at the node with the majority."""
        columns = self.value_columns(coef)
        to_left, to_right = reaches & ~right, reaches & right
        majority_left = self.weight[to_left].sum() >= self.weight[to_right].sum()
        minority, sign = (to_right, 1.0) if majority_left else (to_left, -1.0)
        split = np.zeros_like(coef)
        met = columns[self.X[minority][:, columns].any(axis=0)]
        split[met] = 2 * sign
        return split, sign

    def is_subset_split(self, coef: FloatArray) -> BoolArray:
        """(B,): which rows of coefficients are splits by values of a category."""
        return np.asarray(coef[:, self.n_open :].any(axis=1))

    def value_columns(self, coef: FloatArray) -> IntArray:
        """Columns of all the values of the feature that a subset split uses."""
        feature = self.value_feature[np.flatnonzero(coef[self.n_open :])[0]]
        return self.n_open + np.flatnonzero(self.value_feature == feature)

    def to_scaled(self, tree: ObliqueTree, depth: int) -> HeapTree:
        """Complete tree of the given depth in scaled units, inside the box."""
        if tree.n_features != self.n_features:
            raise ValueError(
                f"The tree reads {tree.n_features} features, but the data have "
                f"{self.n_features}."
            )
        if tree.label.max() >= self.n_classes:
            raise ValueError(
                f"The tree predicts class {tree.label.max()}, but the data have "
                f"{self.n_classes} classes, numbered from 0."
            )
        used = int(np.count_nonzero(tree.coef[:, : self.n_open], axis=1).max())
        if self.max_features is not None and used > self.max_features:
            raise ValueError(
                f"The tree has a split of {used} features, but max_features_per_split "
                f"is {self.max_features}."
            )
        heap = tree.to_heap(depth)
        threshold = heap.threshold - heap.coef @ self.offset
        return self.into_box(HeapTree(heap.coef * self.scale, threshold, heap.label))

    def into_box(self, heap: HeapTree) -> HeapTree:
        """Shrink every hyperplane until all abs(scores) <= 1 (Theorem 2: M = 1).

        The scores of subset splits become -1 and 1; one that sends all values to one
        side is none.
        """
        largest = np.zeros(len(heap.threshold))
        for start in range(0, self.n_rows, _BLOCK):
            rows = self.scaled[start : start + _BLOCK].T
            score = heap.coef @ rows - heap.threshold[:, None]
            np.maximum(largest, np.abs(score).max(axis=1), out=largest)
        shrink = np.maximum(1.0, largest)
        coef, threshold = heap.coef / shrink[:, None], heap.threshold / shrink
        for node in np.flatnonzero(self.is_subset_split(heap.coef)):
            columns = self.value_columns(coef[node])
            goes_left = coef[node, columns] <= threshold[node]
            coef[node], threshold[node] = 0.0, 1.0 if goes_left.all() else -1.0
            if not goes_left.all():
                coef[node, columns[goes_left]] = -2.0
        return HeapTree(coef, threshold, heap.label)


def value_places(values: FloatArray, value_feature: IntArray) -> IntArray:
    """(n_categorical, n): where each row has its 1, feature by feature."""
    n_categorical = int(value_feature.max(initial=-1)) + 1
    found = np.empty((n_categorical, len(values)), dtype=np.intp)
    for feature in range(n_categorical):
        place = np.flatnonzero(value_feature == feature)
        found[feature] = place[values[:, place].argmax(axis=1)]
    return found


def _clear_threshold(
    value: FloatArray, right: BoolArray, threshold: float, error: float
) -> float:
    """Threshold clear of every value by twice the error, as far as there is room."""
    low = value[~right].max(initial=-np.inf) + 2 * error
    high = value[right].min(initial=np.inf) - 2 * error
    if low > high:
        # No room for certainty; the middle is the best guess.
        return 0.5 * (low + high)
    return float(min(max(threshold, low), high))


def _min_max(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Offset and scale that map every feature to [0, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span).all():
        feature = int(np.flatnonzero(~np.isfinite(span))[0])
        raise ValueError(
            f"Feature {feature} ranges from {low[feature]:g} to {high[feature]:g}, and "
            "the difference overflows float64. Divide the column by a constant first."
        )
    return low, np.where(span > SMALLEST_SPAN, span, 1.0)


def identical_rows(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """First index of each distinct row, and the group number of every row.

    Groups are numbered by content alone, whatever the order of the rows. Sorting a
    64-bit hash is some twenty times faster than ``np.unique(axis=0)``, which remains
    for the case that two distinct rows collide.
    """
    key = _row_keys(rows)
    order = np.argsort(key, kind="stable")
    new = np.diff(key[order], prepend=key[order[:1]] + np.uint64(1)) != 0
    same = np.flatnonzero(~new)
    if np.array_equal(rows[order[same]], rows[order[same - 1]]):
        group = np.empty(len(rows), dtype=np.intp)
        group[order] = np.cumsum(new) - 1
        return order[new], group
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, group.ravel()


def _row_keys(rows: FloatArray) -> AnyArray:
    """64-bit hash of every row, block by block to save memory."""
    odd = np.random.default_rng(0).integers(0, 2**63, rows.shape[1], dtype=np.uint64)
    key = np.empty(len(rows), dtype=np.uint64)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        bits = np.ascontiguousarray(rows[block]).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(29))) * (2 * odd + np.uint64(1))
        key[block] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    return key
