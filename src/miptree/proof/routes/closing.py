"""The one function by which anything is closed: multipliers checked against the data.

Whatever the LPs say, a node or an option of a point is closed only if :func:`closing`
returns at least the threshold. It takes multipliers as a proposal, rounds them to whole
numbers over 2**32, clips them to their caps, and recounts from points, masks and the
threshold alone what they prove, less an allowance for its own rounding. Multipliers
need not be feasible: what is out of balance costs ``A`` and ``S``, the largest 1-norm
and threshold of a hyperplane of a tree cheaper than T. What all trees pay for labels
leaves the rest of T for norms.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.jit import INNER, SMALL, UNCOUNTED
from miptree.proof.routes.state import EXCLUDED
from miptree.utils.arrays import FloatArray, IntArray, WordArray

UNIT = 2.0**-32
_CLIP = 1.0 - 1e-9
"""Caps are reals of the data; the checker computes them exactly, we to rounding."""
_EPS = 2.3e-16
_SLACK = 1e-12
_NEGLIGIBLE = 5e-9
_MOST, _MOST_TOGETHER = 2.0**18, 2.0**29
"""Points that are very near to each other need large multipliers. Those of all points
add up to no more than whole numbers of 64 bits hold."""


@njit(**SMALL)
def most_missing(
    reach: float, budget: float, C: FloatArray, splits: int, on_right: int,
    partner: IntArray, i: int,
) -> float:  # fmt: skip
    """Return H: how much of its margins a point can lack at some splits together.

    It lacks at most what its partners do, h_p <= 1 at each split, and ``reach`` (their
    largest distance over rho) times what is spent on norms; the budget less C_p h_p is
    left for these. So H is the optimum of a small LP, whose dual is min over u >= reach
    of u * budget + sum_p max(0, 1 - u C_p): a kink is the best u.
    """
    budget = max(budget, 0.0)
    best = np.inf
    for j in range(-1, len(partner)):
        u = reach
        if j >= 0:
            if (splits >> j) & 1 == 0:
                continue
            u = max(reach, 1.0 / C[partner[j, (on_right >> j) & 1, i]])
        total = u * budget
        for k in range(len(partner)):
            if (splits >> k) & 1:
                total += max(0.0, 1.0 - u * C[partner[k, (on_right >> k) & 1, i]])
        best = min(best, total)
    return best


@njit(**SMALL)
def boxed_point(number: int) -> tuple[int, float]:
    """Return the point of a column of the box, and its sign, from an entry of boxed."""
    return (number - 1, 1.0) if number > 0 else (-1 - number, -1.0)


@njit(**INNER)
def closing(
    Z: FloatArray,
    least: FloatArray,
    following: FloatArray,
    cheap: IntArray,
    root_cost: FloatArray,
    C: FloatArray,
    distance: FloatArray,
    determined: IntArray,
    rho: float,
    box: float,
    unavoidable: float,
    least_split: float,
    T: float,
    mask: IntArray,
    use: IntArray,
    q: FloatArray,
    partner: IntArray,
    boxed: IntArray,
    whole: IntArray,
    used: WordArray,
    first_use: int,
    step: int,
) -> float:
    """Return what the multipliers prove for all trees within the masks.

    Parameters
    ----------
    unavoidable : float
        What all points cost at their cheapest labels, rounded down.
    determined : int array of shape (2, 2**L)
        Splits that all leaves of a mask pass on the left, on the right, as bits.
    mask : (n,); q : (B, 2n + 2m); partner : (B, 2, n), -1 without; boxed : (B, m)
    use : (B * d,) or empty
        Features that hyperplanes leave out are EXCLUDED.
    whole : int64 array of shape (B, 2n + m)
        Receives the multipliers, 0 at splits that are not worth it.
    used : words of bits
        Receives the points whose masks matter, and the excluded features that do, from
        the bit ``first_use`` on.
    step : int
        Multipliers are multiples of so many units.
    """
    n, m = Z.shape
    n_splits = len(q)
    for k in range(len(used)):
        used[k] = 0
    base = 0.0
    for i in range(n):
        base += least[i, mask[i]]
        if least[i, mask[i]] > root_cost[i]:
            used[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    without = base + n_splits * least_split
    if without * (1.0 - (n + n_splits) * _EPS) - _SLACK >= T:
        for b in range(n_splits):
            for code in range(2 * n + m):
                whole[b, code] = 0
        return without * (1.0 - (n + n_splits) * _EPS) - _SLACK
    paid = max(unavoidable, base * (1.0 - n * _EPS))
    A = max(0.0, T - paid) / rho * (1.0 + _SLACK)
    S = (box + A) * (1.0 + _SLACK)
    lower = np.full(n_splits, least_split)
    balance = np.empty(m)
    total = base
    for b in range(n_splits - 1, -1, -1):
        _round_split(
            b, Z, least, following, cheap, C, distance, determined, rho, box,
            T - base, mask, q, partner, boxed, lower, whole, step,
        )  # fmt: skip
        value, error = _value_of(
            b, Z, determined, cheap, mask, use, rho, box, A, S, boxed, whole, balance
        )
        if value > least_split:
            lower[b] = value
            _refer_to_excluded(b, use, balance, rho - error, used, first_use)
            for i in range(n):
                if whole[b, i] > 0 or whole[b, n + i] > 0:
                    used[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
                    if whole[b, i] > 0 and not _is_determined(determined, mask[i], b):
                        p = partner[b, _side(b, determined, cheap[i], mask[i]), i]
                        if p >= 0:
                            used[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
        else:
            for code in range(2 * n + m):
                whole[b, code] = 0
        total += lower[b]
    return total - (n + n_splits) * _EPS * total - _SLACK


@njit(**UNCOUNTED)
def _is_determined(determined: IntArray, mask: int, b: int) -> bool:
    """Tell whether all leaves of a mask pass a split on the same side."""
    return ((determined[0, mask] | determined[1, mask]) >> b) & 1 == 1


@njit(**SMALL)
def _side(b: int, determined: IntArray, cheap: IntArray, mask: int) -> int:
    """Return 0 (left) or 1 (right) if all, or all cheap, leaves agree; -1 if not."""
    if _is_determined(determined, mask, b):
        return (determined[1, mask] >> b) & 1
    if _is_determined(determined, cheap[mask], b):
        return (determined[1, cheap[mask]] >> b) & 1
    return -1


@njit(**INNER)
def _round_split(
    b: int,
    Z: FloatArray,
    least: FloatArray,
    following: FloatArray,
    cheap: IntArray,
    C: FloatArray,
    distance: FloatArray,
    determined: IntArray,
    rho: float,
    box: float,
    rest: float,
    mask: IntArray,
    q: FloatArray,
    partner: IntArray,
    boxed: IntArray,
    lower: FloatArray,
    whole: IntArray,
    step: int,
) -> None:
    """Write whole multipliers of one split: within their caps, adding up to 0."""
    n, m = Z.shape
    unit = UNIT * step
    n_splits = len(q)
    most_q = min(_MOST, _MOST_TOGETHER / n)
    total, largest = np.int64(0), np.full(2, -1)
    for i in range(n):
        whole[b, i] = whole[b, n + i] = 0
        if q[b, i] <= _NEGLIGIBLE and q[b, n + i] <= _NEGLIGIBLE:
            continue
        M = mask[i]
        if _is_determined(determined, M, b):
            side = (determined[1, M] >> b) & 1
            limit = C[i] * _CLIP
            whole[b, n + i] = np.int64(
                np.rint(min(max(q[b, n + i], 0.0), most_q) / unit)
            )
        else:
            best = cheap[i, M]
            on_left, on_right = determined[0, best], determined[1, best]
            gap = following[i, M] - least[i, M]
            if gap == np.inf or ((on_left | on_right) >> b) & 1 == 0:
                continue
            side = (on_right >> b) & 1
            open_splits = (on_left | on_right) & ~(determined[0, M] | determined[1, M])
            budget, reach, count = rest - gap, 0.0, 0
            for k in range(n_splits):
                if (open_splits >> k) & 1 and q[k, i] > _NEGLIGIBLE:
                    count += 1
                    on_side = (on_right >> k) & 1
                    p = partner[k, on_side, i]
                    if p < 0 or (determined[on_side, mask[p]] >> k) & 1 == 0:
                        reach = np.inf
                    else:
                        reach = max(reach, distance[i, p] / rho)
                else:
                    budget -= lower[k]
            most = count * (1.0 + box)
            if reach < np.inf:
                chosen = 0
                for k in range(n_splits):
                    if (open_splits >> k) & 1 and q[k, i] > _NEGLIGIBLE:
                        chosen |= 1 << k
                most = min(
                    most,
                    most_missing(reach, budget, C, chosen, on_right, partner, i),
                )
            limit = (C[i] if most * C[i] <= gap else gap / most) * _CLIP
        top = np.int64(np.floor(limit / unit)) if q[b, i] > _NEGLIGIBLE else 0
        whole[b, i] = max(0, min(top, np.int64(np.rint(min(q[b, i], most_q) / unit))))
        whole[b, i] *= step
        whole[b, n + i] *= step
        total += (2 * side - 1) * (whole[b, i] + whole[b, n + i])
        code = i if whole[b, i] >= whole[b, n + i] else n + i
        if largest[side] < 0 or whole[b, code] > whole[b, largest[side]]:
            largest[side] = code
    for k in range(m):
        amount = q[b, 2 * n + m + k]
        whole[b, 2 * n + k] = 0
        if amount > _NEGLIGIBLE:
            whole[b, 2 * n + k] = step * np.int64(np.rint(min(amount, most_q) / unit))
            total += np.sign(boxed[b, k]) * whole[b, 2 * n + k]
    # Taken off the largest multiplier, what is left of the sum costs nothing.
    code = largest[1 if total > 0 else 0]
    if code >= 0:
        whole[b, code] -= min(whole[b, code], abs(total))


@njit(**UNCOUNTED)
def _value_of(
    b: int,
    Z: FloatArray,
    determined: IntArray,
    cheap: IntArray,
    mask: IntArray,
    use: IntArray,
    rho: float,
    box: float,
    A: float,
    S: float,
    boxed: IntArray,
    whole: IntArray,
    balance: FloatArray,
) -> tuple[float, float]:
    """Return what whole multipliers prove of one split's cost, and the error of sums.

    A hyperplane without a feature pays nothing for what is out of balance in it.
    """
    n, m = Z.shape
    for c in range(m):
        balance[c] = 0.0
    paid, size, count, fined = 0.0, 0.0, 0, 0.0
    for i in range(n):
        whole_sum = whole[b, i] + whole[b, n + i]
        if whole_sum == 0:
            continue
        amount = whole_sum * UNIT
        s = 2.0 * _side(b, determined, cheap[i], mask[i]) - 1.0
        for c in range(m):
            balance[c] += s * amount * Z[i, c]
        paid += whole[b, i] * UNIT
        size += amount
        count += 1
    for k in range(m):
        if whole[b, 2 * n + k] == 0:
            continue
        amount = whole[b, 2 * n + k] * UNIT
        i, s = boxed_point(boxed[b, k])
        for c in range(m):
            balance[c] += s * amount * Z[i, c]
        fined += box * amount
        size += amount
        count += 1
    error = (count + 16) * _EPS * size
    fined += (count + 16) * _EPS * fined
    excess = 0.0
    for c in range(m - 1):
        if len(use) == 0 or use[b * (m - 1) + c] != EXCLUDED:
            excess = max(excess, abs(balance[c]) + error - rho)
    out_of_balance = A * excess + S * (abs(balance[m - 1]) + error)
    return paid - fined - error - out_of_balance, error


@njit(**UNCOUNTED)
def _refer_to_excluded(
    b: int, use: IntArray, balance: FloatArray, most: float, used: WordArray,
    first_use: int,
) -> None:  # fmt: skip
    """Note the features whose exclusion lets a split's multipliers prove so much."""
    m = len(balance)
    for c in range(m - 1 if len(use) else 0):
        if use[b * (m - 1) + c] == EXCLUDED and abs(balance[c]) > most:
            bit = first_use + b * m + c
            used[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
