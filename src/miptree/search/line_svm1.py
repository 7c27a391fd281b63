"""Kernels: exact line search on objective (1a), one hyperplane at a time.

Along a direction the score of point i is ``z_i + s v_i``, so (1a) is piecewise linear
in the step s: a kink where a score passes -margin or +margin, a kink and a jump (the
other subtree's cost) where it passes 0, a kink where a coefficient changes sign. A
sweep over the sorted breakpoints inside the box abs(score) <= 1 finds the minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.search.data import Penalties, Points
from miptree.search.line_search import FLAT, Descent, SearchedNode, random_direction
from miptree.search.rng import shuffle
from miptree.search.routing import (
    copy_into,
    largest_size,
    places,
    point_cost,
    points_at,
    relabel,
    score_node,
    score_tree,
)
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray
from miptree.utils.jit import INNER, KERNEL, UNCOUNTED, UNCOUNTED_KERNEL

_INSIDE = 1.0 - 1e-9
"""Steps stop a little inside the box, so that rounding does not leave it."""

_LEAST_GAIN = 1e-3
"""Part of the objective that a sweep must gain for another one to follow."""


class NodeLine(NamedTuple):
    """A line along which one hyperplane moves, and the points at its node."""

    z: FloatArray
    """(m,): scores of the points now."""
    v: FloatArray
    """(m,): change of the scores per unit step."""
    gain: FloatArray
    """(m,): cost of each point on the right less that on the left."""
    slack_price: FloatArray
    """(m,): price of a unit of missing margin."""
    coef: FloatArray
    """(d,): coefficients now."""
    direction: FloatArray
    """(d,): change of the coefficients per unit step."""


@njit(**UNCOUNTED)
def _missing(score: float, margin: float) -> float:
    """Return how much of the margin a score lacks."""
    return max(0.0, margin - abs(score))


@njit(**UNCOUNTED)
def _cost_below(
    points: Points,
    tree: HeapTree,
    Z: FloatArray,
    penalties: Penalties,
    node: int,
    i: int,
) -> float:
    """Count the error and the slack of point i from a node down to its leaf."""
    n_branch = Z.shape[0]
    total = 0.0
    while node < n_branch:
        missing = _missing(Z[node, i], penalties.margin)
        total += penalties.slack_penalty * points.weight[i] * missing
        node = 2 * node + 2 if Z[node, i] > 0.0 else 2 * node + 1
    return total + point_cost(points, i, tree.label[node - n_branch])


@njit(**KERNEL)
def side_costs(
    points: Points, tree: HeapTree, Z: FloatArray, penalties: Penalties, b: int
) -> tuple[IntArray, FloatArray]:
    """Find the points at node b and what they cost there.

    Returns their numbers, and (m, 3): their errors and slacks from the node down as
    they are, from its left child down, and from its right child down.
    """
    index = points_at(Z, b)
    costs = np.empty((len(index), 3))
    for q, i in enumerate(index):
        for k, node in enumerate((b, 2 * b + 1, 2 * b + 2)):
            costs[q, k] = _cost_below(points, tree, Z, penalties, node, i)
    return index, costs


@njit(**UNCOUNTED)
def _objective(
    points: Points, tree: HeapTree, Z: FloatArray, penalties: Penalties
) -> float:
    """Count (1a) of a tree inside the box; only the open features have a norm."""
    total = 0.0
    for b in range(tree.coef.shape[0]):
        for j in range(points.n_open):
            total += penalties.l1_penalty * abs(tree.coef[b, j])
    for i in range(Z.shape[1]):
        total += _cost_below(points, tree, Z, penalties, 0, i)
    return total


@njit(**KERNEL)
def best_step_svm1(
    line: NodeLine, low: float, high: float, penalties: Penalties
) -> tuple[float, float]:
    """Find the best step in [low, high], which has 0 in it, along a line.

    Minimises the sum over the points of ``gain[i] * (z[i] + step * v[i] > 0)`` and
    ``slack_price[i]`` times the missing margin, plus ``l1_penalty`` times the 1-norm
    of ``coef + step * direction``.

    Returns
    -------
    change : float
        Objective at the best step less the objective now, at most 0.
    step : float
    """
    z, v, gain, slack_price, coef, direction = line
    l1_penalty, margin = penalties.l1_penalty, penalties.margin
    m, d = len(z), len(coef)
    at, bend, jump = np.empty(3 * m + d), np.empty(3 * m + d), np.zeros(3 * m + d)
    k = 0
    value, slope = 0.0, 0.0  # at the step ``low``, less the objective now
    for i in range(m):
        if abs(v[i]) <= FLAT:
            continue
        start, speed, price = z[i] + low * v[i], abs(v[i]), slack_price[i]
        value += price * (_missing(start, margin) - _missing(z[i], margin))
        if (start > 0.0) != (z[i] > 0.0):
            value += gain[i] if start > 0.0 else -gain[i]
        p = start if v[i] > 0.0 else -start  # grows with the step, passes 0 once
        if -margin < p < 0.0:
            slope += price * speed
        elif 0.0 <= p < margin:
            slope -= price * speed
        if p + (high - low) * speed < -margin:
            continue  # stays out of the margin for all steps
        if p <= -margin:
            at[k], bend[k] = low - (p + margin) / speed, price * speed
            k += 1
        if p < 0.0 or (p == 0.0 and v[i] > 0.0):
            at[k], bend[k] = low - p / speed, -2.0 * price * speed
            jump[k] = gain[i] if v[i] > 0.0 else -gain[i]
            if p == 0.0:
                bend[k] = 0.0  # its slope was counted above
            k += 1
        if p < margin:
            at[k], bend[k] = low + (margin - p) / speed, price * speed
            k += 1
    for j in range(d):
        if direction[j] == 0.0:
            continue
        start, speed = coef[j] + low * direction[j], abs(direction[j])
        value += l1_penalty * (abs(start) - abs(coef[j]))
        p = start if direction[j] > 0.0 else -start
        slope += l1_penalty * speed * (-1.0 if p < 0.0 else 1.0)
        if p < 0.0:
            at[k], bend[k] = low - p / speed, 2.0 * l1_penalty * speed
            k += 1
    best, step = 0.0, 0.0
    if value < best:
        best, step = value, low
    order = np.argsort(at[:k])
    here = low
    for q in range(k):
        e = order[q]
        if at[e] >= high:
            break
        value += slope * (at[e] - here)
        here = at[e]
        # At a jump the point must be clear of the hyperplane, on either side of it.
        clear = 0.0 if jump[e] == 0.0 else 1e-12 * (1.0 + abs(here))
        if value < best:
            best, step = value, max(low, here - clear)
        slope += bend[e]
        value += jump[e]
        if value < best:
            best, step = value, min(high, here + clear)
    value += slope * (high - here)
    if value < best:
        best, step = value, high
    return best, step


@njit(**UNCOUNTED_KERNEL)
def box_range(score: FloatArray, v: FloatArray) -> tuple[float, float]:
    """Return the steps, from low to high, that keep all scores in the box.

    Score i becomes ``score[i] + step * v[i]``; the step 0 is always among them.
    """
    low, high = -1e6, 1e6
    for i in range(len(score)):
        if abs(v[i]) > FLAT:
            one, two = (-_INSIDE - score[i]) / v[i], (_INSIDE - score[i]) / v[i]
            low, high = max(low, min(one, two)), min(high, max(one, two))
    return min(low, 0.0), max(high, 0.0)


@njit(**UNCOUNTED)
def _into_box(coef: FloatArray, threshold: FloatArray, Z: FloatArray) -> None:
    """Shrink the hyperplanes that leave the box abs(score) <= 1, in place."""
    for b in range(len(threshold)):
        largest = largest_size(Z[b])
        if largest > 1.0:
            threshold[b] /= largest
            for j in range(coef.shape[1]):
                coef[b, j] /= largest
            for i in range(Z.shape[1]):
                Z[b, i] /= largest


@njit(**KERNEL)
def value_in_box(
    points: Points, tree: HeapTree, penalties: Penalties
) -> tuple[float, FloatArray]:
    """Shrink a tree into the box and relabel it, in place; count (1a).

    Returns the value and the scores (B, n).
    """
    Z = score_tree(points.XT, tree.coef, tree.threshold)
    _into_box(tree.coef, tree.threshold, Z)
    Z = score_tree(points.XT, tree.coef, tree.threshold)
    relabel(points, tree, Z)
    return _objective(points, tree, Z, penalties), Z


@njit(**INNER)
def _search_node(
    points: Points,
    tree: HeapTree,
    Z: FloatArray,
    penalties: Penalties,
    node: SearchedNode,
    descent: Descent,
) -> float:
    """Search lines at one node; return the sum of the changes.

    The directions are each coordinate, the threshold, the length of the hyperplane and
    random ones. Points that do not reach the node still bound the box.
    """
    XT, b, features, index = points.XT, node.b, node.features, node.rows
    stop, state = descent.stop, descent.state
    coef, threshold = tree.coef[b], tree.threshold
    n, d, m = XT.shape[1], len(features), len(index)
    z, v, price, all_v = np.empty(m), np.empty(m), np.empty(m), np.empty(n)
    for q in range(m):
        price[q] = penalties.slack_penalty * points.weight[index[q]]
    direction = np.empty(XT.shape[0])
    line = NodeLine(z, v, node.gain, price, coef, direction)
    # Without points there is nothing to turn the hyperplane round.
    order = np.empty(d + 2 + (descent.effort.n_random if m > 0 else 0), np.int64)
    shuffle(state, order)
    total = 0.0
    for j in order:
        if stop[0]:
            break
        shift = 0.0
        direction[:] = 0.0
        if j < d:
            direction[features[j]] = 1.0
            copy_into(all_v, XT[features[j]])
        elif j == d:
            shift = 1.0
            all_v[:] = -1.0
        elif j == d + 1:
            copy_into(direction, coef)
            shift = threshold[b]
            copy_into(all_v, Z[b])
        else:
            shift = random_direction(points, node, direction, state)
            score_node(XT, direction, shift, all_v)
        low, high = box_range(Z[b], all_v)
        if high - low < FLAT or high - low > 1e5:
            continue
        for q in range(m):
            z[q], v[q] = Z[b, index[q]], all_v[index[q]]
        change, step = best_step_svm1(line, low, high, penalties)
        if change < -1e-9:
            for c in features:
                coef[c] += step * direction[c]
            threshold[b] += step * shift
            for i in range(n):
                Z[b, i] += step * all_v[i]
            total += change
    return total


@njit(**KERNEL)
def descend_svm1(
    points: Points, tree: HeapTree, penalties: Penalties, descent: Descent
) -> float:
    """Improve (1a) by line searches at all nodes, in place; return its value.

    It also ends when a sweep gains little. After every node the objective is counted
    afresh, and the node is put back if it did not fall.
    """
    XT, (coef, threshold, label) = points.XT, tree
    stop, state = descent.stop, descent.state
    value, Z = value_in_box(points, tree, penalties)
    nodes = np.empty(len(threshold), np.int64)
    old_label = label.copy()
    for _ in range(descent.effort.sweeps):
        before = value
        shuffle(state, nodes)
        for b in nodes:
            if stop[0]:
                break
            features = places(descent.may_change[b])
            if len(features) == 0:
                continue
            index = points_at(Z, b)
            gain = np.empty(len(index))
            for q, i in enumerate(index):
                right = _cost_below(points, tree, Z, penalties, 2 * b + 2, i)
                gain[q] = right - _cost_below(points, tree, Z, penalties, 2 * b + 1, i)
            old_coef, old_threshold = coef[b].copy(), threshold[b]
            copy_into(old_label, label)
            node = SearchedNode(int(b), features, index, gain)
            change = _search_node(points, tree, Z, penalties, node, descent)
            if change == 0.0:
                continue
            score_node(XT, coef[b], threshold[b], Z[b])
            _into_box(coef[b : b + 1], threshold[b : b + 1], Z[b : b + 1])
            score_node(XT, coef[b], threshold[b], Z[b])
            relabel(points, tree, Z)
            new = _objective(points, tree, Z, penalties)
            if new < value:
                value = new
            else:
                threshold[b] = old_threshold
                copy_into(coef[b], old_coef)
                copy_into(label, old_label)
                score_node(XT, coef[b], threshold[b], Z[b])
        if stop[0] or before - value <= _LEAST_GAIN * before:
            break
    return value
