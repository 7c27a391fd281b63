"""Lemmas: what every subtree of depth 1 costs at least on some points, and why."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import Trace
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

Proofs: TypeAlias = Sequence[tuple[Structure, Trace]]
_A_LITTLE = 1.0 + 1e-9
"""Sums of costs that make up for a bound are that much larger, as they are rounded."""


class Lemma:
    """What every subtree of depth 1 at most costs at least on some points.

    Parameters
    ----------
    problem : RouteProblem
        All points.
    points : int array
        Those of a search.
    bound : float
        What subtrees cost there at least.
    pairs : sequence of Structure
        All structures of depth 1.
    proofs : sequence of (Structure, Trace)
        Of those that had to be searched, their closings as changes. Their points are
        numbered within ``points``.

    Attributes
    ----------
    is_needed : bool array
        The points that the lemma is about: the others may be on either side.
    value : float
        What subtrees cost at least on these.
    used : int
        The same points, as bits.
    proofs : sequence of (Structure, Trace)
    n_entries : int
        Multipliers of the proofs.
    """

    def __init__(
        self,
        problem: RouteProblem,
        points: IntArray,
        bound: float,
        pairs: Sequence[Structure],
        proofs: Proofs,
    ) -> None:
        cost, least = problem.cost[points], problem.least_cost[points]
        is_searched = [any(one is other for other, _ in proofs) for one in pairs]
        alone = [cost[:, label] for label in problem.labels.tolist()]
        needed = np.zeros(len(points), dtype=bool)
        missing = [bound] * len(alone)
        for one, is_there in zip(pairs, is_searched, strict=True):
            own = cost[:, one.label].min(axis=1)
            if is_there:
                needed |= own > least
            else:
                alone.append(own)
                missing.append(bound - problem.least_split)
        for _, trace in proofs:
            needed[trace.points] = True
        for own, amount in zip(alone, missing, strict=True):
            amount = amount * _A_LITTLE - float(least.sum())
            needed = _with_enough(own - least, needed, amount)
        self.points = points.astype(np.int32)
        self.proofs = proofs
        self.is_needed = needed
        self.value = (bound - float(least[~needed].sum())) / _A_LITTLE
        self.used = bits_of(points[needed])
        self.n_entries = sum(len(trace.entry) for _, trace in proofs)


class Counter:
    """Counts the multipliers of the lemmas that are still referred to."""

    def __init__(self) -> None:
        self.n_entries = 0

    def add(self, lemma: Lemma) -> None:
        """Count those of a lemma until it is forgotten."""
        self.n_entries += lemma.n_entries
        weakref.finalize(lemma, self._take_off, lemma.n_entries)

    def _take_off(self, n: int) -> None:
        self.n_entries -= n


def bits_of(points: IntArray) -> int:
    """Return a set of points as bits."""
    if len(points) == 0:
        return 0
    is_in = np.zeros(int(points.max()) + 1, dtype=bool)
    is_in[points] = True
    return int.from_bytes(np.packbits(is_in, bitorder="little").tobytes(), "little")


def _with_enough(excess: FloatArray, needed: BoolArray, amount: float) -> BoolArray:
    """Return more points, whose excess costs make up for an amount, if they can."""
    amount -= float(excess[needed].sum())
    if amount <= 0.0:
        return needed
    others = np.flatnonzero(~needed)
    others = others[np.argsort(-excess[others], kind="stable")]
    is_missing = np.cumsum(excess[others]) - excess[others] < amount
    more = needed.copy()
    more[others[is_missing]] = True
    return more
