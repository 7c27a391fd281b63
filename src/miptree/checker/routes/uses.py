"""Which features hyperplanes use, in proofs for those that may use few of them.

A hyperplane (a, t) of at most K features uses some feature, or does not: then a_j = 0,
and what multipliers leave out of balance in feature j costs nothing. A branch takes one
feature of one split. Its first case leaves the feature out; the second one keeps it as
one of the K, and a split that keeps K features leaves out all others. So one of the two
cases is true of every tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Use(NamedTuple):
    """Features that a split keeps, and those that it leaves out, as bits."""

    kept: int
    left_out: int

    def is_open(self, feature: int) -> bool:
        """Tell whether nothing is known of a feature."""
        return not (self.kept | self.left_out) >> feature & 1

    def cases(self, feature: int, most: int, n_features: int) -> tuple[Use, Use]:
        """Return the two cases of a feature, where a split may use so many at most."""
        kept, left_out = self.kept | 1 << feature, self.left_out
        if kept.bit_count() >= most:
            left_out = ((1 << n_features) - 1) & ~kept
        return Use(self.kept, self.left_out | 1 << feature), Use(kept, left_out)


ALL_OPEN = Use(0, 0)


def mask_of(sets: Sequence[int], n_features: int) -> np.ndarray:
    """Return (sets, n_features): the features of each set, given as bits."""
    size = (n_features + 7) // 8
    packed = b"".join(one.to_bytes(size, "little") for one in sets)
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(sets), size)
    bits = np.unpackbits(rows, axis=1, count=n_features, bitorder="little")
    return bits.astype(bool)
