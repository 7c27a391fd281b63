"""Kernels: plain random changes of a tree, which the line search then repairs."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.rng import below, normal, uniform
from miptree.search.routing import largest_size, points_at, score_tree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL

TILT, BISECT, FEW_COORDINATES, ALL_NODES = 0, 1, 2, 3


@njit(**INNER)
def _tilt(
    XT: FloatArray,
    coef: FloatArray,
    threshold: FloatArray,
    b: int,
    n_open: int,
    through: int,
    size: float,
    state: AnyArray,
) -> None:
    """Noise on one hyperplane; half of the time it is made to pass a given point."""
    score = 0.0
    for j in range(n_open):
        coef[b, j] += size * normal(state)
        score += coef[b, j] * XT[j, through]
    if uniform(state) < 0.5:
        threshold[b] = score
    else:
        threshold[b] += 0.3 * size * normal(state)


@njit(**INNER)
def _bisect(
    XT: FloatArray,
    y: IntArray,
    coef: FloatArray,
    threshold: FloatArray,
    b: int,
    n_open: int,
    index: IntArray,
    m: int,
    state: AnyArray,
) -> None:
    """Put the hyperplane half-way between two points, if possible of two classes."""
    one = index[below(state, m)]
    two = index[below(state, m)]
    for _ in range(10):
        if y[one] != y[two]:
            break
        two = index[below(state, m)]
    threshold[b] = 0.0
    for j in range(n_open):
        coef[b, j] = XT[j, one] - XT[j, two]
        threshold[b] += coef[b, j] * 0.5 * (XT[j, one] + XT[j, two])


@njit(**KERNEL)
def perturb(
    XT: FloatArray,
    y: IntArray,
    coef: FloatArray,
    threshold: FloatArray,
    n_open: int,
    kind: int,
    size: float,
    state: AnyArray,
) -> None:
    """Change one node that points reach (``ALL_NODES``: every node), in place.

    Only the first ``n_open`` coefficients become other than zero. A subset split turns
    into a hyperplane, or is left alone by ``ALL_NODES``.
    """
    n_branch = coef.shape[0]
    Z = score_tree(XT, coef, threshold)
    index = np.empty(XT.shape[1], np.int64)
    b = below(state, n_branch)
    m = points_at(Z, b, index)
    while m < 2 and b > 0:  # an ancestor has more points
        b = (b - 1) // 2
        m = points_at(Z, b, index)
    largest = max(largest_size(coef[b]), 1e-9)
    if kind != ALL_NODES:
        for j in range(n_open, coef.shape[1]):
            coef[b, j] = 0.0
    if kind == TILT:
        through = index[below(state, m)]
        _tilt(XT, coef, threshold, b, n_open, through, size * largest, state)
    elif kind == BISECT:
        _bisect(XT, y, coef, threshold, b, n_open, index, m, state)
    elif kind == FEW_COORDINATES:
        for _ in range(1 + below(state, max(1, n_open // 3))):
            coef[b, below(state, n_open)] += 3.0 * size * largest * normal(state)
    else:
        for c in range(n_branch):
            if largest_size(coef[c, n_open:]) > 0.0:
                continue
            scale = size * largest_size(coef[c])
            for j in range(n_open):
                coef[c, j] += 0.3 * scale * normal(state)
            threshold[c] += 0.1 * scale * normal(state)
