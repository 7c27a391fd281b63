"""The fewest errors where the features are few: all splits are tried.

For every tree with the margin the arrangement of the points (``arrangement.py``) has a
tree that makes no more errors. The reason: while a threshold moves by less than the
margin, the points that keep the margin stay on their sides. Within half a margin it has
a place that is (half a margin) / (n + 1) away from all n points, and the split there is
in the arrangement.

The trees of the arrangement with few errors are enumerated (``split_enumeration.py``).
They need not keep the margin, so those with too few errors are examined one by one
(``arranged_trees.py``).
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs

from miptree.control.clock import Clock
from miptree.control.threads import on_threads
from miptree.data.problem import Problem
from miptree.proof.arranged_trees import ArrangedTrees, EvaluatedTree
from miptree.proof.arrangement import (
    LEAF,
    arrangement_fits_memory,
    arrangement_of,
    most_nodes,
)
from miptree.proof.fewest_errors import ErrorBound
from miptree.proof.space import Space
from miptree.proof.split_enumeration import begin_roots, search_roots
from miptree.proof.state import EXHAUSTED, PAUSED
from miptree.utils.arrays import FloatArray, IntArray

_MOST_FEATURES = 10
"""With more features even few points have too many splits."""
_SMALLEST_DISTANCE = 1e-8
"""Distances below are near the rounding errors of the hull LPs."""
_STEP = 0.85
"""Part of the errors still to be proved that are tried at a time."""
_NODES_AT_A_TIME = 20
"""Nodes of the search between two looks at the clock."""
_TASKS_PER_JOB = 16
"""Parts of the arrangement per job, so that the jobs end at about the same time."""
_MOST_ROOTS, _MOST_TREES = 1000, 1000
"""Most splits of the root, and most trees, that are examined one by one."""
_FINEST = 2**16
"""Weights without a common unit are rounded down to the largest one over this."""


def can_arrange(space: Space, depth: int, max_nodes: int | None = None) -> bool:
    """Tell whether all splits can be tried: few points, few features, depth 1 or 2.

    ``max_nodes`` limits the nodes of the arrangement.
    """
    if depth > 2 or space.X.shape[1] > _MOST_FEATURES:
        return False
    n, d = np.unique(space.X, axis=0).shape
    if max_nodes is not None and most_nodes(n, d) > max_nodes:
        return False
    is_clear = space.min_distance_moved(n) >= _SMALLEST_DISTANCE
    return is_clear and arrangement_fits_memory(n, d)


def arrangement_bound(
    problem: Problem,
    space: Space,
    depth: int,
    enough: float,
    *,
    clock: Clock,
    n_jobs: int | None = None,
) -> ErrorBound:
    """Raise the bound on the errors of all rows as far as the time allows.

    Parameters
    ----------
    problem : Problem
    space : Space
        One that :func:`can_arrange` accepts.
    depth : int
        Depth of the trees: 1 or 2.
    enough : float
        Errors of a tree at hand: a higher bound is of no use.
    clock : Clock
        Ends the search. An arrangement that grows too slowly is given up soon.
    n_jobs : int, optional
        Jobs of joblib, which search parts of the arrangement.
    """
    X, place = np.unique(space.X, axis=0, return_inverse=True)
    n = len(X)
    arrangement = arrangement_of(
        X, space.min_distance_moved(n), lambda share: _is_behind(clock, share)
    )
    if arrangement is None:
        return ErrorBound(0.0, None, 0)
    unit, row_units = in_units(problem.weight)
    units = np.zeros((n, problem.n_classes), dtype=np.int64)
    np.add.at(units, (place.ravel(), problem.y), row_units)
    trees = ArrangedTrees(X, space.min_distance, units, arrangement)
    search = _TargetSearch(trees, depth, clock, n_jobs)
    of_one_leaf = units.sum() - units.sum(axis=0).max()
    bound, best = search.run(int(min(np.ceil(enough / unit - 1e-9), of_one_leaf)))
    tree = None
    if best is not None and best.plane is not None:
        tree = space.to_heap(best.plane, best.label, problem.n_features)
    return ErrorBound(bound * unit, tree, len(arrangement.right))


def in_units(weight: FloatArray) -> tuple[float, IntArray]:
    """Return a unit, and the weights as multiples of it, rounded down where needed."""
    # Weights that balance classes are multiples of the smallest over a class's rows.
    parts = 1
    for ratio in np.unique(weight / weight.min()).tolist():
        if parts < _FINEST:
            parts = lcm(parts, Fraction(ratio).limit_denominator(_FINEST).denominator)
    unit = float(weight.min()) / parts
    units = np.rint(weight / unit)
    if units.max() < _FINEST and np.allclose(units * unit, weight, rtol=1e-12, atol=0):
        return unit, units.astype(np.int64)
    unit = float(weight.max()) / _FINEST
    return unit, np.floor(weight / unit).astype(np.int64)


def _is_behind(clock: Clock, share: float) -> bool:
    """Tell whether an arrangement of which a share has grown will take too long."""
    if clock.is_over:
        return True
    limit, elapsed = clock.limit, clock.elapsed
    return limit is not None and elapsed > max(0.1, share) * limit


def _limit(best: EvaluatedTree, target: int) -> int:
    """Return the errors from which trees need no look after the best so far.

    If the best one does not keep the margin, another of as many errors may keep it.
    """
    return best.errors + (best.plane is None and best.errors < target)


class _TargetSearch(NamedTuple):
    """Search that proves one target after another, up to the errors hoped for."""

    trees: ArrangedTrees
    depth: int
    clock: Clock
    n_jobs: int | None

    def run(self, hoped: int) -> tuple[int, EvaluatedTree | None]:
        """Return the errors proved for every tree, and the best tree if it was met."""
        proved = 0
        while proved < hoped:
            target = proved + int(np.ceil(_STEP * (hoped - proved)))
            best = self._best(target)
            if best is None:
                if self.clock.is_over:
                    break
                hoped = target - 1  # too many trees are better than that
            elif best.errors < target:
                return best.errors, best
            else:
                proved = target
        return proved, None

    def _best(self, target: int) -> EvaluatedTree | None:
        """Return the best tree, or one of target errors if none has fewer.

        Returns None if the trees are too many or the time is over.
        """
        best = EvaluatedTree(target, None, np.zeros(0, dtype=np.intp))
        roots = [0] if self.depth == 1 else self._roots(target)
        if roots is None:
            return None
        n_trees = 0
        for root in roots:
            if self.depth == 1:
                found = self.trees.stumps(target)
            else:
                found = self.trees.below_root(root, _limit(best, target))
            if found is None:
                return None
            for splits in found:
                if sum(split.errors for split in splits) >= _limit(best, target):
                    break
                n_trees += 1
                if n_trees > _MOST_TREES or self.clock.is_over:
                    return None
                tree = self.trees.evaluate(splits)
                best = min(best, tree, key=lambda one: (one.errors, one.plane is None))
        return best

    def _roots(self, target: int) -> list[int] | None:
        """List the splits of the root with fewer errors than a target, best first."""
        right, parts = self.trees.arrangement.right, [0]
        while len(parts) < _TASKS_PER_JOB * effective_n_jobs(self.n_jobs):
            inner = [node for node in parts if right[node] >= 0]
            if not inner:
                break
            parts = [node for node in parts if right[node] == LEAF]
            parts += [int(child) for node in inner for child in (node + 1, right[node])]
        found = on_threads(self.n_jobs)(
            delayed(self._roots_of)(node, target) for node in parts
        )
        roots: list[int] = []
        for one in found:
            if one is None or len(roots) + len(one) > _MOST_ROOTS:
                return None
            roots += one.tolist()
        # The best ones first: a tree of theirs may settle the others.
        errors: dict[int, int] = {}
        for root in roots:
            if self.clock.is_over:
                return None
            sides = self.trees.arrangement.side[root]
            errors[root] = sum(map(self.trees.fewest, sides))
        return sorted(roots, key=lambda root: errors[root])

    def _roots_of(self, node: int, target: int) -> IntArray | None:
        """List those of a part of the arrangement, None if they are too many."""
        roots, outcome = begin_roots(len(self.trees.X), node), PAUSED
        while outcome == PAUSED:
            if self.clock.is_over:
                return None
            outcome = search_roots(
                self.trees.arrangement,
                roots,
                self.trees.classes,
                target,
                _NODES_AT_A_TIME,
            )
        return roots.found[: roots.at[2]] if outcome == EXHAUSTED else None
