"""Kernel that tells whether a hyperplane can separate two sets of points.

It computes the distance of their convex hulls in the 1-norm, ``min |p - q|_1`` over p
and q in them, by the simplex method. The LP has ``d + 2`` rows: one for each feature
(with a pair of slack columns), and one for the weights of each side. A further point is
a further column, so the last basis stays feasible and a few pivots bring it up to date.
The duals are the hyperplane of largest margin among those with abs(coef) <= 1.

Columns are numbered: 0..n-1 are the points, n + j and n + d + j the slacks of feature
j with sign + and -.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.utils.arrays import BoolArray, FloatArray, IntArray
from miptree.utils.jit import KERNEL, UNCOUNTED_KERNEL

SEPARATED, INSEPARABLE, UNDECIDED = 0, 1, 2

_ROUNDING = 1e-11
"""Reduced costs and steps below are rounding."""
_MOST_PIVOTS = 200
"""Pivots after which a question is left undecided, which claims nothing."""


@njit(**UNCOUNTED_KERNEL)
def first_basis(
    X: FloatArray,
    right: int,
    left: int,
    basis: IntArray,
    inverse: FloatArray,
    weight: FloatArray,
) -> None:
    """Write the basis for one point on each side."""
    n, d = X.shape
    for row in range(d + 2):
        for k in range(d + 2):
            inverse[row, k] = 0.0
    for j in range(d):
        gap = X[right, j] - X[left, j]
        # Row j: x_right - x_left + plus - minus = 0, and the slack must not be < 0.
        sign = -1.0 if gap > 0 else 1.0
        basis[j] = n + d + j if gap > 0 else n + j
        weight[j] = abs(gap)
        inverse[j, j] = sign
        inverse[j, d] = -sign * X[right, j]
        inverse[j, d + 1] = sign * X[left, j]
    basis[d], basis[d + 1] = right, left
    inverse[d, d] = inverse[d + 1, d + 1] = 1.0
    weight[d] = weight[d + 1] = 1.0


@njit(**UNCOUNTED_KERNEL)
def _duals(
    basis: IntArray, inverse: FloatArray, n: int, d: int, dual: FloatArray
) -> None:
    """Compute the duals of the rows: the costs of the basic slacks, by the inverse."""
    for k in range(d + 2):
        total = 0.0
        for row in range(d + 2):
            if basis[row] >= n:
                total += inverse[row, k]
        dual[k] = total


@njit(**UNCOUNTED_KERNEL)
def _entering(
    X: FloatArray, members: IntArray, side: IntArray, size: int, dual: FloatArray
) -> tuple[int, bool]:
    """Return the column of most negative reduced cost (-1: none), and its side."""
    n, d = X.shape
    best, chosen = -_ROUNDING, -1
    for k in range(size):
        i = members[k]
        value = 0.0
        for j in range(d):
            value += dual[j] * X[i, j]
        cost = float(-(value + dual[d]) if side[k] > 0 else value - dual[d + 1])
        if cost < best:
            best, chosen = cost, k
    found = -1 if chosen < 0 else members[chosen]
    on_right = chosen >= 0 and side[chosen] > 0
    for j in range(d):
        if 1.0 - dual[j] < best:
            best, found = 1.0 - dual[j], n + j
        if 1.0 + dual[j] < best:
            best, found = 1.0 + dual[j], n + d + j
    return found, on_right


@njit(**UNCOUNTED_KERNEL)
def _column(
    X: FloatArray, inverse: FloatArray, entering: int, on_right: bool, step: FloatArray
) -> None:
    """Express the entering column by the basis."""
    n, d = X.shape
    for row in range(d + 2):
        if entering >= n + d:
            step[row] = -inverse[row, entering - n - d]
        elif entering >= n:
            step[row] = inverse[row, entering - n]
        else:
            sign = 1.0 if on_right else -1.0
            total = inverse[row, d] if on_right else inverse[row, d + 1]
            for j in range(d):
                total += sign * inverse[row, j] * X[entering, j]
            step[row] = total


@njit(**UNCOUNTED_KERNEL)
def _pivot(
    basis: IntArray,
    inverse: FloatArray,
    weight: FloatArray,
    step: FloatArray,
    entering: int,
) -> bool:
    """Bring a column into the basis; return False where no row can leave."""
    rows = len(basis)
    leaving, shortest = -1, np.inf
    for row in range(rows):
        if step[row] > _ROUNDING:
            ratio = max(weight[row], 0.0) / step[row]
            # Ties go to the larger pivot: it keeps the inverse accurate.
            if ratio < shortest - _ROUNDING or (
                ratio <= shortest + _ROUNDING and step[row] > step[leaving]
            ):
                leaving, shortest = row, ratio
    if leaving < 0:
        return False
    pivot = step[leaving]
    for k in range(rows):
        inverse[leaving, k] /= pivot
    weight[leaving] = max(weight[leaving], 0.0) / pivot
    for row in range(rows):
        if row != leaving and step[row] != 0.0:
            for k in range(rows):
                inverse[row, k] -= step[row] * inverse[leaving, k]
            weight[row] -= step[row] * weight[leaving]
    basis[leaving] = entering
    return True


@njit(**UNCOUNTED_KERNEL)
def distance_of_combinations(
    X: FloatArray,
    basis: IntArray,
    weight: FloatArray,
    is_right: BoolArray,
    point: FloatArray,
) -> float:
    """Return the distance of the two combinations, recomputed from the data."""
    n, d = X.shape
    total_right = total_left = 0.0
    for row in range(d + 2):
        if basis[row] < n:
            if is_right[basis[row]]:
                total_right += max(weight[row], 0.0)
            else:
                total_left += max(weight[row], 0.0)
    if total_right <= 0.0 or total_left <= 0.0:
        return np.inf
    for j in range(d):
        point[j] = 0.0
    for row in range(d + 2):
        i = basis[row]
        if i < n and weight[row] > 0.0:
            share = weight[row] / (total_right if is_right[i] else -total_left)
            for j in range(d):
                point[j] += share * X[i, j]
    distance = 0.0
    for j in range(d):
        distance += abs(point[j])
    return distance


@njit(**KERNEL)
def separate(
    X: FloatArray,
    members: IntArray,
    side: IntArray,
    size: int,
    is_right: BoolArray,
    least: float,
    basis: IntArray,
    inverse: FloatArray,
    weight: FloatArray,
    plane: FloatArray,
) -> tuple[int, float]:
    """Bring the basis up to date with the members and say whether they separate.

    Parameters
    ----------
    X : (n, d)
    members, side, size
        Points in question, their sides (+1 right, -1 left) and their number.
    is_right : (n,) bool
        Room for the sides by point.
    least : float
        Hulls nearer than this are inseparable.
    basis, inverse, weight
        State of the LP, changed in place.
    plane : (d + 1,)
        Receives coefficients and threshold if the answer is SEPARATED.

    Returns
    -------
    answer : int
        SEPARATED, INSEPARABLE or UNDECIDED.
    distance : float
        Distance of the hulls.
    """
    n, d = X.shape
    for k in range(size):
        is_right[members[k]] = side[k] > 0
    dual, step = np.empty(d + 2), np.empty(d + 2)
    distance = 0.0
    for _ in range(_MOST_PIVOTS):
        distance = 0.0
        for row in range(d + 2):
            if basis[row] >= n:
                distance += max(weight[row], 0.0)
        if distance < least:
            recomputed = distance_of_combinations(X, basis, weight, is_right, step)
            if recomputed < least:
                return INSEPARABLE, distance
        _duals(basis, inverse, n, d, dual)
        entering, on_right = _entering(X, members, side, size, dual)
        if entering < 0:
            for j in range(d):
                plane[j] = -dual[j]
            # Right: h x >= dual[d]; left: h x <= -dual[d + 1].
            plane[d] = 0.5 * (dual[d] - dual[d + 1])
            return SEPARATED, distance
        _column(X, inverse, entering, on_right, step)
        if not _pivot(basis, inverse, weight, step, entering):
            return UNDECIDED, distance
    return UNDECIDED, distance
