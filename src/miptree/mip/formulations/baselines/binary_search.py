"""BinOCT's choice of a threshold by bits: a binary search among sorted thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from miptree.utils.arrays import FloatArray, IntArray


class Halving(NamedTuple):
    """One step of the binary search for a feature's threshold.

    The thresholds ``first .. last`` are left when the bits so far were ``path``. The
    next bit, number ``len(path)``, chooses ``first .. middle`` (0) or the rest (1).
    """

    path: tuple[int, ...]
    first: int
    middle: int
    last: int


def halvings(first: int, last: int, path: tuple[int, ...] = ()) -> Iterator[Halving]:
    """Yield all steps of the binary search among the thresholds ``first .. last``."""
    if first < last:
        middle = (first + last) // 2
        yield Halving(path, first, middle, last)
        yield from halvings(first, middle, (*path, 0))
        yield from halvings(middle + 1, last, (*path, 1))


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

    feature: int
    not_left: IntArray
    not_right: IntArray
    path: tuple[int, ...]
    bit: int | None
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


def rules_of(feature: int, number: IntArray, places: IntArray) -> dict[str, list[Rule]]:
    """Return what a feature rules out, by BinOCT's equations.

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
    rules: dict[str, list[Rule]] = {"(5)": [], "(6)": [], "(7)": []}
    for step in halvings(0, len(places) - 1):
        high = (number >= places[step.middle]) & (number < places[step.last])
        low = (number >= places[step.first]) & (number < places[step.middle + 1])
        rules["(5)"].append(Rule(feature, np.flatnonzero(high), none, step.path, 0))
        rules["(6)"].append(Rule(feature, none, np.flatnonzero(low), step.path, 1))
    ends = np.flatnonzero(number >= places[-1]), np.flatnonzero(number < places[0])
    rules["(7)"].append(Rule(feature, *ends, (), None))
    return rules
