"""Walk through the search of a part, line by line of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..values import SAME_DATA, Refused
from .file import Trees
from .limits import BITS

OPEN, COUNTS = -1, -2
"""Instead of the leaf that a point is sent to."""


class Known(NamedTuple):
    """What is known of the points of all parts.

    Attributes
    ----------
    coordinates : list of lists of int
        Of each point, times the largest coefficients, in units of 2 ** -BITS.
    label, weight : list of int
    """

    coordinates: list[list[int]]
    label: list[int]
    weight: list[int]


class Group(NamedTuple):
    """Points of which it is shown what those weigh at least that count."""

    points: frozenset[int]
    least: int


class Branch:
    """A point whose cases are being gone through."""

    def __init__(self, point: int, leaves: list[int]) -> None:
        self.point = point
        self.leaves = leaves[::-1]
        self.is_to_count = True


class Walk:
    """The search of a part: where its points are sent.

    Parameters
    ----------
    known : Known
    trees : Trees
    name : mapping of int to int
        The number of each point of the part, by its name in the file.
    groups : sequence of Group
        Disjoint points of the part, of which something is shown.
    most : int
        What the points that count may weigh.

    Attributes
    ----------
    is_done : bool
        Whether all cases have ended.
    least : int or None
        What the points that count weigh at least, once it is done.
    """

    def __init__(
        self,
        known: Known,
        trees: Trees,
        name: Mapping[int, int],
        groups: Sequence[Group],
        most: int,
    ) -> None:
        self.known, self.name, self.most = known, name, most
        self.n_leaves = 2**trees.depth
        self.closing = int(2 * trees.least_score * 2**BITS)
        self.way = [_way(leaf, self.n_leaves) for leaf in range(self.n_leaves)]
        self.sent = dict.fromkeys(name.values(), OPEN)
        self.class_of: list[list[int]] = [[] for _ in range(self.n_leaves)]
        self.n_below = [0] * (self.n_leaves - 1)
        self.group = {i: g for g, some in enumerate(groups) for i in some.points}
        self.shown = [some.least for some in groups]
        self.counted = [0] * len(groups)
        self.alone = 0
        self.branches: list[Branch] = []
        self.least: int | None = None
        self.is_done = False
        self._note(self.total)

    @property
    def total(self) -> int:
        """What the points that count by now weigh at least."""
        return self.alone + sum(map(max, self.shown, self.counted))

    def branch(self, name: int, reasons: Sequence[Sequence[int]]) -> None:
        """Go through the cases of a point: its leaves, and that it counts.

        Each reason closes a side of a split to the point: the number of the split (the
        root is 0, below k are 2 k + 1 and 2 k + 2), the side (0 left, 1 right), and
        pairs of a point and its multiplier.
        """
        if self.is_done:
            raise Refused("A search in the proof file goes on too long.")
        i = self._point(name)
        if self.sent[i] != OPEN:
            raise Refused("The proof file sends a point to a leaf twice.")
        closed = {self._closed_side(i, reason) for reason in reasons}
        leaves = [leaf for leaf in range(self.n_leaves) if self._may_be(i, leaf)]
        leaves = [leaf for leaf in leaves if closed.isdisjoint(self.way[leaf])]
        self.branches.append(Branch(i, leaves))
        self._go_on()

    def _may_be(self, i: int, leaf: int) -> bool:
        """Tell whether a leaf has points of this class at most, and is no image."""
        for split, side in self.way[leaf]:
            if side == 1 and self.n_below[split] == 0:
                return False
        classes = self.class_of[leaf]
        return not classes or classes[-1] == self.known.label[i]

    def _closed_side(self, i: int, reason: Sequence[int]) -> tuple[int, int]:
        """Return a side of a split that a reason closes to a point.

        A rounded coordinate is less than 1 below the number that it stands for, so
        that rounding changes no distance by more than 1 for each of them.
        """
        if len(reason) < 6 or len(reason) % 2:
            raise Refused("A reason in the proof file is cut off.")
        split, side = reason[:2]
        if not 0 <= split < self.n_leaves - 1 or side not in (0, 1):
            raise Refused("A reason in the proof file is about a split that is none.")
        sums: list[list[int]] = [[], []]
        totals = [0, 0]
        for name, times in zip(reason[2::2], reason[3::2], strict=True):
            k = self._point(name)
            own = side if k == i else self._side(k, split)
            if times <= 0:
                raise Refused("The proof file holds a multiplier that is not above 0.")
            row = self.known.coordinates[k]
            totals[own] += times
            before = sums[own] or [0] * len(row)
            sums[own] = [a + times * x for a, x in zip(before, row, strict=True)]
        left, right = totals
        if not (left and right):
            raise Refused("A reason in the proof file has points on one side only.")
        pairs = zip(sums[1], sums[0], strict=True)
        distance = sum(abs(left * b - right * a) for b, a in pairs)
        distance += len(sums[0]) * left * right
        if distance >= self.closing * left * right:
            raise Refused(
                "A reason in the proof file does not close the side that it is about: "
                f"a split may tell its points apart. {SAME_DATA}"
            )
        return split, side

    def _side(self, k: int, split: int) -> int:
        """Return the side of a split on which a point is that was sent below it."""
        leaf = self.sent[k]
        for own, side in self.way[leaf] if leaf >= 0 else ():
            if own == split:
                return side
        raise Refused("A reason in the proof file is about a point that is elsewhere.")

    # ------------------------------------------------------------------ the state

    def _go_on(self) -> None:
        """Turn to the next case that is left, of the last branch that has one."""
        while self.branches:
            last = self.branches[-1]
            self._take_back(last.point)
            if last.leaves:
                self._send(last.point, last.leaves.pop())
                return
            if not last.is_to_count:
                self.branches.pop()
                continue
            last.is_to_count = False
            self._count(last.point, 1)
            if not self._note(self.total):
                return
        self.is_done = True

    def _note(self, total: int) -> bool:
        """Tell whether a case ends; the least of all that end is the bound."""
        if total <= self.most:
            return False
        self.least = total if self.least is None else min(self.least, total)
        self.is_done = not self.branches
        return True

    def _send(self, i: int, leaf: int) -> None:
        self.sent[i] = leaf
        self.class_of[leaf].append(self.known.label[i])
        for split, _ in self.way[leaf]:
            self.n_below[split] += 1

    def _count(self, i: int, times: int) -> None:
        """Let a point count, or no longer."""
        self.sent[i] = COUNTS if times > 0 else OPEN
        weight = times * self.known.weight[i]
        if i in self.group:
            self.counted[self.group[i]] += weight
        else:
            self.alone += weight

    def _take_back(self, i: int) -> None:
        leaf = self.sent[i]
        if leaf == COUNTS:
            self._count(i, -1)
        elif leaf != OPEN:
            self.sent[i] = OPEN
            self.class_of[leaf].pop()
            for split, _ in self.way[leaf]:
                self.n_below[split] -= 1

    def _point(self, name: int) -> int:
        if name not in self.name:
            raise Refused(
                f"The proof file names a point {name!r:.50}, which is none, or none of "
                f"its part. {SAME_DATA}"
            )
        return self.name[name]


def _way(leaf: int, n_leaves: int) -> frozenset[tuple[int, int]]:
    """Return the splits on the way to a leaf with its sides."""
    node, found = leaf + n_leaves - 1, []
    while node > 0:
        found.append(((node - 1) // 2, 1 - node % 2))
        node = (node - 1) // 2
    return frozenset(found)
