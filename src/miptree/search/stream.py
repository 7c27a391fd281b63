"""Starts for very large data: soft trees that see all rows, a minibatch at a time.

A search on a sample ends with the tree that suits the sample. Soft trees cost the same
on a million rows as on a few thousand, so many are trained on all rows. The best on a
sample are descended there, and annealed once more on all rows, nearly hard.
"""

from __future__ import annotations

import numpy as np

from miptree.search.data import SearchData
from miptree.search.iterated import IteratedSearch
from miptree.search.measure import LONG, Measure, ValuedTree, ZeroOne
from miptree.search.rng import random_state
from miptree.search.soft_trees import anneal, soft_trees
from miptree.tree import HeapTree

_BATCHES = 3
"""Batches of soft trees in one round."""
_DESCENTS = 6
"""Best of them that are descended on the sample."""
_STEPS, _SLOPE = 600, 20.0
"""Steps of the last annealing, and the slope it begins with."""
_LOGIT = 3.0
"""How sure a leaf is of its class when that begins."""


def streamed_trees(search: IteratedSearch, sample: Measure) -> list[HeapTree]:
    """Good trees for all rows, the best first: from soft trees, and the best so far."""
    clock, rng = search.clock, search.rng
    trees: list[HeapTree] = []
    for _ in range(_BATCHES):
        trees += soft_trees(search.data, search.depth, rng, clock=clock)
    errors = ZeroOne(sample.data)
    found = _best_first([errors.value(tree) for tree in trees])[:_DESCENTS]
    descended = []
    for candidate in [search.pool.best, *found]:
        if clock.is_over:
            break
        descended.append(sample.descend(candidate.tree, LONG, random_state(rng)))
        clock.count()
    if not descended:
        return [candidate.tree for candidate in found]
    best = _best_first(descended)[0].tree
    if best.coef[:, search.data.n_open :].any():
        return [best]  # a subset split has no soft form
    planes, theta = _soft(best, search.data)
    again = anneal(search.data, planes, theta, rng, _STEPS, clock, first_slope=_SLOPE)
    return [*again, best]


def _soft(tree: HeapTree, data: SearchData) -> tuple[np.ndarray, np.ndarray]:
    """Planes of unit length and leaf logits of a tree, as a batch of one."""
    coef = tree.coef[:, : data.n_open]
    planes = np.column_stack([coef, -tree.threshold])
    length = np.linalg.norm(coef, axis=1, keepdims=True)
    planes /= np.where(length > 0, length, 1.0)
    theta = np.zeros((1, len(tree.label), data.n_classes), dtype=np.float32)
    theta[0, np.arange(len(tree.label)), tree.label] = _LOGIT
    return planes[None].astype(np.float32), theta


def _best_first(candidates: list[ValuedTree]) -> list[ValuedTree]:
    return sorted(candidates, key=lambda candidate: candidate.value)
