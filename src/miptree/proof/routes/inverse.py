"""A split's LP refactored: the inverse of its basis computed anew from the data."""

from __future__ import annotations

from numba import njit

from miptree.proof.routes.jit import UNCOUNTED
from miptree.proof.routes.lp import FINE, point_of, reset
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

_LEAST_PIVOT = 1e-9


@njit(**UNCOUNTED)
def _invert(matrix: FloatArray, inverse: FloatArray) -> bool:
    """Invert by Gauss-Jordan elimination with row pivots; the matrix is destroyed."""
    m = len(matrix)
    for r in range(m):
        for c in range(m):
            inverse[r, c] = 0.0
        inverse[r, r] = 1.0
    for k in range(m):
        best = k
        for r in range(k + 1, m):
            if abs(matrix[r, k]) > abs(matrix[best, k]):
                best = r
        pivot = matrix[best, k]
        if abs(pivot) < _LEAST_PIVOT:
            return False
        for c in range(m):
            held = matrix[best, c]
            matrix[best, c], matrix[k, c] = matrix[k, c], held / pivot
            held = inverse[best, c]
            inverse[best, c], inverse[k, c] = inverse[k, c], held / pivot
        for r in range(m):
            factor = matrix[r, k]
            if r != k and factor != 0.0:
                for c in range(m):
                    matrix[r, c] -= factor * matrix[k, c]
                    inverse[r, c] -= factor * inverse[k, c]
    return True


@njit(**UNCOUNTED)
def refactor(
    Z: FloatArray,
    box: float,
    inverse: FloatArray,
    y: FloatArray,
    basis: IntArray,
    place: IntArray,
    q: FloatArray,
    sign: AnyArray,
    over: AnyArray,
    boxed: IntArray,
    matrix: FloatArray,
    rest: FloatArray,
) -> None:
    """Compute inverse, basic multipliers and duals from the basis, or start anew.

    The matrix has the basic columns as rows, so that its inverse is the transposed one.
    """
    n, m = Z.shape
    for r in range(m):
        code = basis[r]
        for c in range(m):
            matrix[r, c] = 0.0
        if 2 * n <= code < 2 * n + m:
            matrix[r, code - 2 * n] = 1.0
        else:
            i, s = point_of(code, n, m, sign, boxed)
            for c in range(m):
                matrix[r, c] = s * Z[i, c]
    if not _invert(matrix, inverse):
        reset(inverse, y, basis, place, q, over)
        return
    for c in range(m):
        rest[c] = -q[2 * n + c] if place[2 * n + c] < 0 else 0.0
        y[c] = 0.0
    for code in range(2 * n):
        if place[code] < 0 and q[code] != 0.0:
            i = code if code < n else code - n
            for c in range(m):
                rest[c] -= sign[i] * q[code] * Z[i, c]
    for r in range(m):
        total = 0.0
        for c in range(m):
            total += inverse[c, r] * rest[c]
        q[basis[r]] = total
        price = 0.0
        if basis[r] < n:
            price = 1.0 - (FINE if over[basis[r]] else 0.0)
        elif basis[r] >= 2 * n + m:
            price = -box
        if price != 0.0:
            for c in range(m):
                y[c] += price * inverse[c, r]
