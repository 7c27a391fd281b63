"""Proofs by root: a tree of the root's sides, and lemmas of what is below it.

**Lemmas.** A subtree of depth 1 or 0 on a side of the root has a norm, misses margins
at its split, and errs. What it costs on some of the points that come to it is at least
what trees of depth 1 cost on these points alone. A lemma proves that for every
structure of depth 1, with a threshold of its own.

**The tree of the sides.** Let the root part the points of a tree of depth 2. Then the
tree costs what its root costs, plus what both subtrees cost. The proof tree branches on
the side of the root that a point goes to. A closing adds up what multipliers show of
the root, a lemma about points that are left of it in this case, one about points right
of it, and the cheapest class of every other point. The root and the two subtrees have
norms and margins of their own, and no point's errors are in two of the sums.

The mirror image of a tree has the same cost, so one point may be kept on the left. A
root that parts no points can be left out, as the split of two leaves of one class can.
What is left is a leaf, or a split of depth 1 that is a root itself, with leaves below.
So all trees whose structure has any split are bounded by this at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..values import Refused, TooMuch, a_float, a_list
from .entries import no_point
from .scopes import Scope
from .structures import Structure
from .walk import Rest, Walk

DEPTH = 2
LEFT, RIGHT = 1, 2
"""Sets of the leaves of the tree of sides: a point is surely left, or right."""
MOST_BITS, LEMMA_BITS = 1 << 32, 1 << 10
"""What all lemmas of a part may take in memory; what one takes beside its points."""


class Lemma(NamedTuple):
    """What every subtree costs at least on some points.

    Attributes
    ----------
    points : int
        Their numbers, as bits.
    base : int
        Their cheapest classes, in whole units, which this takes the place of.
    value : float
    """

    points: int
    base: int
    value: float


NO_LEMMA = Lemma(0, 0, 0.0)


class ByRoot:
    """The lemmas of a part, and its tree of the root's sides.

    Parameters
    ----------
    part : Scope

    Attributes
    ----------
    sides : Walk or None
        The tree, once it has begun. Its two leaves cost nothing and are alike.
    """

    def __init__(self, part: Scope) -> None:
        self.part = part
        self.lemmas: list[Lemma] = []
        self.sides: Walk | None = None
        self._cheapest = part.numbers.cost.min(axis=1)
        self._everything = int(self._cheapest.sum())
        self._open: tuple[Scope, list[int]] | None = None

    def begin_lemma(self, given: Any) -> Scope:
        """End the lemma before, and begin another one: return what it is about."""
        self._may_follow()
        _, names, threshold = a_list(given, "lemma", 3, 3)
        limit = a_float(threshold, "lemma")
        if not limit > 0:
            raise Refused("A threshold of the proof file is not above 0.")
        size = len(self._cheapest)
        if (len(self.lemmas) + 1) * (size + LEMMA_BITS) > MOST_BITS:
            raise TooMuch("A part of the proof file has too many lemmas.")
        places = self._places(a_list(names, "lemma", 1, size))
        numbers = self.part.numbers.some(places, limit)
        name = dict(zip(names, range(size), strict=False))
        scope = Scope(self.part.proof, numbers, name, DEPTH - 1)
        self._open = scope, places
        return scope

    def begin_sides(self, given: Any) -> Walk:
        """Begin the tree of the root's sides, after the last lemma."""
        self._may_follow()
        a_list(given, "roots", 1, 1)
        free = np.zeros((len(self._cheapest), 1), dtype=np.int64)
        numbers = replace(self.part.numbers, cost=free)
        known = numbers, Structure((0, 0)), self.part.proof.exponent, self.part.name
        self.sides = Walk(*known)
        return self.sides

    def close(self, chosen: Sequence[int], plain: Sequence[int]) -> None:
        """End a case of the sides by a lemma for each side, or -1, and multipliers."""
        if self.sides is None:
            raise Refused("The proof file closes a case of a root's sides elsewhere.")
        base, value = self._everything, 0.0
        leaves = np.frombuffer(self.sides.case.leaves, dtype=np.uint8)
        pair = a_list(chosen, "lemmas", 2, 2)
        for number, side in zip(pair, (LEFT, RIGHT), strict=True):
            lemma = self._lemma(number)
            if lemma.points & ~_bits(leaves == side):
                text = "that may be on the other side of the root"
                raise Refused(f"A lemma of the proof file is about a point {text}.")
            base -= lemma.base
            value += lemma.value
        self.sides.close(plain, (), Rest(base, value))

    def bound(self) -> float:
        """Return what every tree with a split costs at least, as far as is proved."""
        self._end_lemma()
        return 0.0 if self.sides is None else self.sides.end()

    def _may_follow(self) -> None:
        """End a lemma, where another one or the tree of sides may follow."""
        proof = self.part.proof
        if proof.objective.depth != DEPTH or proof.has_subsets:
            text = f"only trees of depth {DEPTH} without splits by subsets are"
            raise Refused(f"The proof file has a proof by root, as {text} proved.")
        if self.sides is not None:
            text = "has lines after the tree of the root's sides"
            raise Refused(f"A part of the proof file {text}.")
        self._end_lemma()

    def _end_lemma(self) -> None:
        if self._open is not None:
            scope, places = self._open
            chosen = np.zeros(len(self._cheapest), dtype=bool)
            chosen[places] = True
            base = int(self._cheapest[places].sum())
            self.lemmas.append(Lemma(_bits(chosen), base, scope.bound()))
        self._open = None

    def _lemma(self, number: int) -> Lemma:
        if not -1 <= number < len(self.lemmas):
            raise Refused(f"The proof file names a lemma {number}, which is none.")
        return self.lemmas[number] if number >= 0 else NO_LEMMA

    def _places(self, names: Iterable[Any]) -> list[int]:
        """Return the numbers of points that are named once each."""
        name, places = self.part.name, []
        for one in names:
            if type(one) is not int or one not in name:
                raise no_point(f"{one!r:.50} in a lemma")
            places.append(name[one])
        if len(set(places)) < len(places):
            raise Refused("A lemma of the proof file names a point twice.")
        return places


def _bits(chosen: np.ndarray) -> int:
    """Return a whole number with a bit for each point that is chosen."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")
