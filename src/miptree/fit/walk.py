"""Small random steps from a tree that keeps the constraints, each tried exactly.

What a priced search cannot see is the last bit of a limit: a threshold that moves past
a few rows of one group. Here a step is made first, and the best labels under the
constraints are found after it.
"""

from __future__ import annotations

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.kept import KeptTrees
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray

_P_SHIFT = 0.6
"""How often a threshold moves; otherwise coefficients do, too."""
_SIZES = (0.02, 0.1, 0.3)
"""Sizes of changed coefficients, in parts of the largest of their hyperplane."""


def walk(kept: KeptTrees, steps: int, rng: np.random.Generator, clock: Clock) -> int:
    """Try steps from the best tree; return how many made it better."""
    n_better = 0
    for _ in range(steps):
        if clock.is_over or kept.best is None or kept.best.heap is None:
            break
        n_better += kept.offer(_step(kept.problem, kept.best.heap, rng))
    return n_better


def _step(problem: Problem, heap: HeapTree, rng: np.random.Generator) -> HeapTree:
    """Change one hyperplane of a copy a little."""
    tree = heap.copy()
    whole = ObliqueTree.from_heap(heap)
    passes = whole.ancestors[whole.apply(problem.scaled)]
    node = int(rng.integers(len(heap.threshold)))
    rows = passes[:, node]
    is_subset = problem.is_subset_split(heap.coef[[node]])[0]
    if is_subset or not problem.n_open or rows.sum() < 2:
        return tree
    coef = tree.coef[node]
    if not coef.any() or rng.random() >= _P_SHIFT:
        largest = max(float(np.abs(coef).max()), 1e-3)
        used = np.flatnonzero(coef[: problem.n_open])
        is_new = not len(used) or rng.random() < 0.2
        column = int(rng.integers(problem.n_open) if is_new else rng.choice(used))
        coef[column] += rng.choice(_SIZES) * largest * rng.normal()
        if is_new and not heap.coef[node].any():
            coef[column] = 1.0
    score = problem.scaled[rows] @ coef
    tree.threshold[node] = _shifted(score, tree.threshold[node], rng)
    return problem.into_box(tree)


def _shifted(score: FloatArray, threshold: float, rng: np.random.Generator) -> float:
    """Return a threshold between two neighbouring scores, mostly a near one."""
    levels = np.unique(score)
    if len(levels) < 2:
        return threshold
    place = int(np.searchsorted(levels, threshold, side="right"))
    jump = int(np.ceil(rng.exponential(max(1.0, 0.03 * len(levels)))))
    place = int(np.clip(place + rng.choice((-1, 1)) * jump, 1, len(levels) - 1))
    return float(0.5 * (levels[place - 1] + levels[place]))
