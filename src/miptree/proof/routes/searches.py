"""The search of one structure, as rounds of a sweep go on with it."""

from __future__ import annotations

from math import inf

from miptree.proof.routes.changes import as_changes
from miptree.proof.routes.engine import (
    EXHAUSTED,
    Candidate,
    SearchState,
    advance,
    begin,
)
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import Trace
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray


class Search:
    """A search that begins when it first has nodes to use.

    Parameters
    ----------
    routes : RouteProblem
    structure : Structure
    threshold : float
        What is to be proved.
    record : bool
        Whether to keep the proof.
    stop : array
        The flag of a clock.

    Attributes
    ----------
    value : float
        The threshold, which falls as trees are found. Once the search is exhausted, no
        tree of the structure costs less.
    met : float
        Least value of a tree that could not be excluded.
    trace : Trace or None
        The proof, if it was recorded.
    is_exhausted : bool
        Whether the search has ended.
    is_recorded : bool
        Whether the proof is kept.
    n_entries : int
        Multipliers of the proof so far.
    """

    def __init__(
        self,
        routes: RouteProblem,
        structure: Structure,
        threshold: float,
        record: bool,
        stop: AnyArray,
    ) -> None:
        self.structure = structure
        self.value, self.met = threshold, inf
        self.trace: Trace | None = None
        self.is_exhausted, self.is_recorded = False, record
        self.n_entries = 0
        self._routes, self._stop = routes, stop
        self._state: SearchState | None = None

    def go_on(self, nodes: int) -> tuple[int, list[Candidate]]:
        """Search for more nodes; return how many it were, and trees that it met."""
        if self._stop[0]:
            return 0, []
        state = self._state
        if state is None:
            state = begin(self._routes, self.structure, self.value, self.is_recorded)
            self._state = state
        state.threshold = self.value
        before = state.nodes
        outcome = advance(state, nodes, self._stop)
        self.met = state.open_value
        self.value = min(state.threshold, self.met)
        self.n_entries = state.n_entries if self.is_recorded else 0
        if outcome == EXHAUSTED:
            self.is_exhausted = True
            self.trace = as_changes(state.trace()) if self.is_recorded else None
            self.n_entries = 0 if self.trace is None else len(self.trace.entry)
            self._state = None  # and its memory
        return state.nodes - before, state.take_candidates()

    def stop_recording(self) -> None:
        """Forget the proof, which became too long, and go on without it."""
        self.is_recorded, self.trace, self.n_entries = False, None, 0
        if self._state is not None:
            self._state.record = False
