"""Extreme points found without an LP: those farthest out in many directions."""

from __future__ import annotations

import numpy as np

from miptree.control.clock import Clock
from miptree.selection._hull_columns import TOLERANCE
from miptree.utils.arrays import BoolArray, FloatArray, IntArray

_RANDOM_DIRECTIONS = 64
_STEPS = 24
"""Times that a direction is turned towards its point."""
_NEW_SHARE = 0.05
"""Go on while this share of the directions leads to a new point."""


def extreme_seeds(Z: FloatArray, clock: Clock) -> tuple[IntArray, IntArray]:
    """Return points farthest out in some direction, and those certified extreme by it.

    A unique maximiser with a margin is an extreme point; ties need not be. Random
    directions come first. Then, as long as it pays, a perceptron looks for a direction
    in which a given point is farthest out: it starts at the gradient of the
    Mahalanobis distance and turns away from the point that is ahead. It gives up when
    the clock is over.
    """
    n, d = Z.shape
    rng = np.random.default_rng(0)
    seeds = _Seeds(Z)
    seeds.note(Z.argmax(axis=0))
    seeds.note(Z.argmin(axis=0))
    inverse, root = _whitening(Z)
    seeds.look(rng.standard_normal((min(_RANDOM_DIRECTIONS, n), d)) @ root)
    order, size = rng.permutation(n), int(np.clip(4e6 / n, 16, 256))
    centre = Z.mean(axis=0)
    for begin in range(0, n, size):
        points = order[begin : begin + size]
        points = points[~seeds.certified[points]]
        before, tried = seeds.certified.sum(), len(points)
        direction = (Z[points] - centre) @ inverse
        for _ in range(_STEPS):
            ahead = seeds.look(direction)
            missed = ~seeds.certified[points]
            if clock.is_over or not missed.any() or missed.all():
                break
            points, ahead = points[missed], ahead[missed]
            direction = direction[missed] + (Z[points] - Z[ahead]) @ inverse
        if clock.is_over or seeds.certified.sum() - before < _NEW_SHARE * tried:
            break
    return np.flatnonzero(seeds.is_seed), np.flatnonzero(seeds.certified)


class _Seeds:
    """The points met so far."""

    def __init__(self, Z: FloatArray) -> None:
        self.Z = Z
        self.is_seed: BoolArray = np.zeros(len(Z), dtype=bool)
        self.certified: BoolArray = np.zeros(len(Z), dtype=bool)

    def note(self, points: IntArray) -> None:
        """Remember points as seeds."""
        self.is_seed[points] = True

    def look(self, directions: FloatArray) -> IntArray:
        """Return the point farthest out in each direction, and note it."""
        value = directions @ self.Z.T
        row, top = np.arange(len(directions)), value.argmax(axis=1)
        best = value[row, top]
        value[row, top] = -np.inf
        clear = best - value.max(axis=1) > TOLERANCE * np.abs(directions).sum(axis=1)
        self.certified[top[clear]] = True
        self.note(top)
        return top


def outward_order(Z: FloatArray) -> IntArray:
    """Return the points from the outside in, by Mahalanobis distance."""
    Z = Z - Z.mean(axis=0)
    distance = np.einsum("ij,ij->i", Z @ _whitening(Z)[0], Z)
    order: IntArray = np.argsort(-distance, kind="stable")
    return order


def _whitening(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse of the covariance matrix and its square root."""
    Z = Z - Z.mean(axis=0)
    size, axes = np.linalg.eigh(Z.T @ Z / len(Z))
    size = np.maximum(size, 1e-10 * size[-1])
    return (axes / size) @ axes.T, (axes / np.sqrt(size)) @ axes.T
