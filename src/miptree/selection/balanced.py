"""Balanced selection: as many points covered per point selected as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from miptree._typing import FloatArray, IntArray
from miptree.formulations.model import Model
from miptree.problem import Problem
from miptree.selection._points import DistinctPoints
from miptree.selection._pool import PointPool
from miptree.selection.base import Selection
from miptree.selection.clusters import Cluster, for_each_cluster, leaf_clusters
from miptree.selection.exact import (
    LARGEST,
    ExactSelection,
    read_solution,
    selection_model,
    solve_01,
)
from miptree.selection.hull import HullMembership, hull_membership
from miptree.solvers import Limits
from miptree.tree import ObliqueTree

_WHOLE = 1e-7
_PILLAR_SIZES = 12


def balanced_selection(
    X: FloatArray, printed: bool = False, node_limit: int = 50
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
    """
    relaxed = selection_model(X, 1.0, 1.0, relaxed=True)
    _, x, _ = solve_01(relaxed, Limits())
    b = x[relaxed.variables["b"]]
    model = selection_model(X, 1.0, 1.0)
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[model.variables["b"][b > 1 - _WHOLE]] = 1
    if printed:
        upper[model.variables["b"][b < _WHOLE]] = 0
    fixed = replace(model, lower=lower, upper=upper)
    nothing = np.zeros(model.n_variables)
    extreme = _encode_extreme(model, hull_membership(X))
    _, rounded, _ = solve_01(fixed, Limits(nodes=node_limit), extreme)
    candidates = [nothing, extreme]
    if max(model.violation(rounded).values()) <= 1e-6:
        candidates.append(rounded)
    best = min(candidates, key=model.objective)
    return read_solution(model, best, -np.inf)


def _encode_extreme(model: Model, hull: HullMembership) -> FloatArray:
    """Select what expresses something, cover all that is expressed."""
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
class BalancedSelection:
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

    def select(
        self,
        problem: Problem,
        tree: ObliqueTree,
        clusters: Sequence[Cluster] | None = None,
    ) -> Selection:
        """Choose rows; see :class:`~miptree.selection.base.Selector`."""
        rng = np.random.default_rng(self.seed)
        if clusters is None:
            clusters = leaf_clusters(problem, tree)
        orders = {c.rows[0]: rng.permutation(len(c.rows)) for c in clusters}

        def answer(cluster: Cluster, n_jobs: int) -> Selection:
            X = problem.scaled[cluster.rows]
            chosen = self._choose(X, orders[cluster.rows[0]], n_jobs)
            rows, covering = cluster.rows[chosen], np.ones(len(chosen), dtype=bool)
            if not len(rows):
                middle = ((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin()
                rows, covering = cluster.rows[[middle]], np.zeros(1, dtype=bool)
            return Selection(rows, problem.weight[rows], covering)

        return Selection.joined(for_each_cluster(answer, clusters, self.n_jobs))

    def _choose(self, X: FloatArray, order: IntArray, n_jobs: int) -> IntArray:
        """Points of one cluster to select."""
        if len(X) <= self.max_points:
            return np.flatnonzero(balanced_selection(X, self.printed).selected)
        n_parts = -(-len(X) // self.max_points)
        parts = np.array_split(order, n_parts)
        found = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(balanced_selection)(X[part], self.printed) for part in parts
        )
        chosen = [p[s.selected] for p, s in zip(parts, found, strict=True)]
        value = sum(s.objective for s in found)
        pillars, pillars_value = best_pillars(X, n_jobs)
        return pillars if pillars_value < value else np.sort(np.concatenate(chosen))


def best_pillars(X: FloatArray, n_jobs: int = 1) -> tuple[IntArray, float]:
    """Best number of the extreme points that carry most, and their sum(a - b).

    What a large cluster needs that is dealt out into parts: points that cover others
    of any part.
    """
    hull = hull_membership(X, n_jobs=n_jobs)
    assert hull.weights is not None
    carried = np.asarray(hull.weights.sum(axis=0)).ravel()
    order = np.argsort(-carried, kind="stable")[: np.count_nonzero(carried)]
    best, best_value = order[:0], 0.0
    sizes = np.geomspace(2, max(len(order), 2), _PILLAR_SIZES)
    for size in np.unique(sizes.astype(np.intp)):
        chosen = order[:size]
        value = float(len(chosen) - n_covered(X, chosen, n_jobs))
        if value < best_value:
            best, best_value = np.sort(chosen), value
    return best, best_value


def n_covered(X: FloatArray, chosen: IntArray, n_jobs: int = 1) -> int:
    """How many other distinct points are combinations of the chosen ones."""
    points = DistinctPoints.of(X)
    pool = PointPool(points.Z, n_jobs, with_weights=False)
    pool.add(points.group[chosen])
    pool.decide(pool.not_in(np.arange(len(points.Z))), warm=True)
    return int(pool.inside.sum())
