"""Kernels: a small random generator whose state the caller holds.

NumPy's generator inside numba is one hidden state per thread, so results would depend
on which thread ran what before. Here the state is an array of one uint64 (splitmix64):
the same seed gives the same numbers anywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.utils.arrays import AnyArray, IntArray
from miptree.utils.jit import UNCOUNTED, UNCOUNTED_KERNEL


def random_state(rng: np.random.Generator) -> AnyArray:
    """Return a fresh state for the kernels, drawn from a NumPy generator."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit(**UNCOUNTED_KERNEL)
def uniform(state: AnyArray) -> float:
    """Return a float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(**UNCOUNTED_KERNEL)
def below(state: AnyArray, n: int) -> int:
    """Return an integer in 0, ..., n - 1."""
    return int(uniform(state) * n)


@njit(**UNCOUNTED)
def normal(state: AnyArray) -> float:
    """Return a standard normal number (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(state)))
    return radius * np.cos(2.0 * np.pi * uniform(state))


@njit(**UNCOUNTED_KERNEL)
def shuffle(state: AnyArray, order: IntArray) -> None:
    """Fill ``order`` with a random permutation."""
    for q in range(len(order)):
        order[q] = q
    for q in range(len(order) - 1, 0, -1):
        r = below(state, q + 1)
        order[q], order[r] = order[r], order[q]
