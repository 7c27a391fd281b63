"""Trees of an arrangement, examined one by one: their errors at the margin.

The arrangement knows on which side of a split each point is. It does not know whether
the split can keep the margin from the points that it gets right. Where it cannot, at
least one of these points is an error as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from miptree.proof.arrangement import Arrangement
from miptree.proof.hull_distance import (
    INSEPARABLE,
    first_basis,
    separate,
)
from miptree.proof.split_enumeration import (
    ClassBits,
    class_bits,
    fewest_of_a_split,
    pack,
    splits_below,
)
from miptree.utils.arrays import BoolArray, FloatArray, IntArray, WordArray

_MOST_SPLITS, _MOST_PAIRS = 1000, 100_000
"""Splits of a side, and pairs of them, that are listed."""


class LabelledSplit(NamedTuple):
    """A split of some points with the classes of its sides.

    Attributes
    ----------
    errors : int
        Errors, whatever the margin.
    left, right : bool arrays
        Points that it gets right on its sides.
    label : pair of int
        Classes of the sides.
    """

    errors: int
    left: BoolArray
    right: BoolArray
    label: tuple[int, ...]


class EvaluatedTree(NamedTuple):
    """What is known of a tree.

    Attributes
    ----------
    errors : int
        Lower bound on its errors at the margin.
    plane : (nodes, d + 1) array or None
        Coefficients and thresholds of a tree that makes about so many errors, if known.
    label : (leaves,)
        Classes of the leaves.
    """

    errors: int
    plane: FloatArray | None
    label: IntArray


@dataclass(frozen=True)
class ArrangedTrees:
    """Trees of an arrangement.

    Parameters
    ----------
    X : (n, d)
        Distinct points.
    min_distance : float
        Twice the margin.
    units : (n, Y)
        Weight of each class at each point, in whole units.
    arrangement : Arrangement
    """

    X: FloatArray
    min_distance: float
    units: IntArray
    arrangement: Arrangement

    @cached_property
    def classes(self) -> ClassBits:
        """Weights as bits."""
        return class_bits(self.units)

    def stumps(self, target: int) -> list[tuple[LabelledSplit, ...]] | None:
        """List the trees of depth 1 with fewer errors than a target at margin 0.

        The best ones come first. Returns None if they are too many.
        """
        splits = self._splits(pack(np.ones(len(self.X), dtype=np.bool_)), target)
        return None if splits is None else [(one,) for one in splits]

    def below_root(
        self, root: int, target: int
    ) -> list[tuple[LabelledSplit, ...]] | None:
        """List the trees of depth 2 whose root is a leaf of the arrangement, likewise.

        Each is a pair of splits: of the points left of the root, and right of it.
        """
        sides = self.arrangement.side[root]
        left = self._splits(sides[0], target - self.fewest(sides[1]))
        right = self._splits(sides[1], target - self.fewest(sides[0]))
        if left is None or right is None or len(left) * len(right) > _MOST_PAIRS:
            return None
        pairs = [
            (one, other)
            for one, other in product(left, right)
            if one.errors + other.errors < target
        ]
        return sorted(pairs, key=lambda pair: pair[0].errors + pair[1].errors)

    def fewest(self, inside: WordArray) -> int:
        """Return the fewest errors of a split of some points."""
        stack = np.zeros(len(self.X) + 2, dtype=np.int64)
        limit = int(self.units.sum()) + 1
        errors, _ = fewest_of_a_split(
            self.arrangement, inside, self.classes, limit, 0, stack
        )
        return int(errors)

    def _splits(self, inside: WordArray, limit: int) -> list[LabelledSplit] | None:
        """List the splits of some points with fewer errors than a limit, or None."""
        nodes = np.zeros(_MOST_SPLITS, dtype=np.int64)
        n_nodes = splits_below(self.arrangement, inside, self.classes, limit, nodes)
        if n_nodes < 0:
            return None
        splits = [
            split
            for sides in self.arrangement.side[nodes[:n_nodes]]
            for split in self._labelled(sides & inside)
            if split.errors < limit
        ]
        return sorted(splits, key=lambda split: split.errors)

    def _labelled(self, sides: WordArray) -> Iterator[LabelledSplit]:
        """Give a split all classes that its sides may have, one pair after another."""
        bits = np.unpackbits(sides.astype("<u8").view(np.uint8), -1, bitorder="little")
        points = bits[:, : len(self.X)].astype(np.bool_)
        weight = points.astype(np.int64) @ self.units
        labels = [np.flatnonzero(side).tolist() or [0] for side in weight]
        for label in product(*labels):
            correct = points & (self.units[:, list(label)].T > 0)
            errors = weight.sum() - weight[[0, 1], label].sum()
            yield LabelledSplit(int(errors), correct[0], correct[1], label)

    def evaluate(self, splits: tuple[LabelledSplit, ...]) -> EvaluatedTree:
        """Evaluate a tree of one split, or of two below that of the root."""
        label = np.array([c for split in splits for c in split.label])
        errors = sum(split.errors for split in splits)
        planes = [self._plane(split.left, split.right) for split in splits]
        # The points that the two below lose are different ones.
        n_lost = sum(plane is None for plane in planes)
        if len(splits) == 2 and n_lost == 0:
            root = self._plane(*(split.left | split.right for split in splits))
            planes, n_lost = [root, *planes], int(root is None)
        if n_lost:
            return EvaluatedTree(errors + n_lost * self._least_weight, None, label)
        return EvaluatedTree(errors, np.array(planes), label)

    @cached_property
    def _least_weight(self) -> int:
        """Smallest weight that a point has in a class."""
        return int(self.units[self.units > 0].min())

    def _plane(self, left: BoolArray, right: BoolArray) -> FloatArray | None:
        """Return a hyperplane between some points that keeps the margin, or None."""
        if self._is_inseparable(left, right):
            return None  # many are, and this is seen sooner
        plane, most = widest(self.X, left, right)
        return None if most < 0.5 * self.min_distance else plane

    def _is_inseparable(self, left: BoolArray, right: BoolArray) -> bool:
        """Tell whether the hulls of some points are too near to each other."""
        if not (left.any() and right.any()):
            return False
        n, d = self.X.shape
        members = np.append(np.flatnonzero(left), np.flatnonzero(right))
        side = np.repeat([-1, 1], [left.sum(), right.sum()])
        basis, inverse = np.zeros(d + 2, dtype=np.int64), np.zeros((d + 2, d + 2))
        weight = np.zeros(d + 2)
        first_basis(self.X, members[-1], members[0], basis, inverse, weight)
        answer, _ = separate(
            self.X, members, side, len(members), np.zeros(n, dtype=np.bool_),
            self.min_distance, basis, inverse, weight, np.zeros(d + 1),
        )  # fmt: skip
        return bool(answer == INSEPARABLE)


def widest(
    X: FloatArray, left: BoolArray, right: BoolArray
) -> tuple[FloatArray, float]:
    """Return the hyperplane of largest margin to some points, and a bound on that.

    The box abs(h x - g) <= 1 holds for all points, and abs(h) <= 1 follows from it
    (:class:`miptree.proof.space.Space`). The bound comes from the duals y >= 0 and is
    valid whatever the solver's tolerances: A v <= b implies
    c v <= b y + abs(c - A' y) limit, where limit bounds abs(v).
    """
    n, d = X.shape
    rows = np.hstack([X, -np.ones((n, 1)), np.zeros((n, 1))])
    apart = np.vstack([rows[left], -rows[right]])
    apart[:, -1] = 1.0
    A = np.vstack([rows, -rows, apart])
    b = np.append(np.ones(2 * n), np.zeros(len(apart)))
    c = np.append(np.zeros(d + 1), 1.0)
    limit = np.append(np.ones(d), [1.0 + np.abs(X).sum(axis=1).max(), 1.0])
    found = linprog(-c, A, b, bounds=np.c_[-limit, limit])
    if found.status != 0:
        return np.append(np.zeros(d), 1.0), np.inf
    y = np.maximum(-found.ineqlin.marginals, 0.0)
    return found.x[:-1], float(b @ y + np.abs(c - A.T @ y) @ limit)
