"""The scaling of features to [0, 1], and trees in scaled units and in the user's."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from miptree.data.checks import UnreadableColumnError
from miptree.data.clear_splits import Split, SplitRows, room, untied, without_noise
from miptree.data.shape import DataShape
from miptree.tree import HeapTree, ObliqueTree, rounding_error
from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.exact import less_products

SMALLEST_SPAN = 1e-290
"""A feature whose values differ by less counts as constant: 1 / span overflows."""
_BLOCK = 1 << 16
"""Rows whose scores are held at a time."""


def min_max(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the offset and the scale that map every feature to [0, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span).all():
        feature = int(np.flatnonzero(~np.isfinite(span))[0])
        raise UnreadableColumnError(
            f"Feature {feature} ranges from {low[feature]:g} to {high[feature]:g}, and "
            "the difference overflows float64. Divide the column by a constant first."
        )
    return low, np.where(span > SMALLEST_SPAN, span, 1.0)


class ScaledPoints(DataShape):
    """Rows with their scaling, by which trees are brought into other units.

    Scaled features are ``(X - offset) / scale``.
    """

    weight: FloatArray
    n_classes: int
    offset: FloatArray
    scale: FloatArray

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

    def scores(self, coef: FloatArray, threshold: FloatArray) -> FloatArray:
        """Return (n, B): ``x @ coef - threshold`` in the user's units.

        Counted from the lowest value of each feature: where columns lie far from 0,
        most digits of the plain sum would cancel.
        """
        moved = less_products(threshold, coef, self.offset)
        return np.asarray(self.scaled @ (coef * self.scale).T - moved)

    @cached_property
    def open_scaled(self) -> FloatArray:
        """(n, n_open): the features open to hyperplanes, in [0, 1]."""
        return np.ascontiguousarray(self.scaled[:, : self.n_open])

    @cached_property
    def _largest(self) -> FloatArray:
        """(d,): largest abs(x) of each feature in the user's units."""
        return np.abs(self.X).max(axis=0)

    def is_subset_split(self, coef: FloatArray) -> BoolArray:
        """Return (B,): which rows of coefficients split by values of a category."""
        return np.asarray(coef[:, self.n_open :].any(axis=1))

    def value_columns(self, coef: FloatArray) -> IntArray:
        """Return the columns of all values of the feature of a subset split."""
        feature = self.value_feature[np.flatnonzero(coef[self.n_open :])[0]]
        return self.n_open + np.flatnonzero(self.value_feature == feature)

    def to_user(self, heap: HeapTree) -> ObliqueTree:
        """Return a tree in the user's units that routes the rows as a scaled tree does.

        Scores ``x @ coef - threshold`` keep their values. Coefficients that are
        rounding errors vanish, and thresholds move a few rounding errors where a row
        would be so near to one that the order of summation decided its side. Rows that
        nothing but rounding told apart are told apart by one feature.
        """
        coef = without_noise(heap.coef) / self.scale
        threshold = heap.threshold + coef @ self.offset
        scaled = ObliqueTree.from_heap(heap)
        right = scaled.goes_right(self.scaled)
        passes = scaled.ancestors[scaled.follow(right)]
        value = self.X @ coef.T
        error = rounding_error(coef, threshold, self._largest)
        is_subset = self.is_subset_split(heap.coef)
        for node in range(len(threshold)):
            rows = passes[:, node]
            if is_subset[node]:
                coef[node], threshold[node] = self._with_majority(
                    coef[node], rows, right[:, node]
                )
                continue
            low, high = room(value[rows, node], right[rows, node], error[node])
            if low > high:
                noisy = heap.coef[node] / self.scale
                split = Split(coef[node].copy(), 0.5 * (low + high))
                coef[node], threshold[node] = self._without_ties(
                    split, noisy, rows, right[:, node]
                )
                continue
            threshold[node] = min(max(threshold[node], low), high)
        return ObliqueTree.from_heap(HeapTree(coef, threshold, heap.label))

    def _without_ties(
        self, split: Split, noisy: FloatArray, reaches: BoolArray, right: BoolArray
    ) -> Split:
        """Tell apart the rows at a node that lie on its split, if that can be done."""
        rows = SplitRows(self.X[reaches], right[reaches], self.scale, self._largest)
        return untied(rows, split, noisy)

    def _with_majority(
        self, coef: FloatArray, reaches: BoolArray, right: BoolArray
    ) -> tuple[FloatArray, float]:
        """Make a subset split send any value not met at the node with the majority."""
        columns = self.value_columns(coef)
        to_left, to_right = reaches & ~right, reaches & right
        majority_left = self.weight[to_left].sum() >= self.weight[to_right].sum()
        minority, sign = (to_right, 1.0) if majority_left else (to_left, -1.0)
        split = np.zeros_like(coef)
        met = columns[self.X[minority][:, columns].any(axis=0)]
        split[met] = 2 * sign
        return split, sign

    def to_scaled(self, tree: ObliqueTree, depth: int) -> HeapTree:
        """Return the complete tree of a depth in scaled units, inside the box."""
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
