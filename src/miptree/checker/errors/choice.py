"""A choice of classes of the leaves: on which side of the root the points are.

Each case puts a point left of the root, or right of it. It ends where the points cannot
be so; or where too much counts: points that have no leaf of their class on their side,
points of each side whatever splits them, or points of both sides whatever the three
splits are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..values import Refused
from .cases import Lemma
from .pairs import Pair

Classes = tuple[int, int]


class Case(NamedTuple):
    """A point that is on a side, and whether it is still to be on the other one."""

    point: int
    side: int
    has_other: bool


class Choice:
    """The search of a choice of classes.

    Parameters
    ----------
    classes : two pairs of int
        Of the leaves left of the root, and right of it.
    label, weight : sequence of int
        Of each point.
    allowed : int
        What may count.

    Attributes
    ----------
    on : list of two int
        Points on each side, as bits.
    without_leaf : int
        Points whose class has no leaf where they are, as bits.
    is_done : bool
        Whether all cases have ended.
    """

    def __init__(
        self,
        classes: tuple[Classes, Classes],
        label: Sequence[int],
        weight: Sequence[int],
        allowed: int,
    ) -> None:
        self.classes, self.label, self.weight = classes, label, weight
        self.allowed = allowed
        self.on = [0, 0]
        both = {*classes[0], *classes[1]}
        here = [i for i, own in enumerate(label) if own not in both]
        self.nowhere = sum(1 << i for i in here)
        self.without_leaf = self.nowhere
        self.counted = sum(weight[i] for i in here)
        self.cases: list[Case] = []
        self.is_done = False

    def divide(self, i: int) -> None:
        """Put a point left of the root, and later right of it.

        Where the sides have the same classes, the first point of all goes left only:
        the mirror image of a tree is right about the same points.
        """
        self._check_open()
        if (self.on[0] | self.on[1]) >> i & 1:
            raise Refused("The proof file puts a point on a side of the root twice.")
        is_image = not self.cases and self.classes[0] == self.classes[1]
        self._put(Case(i, 0, not is_image))

    def part(self, pair: Pair) -> None:
        """End a case: a pair has its sides right and left of the root."""
        self._check_open()
        if not (pair.is_moved and self.parts(pair)):
            raise Refused(
                "The proof file ends a case as the root cannot tell points apart that "
                "it need not."
            )
        self._go_on()

    def parts(self, pair: Pair) -> bool:
        """Tell whether the sides of a pair are on two sides of the root."""
        left, right = self.on
        return not (pair.left & ~left or pair.right & ~right) or not (
            pair.left & ~right or pair.right & ~left
        )

    def count(self, lemmas: Sequence[Lemma | None]) -> None:
        """End a case: what is known of the two sides is too much."""
        self._check_open()
        total = self.counted
        for lemma, classes, on in zip(lemmas, self.classes, self.on, strict=True):
            if lemma is None:
                continue
            if lemma.classes != classes or lemma.points & ~on:
                raise Refused(
                    "The proof file names a lemma about points that are elsewhere."
                )
            total += lemma.least
        self._end(total)

    def count_more(self, more: int) -> None:
        """End a case: points with a leaf of their class count for so much besides."""
        self._check_open()
        self._end(self.counted + more)

    def is_conflict(self, pair: Pair) -> bool:
        """Tell whether one point of a pair counts, by one of the three splits.

        None of the points are without a leaf: these count anyway.
        """
        points = pair.left | pair.right
        if points & self.without_leaf:
            return False
        return self.parts(pair) or any(
            pair.classes == classes and not points & ~on
            for classes, on in zip(self.classes, self.on, strict=True)
        )

    # ------------------------------------------------------------------ the state

    def _check_open(self) -> None:
        if self.is_done:
            raise Refused("A search in the proof file goes on too long.")

    def _end(self, total: int) -> None:
        if total <= self.allowed:
            raise Refused("The proof file ends a case in which too little counts.")
        self._go_on()

    def _go_on(self) -> None:
        """Turn to the next case."""
        while self.cases:
            case = self.cases.pop()
            bit = 1 << case.point
            self.on[case.side] &= ~bit
            if self.without_leaf & ~self.nowhere & bit:
                self.without_leaf &= ~bit
                self.counted -= self.weight[case.point]
            if case.has_other:
                self._put(Case(case.point, 1, has_other=False))
                return
        self.is_done = True

    def _put(self, case: Case) -> None:
        bit = 1 << case.point
        self.cases.append(case)
        self.on[case.side] |= bit
        has_leaf = self.label[case.point] in self.classes[case.side]
        if not (has_leaf or self.without_leaf & bit):
            self.without_leaf |= bit
            self.counted += self.weight[case.point]
