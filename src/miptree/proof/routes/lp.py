"""The LP of one split, as its dual, by a bounded primal simplex method.

The multipliers q of a split maximise the sum of those of margins, subject to

    sum_i s_i (q_i + hard_i) x_i + t = 0,    sum_i s_i (q_i + hard_i) = 0,
    0 <= q_i <= cap_i,    hard_i >= 0,    abs(t_j) <= rho,

d + 1 rows for any number of points. Where the split must not use feature j (``free``),
t_j has no caps, so that ``y_j`` is 0. Routing one more point adds a column, so that the
last basis stays feasible; a cap that shrinks below a multiplier gives its column a huge
cost until it obeys (``over``). Every feasible q is a bound, so early stops do no harm,
and nothing here has to be exact: :mod:`closing` recomputes what a proof relies on.

The box, abs(score_i) <= 1 / eps, has columns of cost -1 / eps. They are made where a
score is outside, and are gone when they leave the basis, so that d + 1 are enough.

The inverse of the basis is kept transposed, and the points once more as ``ZT`` (m, n):
then the long loops run along memory, and the zeros of sparse hyperplanes and points are
skipped.

Columns 0..n-1 are margins (or envelopes), n..2n-1 hard sides, 2n + j is slack t_j, and
2n + m + k is that of the box of point ``abs(boxed[k]) - 1``, with the sign of boxed[k].
The duals ``y`` are the hyperplane: the score of point i is ``y @ Z[i]``, Z = (x, -1).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.closing import boxed_point
from miptree.proof.routes.jit import SMALL, UNCOUNTED
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

LEAST_GAIN = 1e-7
"""Reduced costs below are not worth a step."""
_LEAST_PIVOT = 1e-9
_ROUNDING = 1e-12
_HUGE = 1e18
FINE = 1e3
"""Cost per unit of a multiplier above its cap: more than any score of a sane split."""


@njit(**UNCOUNTED)
def reset(
    inverse: FloatArray,
    y: FloatArray,
    basis: IntArray,
    place: IntArray,
    q: FloatArray,
    over: AnyArray,
) -> None:
    """Write the basis of slacks, with no multipliers at all."""
    m, n = len(y), len(over)
    for code in range(len(q)):
        q[code], place[code] = 0.0, -1
    for i in range(n):
        over[i] = 0
    for r in range(m):
        for c in range(m):
            inverse[r, c] = 0.0
        inverse[r, r], y[r] = 1.0, 0.0
        basis[r], place[2 * n + r] = 2 * n + r, r


@njit(**SMALL)
def write_scores(ZT: FloatArray, y: FloatArray, score: FloatArray) -> None:
    """Write the scores of all points at a split."""
    m, n = ZT.shape
    for i in range(n):
        score[i] = -y[m - 1]
    for c in range(m - 1):
        factor = y[c]
        if factor != 0.0:
            for i in range(n):
                score[i] += factor * ZT[c, i]


@njit(**SMALL)
def write_gains(
    place: IntArray,
    q: FloatArray,
    sign: AnyArray,
    hard: AnyArray,
    cap: FloatArray,
    over: AnyArray,
    score: FloatArray,
    gain: FloatArray,
) -> None:
    """Write what a unit of the better of the two columns of each point gains.

    Without branches, so that several points are computed at once.
    """
    n = len(sign)
    side_q, side_place = q[n : 2 * n], place[n : 2 * n]
    for i in range(n):
        kept = sign[i] * score[i]
        up = 1.0 - kept if q[i] < cap[i] - _ROUNDING else 0.0
        down = kept - 1.0 + FINE * over[i] if q[i] > _ROUNDING else 0.0
        margin = max(up, down) if (place[i] < 0) & (sign[i] != 0) else 0.0
        back = kept if side_q[i] > _ROUNDING else 0.0
        side = max(-kept, back) if (side_place[i] < 0) & (hard[i] != 0) else 0.0
        gain[i] = max(margin, side)


@njit(**SMALL)
def place_of_largest(gain: FloatArray) -> int:
    """Return the place of the first of the largest gains, none of them below 0.

    The bits of such numbers, read as whole numbers, have the same order, and several
    of these are compared at once.
    """
    bits = gain.view(np.int64)
    most = bits[0]
    for i in range(len(bits)):
        most = max(most, bits[i])
    at = 0
    while bits[at] != most:
        at += 1
    return at


@njit(**SMALL)
def best_column(
    rho: float,
    free: AnyArray,
    y: FloatArray,
    place: IntArray,
    q: FloatArray,
    sign: AnyArray,
    hard: AnyArray,
    cap: FloatArray,
    over: AnyArray,
    score: FloatArray,
    gain: FloatArray,
) -> tuple[int, float]:
    """Return the column of the largest reduced cost that may move, and that cost."""
    n, m = len(sign), len(y)
    write_gains(place, q, sign, hard, cap, over, score, gain)
    at = place_of_largest(gain)
    best, enter, reduced = LEAST_GAIN, -1, 0.0
    if gain[at] > best:
        best = gain[at]
        kept = sign[at] * score[at]
        red = 1.0 - kept - FINE * over[at]
        is_margin = (red == best and q[at] < cap[at] - _ROUNDING) or (
            -red == best and q[at] > _ROUNDING
        )
        if is_margin and place[at] < 0:
            enter, reduced = at, red
        else:
            enter, reduced = n + at, -kept
    for j in range(m - 1):
        code = 2 * n + j
        if place[code] < 0:
            red, most = -y[j], cap_of_slack(rho, free, j)
            if red > best and q[code] < most - _ROUNDING:
                best, enter, reduced = red, code, red
            elif -red > best and q[code] > _ROUNDING - most:
                best, enter, reduced = -red, code, red
    return enter, reduced


@njit(**SMALL)
def box_column(
    box: float, place: IntArray, score: FloatArray, boxed: IntArray, size: FloatArray
) -> tuple[int, float]:
    """Make a column of the box for the point farthest outside, if there is one.

    ``size`` is room.
    """
    n, m = len(score), len(boxed)
    for i in range(n):
        size[i] = abs(score[i])
    at = place_of_largest(size)
    if size[at] > box + LEAST_GAIN:
        for k in range(m):
            if place[2 * n + m + k] < 0:
                boxed[k] = at + 1 if score[at] < 0.0 else -1 - at
                return 2 * n + m + k, size[at] - box
    return -1, 0.0


@njit(**SMALL)
def cap_of_slack(rho: float, free: AnyArray, j: int) -> float:
    """Return how large the slack of a feature may be."""
    return _HUGE if free[j] else rho


@njit(**SMALL)
def bounds_of(
    code: int, n: int, m: int, rho: float, free: AnyArray, cap: FloatArray,
    over: AnyArray,
) -> tuple[float, float]:  # fmt: skip
    """Return between what a basic column may move."""
    if code < n:
        if over[code]:
            return cap[code], _HUGE
        return 0.0, cap[code]
    if code < 2 * n or code >= 2 * n + m:
        return 0.0, _HUGE
    if code == 2 * n + m - 1:
        return 0.0, 0.0
    most = cap_of_slack(rho, free, code - 2 * n)
    return -most, most


@njit(**SMALL)
def point_of(
    code: int, n: int, m: int, sign: AnyArray, boxed: IntArray
) -> tuple[int, float]:
    """Return the point of a column that is no slack, and its sign."""
    if code >= 2 * n + m:
        return boxed_point(boxed[code - 2 * n - m])
    i = code if code < n else code - n
    return i, float(sign[i])


@njit(**SMALL)
def longest_step(
    column: FloatArray,
    way: float,
    span: float,
    n: int,
    rho: float,
    free: AnyArray,
    basis: IntArray,
    q: FloatArray,
    cap: FloatArray,
    over: AnyArray,
) -> tuple[float, int]:
    """Return how far a column may move ``way`` (+1 up, -1 down), and what stops it.

    The second number is the row of the basic column that does, -1 if its own span.
    """
    m = len(basis)
    step, leave, size = span, -1, 0.0
    for r in range(m):
        rate = -way * column[r]
        if abs(rate) <= _LEAST_PIVOT:
            continue
        low, high = bounds_of(basis[r], n, m, rho, free, cap, over)
        t = ((high if rate > 0 else low) - q[basis[r]]) / rate
        t = max(t, 0.0)
        if t < step - _ROUNDING or (t < step + _ROUNDING and abs(rate) > size):
            if leave < 0 and t >= span:
                continue
            step, leave, size = min(t, step), r, abs(rate)
    return step, leave


@njit(**SMALL)
def move(
    enter: int,
    way: float,
    reduced: float,
    step: float,
    leave: int,
    column: FloatArray,
    rho: float,
    free: AnyArray,
    inverse: FloatArray,
    y: FloatArray,
    basis: IntArray,
    place: IntArray,
    q: FloatArray,
    cap: FloatArray,
    over: AnyArray,
) -> None:
    """Take a step, and pivot if a basic column stops it."""
    m, n = len(basis), len(over)
    for r in range(m):
        q[basis[r]] -= step * way * column[r]
    q[enter] += way * step
    if leave < 0:
        if enter < n and over[enter]:
            over[enter], q[enter] = 0, cap[enter]
        return
    out = basis[leave]
    low, high = bounds_of(out, n, m, rho, free, cap, over)
    q[out] = high if -way * column[leave] > 0 else low
    if out < n:
        over[out] = 0
    pivot = column[leave]
    for c in range(m):
        factor = inverse[c, leave]
        if factor != 0.0:
            factor /= pivot
            for r in range(m):
                inverse[c, r] -= column[r] * factor
            inverse[c, leave] = factor
            y[c] += reduced * factor
    place[out], place[enter], basis[leave] = -1, leave, enter


@njit(**SMALL)
def column_of(
    code: int,
    Z: FloatArray,
    sign: AnyArray,
    boxed: IntArray,
    inverse: FloatArray,
    column: FloatArray,
) -> None:
    """Write the column of a code in terms of the basis."""
    n, m = Z.shape
    if 2 * n <= code < 2 * n + m:
        for r in range(m):
            column[r] = inverse[code - 2 * n, r]
        return
    i, s = point_of(code, n, m, sign, boxed)
    for r in range(m):
        column[r] = 0.0
    for c in range(m):
        factor = s * Z[i, c]
        if factor != 0.0:
            for r in range(m):
                column[r] += inverse[c, r] * factor


@njit(**UNCOUNTED)
def solve(
    Z: FloatArray,
    ZT: FloatArray,
    rho: float,
    free: AnyArray,
    box: float,
    inverse: FloatArray,
    y: FloatArray,
    basis: IntArray,
    place: IntArray,
    q: FloatArray,
    sign: AnyArray,
    hard: AnyArray,
    cap: FloatArray,
    over: AnyArray,
    boxed: IntArray,
    most: int,
    goal: float,
    column: FloatArray,
    score: FloatArray,
    gains: FloatArray,
) -> tuple[int, bool]:
    """Take up to so many steps, or gain so much; return how many, and if solved.

    ``column``, ``score`` and ``gains`` are room.
    """
    n, m = Z.shape
    gain = 0.0
    for i in range(n):
        if over[i]:
            goal = np.inf  # fines taken off are no gain
    write_scores(ZT, y, score)
    for steps in range(most):
        enter, reduced = best_column(
            rho, free, y, place, q, sign, hard, cap, over, score, gains
        )
        if enter < 0:
            enter, reduced = box_column(box, place, score, boxed, gains)
        if enter < 0 or gain >= goal:
            return steps, enter < 0
        way = 1.0 if reduced > 0 else -1.0
        if enter < n:
            span = cap[enter] - q[enter] if way > 0 else q[enter]
            if over[enter]:
                span = q[enter] - cap[enter]
        elif 2 * n <= enter < 2 * n + m:
            span = cap_of_slack(rho, free, enter - 2 * n) - way * q[enter]
        else:
            span = _HUGE if way > 0 else q[enter]
        column_of(enter, Z, sign, boxed, inverse, column)
        step, leave = longest_step(column, way, span, n, rho, free, basis, q, cap, over)
        move(
            enter, way, reduced, step, leave, column,
            rho, free, inverse, y, basis, place, q, cap, over,
        )  # fmt: skip
        gain += step * abs(reduced)
        if leave >= 0:  # else the hyperplane is the same
            write_scores(ZT, y, score)
    return most, False


@njit(**SMALL)
def value_of(q: FloatArray, n: int, m: int, box: float) -> float:
    """Return the objective value: what the multipliers of margins and box add up to.

    Four sums at once, as each would wait for its own last number.
    """
    first, second, third, total = 0.0, 0.0, 0.0, 0.0
    for i in range(3, n, 4):
        first += q[i - 3]
        second += q[i - 2]
        third += q[i - 1]
        total += q[i]
    for i in range(n - n % 4, n):
        total += q[i]
    for code in range(2 * n + m, 2 * n + 2 * m):
        total -= box * q[code]
    return total + first + (second + third)
