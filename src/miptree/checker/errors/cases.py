"""Errors among some points: one point of every pair counts, case by case.

Say that the points in question count for no more than is allowed. Of a pair that no
split tells apart one point counts. So there is a case for each of its points; in the
later ones the points before do not count. What is known of fewer points helps: if some
of them count for ``e`` at least, whatever the split, those that count beside them weigh
no more than what is allowed less ``e``, the *room* beside them. A point does not count
where it weighs more than the room beside some points that it is not among.

A case is impossible if there is a pair none of whose points may count. It is as well if
there are pairs without a common point that may count, and the lightest such points of
those pairs that are beside some known points weigh more than the room there.

If all cases are impossible, the points count for more than is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..deadline import check_time
from ..values import Refused
from .pairs import Pair, Pairs

DEEPEST = 150
"""Points that count in a case, beyond which a proof is not read."""


class Lemma(NamedTuple):
    """Points of two classes, as bits, that count for so much, whatever the split."""

    classes: tuple[int, int]
    points: int
    least: int


class Cases:
    """The cases of a question.

    Parameters
    ----------
    pairs : Pairs
    weight : sequence of int
        Of each point.
    is_conflict : callable
        Tells whether one point of a pair counts, in what is asked.
    known : sequence of Lemma
        Of points in question.
    deadline : float
        When to give up, by ``time.monotonic``.

    Attributes
    ----------
    named : set of int
        Points of all pairs that were named.
    """

    def __init__(
        self,
        pairs: Pairs,
        weight: Sequence[int],
        is_conflict: Callable[[Pair], bool],
        known: Sequence[Lemma],
        deadline: float,
    ) -> None:
        self.pairs, self.weight, self.is_conflict = pairs, weight, is_conflict
        self.beside = [0, *(lemma.points for lemma in known)]
        self.least = [0, *(lemma.least for lemma in known)]
        self.deadline = deadline
        self.named: set[int] = set()
        self._count, self._kept = 0, 0

    def check(self, given: Any, allowed: int) -> None:
        """Check that all cases are impossible if so much is allowed."""
        self._check(given, [allowed - least for least in self.least], 0)

    def _check(self, given: Any, room: list[int], depth: int) -> None:
        check_time(self.deadline)
        if not isinstance(given, list) or depth > DEEPEST:
            raise Refused("The proof file has a case that is none, or is too deep.")
        found = [self._pair(name) for name in given if not isinstance(name, list)]
        cases = [case for case in given if isinstance(case, list)]
        if not cases:
            self._check_impossible(found, room)
        elif len(found) == 1:
            self._check_divided(found[0], cases, room, depth)
        else:
            raise Refused("The proof file has cases of more than one pair.")

    def _pair(self, name: Any) -> Pair:
        """Return a pair one of whose points counts, none of those that do by now."""
        pair = self.pairs.get(name)
        if not self.is_conflict(pair) or (pair.left | pair.right) & self._count:
            raise Refused("The proof file names a pair that is of no use where it is.")
        self.named.update(pair.points)
        return pair

    def _check_divided(
        self, pair: Pair, cases: list[Any], room: list[int], depth: int
    ) -> None:
        """Check the cases of the points of a pair."""
        left, kept = set(self._may_count(pair, room)), self._kept
        for case in cases:
            if len(case) != 2 or (i := self.pairs.point(case[0])) not in pair.points:
                raise Refused("The proof file has a case of no point of its pair.")
            if i not in left:
                continue
            weight = self.weight[i]
            self._count |= 1 << i
            self._check(
                case[1],
                [
                    own if points >> i & 1 else own - weight
                    for own, points in zip(room, self.beside, strict=True)
                ],
                depth + 1,
            )
            self._count &= ~(1 << i)
            self._kept |= 1 << i
            left.remove(i)
        self._kept = kept
        if left:
            raise Refused("The proof file leaves out a case of a pair.")

    def _check_impossible(self, found: list[Pair], room: list[int]) -> None:
        """Check that the points that have to count weigh too much."""
        packed, used = [0] * len(room), 0
        for pair in found:
            points = self._may_count(pair, room)
            if not points:
                return
            own = sum(1 << i for i in points)
            if own & used:
                raise Refused("Pairs of the proof file that add up share a point.")
            used |= own
            lightest = min(self.weight[i] for i in points)
            for k, beside in enumerate(self.beside):
                if not own & beside:
                    packed[k] += lightest
        if all(own <= left for own, left in zip(packed, room, strict=True)):
            raise Refused("The proof file ends a case that is possible.")

    def _may_count(self, pair: Pair, room: list[int]) -> list[int]:
        """Return the points of a pair that may count."""
        check_time(self.deadline)
        return [
            i
            for i in pair.points
            if not self._kept >> i & 1
            and all(
                points >> i & 1 or self.weight[i] <= left
                for points, left in zip(self.beside, room, strict=True)
            )
        ]
