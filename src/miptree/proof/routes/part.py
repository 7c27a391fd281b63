"""A part of the rows, and the bound that rising thresholds prove for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from typing import NamedTuple

import numpy as np

from miptree.objective.tolerance import Leeway
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.result import Part
from miptree.proof.routes.structures import Structure, structures
from miptree.proof.routes.sweep import OnCandidates, fits_memory, sweep
from miptree.proof.routes.thresholds import Thresholds, highest_threshold
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
    thresholds: Thresholds | None = None,
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
    thresholds : Thresholds, optional
        What is known of the nodes of earlier thresholds, and is noted of further ones.
    """
    routes = part.problem
    thresholds = thresholds or Thresholds()
    thresholds.base = float(routes.least_cost.sum())
    all_structures = list(
        structures(routes.labels, depth, has_subsets=len(routes.values) > 0)
    )
    least = least_costs(routes, all_structures)
    constant = float(routes.cost[:, routes.labels].sum(axis=0).min())
    leeway = Leeway(thresholds.base, routes.cheapest_error)
    is_solved = False
    while not (is_solved or budget.is_over or thresholds.is_hopeless(budget)):
        highest = min(limit(), highest_threshold(constant, leeway))
        if part.threshold >= highest:
            return Raised(part, True)
        threshold = thresholds.after(part.threshold, highest, scale, budget)
        is_open = least < threshold * (1 + _ROUNDING)
        to_search = [all_structures[k] for k in np.flatnonzero(is_open)]
        if not fits_memory(routes, to_search):
            break
        began = budget.clock.elapsed
        found = sweep(
            routes, to_search, threshold, known=part.threshold,
            budget=budget, record=record, n_jobs=n_jobs, on_candidates=on_candidates,
        )  # fmt: skip
        if found.bound is None or found.bound <= part.threshold < found.met:
            break
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
