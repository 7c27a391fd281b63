"""Balanced selection: as many points covered per point selected as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from joblib import delayed
from scipy import sparse

from miptree.control.clock import Clock
from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.mip.model import Model
from miptree.mip.solvers import Limits
from miptree.selection._point_pool import PointPool
from miptree.selection._points import DistinctPoints
from miptree.selection.base import Selection, TimedSelector
from miptree.selection.clusters import Cluster, for_each_cluster
from miptree.selection.hull import HullMembership, hull_membership
from miptree.selection.selection_mip import (
    LARGEST,
    ExactSelection,
    read_solution,
    selection_model,
    solve_01,
)
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

_WHOLE = 1e-7
_PILLAR_SIZES = 12


def balanced_selection(
    X: FloatArray,
    printed: bool = False,
    node_limit: int = 50,
    clock: Clock | None = None,
) -> ExactSelection:
    """Approximate max sum(b - a) of (5) at eps' = 0, the paper's (9) and its rounding.

    The LP relaxation decides the points with b' = 1; the 0-1 LP decides the rest. Not
    worse than selecting nothing, nor than selecting the extreme points.

    Parameters
    ----------
    X : float array of shape (n, d)
        At most 300 points.
    printed : bool, default=False
        Whether to fix b = 0 where b' = 0, too. The remark that this loses nothing is
        false: in a triangle with a point inside, a' = b' = 0 is optimal.
    node_limit : int, default=50
        Branch-and-bound nodes of the 0-1 LP.
    clock : Clock, optional
        When it is over before, nothing is selected.
    """
    clock = clock or Clock()
    if clock.is_over:
        none = np.zeros(len(X), dtype=bool)
        weights = sparse.csr_array((len(X), len(X)))
        return ExactSelection(none, none, weights, 0.0, -np.inf)
    model = selection_model(X, 1.0, 1.0)
    extreme = _encode_extreme(model, hull_membership(X, clock=clock))
    candidates = [np.zeros(model.n_variables), extreme]
    fixed = _fixed_by_relaxation(model, X, printed, clock)
    _, rounded, _ = solve_01(fixed, Limits(nodes=node_limit), extreme, clock)
    if max(model.violation(rounded).values()) <= 1e-6:
        candidates.append(rounded)
    best = min(candidates, key=model.objective)
    return read_solution(model, best, -np.inf)


def _fixed_by_relaxation(
    model: Model, X: FloatArray, printed: bool, clock: Clock
) -> Model:
    """Fix b in the 0-1 LP where the relaxation decides it."""
    relaxed = selection_model(X, 1.0, 1.0, relaxed=True)
    _, x, _ = solve_01(relaxed, Limits(), clock=clock)
    b = x[relaxed.variables["b"]]
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[model.variables["b"][b > 1 - _WHOLE]] = 1
    if printed:
        upper[model.variables["b"][b < _WHOLE]] = 0
    return replace(model, lower=lower, upper=upper)


def _encode_extreme(model: Model, hull: HullMembership) -> FloatArray:
    """Encode the choice of the extreme points in use, which cover all others."""
    x = np.zeros(model.n_variables)
    assert hull.weights is not None
    table = hull.weights.tocoo()
    used = np.unique(table.col)
    x[model.variables["a"][used]] = 1.0
    x[model.variables["b"][np.unique(table.row)]] = 1.0
    slot = table.col - (table.col > table.row)
    x[model.variables["lambda"][table.row, slot]] = table.data
    return x


@dataclass(frozen=True)
class BalancedSelection(TimedSelector):
    """The supplement's balanced selection, per cluster.

    Parameters
    ----------
    max_points : int, default=30
        Larger clusters are dealt at random into parts of at most so many points,
        since (9) has n**2 variables: points covered in a part are covered in the
        whole. The extreme points that carry most are tried as well, and the better
        choice is taken. At most 300.
    printed : bool, default=False
        Whether to fix b = 0 where the relaxation has it, as the paper does.
    seconds : float, optional
        Time after which the remaining parts take the trivial choice, nothing.
    seed : int, default=0
    n_jobs : int, default=1
        Jobs of joblib, over clusters.

    Notes
    -----
    Points may be neither selected nor covered: those are dropped as outliers. A
    cluster of which nothing is selected keeps the row nearest to its mean.
    """

    max_points: int = 30
    printed: bool = False
    seed: int = 0
    n_jobs: int = 1

    def __post_init__(self) -> None:
        if not 3 <= self.max_points <= LARGEST:
            raise ValueError(
                f"max_points must lie in [3, {LARGEST}], got {self.max_points!r}."
            )

    def _select(
        self, problem: Problem, tree: ObliqueTree, clusters: Sequence[Cluster]
    ) -> Selection:
        part = partial(self._part, problem, self.started())
        return Selection.joined(for_each_cluster(part, clusters, self.n_jobs))

    def _part(
        self, problem: Problem, clock: Clock, cluster: Cluster, n_jobs: int
    ) -> Selection:
        X = problem.scaled[cluster.rows]
        # Seeded by its first row: the same whatever the order of the clusters.
        rng = np.random.default_rng([self.seed, cluster.rows[0]])
        chosen = self._choose(X, rng.permutation(len(X)), clock, n_jobs)
        rows, covering = cluster.rows[chosen], np.ones(len(chosen), dtype=bool)
        if not len(rows):
            middle = ((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin()
            rows, covering = cluster.rows[[middle]], np.zeros(1, dtype=bool)
        return Selection(rows, problem.weight[rows], covering)

    def _choose(
        self, X: FloatArray, order: IntArray, clock: Clock, n_jobs: int
    ) -> IntArray:
        """Choose points of one cluster."""
        n_parts = -(-len(X) // self.max_points)
        parts = np.array_split(order, n_parts) if n_parts > 1 else [np.arange(len(X))]
        found = on_threads(n_jobs)(
            delayed(balanced_selection)(X[part], self.printed, clock=clock)
            for part in parts
        )
        chosen = [p[s.selected] for p, s in zip(parts, found, strict=True)]
        value = sum(s.objective for s in found)
        if n_parts > 1 and not clock.is_over:
            pillars, pillars_value = best_pillars(X, n_jobs, clock)
            if pillars_value < value:
                return pillars
        return np.sort(np.concatenate(chosen))


def best_pillars(X: FloatArray, n_jobs: int, clock: Clock) -> tuple[IntArray, float]:
    """Return the extreme points that carry most, of the best number, and sum(a - b).

    They cover points of any part of a large cluster that is dealt out into parts.
    Numbers that the clock leaves no time for are not tried.
    """
    hull = hull_membership(X, n_jobs=n_jobs, clock=clock)
    carried = np.asarray(hull.weights.sum(axis=0)).ravel()
    order = np.argsort(-carried, kind="stable")[: np.count_nonzero(carried)]
    best, best_value = order[:0], 0.0
    sizes = np.geomspace(2, max(len(order), 2), _PILLAR_SIZES)
    for size in np.unique(sizes.astype(np.intp)):
        if clock.is_over:
            break
        chosen = order[:size]
        value = float(len(chosen) - n_covered(X, chosen, n_jobs, clock))
        if value < best_value:
            best, best_value = np.sort(chosen), value
    return best, best_value


def n_covered(
    X: FloatArray, chosen: IntArray, n_jobs: int = 1, clock: Clock | None = None
) -> int:
    """Count the other distinct points that are combinations of the chosen ones."""
    points = DistinctPoints.of(X)
    pool = PointPool(points.Z, n_jobs, with_weights=False, clock=clock)
    pool.add(points.group[chosen])
    pool.decide(pool.not_in(np.arange(len(points.Z))), warm=True)
    return int(pool.inside.sum())
