"""The multipliers of a closing or lemma, as a line of the file gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..values import MAX_ITEMS, SAME_DATA, Refused, TooMuch
from .closings import BOX_RIGHT, MARGIN, MOST_Q
from .structures import Structure

Closing: TypeAlias = tuple[list[list[int]], list[list[int]]]
"""Columns of entries: split, kind, point, q; of envelopes: split, point, q, partner."""
_NOTHING: list[list[int]] = [[], [], [], []]
MOST_KEPT = MAX_ITEMS // 4
"""Entries of a closing by changes: as many as a line without changes may have."""


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
        self._last: Closing = (_NOTHING, _NOTHING)
        self._kept: _Kept | None = None

    def plain(self, flat: Sequence[int]) -> list[list[int]]:
        """Part a list of entries into split, kind, point and q."""
        split, kind, point, q = _columns(flat)
        self._check(split, q)
        if kind and not (min(kind) >= MARGIN and max(kind) <= BOX_RIGHT):
            raise Refused("The proof file has an entry of an unknown kind.")
        return [split, kind, _numbered(point, self.name), q]

    def envelopes(self, flat: Sequence[int]) -> list[list[int]]:
        """Part a list of entries into split, point, q and partner (-1: none)."""
        split, point, q, partner = _columns(flat)
        self._check(split, q)
        point = _numbered(point, self.name)
        return [split, point, q, _numbered(partner, self.partner)]

    def closing(self, plain: Sequence[int], envelopes: Sequence[int]) -> Closing:
        """Part both lists of a closing, which the next one may change."""
        found = self.plain(plain), self.envelopes(envelopes)
        if plain or envelopes:
            self._last, self._kept = found, None
        return found

    def changed(self, plain: Sequence[int], envelopes: Sequence[int]) -> Closing:
        """Return the closing before this one, with some of its entries changed.

        Closings without entries that are no changes themselves do not count.
        """
        if self._kept is None:
            self._kept = _Kept({}, {})
            self._kept.change(*self._last)
        self._kept.change(self.plain(plain), self.envelopes(envelopes))
        if len(self._kept.plain) + len(self._kept.envelopes) > MOST_KEPT:
            raise TooMuch("A closing of the proof file has too many entries.")
        return self._kept.closing()

    def _check(self, split: list[int], q: list[int]) -> None:
        if split and not (min(split) >= 0 and max(split) < self.n_splits):
            raise Refused("An entry of the proof file names a split that is none.")
        if not self.without.isdisjoint(split):
            raise Refused("An entry of the proof file names a split without margins.")
        if q and not (min(q) >= 0 and max(q) <= MOST_Q):
            raise Refused("A multiplier of the proof file is negative or too large.")


class _Kept(NamedTuple):
    """The entries of a closing, one for each split, kind and point.

    Attributes
    ----------
    plain : dict of (split, kind, point) to q
    envelopes : dict of (split, point) to (q, partner)
    """

    plain: dict[tuple[int, ...], int]
    envelopes: dict[tuple[int, ...], tuple[int, int]]

    def change(self, plain: list[list[int]], envelopes: list[list[int]]) -> None:
        """Put entries in the place of those before; a q of 0 takes one off."""
        for *key, q in zip(*plain, strict=True):
            if q:
                self.plain[tuple(key)] = q
            else:
                self.plain.pop(tuple(key), None)
        for split, point, q, partner in zip(*envelopes, strict=True):
            if q:
                self.envelopes[split, point] = q, partner
            else:
                self.envelopes.pop((split, point), None)

    def closing(self) -> Closing:
        """Return the entries as columns."""
        plain = [*_transposed(self.plain, 3), list(self.plain.values())]
        split, point = _transposed(self.envelopes, 2)
        return plain, [split, point, *_transposed(self.envelopes.values(), 2)]


def _transposed(rows: Iterable[tuple[int, ...]], n: int) -> list[list[int]]:
    """Return n columns of some rows."""
    return [list(column) for column in zip(*rows, strict=True)] or [[]] * n


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
