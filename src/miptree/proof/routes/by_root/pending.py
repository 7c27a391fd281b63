"""Nodes of a search by root whose proof is not complete.

A tree of the proof is made from its leaves up. A side of a point that was closed on the
way, or a branch, is kept only if something below refers to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from miptree.proof.routes.by_root.proofs import Branch, Closing, Event


class Forced(NamedTuple):
    """A side of a point that was closed on the way, and why."""

    point: int
    side: int
    why: Closing


@dataclass
class Pending:
    """A node whose proof is not complete.

    Attributes
    ----------
    parent : Pending or None
    forced : list of Forced
        Points of which a side was closed on the way.
    point : int
        What was branched on.
    masks : tuple of two ints
        Of the children, the one that is searched first first.
    done : list of (Event, int)
        Proofs of children, and the points that these refer to.
    is_done : bool
        Whether nothing of it needs to be searched any more.
    """

    parent: Pending | None
    forced: list[Forced] = field(default_factory=list)
    point: int = -1
    masks: tuple[int, int] = (0, 0)
    done: list[tuple[Event, int]] = field(default_factory=list)
    is_done: bool = False

    def force(self, point: int, side: int, why: Closing | None) -> None:
        """Take in that a side of a point is closed."""
        if why is not None:
            self.forced.append(Forced(point, side, why))

    def branch(self, point: int, first_side: int) -> None:
        """Take in what is branched on, and which side is searched first."""
        self.point, self.masks = point, _masks(first_side)

    def end(self, event: Event, used: int) -> Event | None:
        """Take in what closes the node; return the proof of all if that completes it.

        A child that does not refer to the branch above it is a proof of its parent, and
        the other child need not be searched.
        """
        node = self
        while True:
            node.is_done = True
            for point, side, why in reversed(node.forced):
                if used >> point & 1:
                    event = Branch(point, _masks(side), (why, event))
                    used = (used | why.used) & ~(1 << point)
            if node.parent is None:
                return event
            node = node.parent
            if used >> node.point & 1:
                node.done.append((event, used))
                if len(node.done) < 2:
                    return None
                (first, own), (second, others) = node.done
                event = Branch(node.point, node.masks, (first, second))
                used = (own | others) & ~(1 << node.point)


def _masks(first_side: int) -> tuple[int, int]:
    """Return the masks of a side and of the other one."""
    return 1 << first_side, 2 >> first_side
