"""A node of a search of the sides of the root, as it is recorded."""

from __future__ import annotations

from miptree.proof.side_proofs import SideProof


class Node:
    """A node of the search: the points on the sides, and what is known of them.

    Attributes
    ----------
    on : list of two int
        Points on the left and on the right, as bits.
    lost : list of (point, side)
        Those whose class has no leaf there.
    known : two lists of int
        Lemmas about each side, with more and more errors.
    steps : list of (point, side, SideProof)
        Points of which one side is closed, why, and the other one.
    closed : SideProof or None
    point : int or None
        Point on which the node divides.
    lemma : list of two int or None
        What is known of each side once this point is on it.
    cases : dict of int to SideProof
    """

    def __init__(self, above: Node | None = None) -> None:
        self.on: list[int] = [0, 0]
        self.lost: list[tuple[int, int]] = []
        self.known: list[list[int]] = [[], []]
        if above is not None:
            self.on, self.lost = list(above.on), list(above.lost)
            self.known = [list(side) for side in above.known]
        self.steps: list[tuple[int, int, SideProof]] = []
        self.closed: SideProof | None = None
        self.point: int | None = None
        self.lemma: list[int | None] = [None, None]
        self.cases: dict[int, SideProof] = {}

    def is_placed(self, i: int) -> bool:
        """Tell whether the side of a point is known."""
        return bool((self.on[0] | self.on[1]) >> i & 1)
