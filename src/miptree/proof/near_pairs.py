"""Pairs of sets of points that no split tells apart, as a search notes them.

The search writes them in its journal (``journal.py``). Of each there is one line in the
file, with whole multipliers of its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miptree.proof.journal import ANSWERED

_OF_A_PAIR = 400
"""Bytes that a pair takes in memory beside its line."""


class NotShown(Exception):
    """A step of a search cannot be shown."""


class TooFew(NotShown):
    """A search found that so few errors are possible, or could not exclude it."""

    def __init__(self, errors: int) -> None:
        super().__init__(errors)
        self.errors = errors


class NearPair(NamedTuple):
    """Points on two sides of a split, as bits, and the line of the file."""

    left: int
    right: int
    points: tuple[int, ...]
    line: str


class NearPairs:
    """All near pairs of a record, each of them once.

    Parameters
    ----------
    names : sequence of int
        Names of the rows in the file.
    """

    def __init__(self, names: Sequence[int]) -> None:
        self.names = names
        self.all: list[NearPair] = []
        self._number: dict[tuple[int, ...], int] = {}
        self.n_bytes = 0

    def number(
        self, points: Sequence[int], times: Sequence[int], is_moved: bool
    ) -> int:
        """Return the number of a pair: points, and multipliers below 0 on the left.

        It may be so near that the root cannot part it after its threshold has moved.
        """
        signed = (2 * i + (t > 0) for i, t in zip(points, times, strict=True))
        key = is_moved, *sorted(signed)
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.all)
            self.all.append(self._made(found, points, times))
            self.n_bytes += len(self.all[-1].line) + _OF_A_PAIR
        return found

    def _made(
        self, number: int, points: Sequence[int], times: Sequence[int]
    ) -> NearPair:
        masks, words = [0, 0], ["", ""]
        for i, t in zip(points, times, strict=True):
            masks[t > 0] |= 1 << i
            words[t > 0] += f",{self.names[i]},{abs(t)}"
        if not (masks[0] and masks[1]):
            raise NotShown
        line = f'["near",{number},[{words[0][1:]}],[{words[1][1:]}]]\n'
        return NearPair(masks[0], masks[1], tuple(points), line)


class Words:
    """Reads the words of a journal, one after the other.

    Parameters
    ----------
    words : list of int
    rows : sequence of int
        Rows of the points that the journal is about.
    pairs : NearPairs
    """

    def __init__(self, words: list[int], rows: Sequence[int], pairs: NearPairs) -> None:
        self.words, self.rows, self.pairs, self.at = words, rows, pairs, 0

    @property
    def is_at_end(self) -> bool:
        """Whether all is read."""
        return self.at == len(self.words)

    def next_is(self, *words: int) -> bool:
        """Tell whether some words come next, such as the kind of a note."""
        return self.words[self.at : self.at + len(words)] == [*words]

    def take(self) -> int:
        """Return the next word."""
        self.at += 1
        return self.words[self.at - 1]

    def answer(self) -> int:
        """Return the errors of an answer that comes next."""
        if self.take() != ANSWERED:
            raise NotShown
        return self.take()

    def point(self) -> int:
        """Return the row of the point that comes next."""
        return self.rows[self.take()]

    def pair(self, is_moved: bool = False) -> int:
        """Return the number of the near pair that comes next."""
        size = self.take()
        block = self.words[self.at : self.at + 2 * size]
        self.at += 2 * size
        points = [self.rows[p] for p in block[::2]]
        return self.pairs.number(points, block[1::2], is_moved)
