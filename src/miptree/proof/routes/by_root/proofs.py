"""What a search by root records: closings and branches, with lemmas below the root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from miptree.proof.routes.by_root.lemmas import Lemma, bits_of
from miptree.proof.routes.trace import HARD, MARGIN
from miptree.utils.arrays import IntArray


class Closing(NamedTuple):
    """Why no tree that sends points to their sides costs less than the threshold.

    Attributes
    ----------
    entries : int64 array of shape (., 3)
        Point, kind and multiplier of the root's hyperplane.
    lemmas : tuple of two (Lemma or None)
        Of the left side and of the right one.
    """

    entries: IntArray
    lemmas: tuple[Lemma | None, Lemma | None]

    @property
    def used(self) -> int:
        """The points whose sides it refers to, as bits."""
        kind = self.entries[:, 1]
        bits = bits_of(self.entries[(kind == MARGIN) | (kind == HARD), 0])
        for lemma in self.lemmas:
            bits |= 0 if lemma is None else lemma.used
        return bits


class Branch(NamedTuple):
    """A point that goes to one side in the first part, to the other in the second."""

    point: int
    masks: tuple[int, int]
    parts: tuple[Event, Event]


Event: TypeAlias = Closing | Branch


class RootsProof(NamedTuple):
    """The proof of a search by root.

    Attributes
    ----------
    fixed : int
        Point fixed to the left, as trees can be mirrored.
    tree : Event
    """

    fixed: int
    tree: Event

    def events(self) -> Iterator[Event]:
        """Give closings and branches in pre-order."""
        waiting = [self.tree]
        while waiting:
            event = waiting.pop()
            yield event
            if isinstance(event, Branch):
                waiting += reversed(event.parts)

    def lemmas(self) -> list[Lemma]:
        """Return the lemmas that are referred to, in the order of their first use."""
        closings = (one for one in self.events() if isinstance(one, Closing))
        found = {id(one): one for c in closings for one in c.lemmas if one is not None}
        return list(found.values())
