"""Kernels: exact line search on the 0-1 cost, one hyperplane at a time.

Along a direction the score of point i is ``z_i + s v_i``, so the cost is piecewise
constant in the step s with a breakpoint where a point changes sides. Sorting the
breakpoints and sweeping over them gives the best step exactly; the step taken is the
middle of the best interval, or of a random one of equally good intervals.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.search.data import Points
from miptree.search.line_search import FLAT, Descent, SearchedNode, random_direction
from miptree.search.rng import below, normal, shuffle, uniform
from miptree.search.routing import (
    care_points,
    copy_into,
    largest_size,
    places,
    points_at,
    relabel,
    score_node,
    score_tree,
)
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL, UNCOUNTED

TOLERANCE = 1e-9
"""Costs closer than this (in units of a mean row weight) count as equal."""

_LONGEST_STEP = 50.0
"""Coefficients are at most 1 in size: a longer step only turns them round once more."""

_P_TIE = 0.3
"""Probability of a step that changes nothing, which walks over the plateaus."""


@njit(**UNCOUNTED)
def _interval_middle(at: FloatArray, order: IntArray, q: int) -> float:
    """Return a step inside the interval after breakpoint q, nan if it is too narrow.

    The interval before the first breakpoint has q = -1.
    """
    k = len(order)
    if q < 0:
        first = at[order[0]]
        return first - 0.05 * (1.0 + abs(first))
    start = at[order[q]]
    stop = at[order[q + 1]] if q + 1 < k else start + 0.1 * (1.0 + abs(start))
    if stop - start < 1e-9 * (1.0 + abs(start)):
        return np.nan
    return 0.5 * (start + stop)


@njit(**UNCOUNTED)
def _better_step(
    value: float, middle: float, best: float, step: float, ties: int, state: AnyArray
) -> tuple[float, float, int]:
    """Compare an interval with the best so far; draw between equally good ones.

    ``ties`` counts those. Returns the best value, its step and the new count.
    """
    if not abs(middle) < _LONGEST_STEP:  # true for nan
        return best, step, ties
    if value < best - TOLERANCE:
        return value, middle, 1
    if uniform(state) * (ties + 1) < 1.0:
        step = middle
    return best, step, ties + 1


@njit(**KERNEL)
def best_step_fixed(
    z: FloatArray, v: FloatArray, gain: FloatArray, state: AnyArray
) -> tuple[float, float]:
    """Find the best step when the subtrees below the node stay as they are.

    Minimises the sum of ``gain[i]`` over the points with ``z[i] + step * v[i] > 0``.

    Returns
    -------
    change : float
        Cost at the best step less the cost now, at most 0.
    step : float
        0 when no other interval is as good.
    """
    m = len(z)
    at = np.empty(m)
    jump = np.empty(m)
    k = 0
    value = 0.0  # cost at a step of minus infinity, less the cost now
    for i in range(m):
        if z[i] > 0.0:
            value -= gain[i]
        if abs(v[i]) > FLAT:
            at[k] = -z[i] / v[i]
            if v[i] > 0.0:
                jump[k] = gain[i]
            else:
                jump[k] = -gain[i]
                value += gain[i]
            k += 1
        elif z[i] > 0.0:
            value += gain[i]
    order = np.argsort(at[:k])
    best, step, ties = 0.0, 0.0, 0
    for q in range(-1, k):
        if q >= 0:
            value += jump[order[q]]
        if value <= best + TOLERANCE and k > 0:
            middle = _interval_middle(at, order, q)
            best, step, ties = _better_step(value, middle, best, step, ties, state)
    return best, step


@njit(**UNCOUNTED)
def _move_class(
    side: FloatArray, add: float, i: int, y: IntArray, w: FloatArray, cost: FloatArray
) -> None:
    """Add a point to (or take it from) the class costs of one side."""
    if cost.shape[0] > 0:
        for k in range(len(side)):
            side[k] += add * cost[i, k]
    else:
        side[y[i]] -= add * w[i]


@njit(**UNCOUNTED)
def _smallest(values: FloatArray) -> float:
    """Return the least of some values (``values.min()`` compiles much longer)."""
    least = values[0]
    for k in range(1, len(values)):
        least = min(least, values[k])
    return least


@njit(**KERNEL)
def best_step_leaf(
    z: FloatArray, v: FloatArray, index: IntArray, points: Points, state: AnyArray
) -> tuple[float, float]:
    """Find the best step at a node above two leaves, whose classes are free.

    Minimises the cheapest class on the left plus the cheapest class on the right, over
    the points of the given numbers. Returns the change and the step, as
    :func:`best_step_fixed` does.
    """
    _, y, weight, cost, _ = points
    m, n_classes = len(z), cost.shape[1]
    at = np.empty(m)
    who = np.empty(m, np.int64)
    left, right = np.zeros(n_classes), np.zeros(n_classes)
    now_left, now_right = np.zeros(n_classes), np.zeros(n_classes)
    k = 0
    for q in range(m):
        i = index[q]
        if z[q] > 0.0:
            _move_class(now_right, 1.0, i, y, weight, cost)
        else:
            _move_class(now_left, 1.0, i, y, weight, cost)
        starts_right = z[q] > 0.0
        if abs(v[q]) > FLAT:
            at[k] = -z[q] / v[q]
            who[k] = q
            k += 1
            starts_right = v[q] < 0.0
        if starts_right:
            _move_class(right, 1.0, i, y, weight, cost)
        else:
            _move_class(left, 1.0, i, y, weight, cost)
    now = _smallest(now_left) + _smallest(now_right)
    order = np.argsort(at[:k])
    best, step, ties = 0.0, 0.0, 0
    for q in range(-1, k):
        if q >= 0:
            i = index[who[order[q]]]
            to_right = 1.0 if v[who[order[q]]] > 0.0 else -1.0
            _move_class(right, to_right, i, y, weight, cost)
            _move_class(left, -to_right, i, y, weight, cost)
        value = _smallest(left) + _smallest(right) - now
        if value <= best + TOLERANCE and k > 0:
            middle = _interval_middle(at, order, q)
            best, step, ties = _better_step(value, middle, best, step, ties, state)
    return best, step


@njit(**UNCOUNTED)
def _normalise(
    points: Points, tree: HeapTree, Z: FloatArray, node: SearchedNode, state: AnyArray
) -> None:
    """Scale a hyperplane to a largest coefficient of 1; wake up an unused one.

    An unused split gets a random hyperplane through one of its points.
    """
    b, XT = node.b, points.XT
    coef, threshold = tree.coef, tree.threshold
    through = node.rows[below(state, len(node.rows))]
    largest = largest_size(coef[b])
    if largest < 1e-9:
        threshold[b] = 0.0
        for j in node.features:
            coef[b, j] = normal(state)
            threshold[b] += coef[b, j] * XT[j, through]
        largest = largest_size(coef[b])
    for j in range(coef.shape[1]):
        coef[b, j] /= largest
    threshold[b] /= largest
    score_node(XT, coef[b], threshold[b], Z[b])


@njit(**INNER)
def _search_node(
    points: Points, tree: HeapTree, Z: FloatArray, node: SearchedNode, descent: Descent
) -> None:
    """Search lines at one node: each coordinate, the threshold, random directions."""
    XT, b, features, index = points.XT, node.b, node.features, node.rows
    stop, state = descent.stop, descent.state
    d, m = len(features), len(index)
    leaf_parent = 2 * b + 1 >= Z.shape[0]
    z, v, direction = np.empty(m), np.empty(m), np.zeros(XT.shape[0])
    for q in range(m):
        z[q] = Z[b, index[q]]
    order = np.empty(d + 1 + descent.effort.n_random, np.int64)
    shuffle(state, order)
    for j in order:
        if stop[0]:
            break
        shift = 1.0
        if j < d:
            for q in range(m):
                v[q] = XT[features[j], index[q]]
        elif j == d:
            v[:] = -1.0
        else:
            shift = random_direction(points, node, direction, state)
            v[:] = -shift
            for c in features:
                if direction[c] != 0.0:
                    for q in range(m):
                        v[q] += direction[c] * XT[c, index[q]]
        if leaf_parent:
            change, step = best_step_leaf(z, v, index, points, state)
        else:
            change, step = best_step_fixed(z, v, node.gain, state)
        if step == 0.0 or (change > -TOLERANCE and uniform(state) >= _P_TIE):
            continue
        if j < d:
            tree.coef[b, features[j]] += step
        else:
            tree.threshold[b] += step * shift
        if j > d:
            for c in features:
                tree.coef[b, c] += step * direction[c]
        for q in range(m):
            z[q] += step * v[q]


@njit(**UNCOUNTED)
def _copy_tree(target: HeapTree, source: HeapTree) -> None:
    """Copy a tree onto another one."""
    copy_into(target.coef, source.coef)
    copy_into(target.threshold, source.threshold)
    copy_into(target.label, source.label)


@njit(**KERNEL)
def descend_01(points: Points, tree: HeapTree, descent: Descent) -> float:
    """Improve a tree by line searches at all its nodes, in place.

    Some equally good steps are taken as well; the best tree met is returned in place
    and its cost as the result.
    """
    XT, coef, threshold = points.XT, tree.coef, tree.threshold
    stop, state = descent.stop, descent.state
    n_branch = len(threshold)
    Z = score_tree(XT, coef, threshold)
    best = relabel(points, tree, Z)
    best_tree = HeapTree(coef.copy(), threshold.copy(), tree.label.copy())
    nodes = np.empty(n_branch, np.int64)
    stalled = 0
    for _ in range(descent.effort.sweeps):
        before = best
        shuffle(state, nodes)
        for b in nodes:
            if stop[0]:
                break
            features = places(descent.may_change[b])
            if len(features) == 0:
                continue
            if 2 * b + 1 >= n_branch:
                index, gain = points_at(Z, b), np.empty(0)
            else:
                index, gain = care_points(points, tree, Z, b)
            if len(index) == 0:
                continue
            node = SearchedNode(int(b), features, index, gain)
            _normalise(points, tree, Z, node, state)
            _search_node(points, tree, Z, node, descent)
            score_node(XT, coef[b], threshold[b], Z[b])
            value = relabel(points, tree, Z)
            if value <= best + TOLERANCE:
                best = value
                _copy_tree(best_tree, tree)
        stalled = 0 if best < before - TOLERANCE else stalled + 1
        if stop[0] or stalled >= descent.effort.patience or best <= TOLERANCE:
            break
    _copy_tree(tree, best_tree)
    return best
