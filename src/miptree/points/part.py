"""What a search leaves behind: a tree of some rows, a bound, and its anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from miptree.tree import HeapTree


class Anchor(NamedTuple):
    """A root split whose sides were solved; bounds of all others follow from it.

    ``columns`` is empty for the anchor of all rows. ``left`` and ``right`` hold the
    anchors of the proofs for its sides, where these are more than a single split.
    """

    columns: tuple[int, ...]
    points: tuple[int, ...]
    threshold: int
    left: tuple[Anchor, ...] = ()
    right: tuple[Anchor, ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """The best tree of some rows so far, and a bound for all trees of its depth."""

    heap: HeapTree
    cost: int
    bound: int
    anchors: tuple[Anchor, ...] = ()
