"""A part of the rows, and the bound that rising thresholds prove for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import inf
from typing import NamedTuple

import numpy as np

from miptree.objective.tolerance import Leeway
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.by_root import can_search_roots, sweep_roots
from miptree.proof.routes.methods import Methods
from miptree.proof.routes.result import Part
from miptree.proof.routes.structures import Structure, structures
from miptree.proof.routes.sweep import OnCandidates, fits_memory, sweep
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
    """
    routes = part.problem
    methods = methods or Methods()
    base = float(routes.least_cost.sum())
    methods.begin(base, can_search_roots(routes, depth))
    all_structures = list(
        structures(routes.labels, depth, has_subsets=len(routes.values) > 0)
    )
    least = least_costs(routes, all_structures)
    constant = float(routes.cost[:, routes.labels].sum(axis=0).min())
    leeway = Leeway(base, routes.cheapest_error)
    is_solved = False
    while not (is_solved or budget.is_over):
        highest = min(limit(), highest_threshold(constant, leeway))
        if part.threshold >= highest:
            return Raised(part, True)
        by_root = partial(
            sweep_roots,
            routes,
            known=part.threshold,
            budget=budget,
            on_candidates=on_candidates,
        )
        now = part.threshold, highest, scale, budget
        next_one = methods.by_structure.after(*now)
        methods.try_roots(part.threshold, next_one, budget, by_root)
        thresholds = methods.better(highest, budget, record)
        if thresholds.is_hopeless(budget):
            break
        threshold = thresholds.after(*now)
        began = budget.clock.elapsed
        if thresholds is methods.by_root:
            found = by_root(threshold)
        else:
            is_open = least < threshold * (1 + _ROUNDING)
            to_search = [all_structures[k] for k in np.flatnonzero(is_open)]
            if not fits_memory(routes, to_search):
                break
            own = budget.at_most(methods.most_nodes(threshold))
            found = sweep(
                routes, to_search, threshold, known=part.threshold, budget=own,
                record=record, n_jobs=n_jobs, on_candidates=on_candidates,
            )  # fmt: skip
            budget.used += own.used
        if found.bound is None or found.bound <= part.threshold < found.met:
            break
        fell_short = found.bound < threshold and found.met == inf
        if thresholds is methods.by_root and fell_short:
            methods.give_up_roots()  # a tree outside the box is in the way
        thresholds.note(found.bound, found.nodes, budget.clock.elapsed - began)
        if found.bound > part.threshold:
            part = part._replace(threshold=found.bound, structures=found.proofs)
            on_bound(part)
        is_solved = found.met <= part.threshold
    return Raised(part, is_solved)


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
