"""All structures at one threshold: whether any tree costs less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from typing import NamedTuple, TypeAlias

from joblib import Parallel, delayed

from miptree.control.threads import apart, on_threads
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root.proofs import RootsProof
from miptree.proof.routes.engine import Candidate, search_bytes
from miptree.proof.routes.searches import Search
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import Trace
from miptree.proof.routes.units import RouteProblem

OnCandidates: TypeAlias = Callable[[list[Candidate]], float]
"""Takes trees that a search met, and returns the highest threshold still of use."""

_FIRST_NODES = 32
"""Nodes of each search in the first round; they double from round to round."""
_PART_OF_BUDGET = 0.02
"""Part of the budget that a round should take at most."""
_MOST_BYTES = 1e9
"""Memory of the searches that go on side by side."""
_LOWER_FROM = 0.85
"""Part of the budget after which the threshold is lowered, so that the searches end."""
_MOST_ENTRIES = 128_000_000
"""Multipliers of a recorded proof, 2 GB in memory; a longer one is dropped. Where a
search has ended, those that do not change from closing to closing count once."""


class Sweep(NamedTuple):
    """What the searches of all structures found.

    Attributes
    ----------
    bound : float or None
        No tree costs less. None where the searches did not end.
    nodes : int
        Nodes of all searches.
    met : float
        Least value of a tree that could not be excluded: no higher bound is possible
        if it is the bound.
    proofs : list of (Structure, Trace) or None
        Of the structures that had to be searched; None where they were not recorded,
        or became too long.
    roots : RootsProof or None
        The recorded proof of the search by root, in place of that.
    is_cut_off : bool
        Whether the searches did not end as they might use only a part of the nodes.
    fell_short : bool
        Whether the search cannot prove more, though no tree in the box costs so little
        that was met.
    """

    bound: float | None
    nodes: int
    met: float
    proofs: list[tuple[Structure, Trace]] | None
    roots: RootsProof | None = None
    is_cut_off: bool = False
    fell_short: bool = False


def sweep(
    routes: RouteProblem,
    structures: Sequence[Structure],
    threshold: float,
    *,
    known: float,
    budget: Budget,
    record: bool = False,
    only_recorded: bool = False,
    n_jobs: int | None = 1,
    on_candidates: OnCandidates = lambda candidates: inf,
) -> Sweep:
    """Search structures in rounds of more and more nodes, side by side.

    As the budget goes by, the threshold sinks towards the bound that is known: what was
    closed at a higher threshold stays closed, and the rest is closed sooner.

    Where nodes limit the budget, the result is the same whatever the number of jobs:
    every search of a round may use as many, and they share nothing.

    With ``only_recorded`` it is given up when the record becomes too long.
    """
    before, goal = budget.used, Goal(threshold, known, budget)
    done: list[Search] = []
    with budget.clock.flag() as stop, on_threads(n_jobs) as threads:
        for batch in _batches(routes, structures):
            searches = [Search(routes, one, goal.now, record, stop) for one in batch]
            kept = sum(one.n_entries for one in done)
            is_exhausted = _exhaust(
                searches, goal, threads, on_candidates, kept, only_recorded
            )
            if not is_exhausted:
                return Sweep(None, budget.used - before, inf, None)
            done += searches
            record = record and all(one.is_recorded for one in searches)
            goal.lower_to(min(one.value for one in searches))
    proofs = [(one.structure, one.trace) for one in done if one.trace is not None]
    met = min((one.met for one in done), default=inf)
    return Sweep(goal.value, budget.used - before, met, proofs if record else None)


def fits_memory(routes: RouteProblem, structures: Sequence[Structure]) -> bool:
    """Tell whether every one of the structures can be searched."""
    return all(search_bytes(routes, one) <= _MOST_BYTES for one in structures)


class Goal:
    """The threshold of a sweep, which sinks as its budget goes by."""

    def __init__(self, threshold: float, known: float, budget: Budget) -> None:
        self.value, self.known, self.budget = threshold, known, budget
        self._first, self._spent = threshold, budget.spent

    @property
    def now(self) -> float:
        """The threshold for searches that go on now."""
        left = 1.0 - self._spent
        gone = (self.budget.spent - self._spent) / left if left > 0 else 1.0
        late = max(0.0, (gone - _LOWER_FROM) / (1.0 - _LOWER_FROM))
        return min(self.value, self._first - late * (self._first - self.known))

    def lower_to(self, value: float) -> None:
        """Lower the threshold for good."""
        self.value = min(self.value, value)


def _batches(
    routes: RouteProblem, structures: Sequence[Structure]
) -> Iterator[Sequence[Structure]]:
    """Yield structures whose searches fit into memory together."""
    largest = max((search_bytes(routes, one) for one in structures), default=1)
    size = max(1, int(_MOST_BYTES // largest))
    for start in range(0, len(structures), size):
        yield structures[start : start + size]


def _exhaust(
    searches: list[Search],
    goal: Goal,
    threads: Parallel,
    on_candidates: OnCandidates,
    kept: int,
    only_recorded: bool,
) -> bool:
    """Go on with the searches of a batch; tell whether all of them ended.

    Multipliers kept of other ones count as well.
    """
    budget, nodes, batch = goal.budget, _FIRST_NODES, searches
    while searches and not budget.is_over:
        left = budget.left
        each = nodes if left is None else min(nodes, left // len(searches))
        if each == 0:
            break
        spent = budget.spent
        tasks = [delayed(one.go_on)(each) for one in searches]
        for done, candidates in apart(partial(threads, tasks)):
            budget.used += done
            if candidates:
                goal.lower_to(on_candidates(candidates))
        searches = [one for one in searches if not one.is_exhausted]
        for one in searches:
            one.value = min(one.value, goal.now)
        if kept + sum(one.n_entries for one in batch) > _MOST_ENTRIES:
            if only_recorded:
                return False
            for one in batch:
                one.stop_recording()
        took = budget.spent - spent
        if took < 0.5 * _PART_OF_BUDGET:
            nodes *= 2
        elif took > _PART_OF_BUDGET:
            nodes = max(1, nodes // 2)
    return not searches
