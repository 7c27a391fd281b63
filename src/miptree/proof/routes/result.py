"""What a proof over routes is made of, and says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miptree.objective.bounds import Bound
from miptree.proof.routes.by_root.proofs import RootsProof
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import Trace
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import IntArray


class Part(NamedTuple):
    """Rows, and what every tree costs on them at least, at their share of the norms.

    Attributes
    ----------
    problem : RouteProblem
        Points of the rows.
    rows : int array
        Rows of the :class:`~miptree.data.problem.Problem`.
    share : float
        Share of the price of the norms.
    threshold : float
        No tree costs less on these rows.
    structures : sequence of (Structure, Trace) or None
        The proof, if it was recorded: of all structures that are not too costly at
        once.
    roots : RootsProof or None
        The proof in its place, if it was searched by root.
    """

    problem: RouteProblem
    rows: IntArray
    share: float
    threshold: float = 0.0
    structures: Sequence[tuple[Structure, Trace]] | None = None
    roots: RootsProof | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether the proof was recorded."""
        return self.structures is not None or self.roots is not None


class RoutesProof(NamedTuple):
    """What is proved of (1a).

    Attributes
    ----------
    bound : Bound
        No tree costs less; -inf where nothing is proved.
    parts : list of Part or None
        Disjoint parts of the rows whose thresholds add up to the bound, or to a lower
        one where its proof became too long, with the proofs of all structures. None
        unless they were recorded.
    """

    bound: Bound
    parts: list[Part] | None
