"""A node of the search of a structure that may have subset splits."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.branching import STEEPNESS
from miptree.proof.routes.columns import copy_lps, follow_masks
from miptree.proof.routes.jit import INNER, UNCOUNTED
from miptree.proof.routes.look import Look
from miptree.proof.routes.node import BRANCHED, OPEN, process
from miptree.proof.routes.options import GROWTH_TRIED, bound_node
from miptree.proof.routes.record import set_bit
from miptree.proof.routes.state import Data, Lps, Rows, Trail
from miptree.proof.routes.subsets import (
    BY_FEATURE,
    BY_LEAF,
    BY_VALUE,
    best_value,
    clear,
    lacks_leaf,
    restrict,
    undecided,
)
from miptree.utils.arrays import FloatArray, IntArray, WordArray

UNREACHED = 4
"""What became of a node, beside those of ``node``: a leaf is open to no point."""
_FEW = 1
"""Hyperplanes of a structure up to which values are branched on before points are."""


@njit(**INNER)
def try_value(
    data: Data, lps: Lps, here: Rows, scratch: Rows, look: Look, mask: IntArray,
    feature: IntArray, split: int, point: int, T: float, total: float,
    least_split: float, rho: float,
) -> float:  # fmt: skip
    """Solve the LPs of both sides of a value; return its key, to be small."""
    n_splits = len(lps.y)
    trial = np.empty(n_splits)
    below, key = np.empty_like(mask), 0.0
    copy_lps(here, 0, scratch, 0)
    for side in range(2):
        for i in range(len(mask)):
            below[i] = mask[i]
        restrict(data, feature, split, point, side, below)
        base = 0.0
        for i in range(len(mask)):
            base += data.least[i, below[i]]
        follow_masks(data, lps, below, rho)
        worth = bound_node(
            data, lps, below, base, T, least_split, rho, trial, look.gap, look.line,
            GROWTH_TRIED,
        )  # fmt: skip
        if worth < T:
            key += np.exp(-STEEPNESS / T * max(0.0, worth - total))
        copy_lps(scratch, 0, here, 0)
    return key


@njit(**UNCOUNTED)
def forced_value(data: Data, mask: IntArray, feature: IntArray) -> tuple[int, int]:
    """Return a point whose value has one side left, and the split; -1 without."""
    for split in range(len(feature)):
        point, is_forced = best_value(data, mask, feature, split)
        if is_forced:
            return point, split
    return -1, -1


@njit(**UNCOUNTED)
def work_on_node(
    data: Data, lps: Lps, kept: Lps, here: Rows, scratch: Rows, look: Look,
    trail: Trail,
    count: IntArray, mask: IntArray, feature: IntArray, use: IntArray, T: float,
    least_split: float, rho: float, whole: IntArray, used: WordArray, option: IntArray,
    answer: FloatArray,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Work on a node, as :func:`~miptree.proof.routes.node.process` does.

    Returns what became of it, the point branched on, the number of options, and the
    kind and the subset split of the branch. Features come first, then whatever is
    forced; else points and values are branched on as promises most (measured: with one
    hyperplane, values first take a quarter of the nodes; with two, 1.4 times as many).
    A node without anything to branch on is a tree only if no value is open any more.
    """
    n_features = len(data.values)
    if len(feature) > 0:
        if lacks_leaf(mask, data.determined.shape[1] - 1):
            for i in range(len(mask)):
                if mask[i] != data.first_mask[i]:
                    set_bit(used, i)
            return UNREACHED, -1, 0, BY_LEAF, 0
        split = undecided(feature)
        if split >= 0:
            return BRANCHED, 0, n_features, BY_FEATURE, split
        point, split = forced_value(data, mask, feature)
        if point >= 0:
            return BRANCHED, point, 2, BY_VALUE, split
    outcome, pick, n_options = process(
        data, lps, kept, here, scratch, look, trail, count, mask, use, T, least_split,
        rho, whole, used, option, answer,
    )  # fmt: skip
    if len(feature) == 0 or (outcome != BRANCHED and outcome != OPEN):
        return outcome, pick, n_options, BY_LEAF, 0
    point, split = forced_value(data, mask, feature)
    if point >= 0:
        clear(used)
        return BRANCHED, point, 2, BY_VALUE, split
    least_key, total, chosen = answer[1], answer[2], -1
    if outcome == OPEN or len(lps.y) <= _FEW:
        least_key = np.inf
    for b in range(len(feature)):
        point, _ = best_value(data, mask, feature, b)
        if point < 0:
            continue
        key = try_value(
            data, lps, here, scratch, look, mask, feature, b, point, T, total,
            least_split, rho,
        )  # fmt: skip
        if key < least_key:
            least_key, chosen, pick = key, b, point
    if chosen >= 0:
        clear(used)
        return BRANCHED, pick, 2, BY_VALUE, chosen
    return outcome, pick, n_options, BY_LEAF, 0
