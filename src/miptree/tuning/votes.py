"""Votes about the class of each row, by trees that did not see it."""

from __future__ import annotations

import numpy as np

from miptree.control.clock import Clock
from miptree.search.soft_trees import FULL_BATCH_UP_TO
from miptree.tuning.soft_batch import SoftBatch, train_soft
from miptree.utils.arrays import AnyArray, IntArray

_L2_OF_VOTERS = 3e-3
"""Penalty of the trees that vote about labels."""


def out_of_bag_votes(
    points: AnyArray,
    y: IntArray,
    weight: AnyArray,
    n_classes: int,
    depth: int,
    n_trees: int,
    seed: int,
    clock: Clock | None = None,
) -> AnyArray:
    """Predict each row by soft trees that did not see it: probabilities (n, Y).

    Every tree learns from a bootstrap sample of the rows. Half a vote for the class
    frequencies is added.
    """
    n_rows, rng = len(y), np.random.default_rng(seed)
    times = np.stack(
        [
            np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
            for _ in range(n_trees)
        ]
    )
    onehot = np.zeros((n_classes, n_rows), dtype=np.float32)
    onehot[y, np.arange(n_rows)] = 1.0
    batch = SoftBatch.begin(
        points, y, onehot, times * weight, (0.0, _L2_OF_VOTERS), depth, rng
    )
    trees = train_soft(points, batch, seed, clock=clock)
    unseen = (times == 0)[:, :, None]
    prior = onehot @ weight / weight.sum()
    votes = np.tile(0.5 * prior, (n_rows, 1))
    for start in range(0, n_rows, FULL_BATCH_UP_TO):
        block = slice(start, start + FULL_BATCH_UP_TO)
        found = trees.probabilities(points[block]) * unseen[:, block]
        votes[block] += found.sum(axis=0)
    result: AnyArray = votes / (unseen.sum(axis=0) + 0.5)
    return result
