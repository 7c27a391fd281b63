"""Shapes of trees with labels: one search of the proof for each.

A structure is in normal form: sibling leaves have different labels (else their split
would be merged away), and the children of a split are not ordered (a split can be
mirrored), so that one of each pair of mirror images is enough. It is written as nested
pairs: ``((0, 1), 2)`` has leaves of labels 0 and 1 left of the root, 2 right of it.

Where categories may be split by subsets of their values, a split is of one of two
kinds: a hyperplane, or a **subset split**, a triple ``(left, right, SUBSET)``. Which
feature it splits, and which of its values go left, is left to the search. It has no
norm and lacks no margins, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from miptree.utils.arrays import AnyArray, BoolArray, IntArray

Nested: TypeAlias = Any
"""A label, or a pair of nested ones, which SUBSET follows at a subset split."""
SUBSET = "subset"
MOST_DEPTH = 3
"""The leaves are bits of a mask; deeper trees have too many structures anyway."""


class _Arrays(NamedTuple):
    side: AnyArray
    label: IntArray
    is_symmetric: bool
    nested: Nested
    is_subset: BoolArray


class Structure(_Arrays):
    """A tree's shape and the labels of its leaves.

    Splits are numbered in pre-order (the root is 0), leaves from left to right.

    Attributes
    ----------
    side : int8 array of shape (n_splits, n_leaves)
        Side of each leaf at each split: -1 left, +1 right, 0 not below the split.
    label : int array of shape (n_leaves,)
        Class of each leaf.
    is_symmetric : bool
        Whether the root's subtrees are alike: then one point may be fixed to the left.
    nested : int or nested pairs
        The same in writing.
    is_subset : bool array of shape (n_splits,)
        Which splits are subset splits; the others are hyperplanes.
    """

    @property
    def n_splits(self) -> int:
        """Number of splits B."""
        return len(self.side)

    @property
    def n_leaves(self) -> int:
        """Number of leaves L = B + 1."""
        return len(self.label)

    @property
    def n_hyperplanes(self) -> int:
        """Number of splits that are hyperplanes."""
        return self.n_splits - int(self.is_subset.sum())

    @cached_property
    def left_of_root(self) -> int:
        """The leaves left of the root, as bits."""
        bits = 1 << np.arange(self.n_leaves)
        return int(bits[self.side[0] < 0].sum()) if self.n_splits else 1


def structure_of(nested: Nested) -> Structure:
    """Return the arrays of a nested structure.

    Examples
    --------
    >>> structure_of(((0, 1), 2)).side.tolist()
    [[-1, -1, 1], [-1, 1, 0]]
    """
    labels: list[int] = []
    below: list[tuple[int, int, int]] = []
    is_subset: list[bool] = []
    _walk(nested, labels, below, is_subset)
    side = np.zeros((len(below), len(labels)), dtype=np.int8)
    for split, (start, middle, end) in enumerate(below):
        side[split, start:middle], side[split, middle:end] = -1, 1
    is_pair = isinstance(nested, (tuple, list))
    symmetric = is_pair and nested[0] == nested[1]
    label, kind = np.array(labels, dtype=np.intp), np.array(is_subset, dtype=bool)
    return Structure(side, label, symmetric, nested, kind)


def _walk(
    nested: Nested,
    labels: list[int],
    below: list[tuple[int, int, int]],
    is_subset: list[bool],
) -> None:
    """Append the labels, and leaves on both sides and kind of each split, pre-order."""
    if not isinstance(nested, (tuple, list)):
        labels.append(int(nested))
        return
    number, start = len(below), len(labels)
    below.append((0, 0, 0))
    is_subset.append(len(nested) == 3)
    _walk(nested[0], labels, below, is_subset)
    middle = len(labels)
    _walk(nested[1], labels, below, is_subset)
    below[number] = (start, middle, len(labels))


def structures(
    labels: Sequence[int] | IntArray, depth: int, has_subsets: bool = False
) -> Iterator[Structure]:
    """Return all structures of trees up to a depth, fewest splits first.

    Parameters
    ----------
    labels : ints
        The labels that leaves may have.
    depth : int
        1 to 3. The constant trees are among the structures.
    has_subsets : bool
        Whether a split may be a subset split as well as a hyperplane.
    """
    if not 0 <= depth <= MOST_DEPTH:
        raise ValueError(f"depth must lie in 0..{MOST_DEPTH}, got {depth}.")
    for n_splits in range(2**depth):
        own = [int(label) for label in labels]
        for nested in _nested(own, depth, n_splits, has_subsets):
            yield structure_of(nested)


def count_structures(n_labels: int, depth: int, has_subsets: bool) -> int:
    """Return how many structures there are.

    Examples
    --------
    >>> count_structures(2, 2, False), count_structures(2, 2, True)
    (6, 18)
    """
    count = n_labels
    for _ in range(depth):
        pairs = count * (count + 1) // 2 - n_labels
        count = n_labels + (2 if has_subsets else 1) * pairs
    return count


def _nested(
    labels: list[int], depth: int, n_splits: int, has_subsets: bool
) -> Iterator[Nested]:
    """Yield the structures of exactly so many splits; the larger subtree is left."""
    if n_splits == 0:
        yield from labels
    if n_splits == 0 or depth == 0 or n_splits >= 2**depth:
        return
    for on_left in range(n_splits - 1, (n_splits - 2) // 2, -1):
        on_right = n_splits - 1 - on_left
        lefts = _nested(labels, depth - 1, on_left, has_subsets)
        rights = list(_nested(labels, depth - 1, on_right, has_subsets))
        for k, left in enumerate(lefts):
            for j, right in enumerate(rights):
                if on_left == on_right and (j < k or (on_left == 0 and j == k)):
                    continue
                yield left, right
                if has_subsets:
                    yield left, right, SUBSET
