"""Proofs of a choice of classes: which side of the root points are on, case by case.

A proof is closed, or it divides on a point: it is left of the root, or right of it. Of
each it is known which points have to be on which side for it to hold, so that steps on
which nothing rests are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class SideProof(NamedTuple):
    """A proof that trees make too many errors if some points are on some sides.

    Attributes
    ----------
    left, right : int
        These points, as bits.
    line : str
        How it is closed, or the point that it divides on.
    cases : tuple of SideProof
        With this point on the left, and on the right.
    pairs, lemmas : tuple of int
        Numbers of those that its own line refers to.
    """

    left: int
    right: int
    line: str
    cases: tuple[SideProof, ...] = ()
    pairs: tuple[int, ...] = ()
    lemmas: tuple[int, ...] = ()

    def needs(self, i: int, side: int) -> bool:
        """Tell whether it rests on a point being on a side."""
        return bool((self.right if side else self.left) >> i & 1)

    def all(self) -> Iterator[SideProof]:
        """Give it and all its cases, in the order of the file."""
        waiting = [self]
        while waiting:
            proof = waiting.pop()
            yield proof
            waiting += proof.cases[::-1]


def divided(i: int, name: int, left: SideProof, right: SideProof) -> SideProof:
    """Return a proof that divides on a point, or a case that needs no division."""
    if not left.needs(i, 0):
        return left
    if not right.needs(i, 1):
        return right
    others = ~(1 << i)
    return SideProof(
        left.left & others | right.left,
        left.right | right.right & others,
        f'["p",{name}]\n',
        (left, right),
    )


def mirrored(i: int, name: int, left: SideProof) -> SideProof:
    """Return a proof whose first point goes left, where the sides can be swapped."""
    return SideProof(0, 0, f'["p",{name}]\n', (left,)) if left.needs(i, 0) else left
