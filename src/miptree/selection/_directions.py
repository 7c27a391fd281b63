"""Extreme points for nothing: the points farthest out in many directions."""

from __future__ import annotations

import numpy as np

from miptree._typing import FloatArray, IntArray
from miptree.selection._columns import TOLERANCE

_RANDOM_DIRECTIONS = 64
_MOST_DIRECTIONS = 4000
_MOST_PRODUCTS = 4e8
"""Multiplications spent on directions towards the points themselves."""
_NEW_SHARE = 0.05
"""Go on while this share of the directions leads to a new point."""


def extreme_seeds(Z: FloatArray) -> tuple[IntArray, IntArray]:
    """Points farthest out in some direction, and those certified extreme by it.

    A unique maximiser with a margin is an extreme point; ties need not be.
    """
    n, d = Z.shape
    rng = np.random.default_rng(0)
    is_seed, certified = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    is_seed[Z.argmax(axis=0)] = is_seed[Z.argmin(axis=0)] = True
    inverse, root = _whitening(Z)
    towards = int(np.clip(_MOST_PRODUCTS / (n * d), 64, _MOST_DIRECTIONS))
    some = rng.permutation(n)[:towards]
    random = rng.standard_normal((min(_RANDOM_DIRECTIONS, n), d)) @ root
    directions = np.vstack([random, Z[some] @ inverse])
    step = int(np.clip(4e6 / n, 16, 256))
    for begin in range(0, len(directions), step):
        block = directions[begin : begin + step]
        value = block @ Z.T
        row, top = np.arange(len(block)), value.argmax(axis=1)
        before = is_seed.sum()
        is_seed[top] = True
        best = value[row, top]
        value[row, top] = -np.inf
        clear = best - value.max(axis=1) > TOLERANCE * np.abs(block).sum(axis=1)
        certified[top[clear]] = True
        few = is_seed.sum() - before < _NEW_SHARE * len(block)
        if few and begin + step > _RANDOM_DIRECTIONS:
            break
    return np.flatnonzero(is_seed), np.flatnonzero(certified)


def outward_order(Z: FloatArray) -> IntArray:
    """Points from the outside in, by Mahalanobis distance."""
    Z = Z - Z.mean(axis=0)
    distance = np.einsum("ij,ij->i", Z @ _whitening(Z)[0], Z)
    order: IntArray = np.argsort(-distance, kind="stable")
    return order


def _whitening(Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverse of the covariance matrix and its square root."""
    Z = Z - Z.mean(axis=0)
    size, axes = np.linalg.eigh(Z.T @ Z / len(Z))
    size = np.maximum(size, 1e-10 * size[-1])
    return (axes / size) @ axes.T, (axes / np.sqrt(size)) @ axes.T
