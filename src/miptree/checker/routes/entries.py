"""The multipliers of a closing or lemma, as a line of the file gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..values import SAME_DATA, Refused
from .closings import MOST_Q
from .structures import Structure


class Entries:
    """Reads flat lists of entries, four numbers for each.

    Parameters
    ----------
    structure : Structure
        Its hyperplanes may be named, its splits by subsets of values may not.
    name : mapping of int to int
        The number of each point of the part, by its name in the file.
    """

    def __init__(self, structure: Structure, name: Mapping[int, int]) -> None:
        self.n_splits = structure.n_splits
        self.without = frozenset(np.flatnonzero(structure.is_subset).tolist())
        self.name, self.partner = name, {**name, -1: -1}

    def plain(self, flat: Sequence[int]) -> list[list[int]]:
        """Part a list of entries into split, kind, point and q."""
        split, kind, point, q = _columns(flat)
        self._check(split, q)
        return [split, kind, _numbered(point, self.name), q]

    def envelopes(self, flat: Sequence[int]) -> list[list[int]]:
        """Part a list of entries into split, point, q and partner (-1: none)."""
        split, point, q, partner = _columns(flat)
        self._check(split, q)
        point = _numbered(point, self.name)
        return [split, point, q, _numbered(partner, self.partner)]

    def _check(self, split: list[int], q: list[int]) -> None:
        if split and not (min(split) >= 0 and max(split) < self.n_splits):
            raise Refused("An entry of the proof file names a split that is none.")
        if not self.without.isdisjoint(split):
            raise Refused("An entry of the proof file names a split without margins.")
        if q and not (min(q) >= 0 and max(q) <= MOST_Q):
            raise Refused("A multiplier of the proof file is negative or too large.")


def _columns(flat: Sequence[int]) -> list[list[int]]:
    if len(flat) % 4:
        raise Refused("The proof file has an entry that is cut off.")
    return [list(flat[k::4]) for k in range(4)]


def _numbered(points: list[int], name: Mapping[int, int]) -> list[int]:
    try:
        return [name[i] for i in points]
    except KeyError as error:
        raise no_point(error) from None


def no_point(name: object) -> Refused:
    """Return the refusal of a point that the data do not have under this number."""
    return Refused(f"The proof file names a point {name}, which is none. {SAME_DATA}")
