"""Kernels: replace one hyperplane by a randomised reweighted logistic regression.

The 0-1 cost of one node is approached by a concave function of the logistic loss:
points that stay badly wrong lose their weight, ``w = 1 / (1 + loss / tau)**2`` with a
falling tau, so that the fit gives them up and serves the others. Random weights at the
start lead to different local optima, which makes it a good move of iterated search.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.data import Points
from miptree.search.rng import below, uniform
from miptree.search.routing import care_points, copy_into, largest_size, score_tree
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL, UNCOUNTED_KERNEL

_FARTHEST = 30.0
"""Beyond this margin the logistic function is 0 or 1 for our purposes."""

_LONGEST_NEWTON_STEP = 20.0

_ROUNDS = 12
"""Reweightings of one refit."""

_MOST_POINTS = 2000
"""Points that a refit looks at: a sample of more."""


@njit(**INNER, fastmath=True)
def _solve_in_place(H: FloatArray, g: FloatArray) -> None:
    """Solve ``H x = g`` for positive definite H by Cholesky; x overwrites g."""
    p = len(g)
    for a in range(p):
        for c in range(a + 1):
            s = H[a, c]
            for k in range(c):
                s -= H[a, k] * H[c, k]
            H[a, c] = np.sqrt(max(s, 1e-12)) if a == c else s / H[c, c]
    for a in range(p):
        s = g[a]
        for k in range(a):
            s -= H[a, k] * g[k]
        g[a] = s / H[a, a]
    for a in range(p - 1, -1, -1):
        s = g[a]
        for k in range(a + 1, p):
            s -= H[k, a] * g[k]
        g[a] = s / H[a, a]


@njit(**INNER, fastmath=True)
def _newton_step(
    A: FloatArray,
    side: FloatArray,
    weight: FloatArray,
    margin: FloatArray,
    ridge: float,
    w: FloatArray,
) -> float:
    """Take a damped Newton step of ridge logistic regression; return its length."""
    p, m = A.shape
    H, g = np.zeros((p, p)), np.zeros(p)
    slope, curvature, scaled = np.empty(m), np.empty(m), np.empty(m)
    for i in range(m):
        miss = 1.0 / (1.0 + np.exp(min(max(margin[i], -_FARTHEST), _FARTHEST)))
        slope[i] = -side[i] * miss * weight[i]
        curvature[i] = max(miss * (1.0 - miss), 1e-4) * weight[i]
    for a in range(p):
        total = 0.0
        for i in range(m):
            scaled[i] = curvature[i] * A[a, i]
            total += slope[i] * A[a, i]
        g[a] = total
        for c in range(a + 1):
            total = 0.0
            for i in range(m):
                total += scaled[i] * A[c, i]
            H[a, c] = total
        H[a, a] += 1e-7
        if a < p - 1:  # the last coefficient is the threshold, which is free
            H[a, a] += ridge
            g[a] += ridge * w[a]
    _solve_in_place(H, g)
    length = largest_size(g)
    shrink = min(1.0, _LONGEST_NEWTON_STEP / max(length, 1e-300))
    for a in range(p):
        w[a] -= shrink * g[a]
    return length


@njit(**INNER, fastmath=True)
def _margins(A: FloatArray, side: FloatArray, w: FloatArray, out: FloatArray) -> None:
    """Write ``side * (w @ A)``, how far each point lies on its side, into ``out``."""
    out[:] = 0.0
    for a in range(len(w)):
        for i in range(len(out)):
            out[i] += w[a] * A[a, i]
    for i in range(len(out)):
        out[i] *= side[i]


@njit(**KERNEL, fastmath=True)
def reweighted_logistic(
    A: FloatArray,
    side: FloatArray,
    price: FloatArray,
    ridge: float,
    rounds: int,
    random_weights: bool,
    state: AnyArray,
) -> FloatArray:
    """Find a hyperplane that puts few points, by price, on the wrong side.

    Parameters
    ----------
    A : float array of shape (d + 1, m)
        Points as columns, the last row constant.
    side : float array of shape (m,)
        +1 or -1: where each point should be.
    price : float array of shape (m,)
        Cost of each point on the wrong side.
    ridge : float
        Weight of the squared coefficients.
    rounds : int
        Reweightings.
    random_weights : bool
        Start from exponential random weights.
    state : uint64 array of shape (1,)
        Random state.

    Returns
    -------
    float array of shape (d + 1,)
        The best coefficients met.
    """
    p, m = A.shape
    w, best_w, best = np.zeros(p), np.zeros(p), np.inf
    weight, margin = np.empty(m), np.zeros(m)
    for i in range(m):
        weight[i] = price[i]
        if random_weights:
            weight[i] *= -np.log(1.0 - uniform(state))
    tau = 2.0
    for r in range(rounds):
        for _ in range(6 if r == 0 else 3):
            length = _newton_step(A, side, weight, margin, ridge, w)
            _margins(A, side, w, margin)
            if length < 1e-2:
                break
        missed = 0.0
        for i in range(m):
            if margin[i] <= 0.0:
                missed += price[i]
            loss = np.log1p(np.exp(-max(margin[i], -_FARTHEST)))
            weight[i] = price[i] / (1.0 + loss / tau) ** 2
        if missed < best:
            best = missed
            copy_into(best_w, w)
        tau = max(0.25, 0.7 * tau)
    return best_w


@njit(**UNCOUNTED_KERNEL)
def _draw(index: IntArray, gain: FloatArray, size: int, state: AnyArray) -> None:
    """Bring a random sample of the entries to the front, in place."""
    for q in range(size):
        r = q + below(state, len(index) - q)
        index[q], index[r] = index[r], index[q]
        gain[q], gain[r] = gain[r], gain[q]


def refit_node(
    points: Points,
    tree: HeapTree,
    b: int,
    features: IntArray,
    ridge: float,
    random_weights: bool,
    state: AnyArray,
) -> bool:
    """Refit node b on its care points with some of the features, in place.

    Returns False, and changes nothing, if the points agree on a side. No kernel of
    its own, which would take a second and a half to compile.
    """
    Z = score_tree(points.XT, tree.coef, tree.threshold)
    index, gain = care_points(points, tree, Z, b)
    if len(index) > _MOST_POINTS:
        _draw(index, gain, _MOST_POINTS, state)
        index, gain = index[:_MOST_POINTS], gain[:_MOST_POINTS]
    right = gain < 0.0
    if right.all() or not right.any():
        return False
    d = len(features)
    A = np.ones((d + 1, len(index)))
    A[:d] = points.XT[features[:, None], index]
    side = np.where(right, 1.0, -1.0)
    price = np.abs(gain)
    w = reweighted_logistic(A, side, price, ridge, _ROUNDS, random_weights, state)
    tree.coef[b] = 0.0
    tree.coef[b, features] = w[:d]
    tree.threshold[b] = -w[d]
    return True
