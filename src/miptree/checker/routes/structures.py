"""Structures: the shapes of trees with a class at each leaf, up to mirror images.

A split is a hyperplane, or else it sends some values of one category left. Which one,
and which values, is no part of the structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..values import Refused, TooMuch

MAX_STRUCTURES = 1_000_000

Shape = Any
"""A class, or a pair of shapes, the left and the right side of a split; SUBSET comes
third where a subset of values goes left."""
SUBSET = "subset"


def read_shape(given: Any, depth: int, n_classes: int, has_subsets: bool) -> Shape:
    """Read a shape that is nested no deeper than a number."""
    if isinstance(given, list) and len(given) in (2, 3) and depth > 0:
        sides, kind = given[:2], tuple(given[2:])
        if kind and not (has_subsets and kind == (SUBSET,)):
            raise Refused("The proof file has a split of an unknown kind.")
        known = depth - 1, n_classes, has_subsets
        return (*(read_shape(side, *known) for side in sides), *kind)
    is_whole = isinstance(given, int) and not isinstance(given, bool)
    if is_whole and 0 <= given < n_classes:  # NumPy takes true and false for a mask
        return given
    raise Refused("The proof file has a structure that is none, or too deep a one.")


def in_order(shape: Shape) -> Shape:
    """Return the one of all mirror images that stands for them."""
    if isinstance(shape, int):
        return shape
    return (*sorted(map(in_order, shape[:2]), key=_key), *shape[2:])


def _key(shape: Shape) -> Any:
    if isinstance(shape, int):
        return (0, shape)
    return (1, len(shape), *map(_key, shape[:2]))


def is_symmetric(shape: Shape) -> bool:
    """Tell whether both sides of the root are mirror images of each other."""
    return not isinstance(shape, int) and in_order(shape[0]) == in_order(shape[1])


def labels_of(shape: Shape) -> list[int]:
    """Return the classes of the leaves, from left to right."""
    if isinstance(shape, int):
        return [shape]
    return [k for side in shape[:2] for k in labels_of(side)]


def kinds_of(shape: Shape) -> list[bool]:
    """Return which splits send a subset of values left, from the root down."""
    if isinstance(shape, int):
        return []
    return [len(shape) == 3, *kinds_of(shape[0]), *kinds_of(shape[1])]


def all_shapes(depth: int, labels: list[int], has_subsets: bool) -> Iterator[Shape]:
    """Give every shape once, save those with a split of two leaves of one class.

    Leaving such a split out, and any that has points on one side only, makes no tree
    more costly. So the best tree has one of these shapes, and points in every leaf.
    """
    shapes: list[Shape] = list(labels)
    for _ in range(depth):
        if len(shapes) ** 2 > 2 * MAX_STRUCTURES:
            raise TooMuch("Trees of so many classes have too many structures for this.")
        pairs = [
            in_order((a, b, *kind))
            for k, a in enumerate(shapes)
            for b in shapes[k:]
            for kind in ([(), (SUBSET,)] if has_subsets else [()])
            if a != b or not isinstance(a, int)
        ]
        shapes = [*labels, *pairs]
    yield from shapes


def useful_labels(cost: np.ndarray) -> list[int]:
    """Return the classes that no other one beats, or equals, at every point."""
    classes = range(cost.shape[1])

    def beats(a: int, b: int) -> bool:
        is_better = bool((cost[:, a] < cost[:, b]).any()) or a < b
        return a != b and is_better and bool((cost[:, a] <= cost[:, b]).all())

    return [b for b in classes if not any(beats(a, b) for a in classes)]


class Structure:
    """A shape whose splits are numbered from the root down, left sides first.

    Attributes
    ----------
    label : list of int
        Classes of the leaves, from left to right.
    side : int array of shape (n_splits, n_leaves)
        -1 where a leaf lies left of a split, 1 right, 0 if not below it.
    common : int array of shape (2 ** n_leaves, n_splits)
        For each set of leaves, as bits, the side that all of them have at a split; 0
        if they have none in common.
    is_subset : bool array of shape (n_splits,)
        Which splits send a subset of values left, and are no hyperplanes.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.label = labels_of(shape)
        self.is_subset = np.array(kinds_of(shape), dtype=bool)
        n = len(self.label)
        self.side = np.array(list(_sides(shape, 0, n)), dtype=np.int8).reshape(-1, n)
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        left, right = ((bits @ (self.side != s).T == 0) for s in (-1, 1))
        self.common = right.astype(np.int8) - left.astype(np.int8)
        self.common[0] = 0

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.side)

    @property
    def everything(self) -> int:
        """The set of all leaves."""
        return (1 << len(self.label)) - 1

    @property
    def left_of_root(self) -> int:
        """The set of leaves on the left of the root."""
        return self.leaves_on(0, -1)

    def leaves_on(self, split: int, side: int) -> int:
        """Return the set of leaves on a side of a split, -1 left or 1 right."""
        return sum(1 << k for k, own in enumerate(self.side[split]) if own == side)


def _sides(shape: Shape, first: int, n: int) -> Iterator[list[int]]:
    """Give the rows of ``side``; the first leaf of the shape has a number."""
    if isinstance(shape, int):
        return
    middle = first + len(labels_of(shape[0]))
    end = middle + len(labels_of(shape[1]))
    row = [0] * n
    row[first:middle] = [-1] * (middle - first)
    row[middle:end] = [1] * (end - middle)
    yield row
    yield from _sides(shape[0], first, n)
    yield from _sides(shape[1], middle, n)
