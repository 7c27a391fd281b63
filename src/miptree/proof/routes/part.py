"""A part of the rows, and the bound that rising thresholds prove for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import inf
from typing import NamedTuple

import numpy as np

from miptree.objective.tolerance import Leeway
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root.sweep import can_search_roots, sweep_roots
from miptree.proof.routes.methods import Methods
from miptree.proof.routes.result import Part
from miptree.proof.routes.structures import Structure, structures
from miptree.proof.routes.sweep import OnCandidates, Sweep, fits_memory, sweep
from miptree.proof.routes.thresholds import highest_threshold
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import FloatArray

_ROUNDING = 1e-12
"""Relative: sums that are so near to a threshold count as below it."""


class Raised(NamedTuple):
    """A part with a bound, and whether no higher bound is possible."""

    part: Part
    is_solved: bool


def raise_bound(
    part: Part,
    depth: int,
    limit: Callable[[], float],
    *,
    scale: float,
    budget: Budget,
    record: bool,
    n_jobs: int | None,
    on_candidates: OnCandidates = lambda candidates: inf,
    on_bound: Callable[[Part], object] = lambda part: None,
    methods: Methods | None = None,
    stops_early: bool = False,
) -> Raised:
    """Prove higher and higher thresholds for a part while the budget lasts.

    Parameters
    ----------
    part : Part
        The rows, and what is known of them: only higher bounds are of use.
    depth : int
        Depth of the trees.
    limit : callable
        Returns the highest threshold that is of use; trees that are found lower it.
    scale : float
        About what may be reached at best.
    budget : Budget
        What the searches may use.
    record : bool
        Whether to keep the proof.
    n_jobs : int or None
        Jobs of joblib.
    on_candidates : callable
        Told of trees that are cheaper than a threshold; returns the limit.
    on_bound : callable
        Told of the part with every bound that is higher than those before.
    methods : Methods, optional
        What is known of the nodes of earlier thresholds, and is noted of further ones.
    stops_early : bool
        Whether to leave a threshold that seems to need more than the budget.
    """
    routes, methods = part.problem, methods or Methods()
    base = float(routes.least_cost.sum())
    methods.begin(base, can_search_roots(routes, depth))
    sweeps = Sweeps(routes, depth, budget, record, n_jobs, on_candidates)
    constant = float(routes.cost[:, routes.labels].sum(axis=0).min())
    leeway = Leeway(base, routes.cheapest_error)
    is_solved = False
    while not (is_solved or budget.is_over):
        highest = min(limit(), highest_threshold(constant, leeway))
        known = part.threshold
        if known >= highest:
            return Raised(part, True)
        now = known, highest, scale, budget
        foretold = methods.by_structure.after(*now)
        methods.try_roots(known, foretold, budget, partial(sweeps.by_root, known))
        thresholds = methods.better(highest, budget)
        if thresholds.is_hopeless(budget):
            break
        threshold, began = thresholds.after(*now), budget.clock.elapsed
        if stops_early and not thresholds.affords(threshold, budget):
            break
        if thresholds is methods.by_root:
            found = sweeps.by_root(known, threshold, record=record)
        else:
            found = sweeps.by_structure(known, threshold, methods.most_nodes(threshold))
            if found.is_cut_off:
                methods.by_structure.note_hard(threshold, found.nodes)
                continue
        if found.fell_short:
            methods.give_up_roots()
        elif found.bound is None or found.bound <= known < found.met:
            break
        if found.bound is None:
            continue
        sank = found.bound < threshold and found.met == inf
        if not sank:  # else its nodes are those of a higher threshold
            thresholds.note(found.bound, found.nodes, budget.clock.elapsed - began)
        if found.bound > known:
            part = part._replace(
                threshold=found.bound, structures=found.proofs, roots=found.roots
            )
            on_bound(part)
        is_solved = found.met <= part.threshold
    return Raised(part, is_solved)


class Sweeps:
    """Both searches of a part, as ``raise_bound`` calls them.

    With ``only_recorded`` the one of structures ends when its record becomes too long.
    """

    def __init__(
        self,
        routes: RouteProblem,
        depth: int,
        budget: Budget,
        record: bool,
        n_jobs: int | None,
        on_candidates: OnCandidates = lambda candidates: inf,
        only_recorded: bool = False,
    ) -> None:
        self.routes, self.budget, self.record = routes, budget, record
        self.n_jobs, self.on_candidates = n_jobs, on_candidates
        self.only_recorded = only_recorded
        has_subsets = len(routes.values) > 0
        self.structures = list(structures(routes.labels, depth, has_subsets))
        self.least = least_costs(routes, self.structures)

    def by_root(
        self,
        known: float,
        threshold: float,
        max_nodes: float = inf,
        record: bool = False,
    ) -> Sweep:
        """Search the sides of the root."""
        return sweep_roots(
            self.routes,
            threshold,
            max_nodes,
            known=known,
            budget=self.budget,
            record=record,
            on_candidates=self.on_candidates,
        )

    def by_structure(
        self, known: float, threshold: float, max_nodes: float = inf
    ) -> Sweep:
        """Search the structures that may cost less; nothing, if memory is short."""
        is_open = self.least < threshold * (1 + _ROUNDING)
        to_search = [self.structures[k] for k in np.flatnonzero(is_open)]
        if not fits_memory(self.routes, to_search):
            return Sweep(None, 0, inf, None)
        own, is_less = self.budget.at_most(max_nodes)
        found = sweep(
            self.routes,
            to_search,
            threshold,
            known=known,
            budget=own,
            record=self.record,
            only_recorded=self.only_recorded,
            n_jobs=self.n_jobs,
            on_candidates=self.on_candidates,
        )
        self.budget.used += own.used
        is_cut_off = found.bound is None and is_less and not self.budget.is_over
        return found._replace(is_cut_off=is_cut_off)


def least_costs(routes: RouteProblem, structures: Sequence[Structure]) -> FloatArray:
    """Return what the labels of each structure and its splits cost at least.

    Every point goes to the leaf whose label is the cheapest for it.
    """

    @cache
    def errors(labels: frozenset[int]) -> float:
        return float(routes.cost[:, sorted(labels)].min(axis=1).sum())

    return np.array(
        [
            errors(frozenset(one.label.tolist()))
            + one.n_hyperplanes * routes.least_split
            for one in structures
        ]
    )
