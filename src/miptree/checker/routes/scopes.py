"""What proofs of structures show of some points: those of a part, or of a lemma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..values import a_list
from .file import RoutesProof
from .numbers import Numbers
from .structures import (
    Shape,
    Structure,
    all_shapes,
    in_order,
    kinds_of,
    labels_of,
    read_shape,
    useful_labels,
)
from .walk import Walk


class Scope:
    """Some points, a depth, and what was proved of structures for them.

    Parameters
    ----------
    proof : RoutesProof
    numbers : Numbers
        The points, with the threshold of their proofs.
    name : mapping of int to int
        The number of each point, by its name in the file.
    depth : int
        Trees of up to this depth are compared.
    """

    def __init__(
        self,
        proof: RoutesProof,
        numbers: Numbers,
        name: Mapping[int, int],
        depth: int,
    ) -> None:
        self.proof, self.numbers, self.name, self.depth = proof, numbers, name, depth
        self.proved: dict[Shape, float] = {}
        self._walk: Walk | None = None

    def begin(self, given: Any) -> Walk:
        """Begin the proof of a structure, as a line of the file names it."""
        self.end_structure()
        proof = self.proof
        nested = a_list(given, "s", 2, 2)[1]
        shape = read_shape(nested, self.depth, len(proof.classes), proof.has_subsets)
        known = self.numbers, Structure(shape), proof.exponent, self.name
        self._walk = Walk(*known, proof.objective.max_features)
        return self._walk

    def end_structure(self) -> None:
        """Note what the proof of a structure shows, which must be complete."""
        if self._walk is not None:
            shape = in_order(self._walk.structure.shape)
            value = self._walk.end()
            self.proved[shape] = max(value, self.proved.get(shape, value))
        self._walk = None

    def bound(self, by_root: float = 0.0) -> float:
        """Return the least that trees of any structure cost on these points.

        A structure without a proof costs at least the cheapest of its classes at every
        point, and what its hyperplanes cost at least. ``by_root`` is what every tree
        with a split is known to cost.
        """
        self.end_structure()
        numbers, has_subsets = self.numbers, self.proof.has_subsets
        bound = numbers.threshold
        base: dict[frozenset[int], float] = {}
        for shape in all_shapes(self.depth, useful_labels(numbers.cost), has_subsets):
            kinds = frozenset(labels_of(shape))
            n_hyperplanes = kinds_of(shape).count(False)
            if kinds not in base:
                least = numbers.cost[:, sorted(kinds)].min(axis=1)
                base[kinds] = int(least.sum()) * numbers.unit
            alone = base[kinds] + n_hyperplanes * numbers.least
            alone = float(np.nextafter(alone, 0.0)) if n_hyperplanes else alone
            beside = 0.0 if isinstance(shape, int) else by_root
            bound = min(bound, max(alone, beside, self.proved.get(shape, 0.0)))
        return bound
