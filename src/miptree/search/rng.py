"""Kernels: a small random generator whose state the caller holds.

NumPy's generator inside numba is one hidden state per thread, so results would depend
on which thread ran what before. Here the state is an array of one uint64 (splitmix64):
the same seed gives the same numbers anywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL


def random_state(rng: np.random.Generator) -> AnyArray:
    """Return a fresh state for the kernels, drawn from a NumPy generator."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit(**KERNEL)
def uniform(state: AnyArray) -> float:
    """Return a float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(**KERNEL)
def below(state: AnyArray, n: int) -> int:
    """Return an integer in 0, ..., n - 1."""
    return int(uniform(state) * n)


@njit(**INNER)
def normal(state: AnyArray) -> float:
    """Return a standard normal number (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(state)))
    return radius * np.cos(2.0 * np.pi * uniform(state))


@njit(**KERNEL)
def shuffle(state: AnyArray, order: IntArray) -> None:
    """Fill ``order`` with a random permutation."""
    for q in range(len(order)):
        order[q] = q
    for q in range(len(order) - 1, 0, -1):
        r = below(state, q + 1)
        order[q], order[r] = order[r], order[q]


@njit(**INNER)
def random_direction(
    state: AnyArray,
    XT: FloatArray,
    features: IntArray,
    index: IntArray,
    m: int,
    direction: FloatArray,
) -> float:
    """Draw a direction in which to turn a hyperplane round one of its points.

    Half of the time it has up to three random coordinates, otherwise it is the
    difference of two of the points ``XT[:, index[:m]]``, in the given features. Writes
    the coefficients into ``direction``; returns the change of the threshold, by which
    one random point keeps its score.
    """
    d = len(features)
    for j in range(len(direction)):
        direction[j] = 0.0
    if uniform(state) < 0.5:
        for _ in range(min(d, 3)):
            direction[features[below(state, d)]] = normal(state)
    else:
        one, two = index[below(state, m)], index[below(state, m)]
        for j in features:
            direction[j] = XT[j, one] - XT[j, two]
    pivot = index[below(state, m)]
    shift = 0.0
    for j in features:
        shift += direction[j] * XT[j, pivot]
    return shift
