"""The case that a proof tree of a structure is at, and the branches it lies in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..values import TooMuch
from .structures import Structure
from .uses import ALL_OPEN, Use

MOST_LEVELS, MOST_DEEP = 100_000, 1 << 22
"""Branches that one may lie in, and the points of all of these: they are kept."""


class Splits(NamedTuple):
    """What is known of the splits.

    Attributes
    ----------
    feature : tuple of int
        The category of a split by values, -1 where it is open.
    use : tuple of Use
        The features that a hyperplane keeps or leaves out.
    """

    feature: tuple[int, ...]
    use: tuple[Use, ...]


class Branch(NamedTuple):
    """A branch: its points with their leaves, and the cases that are left of it.

    ``more`` is what the cases know of splits, where the branch is on that.
    """

    points: list[int]
    before: list[int]
    cases: Iterator[list[int]]
    lemma: tuple[int, ...]
    splits: Splits
    more: Iterator[Splits]


class Case:
    """Which leaves each point may come to, and what is known of the splits.

    Parameters
    ----------
    structure : Structure
    cost : int array of shape (points, classes)
        In whole units.

    Attributes
    ----------
    leaves : bytearray
        The leaves that each point may come to, as bits.
    base : int
        What the cheapest of these cost, in whole units.
    n_empty : int
        Points that have no leaf left.
    splits : Splits
    lemma : tuple of int
        The number of the last lemma about each split, -1 where there is none.
    is_done : bool
        Whether there is no further case.
    """

    def __init__(self, structure: Structure, cost: np.ndarray) -> None:
        n_splits = structure.n_splits
        cost = cost[:, structure.label]
        self.leaves = bytearray([structure.everything]) * len(cost)
        self.base = int(cost.min(axis=1).sum())
        self.n_empty = 0
        self.splits = Splits((-1,) * n_splits, (ALL_OPEN,) * n_splits)
        self.lemma = (-1,) * n_splits
        self.is_done = False
        self._everything = structure.everything
        self._cost: list[list[int]] = cost.tolist()
        self._known: dict[tuple[int, int], int] = {}
        self._branches: list[Branch] = []
        self._n_kept = 0

    @property
    def left_out(self) -> tuple[int, ...]:
        """The features that splits leave out, as bits."""
        return tuple(use.left_out for use in self.splits.use)

    @property
    def lacks_points(self) -> bool:
        """Whether there is a leaf that is open to no point."""
        union = 0
        for leaves in set(self.leaves):
            union |= leaves
        return union != self._everything

    def set_leaves(self, i: int, leaves: int) -> None:
        """Let a point come to some leaves only."""
        before = self.leaves[i]
        self.base += self._least(i, leaves) - self._least(i, before)
        self.n_empty += (leaves == 0) - (before == 0)
        self.leaves[i] = leaves

    def branch(
        self,
        points: list[int],
        cases: Iterable[list[int]],
        more: Iterable[Splits] = (),
    ) -> None:
        """Go on with each case: the leaves of some points, and more about splits."""
        self._n_kept += 1 + len(points)
        if self._n_kept > MOST_DEEP or len(self._branches) > MOST_LEVELS:
            raise TooMuch("The branches of the proof file lie too deep in each other.")
        before = [self.leaves[i] for i in points]
        state = self.lemma, self.splits
        self._branches.append(Branch(points, before, iter(cases), *state, iter(more)))
        self.go_on()

    def go_on(self) -> None:
        """Turn to the next case of the last branch that has one."""
        while self._branches:
            points, before, cases, lemma, splits, more = self._branches[-1]
            self.lemma, self.splits = lemma, splits
            case = next(cases, None)
            for i, leaves in zip(points, before if case is None else case, strict=True):
                self.set_leaves(i, leaves)
            if case is not None:
                self.splits = next(more, splits)
                return
            self._branches.pop()
            self._n_kept -= 1 + len(points)
        self.is_done = True

    def _least(self, i: int, leaves: int) -> int:
        """Return the cost of the cheapest of some leaves, 0 of none."""
        found = self._known.get((i, leaves))
        if found is None:
            costs = (c for k, c in enumerate(self._cost[i]) if leaves >> k & 1)
            found = self._known[i, leaves] = min(costs, default=0)
        return found
