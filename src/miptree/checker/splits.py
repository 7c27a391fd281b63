"""All splits of a family as sets of rows, each set once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .deadline import check_time
from .family import Card
from .values import TooMuch

MAX_BYTES = 1 << 31
"""Memory for the sets of rows."""
BLOCK, ROW_BLOCK = 1 << 18, 1 << 24
"""Numbers in a block of work that fits into a cache, and rows times splits in one."""


@dataclass(frozen=True, eq=False)
class Splits:
    """Different ways to part rows in two, the first row on the left.

    Attributes
    ----------
    bits : uint8 array of shape (m, ceil(n / 8))
        Rows on the left, one bit each.
    penalty : int array of shape (m,)
        The least that the columns of such a split cost.
    n_rows : int
    """

    bits: np.ndarray
    penalty: np.ndarray
    n_rows: int

    def __len__(self) -> int:
        return len(self.penalty)

    def left(self, part: slice | np.ndarray) -> np.ndarray:
        """Return (m, n) bool: the rows on the left of some splits."""
        bits = np.unpackbits(self.bits[part], axis=1, count=self.n_rows)
        return bits.astype(bool)

    def blocks(self, width: int, n: int | None = None) -> Iterator[slice]:
        """Cut the splits, or the first n, into blocks of so many numbers a split."""
        n = len(self) if n is None else n
        size = max(1, min(BLOCK // max(1, width), ROW_BLOCK // max(1, self.n_rows)))
        for start in range(0, n, size):
            yield slice(start, min(start + size, n))

    def of_rows(self, rows: np.ndarray) -> Splits:
        """Return how some of the rows, given by their numbers, are parted."""
        parts = [self.left(block)[:, rows] for block in self.blocks(1)]
        packed = [_packed(part) for part in parts]
        return _distinct(packed, [self.penalty], len(rows))

    def find(self, left: np.ndarray) -> int | None:
        """Return the number of the split that parts rows like this."""
        return self._places.get(_packed(left[None, :]).tobytes())

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {bits.tobytes(): place for place, bits in enumerate(self.bits)}


def all_splits(
    grid: np.ndarray, cards: Iterable[Card], column_penalty: np.ndarray, deadline: float
) -> Splits:
    """List the splits of all cards that have rows on both sides."""
    packed: list[np.ndarray] = []
    penalties: list[np.ndarray] = []
    held = 0
    for columns, points in cards:
        sums = grid[:, list(columns)] @ np.array(points, dtype=np.int64)
        thresholds = np.unique(sums)[:-1]
        packed.append(_packed(sums <= thresholds[:, None]))
        price = int(column_penalty[list(columns)].sum())
        penalties.append(np.full(len(thresholds), price, dtype=np.int64))
        held += packed[-1].nbytes
        if held > MAX_BYTES:
            raise TooMuch("The family has too many splits for the memory allowed here.")
        check_time(deadline)
    return _distinct(packed, penalties, len(grid))


def _packed(left: np.ndarray) -> np.ndarray:
    """Return bits of sets of rows or their complements, the first row in them."""
    if left.shape[1]:
        left = left ^ ~left[:, :1]
    return np.packbits(left, axis=1)


def _distinct(
    packed: list[np.ndarray], penalties: list[np.ndarray], n_rows: int
) -> Splits:
    """Keep each set of rows once, at its least penalty, if rows are on both sides."""
    width = (n_rows + 7) // 8
    bits = np.concatenate([np.zeros((0, width), dtype=np.uint8), *packed])
    penalty = np.concatenate([np.zeros(0, dtype=np.int64), *penalties])
    everything = np.packbits(np.ones((1, n_rows), dtype=bool), axis=1)
    parted = (bits != everything).any(axis=1)
    order = np.flatnonzero(parted)
    order = order[np.argsort(penalty[order], kind="stable")]
    keys = np.ascontiguousarray(bits[order]).view(f"V{max(1, width)}").ravel()
    first = np.unique(keys, return_index=True)[1] if len(order) else order
    kept = order[first]
    return Splits(np.ascontiguousarray(bits[kept]), penalty[kept], n_rows)
