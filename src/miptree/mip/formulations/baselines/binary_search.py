"""BinOCT's choice of a threshold by bits: a binary search among sorted thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import FloatArray, IntArray


def bits_of(place: int, n_thresholds: int) -> list[int]:
    """Return the bits that choose a threshold by its number."""
    bits: list[int] = []
    first, last = 0, n_thresholds - 1
    while first < last:
        middle = (first + last) // 2
        bits.append(int(place > middle))
        first, last = (middle + 1, last) if bits[-1] else (first, middle)
    return bits


def place_of(bits: FloatArray, n_thresholds: int) -> int:
    """Return the number of the threshold that bits choose; some may be idle."""
    first, last = 0, n_thresholds - 1
    for bit in bits:
        if first < last:
            middle = (first + last) // 2
            first, last = (middle + 1, last) if bit > 0.5 else (first, middle)
    return first


class Rule(NamedTuple):
    """Rows that a feature keeps from a side, unless bits lift the rule."""

    equation: str
    feature: int
    not_left: IntArray
    not_right: IntArray
    path: tuple[int, ...] = ()
    """Bits of the binary search that led to the rule."""
    bit: int | None = None
    """The rule holds where the bit after the path is this; None: always."""

    def lifted_by(self, bits: IntArray) -> tuple[IntArray, float, int]:
        """Return the columns of the bits that lift it, their sign and the constant.

        'Not left, as the threshold is low' stays true when an earlier bit makes it
        lower still, so only the path's zeros matter, and vice versa.
        """
        if self.bit is None:
            return bits[:0], 1.0, 0
        path = np.array([*self.path, self.bit])
        lifting = bits[: len(path)][path == self.bit]
        if self.bit == 0:
            return lifting, -1.0, 0
        return lifting, 1.0, len(lifting)


def rules_of(feature: int, number: IntArray, places: IntArray) -> Iterator[Rule]:
    """Yield what a feature rules out, by BinOCT's equations (5)-(7).

    Parameters
    ----------
    feature : int
        Its number.
    number : int array of shape (n,)
        Number of each row's value among the feature's distinct ones.
    places : int array
        Distinct values left of each threshold, ascending.
    """
    none = np.zeros(0, dtype=np.intp)

    def search(first: int, last: int, path: tuple[int, ...]) -> Iterator[Rule]:
        """The next bit chooses ``first .. middle`` (0) or ``middle + 1 .. last``."""
        if first < last:
            middle = (first + last) // 2
            high = (number >= places[middle]) & (number < places[last])
            low = (number >= places[first]) & (number < places[middle + 1])
            yield Rule("(5)", feature, np.flatnonzero(high), none, path, 0)
            yield Rule("(6)", feature, none, np.flatnonzero(low), path, 1)
            yield from search(first, middle, (*path, 0))
            yield from search(middle + 1, last, (*path, 1))

    yield from search(0, len(places) - 1, ())
    ends = np.flatnonzero(number >= places[-1]), np.flatnonzero(number < places[0])
    yield Rule("(7)", feature, *ends)
