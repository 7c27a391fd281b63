"""What the line searches on the two objectives have in common."""

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from miptree.search.data import Points
from miptree.search.rng import below, normal, uniform
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from miptree.utils.jit import UNCOUNTED

FLAT = 1e-12
"""A score that changes by less per unit step does not move."""


class DescentEffort(NamedTuple):
    """How hard a descent tries."""

    sweeps: int
    """Most sweeps over all nodes."""
    patience: int
    """Sweeps without improvement after which the 0-1 search ends."""
    n_random: int
    """Random directions tried at a node, beside those of the coordinates."""


class Descent(NamedTuple):
    """What a descent may do, and how long."""

    may_change: BoolArray
    """(B, d): coefficients that may change; a node without any stays as it is."""
    effort: DescentEffort
    stop: AnyArray
    """(1,): the descent ends soon after somebody has set it."""
    state: AnyArray
    """(1,): state of the random numbers."""


class SearchedNode(NamedTuple):
    """A node whose hyperplane the line searches change."""

    b: int
    """Number of the node."""
    features: IntArray
    """Features whose coefficients may change."""
    rows: IntArray
    """(m,): numbers of the points there, at least of those whose cost it can change."""
    gain: FloatArray
    """(m,): cost of each on the right less that on the left."""


@njit(**UNCOUNTED)
def random_direction(
    points: Points, node: SearchedNode, direction: FloatArray, state: AnyArray
) -> float:
    """Draw a direction in which to turn a hyperplane round one of its points.

    Half of the time it has up to three random coordinates, otherwise it is the
    difference of two points at the node. Writes the coefficients into ``direction``;
    returns the change of the threshold, by which one random point keeps its score.
    """
    XT, rows, features = points.XT, node.rows, node.features
    d, m = len(features), len(rows)
    for j in range(len(direction)):
        direction[j] = 0.0
    if uniform(state) < 0.5:
        for _ in range(min(d, 3)):
            direction[features[below(state, d)]] = normal(state)
    else:
        one, two = rows[below(state, m)], rows[below(state, m)]
        for j in features:
            direction[j] = XT[j, one] - XT[j, two]
    pivot = rows[below(state, m)]
    shift = 0.0
    for j in features:
        shift += direction[j] * XT[j, pivot]
    return shift
