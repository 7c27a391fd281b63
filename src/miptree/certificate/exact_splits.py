"""The splits of a tree on rows in exact rational arithmetic: scores, margins, norms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.data.scaling import SMALLEST_SPAN
from miptree.tree import ObliqueTree
from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.exact import Exact


@dataclass(eq=False)
class ExactSplits:
    """What the splits of a tree do with rows.

    Parameters
    ----------
    tree : ObliqueTree
    X : float array of shape (n, d)
        The rows.
    row_weight : float array of shape (n,)
        Their weights.
    n_open : int
        How many of the first columns are open to hyperplanes.
    margin : float
        Distance to a split, in the unit of the scores, that rows are to keep.
    """

    tree: ObliqueTree
    X: FloatArray
    row_weight: FloatArray
    n_open: int
    margin: float

    @cached_property
    def branch(self) -> IntArray:
        """(B,): numbers of the nodes that split."""
        return np.flatnonzero(~self.tree.is_leaf)

    @cached_property
    def score(self) -> Exact:
        """(n, B): ``x @ coef - threshold``."""
        coef = Exact.of(self.tree.coef[self.branch].T)
        threshold = Exact.of(self.tree.threshold[self.branch])
        return Exact.of(self.X) @ coef - threshold

    @cached_property
    def leaf(self) -> IntArray:
        """(n,): leaf of each row, right iff its score is above zero."""
        right = np.zeros((len(self.X), self.tree.n_nodes), dtype=bool)
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
    def weight(self) -> Exact:
        """(n,): weights of the rows, exactly."""
        return Exact.of(self.row_weight)

    @cached_property
    def largest(self) -> list[Fraction]:
        """Largest abs(score) at each branch node."""
        size = abs(self.score)
        return [size[:, b].max() for b in range(len(self.branch))]

    @cached_property
    def box(self) -> list[Fraction]:
        """What a hyperplane is divided by to lie in the box."""
        return [max(Fraction(1), size) for size in self.largest]

    @cached_property
    def slack(self) -> Fraction:
        """Weighted sum of the missing margins."""
        return sum((missing for missing, _ in self.missing_margins), start=Fraction(0))

    @cached_property
    def missing_margins(self) -> list[tuple[Fraction, Fraction]]:
        """Missing margin at each node, and the weight of the rows that lack it."""
        margin = Fraction(str(self.margin))  # the decimal that checkers read
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
        rows = Exact.of(self.X)
        span = [rows[:, j].max() - rows[:, j].min() for j in range(self.n_open)]
        span = [s if s > SMALLEST_SPAN else Fraction(1) for s in span]
        total = Fraction(0)
        opened = self.tree.coef[self.branch, : self.n_open]
        for box, coef in zip(self.box, opened, strict=True):
            norm = (abs(Fraction(c)) * s for c, s in zip(coef, span, strict=True) if c)
            total += sum(norm, start=Fraction(0)) / box
        return total
