"""Pairs of sets of points with convex combinations that no split tells apart.

Say that p is a convex combination of points right of a split, and q one of points left
of it. If the tree is right about all of them, then h.(p - q) is at least twice the
margin; and it is at most the sum of H_j abs(p_j - q_j). Where that is less, one of the
points counts.

**Points that count have a side as well.** At the root, say that the threshold is moved
by half of the margin at most. The rows that keep the margin stay on their sides. A
point is nearer to the new threshold than some delta for an open interval of thresholds,
of length 2 delta. With delta = margin / (2 (m + 1)) the m points that differ in x and
values forbid a length of less than the margin together, so that some threshold is left.
There every point, right or not, has a side, and keeps a distance of delta. So the sum
above is at least 2 delta = margin / (m + 1) for points on two sides of the root.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..values import SAME_DATA, Refused, TooMuch, a_list, a_whole
from .file import Trees
from .limits import BITS
from .points import Labelled

MOST_BITS = 1 << 32
"""Size of the sets of all pairs and lemmas."""
_LARGEST = 10**18


class Pair(NamedTuple):
    """Two sets of points, of which one is on each side.

    Attributes
    ----------
    left, right : int
        The points, as bits.
    points : tuple of int
        All of them.
    classes : tuple of two int or None
        Where each side is of one class, and these differ, the classes in order.
    is_moved : bool
        Whether the root cannot tell them apart after its threshold has moved, either.
    """

    left: int
    right: int
    points: tuple[int, ...]
    classes: tuple[int, int] | None
    is_moved: bool


class Pairs:
    """The pairs of a file, by their names.

    Parameters
    ----------
    trees : Trees
    points : Labelled
    coordinates : list of lists of int
        Of each point, times the largest coefficients, in units of 2 ** -BITS.
    name : mapping of int to int
        Number of each point, by its name in the file.
    """

    def __init__(
        self,
        trees: Trees,
        points: Labelled,
        coordinates: list[list[int]],
        name: Mapping[int, int],
    ) -> None:
        self.label, self.coordinates, self.name = points.label, coordinates, name
        n_places = len(set(points.at))
        self.closing = int(2 * trees.least_score * 2**BITS)
        self.closing_moved = int(trees.least_score * 2**BITS / (n_places + 1))
        self.known: dict[int, Pair] = {}

    def read(self, given: Any) -> None:
        """Take a line: a name, and points of both sides with their multipliers."""
        _, name, *sides = a_list(given, "near", 4, 4)
        name = a_whole(name, "near", 0, _LARGEST)
        if name in self.known:
            raise Refused("The proof file has two pairs of one name.")
        if (len(self.known) + 1) * len(self.label) > MOST_BITS:
            raise TooMuch("The proof file has too many pairs for so many points.")
        self.known[name] = self._pair(*map(self._side, sides))

    def get(self, name: Any) -> Pair:
        """Return the pair of a name."""
        if type(name) is not int or name not in self.known:
            raise Refused(f"The proof file names a pair {name!r:.50} that is none.")
        return self.known[name]

    def point(self, name: Any) -> int:
        """Return the number of a point."""
        if type(name) is not int or name not in self.name:
            raise Refused(
                f"The proof file names a point {name!r:.50}, which is none. {SAME_DATA}"
            )
        return self.name[name]

    def _side(self, given: Any) -> dict[int, int]:
        """Read the points of a side and their multipliers."""
        most = 2 * len(self.label)
        terms = a_list(given, "near", 2, most)
        side = {
            self.point(name): a_whole(times, "near", 1, _LARGEST)
            for name, times in zip(terms[::2], terms[1::2], strict=False)
        }
        if 2 * len(side) < len(terms):
            raise Refused("The proof file names a point of a pair twice.")
        return side

    def _pair(self, left: dict[int, int], right: dict[int, int]) -> Pair:
        """Return a pair whose sides are too near to each other.

        A rounded coordinate is less than 1 below the number that it stands for, so
        that rounding changes no distance by more than 1 for each of them.
        """
        if not left.keys().isdisjoint(right):
            raise Refused("The proof file has a point on both sides of a pair.")
        totals = sum(left.values()), sum(right.values())
        sums = self._sum(left), self._sum(right)
        both = zip(*sums, strict=True)
        distance = sum(abs(totals[0] * b - totals[1] * a) for a, b in both)
        distance += len(sums[0]) * totals[0] * totals[1]
        if distance >= self.closing * totals[0] * totals[1]:
            raise Refused(
                "The proof file has a pair that a split may tell apart: its sides are "
                f"not so near to each other. {SAME_DATA}"
            )
        return Pair(
            sum(1 << i for i in left),
            sum(1 << i for i in right),
            (*left, *right),
            self._classes(left, right),
            distance < self.closing_moved * totals[0] * totals[1],
        )

    def _sum(self, side: dict[int, int]) -> list[int]:
        """Return the coordinates of some points, times their multipliers."""
        rows = [[t * x for x in self.coordinates[i]] for i, t in side.items()]
        return [sum(column) for column in zip(*rows, strict=True)]

    def _classes(
        self, left: dict[int, int], right: dict[int, int]
    ) -> tuple[int, int] | None:
        classes = {self.label[i] for i in left}, {self.label[i] for i in right}
        if len(classes[0]) > 1 or len(classes[1]) > 1 or classes[0] == classes[1]:
            return None
        a, b = sorted(classes[0] | classes[1])
        return a, b
