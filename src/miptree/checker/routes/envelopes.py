"""Envelopes: what a point pays at splits that only its cheapest leaves determine.

Let Q be some splits that the cheapest leaves of point i all pass on one side, and its
other leaves, which cost Delta more, do not. Then i pays C_i * h, with h summed over Q,
or else Delta: at least kappa * h, where kappa = min(C_i, Delta / H), if h <= H wherever
C_i * h > Delta. There i pays Delta, so that in a tree cheaper than T

    rho * (norms of Q) + sum of C_p * h_p  <=  B,
    B = T - Delta - (sum of cmin of all points) - (what the splits outside Q cost)

for partners p, one for each split of Q, that must be on that side, so that h_p <= 1.
Scores of i and p differ by at most the norm times their distance, hence, with r the
largest distance over rho, h <= r * (rho * norms of Q) + sum of h_p, which is at most

    H = u * B + sum of max(0, 1 - u * C_p)

for every u >= r; the best are r and 1 / C_p. The box gives H = (size of Q) *
(1 + 1/margin), with or without partners.
"""

from __future__ import annotations

import numpy as np

from ..values import Refused
from .batches import Batch
from .numbers import SMALL, Numbers
from .structures import Structure

FAR = np.iinfo(np.int64).max


class Envelopes:
    """The envelope entries of a batch; those of a point in a node are one envelope.

    Attributes
    ----------
    node, split, point, side, q : int arrays of shape (entries,)
    """

    def __init__(self, numbers: Numbers, structure: Structure, batch: Batch) -> None:
        self.numbers = numbers
        self.base = batch.base * numbers.unit
        columns = batch.envelopes
        self.node, self.split, self.point, self.q, partner, leaves, others = columns
        cheap, delta = _cheapest(numbers, structure, self.point, leaves)
        side = structure.common[cheap, self.split].astype(np.int64)
        if ((side == 0) | (structure.common[leaves, self.split] != 0)).any():
            raise Refused("An envelope of the proof file names a split not of its own.")
        is_alone = partner < 0
        if (structure.common[others, self.split] != side)[~is_alone].any():
            raise Refused("The partner of an envelope is not known to be on its side.")
        self.side = side
        key = self.node * len(numbers.x) + self.point
        found = np.unique(key, return_index=True, return_inverse=True)
        self._first, self._group = found[1], found[2].ravel()
        self._delta = delta[self._first] * numbers.unit
        self._size = self._sum(np.ones(len(key)))
        x = numbers.x
        distance = np.abs(x[self.point] - x[partner]).max(axis=1, initial=0.0) + SMALL
        reach = np.zeros((len(self._first), 1))
        np.maximum.at(reach[:, 0], self._group, distance)
        reach *= (1 + SMALL) / numbers.rho
        price = np.full((len(self._first), structure.n_splits), np.inf)
        price[self._group, self.split] = numbers.slack[partner]
        with np.errstate(
            all="ignore"
        ):  # a C_p of 0 gives inf and nan, which count as inf
            self._u = np.hstack([reach, np.maximum(reach, 1 / price)])
            paid = self._u[:, :, None] * price[:, None, :]
        self._rest = (np.maximum(1 - paid, 0.0) + SMALL).sum(axis=2)
        self._is_alone = self._sum(is_alone.astype(float)) > 0

    def caps(self, known: np.ndarray) -> np.ndarray:
        """Return kappa of each entry, where splits cost at least (nodes, splits)."""
        numbers, node = self.numbers, self.node[self._first]
        inside = self._sum(known[self.node, self.split])
        everything, base = known.sum(axis=1)[node], self.base[node]
        left = numbers.threshold - self._delta - base - (everything - inside)
        left += SMALL * (numbers.threshold + self._delta + base + everything)
        room = np.maximum(left, 0.0)[:, None]
        with np.errstate(invalid="ignore"):  # inf * 0
            largest = self._u * room + self._rest
        largest = np.where(np.isnan(largest), np.inf, largest).min(axis=1)
        largest[self._is_alone] = np.inf
        largest = np.minimum(largest, self._size * (1 + numbers.box)) * (1 + SMALL)
        kappa = self._delta / largest * (1 - SMALL)
        return np.minimum(numbers.slack[self.point], kappa[self._group])

    def _sum(self, values: np.ndarray) -> np.ndarray:
        """Add up over the entries of each envelope."""
        return np.bincount(self._group, weights=values, minlength=len(self._first))


def _cheapest(
    numbers: Numbers, structure: Structure, point: np.ndarray, leaves: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cheapest of sets of leaves, and what the others cost more."""
    cost = numbers.cost[:, structure.label][point]
    bits = np.arange(cost.shape[1])
    is_open = (leaves[:, None] >> bits) & 1 > 0
    least = np.where(is_open, cost, FAR).min(axis=1)
    is_cheap = is_open & (cost == least[:, None])
    others = np.where(is_open & ~is_cheap, cost, FAR).min(axis=1)
    return (is_cheap << bits).sum(axis=1), others - least
