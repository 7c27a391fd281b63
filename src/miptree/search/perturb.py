"""Kernels: plain random changes of a tree, which the line search then repairs."""

from __future__ import annotations

from numba import njit

from miptree.search.data import Points
from miptree.search.rng import below, normal, uniform
from miptree.search.routing import largest_size, points_at, score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, IntArray
from miptree.utils.jit import KERNEL, UNCOUNTED

TILT, BISECT, FEW_COORDINATES, ALL_NODES = 0, 1, 2, 3


@njit(**UNCOUNTED)
def _tilt(
    points: Points, tree: HeapTree, b: int, through: int, size: float, state: AnyArray
) -> None:
    """Add noise to one hyperplane; half of the time make it pass a given point."""
    score = 0.0
    for j in range(points.n_open):
        tree.coef[b, j] += size * normal(state)
        score += tree.coef[b, j] * points.XT[j, through]
    if uniform(state) < 0.5:
        tree.threshold[b] = score
    else:
        tree.threshold[b] += 0.3 * size * normal(state)


@njit(**UNCOUNTED)
def _bisect(
    points: Points, tree: HeapTree, b: int, index: IntArray, state: AnyArray
) -> None:
    """Put the hyperplane half-way between two points, if possible of two classes."""
    XT, y, m = points.XT, points.y, len(index)
    one = index[below(state, m)]
    two = index[below(state, m)]
    for _ in range(10):
        if y[one] != y[two]:
            break
        two = index[below(state, m)]
    tree.threshold[b] = 0.0
    for j in range(points.n_open):
        tree.coef[b, j] = XT[j, one] - XT[j, two]
        tree.threshold[b] += tree.coef[b, j] * 0.5 * (XT[j, one] + XT[j, two])


@njit(**KERNEL)
def perturb(
    points: Points, tree: HeapTree, kind: int, size: float, state: AnyArray
) -> None:
    """Change one node that points reach (``ALL_NODES``: every node), in place.

    Only coefficients of open features become other than zero. A subset split turns
    into a hyperplane, or is left alone by ``ALL_NODES``.
    """
    coef, threshold, n_open = tree.coef, tree.threshold, points.n_open
    n_branch = len(threshold)
    Z = score_tree(points.XT, coef, threshold)
    b = below(state, n_branch)
    index = points_at(Z, b)
    while len(index) < 2 and b > 0:  # an ancestor has more points
        b = (b - 1) // 2
        index = points_at(Z, b)
    largest = max(largest_size(coef[b]), 1e-9)
    if kind != ALL_NODES:
        for j in range(n_open, coef.shape[1]):
            coef[b, j] = 0.0
    if kind == TILT:
        through = index[below(state, len(index))]
        _tilt(points, tree, b, through, size * largest, state)
    elif kind == BISECT:
        _bisect(points, tree, b, index, state)
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
