"""The search over the sides of the root at one threshold."""

from __future__ import annotations

from math import inf

from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root.search import RootSearch
from miptree.proof.routes.sweep import Goal, OnCandidates, Sweep
from miptree.proof.routes.units import RouteProblem

_NODES_AT_A_TIME = 16
"""Nodes of the root between two looks at the clock."""
MOST_ENTRIES = 64_000_000
"""Changes of multipliers in recorded lemmas, some 1 GB in memory and in a file, to
which those of the root come; a longer proof is dropped."""


def can_search_roots(routes: RouteProblem, depth: int) -> bool:
    """Tell whether the search applies: to depth 2, hyperplanes of all features."""
    is_plain = len(routes.values) == 0 and not routes.is_limited
    return depth == 2 and is_plain and len(routes.labels) > 1


def sweep_roots(
    routes: RouteProblem,
    threshold: float,
    max_nodes: float = inf,
    *,
    known: float,
    budget: Budget,
    record: bool = False,
    on_candidates: OnCandidates = lambda candidates: inf,
) -> Sweep:
    """Prove that no tree of depth 2 with a split costs less than a threshold.

    Parameters
    ----------
    routes, threshold
        As in :func:`~miptree.proof.routes.sweep.sweep`.
    max_nodes : float
        Nodes after which the search is given up.
    known, budget, record, on_candidates
        As there. The search is given up where it fell short of what is known.

    Returns
    -------
    Sweep
        Its bound is None where the search did not end.
    """
    before, goal = budget.used, Goal(threshold, known, budget)
    with budget.clock.flag() as stop:
        search = RootSearch(routes, threshold, stop, record)
        while not (search.is_exhausted or budget.is_over):
            if search.nodes > max_nodes or not search.go_on(_NODES_AT_A_TIME):
                break
            budget.used = before + search.nodes
            if search.trees.candidates:
                goal.lower_to(on_candidates(search.trees.candidates))
                search.trees.candidates.clear()
            search.threshold = min(search.threshold, goal.now)
            if search.n_entries > MOST_ENTRIES:
                search.stop_recording()
            if search.trees.fell_short and search.threshold <= known:
                break
    nodes, trees = search.nodes, search.trees
    if not search.is_exhausted:
        return Sweep(None, nodes, inf, None, fell_short=trees.fell_short)
    return Sweep(
        search.threshold, nodes, trees.met, None,
        fell_short=trees.fell_short, roots=search.proof,
    )  # fmt: skip
