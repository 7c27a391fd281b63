"""Entries of many nodes of a proof, gathered for sums over all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .uses import mask_of


class Batch:
    """Nodes of the proof of a structure, with their entries.

    Parameters
    ----------
    n_points : int
        Points of the part.
    """

    def __init__(self, n_points: int) -> None:
        self.n_points = n_points
        self.n_nodes = 0
        self.n_entries = 0
        self._base: list[int] = []
        self._rest: list[float] = []
        self._left_out: list[tuple[int, ...]] = []
        self._plain: list[list[int]] = [[] for _ in range(6)]
        self._envelopes: list[list[int]] = [[] for _ in range(7)]

    def add(
        self,
        base: int,
        leaves: bytearray,
        left_out: tuple[int, ...],
        plain: Sequence[Sequence[int]],
        envelopes: Sequence[Sequence[int]] = ((), (), (), ()),
        rest: float = 0.0,
    ) -> None:
        """Add a node: what its points cost at least, their leaves, and its entries.

        ``rest`` is what trees cost beside these points and splits, 0 or more.
        ``left_out`` has the features that each split leaves out, as bits.
        Entries are columns: split, kind, point, q; and split, point, q, partner.
        """
        node = self.n_nodes
        self._base.append(base)
        self._rest.append(rest)
        self._left_out.append(left_out)
        more = [node] * len(plain[0]), *plain, [leaves[i] for i in plain[2]]
        for column, values in zip(self._plain, more, strict=True):
            column.extend(values)
        # A partner of -1 is none; what it looks up is never used.
        sets = ([leaves[i] for i in envelopes[k]] for k in (1, 3))
        more = [node] * len(envelopes[0]), *envelopes, *sets
        for column, values in zip(self._envelopes, more, strict=True):
            column.extend(values)
        self.n_nodes += 1
        self.n_entries += len(plain[0]) + len(envelopes[0])

    @property
    def base(self) -> np.ndarray:
        """(nodes,): what all points cost at least, in whole units."""
        return np.array(self._base, dtype=np.int64)

    @property
    def rest(self) -> np.ndarray:
        """(nodes,): what trees cost in addition."""
        return np.array(self._rest, dtype=np.float64)

    def left_out(
        self, nodes: np.ndarray, split: int, n_features: int
    ) -> np.ndarray | None:
        """Return (nodes, n_features): what a split leaves out at some nodes, if any."""
        sets = [self._left_out[node][split] for node in nodes.tolist()]
        return mask_of(sets, n_features) if any(sets) else None

    @property
    def plain(self) -> np.ndarray:
        """(6, entries): node, split, kind, point, q, leaves of the point."""
        return np.array(self._plain, dtype=np.int64)

    @property
    def envelopes(self) -> np.ndarray:
        """(7, entries): node, split, point, q, partner, leaves of point and partner."""
        return np.array(self._envelopes, dtype=np.int64)
