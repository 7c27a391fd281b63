"""Kernels of the search over root splits: evaluate one, bound all, take the next.

Every evaluated root split leaves two **anchors**, the rows on its sides. A set of rows
costs at least what an anchor costs, less the weight of the anchor's rows outside of it.
So the sides of all other root splits get a bound at once. The root split of the lowest
bound comes next; its bound holds for all trees that are not evaluated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from miptree.points.evaluate import NO_SPLIT, Reach, Sides, evaluate
from miptree.points.histograms import all_sums, bin_of, class_ends, left_of
from miptree.points.layout import Rows, Space
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.jit import INNER, KERNEL

NO_ROOT = -1
"""Number of the root split that sends all rows left."""
# Places in State.number
(
    N_LIVE,
    BEST,
    N_EVALUATED,
    NEXT_BOUND,
    NEXT_FITTING,
    LOWEST,
    N_TRIED,
    SHARE,
    N_SHARES,
) = range(9)
MOST_TRIES = 300
"""Root splits tried because they fit the best tree, until one is better."""

MOST_IMPROVEMENTS = 6
"""Times that the root of a better tree is chosen anew."""


class State(NamedTuple):
    """What is known of the root splits so far.

    ``number`` holds N_LIVE directions with root splits that may be better, the cost of
    the BEST tree, N_EVALUATED root splits, the live ones of the lowest bound
    (NEXT_BOUND) and of the lowest cost with the subtrees of the best tree
    (NEXT_FITTING), the LOWEST bound, N_TRIED fitting ones since the best tree, and
    SHARE of N_SHARES: the directions whose root splits are to be evaluated here have
    the number SHARE modulo N_SHARES.
    """

    number: AnyArray
    margin: FloatArray
    """(1,): sum of the gaps of the best tree."""
    tree: AnyArray
    """(3, 3) int64: splits of root, left and right node of the best tree."""
    live: AnyArray
    """(F,) int32: the first N_LIVE are the live directions."""
    bound_left: AnyArray
    """(M,): bounds on the cost of the left sides; endless where a root split is none,
    as a side has no rows, and where it is evaluated."""
    bound_right: AnyArray
    """(M,): the same of the right sides."""
    fitting: AnyArray
    """(M,): cost of each root split with the subtrees of the best tree."""
    order: AnyArray
    """(M + 1,) int32: the first N_EVALUATED are those evaluated, in order."""
    reach: Reach
    sides: Sides
    left: AnyArray
    """(n,) bool: rows on the left of the one evaluated last."""
    total: AnyArray
    """(M * Y,): weight of each class up to each bin, of all rows."""
    sums: AnyArray
    """(S,) int64: penalties that the splits of a tree may have in sum."""
    grain: AnyArray
    """(1,) int64: the costs of all rows are multiples of it."""


@njit(**INNER)
def endless(state: State) -> int:
    """Return more than any tree costs."""
    return np.iinfo(state.bound_left.dtype).max // 4


@njit(**INNER)
def is_live(state: State, root: int) -> bool:
    """Tell whether a root split has rows on both sides and was not evaluated."""
    return state.bound_left[root] < endless(state)


@njit(**INNER)
def weight_upto(space: Space, state: State, f: int, b: int) -> int:
    """Return the weight of all rows up to bin b of direction f."""
    n_bins, n_classes = space.n_bins[f], state.sides.weight.shape[1]
    weight = 0
    for y in range(n_classes):
        weight += state.total[space.offset[f] * n_classes + y * n_bins + b]
    return weight


@njit(**KERNEL)
def fill_totals(space: Space, rows: Rows, state: State) -> None:
    """Add up all rows, and make every split live that has rows on both sides."""
    n_classes = state.sides.weight.shape[1]
    ends = class_ends(rows.label, n_classes)
    all_sums(space, rows.grid, rows.weight, ends, state.total)
    state.bound_left[:] = endless(state)
    for f in range(len(space.n_bins)):
        state.live[f] = f
        before, lower = -1, 0
        for b in range(space.n_bins[f]):
            weight = weight_upto(space, state, f, b)
            if weight > lower:
                if before >= 0:
                    state.bound_left[space.offset[f] + before] = 0
                before, lower = b, weight
    state.number[N_LIVE] = len(space.n_bins)


@njit(**KERNEL)
def impurities(
    space: Space, state: State, impurity: FloatArray, split: AnyArray
) -> None:
    """Set the least Gini impurity of a live split of each set of columns, and it."""
    n_classes = state.sides.weight.shape[1]
    for g in range(len(impurity)):
        for f in range(space.group[g], space.group[g + 1]):
            n_bins, start = space.n_bins[f], space.offset[f] * n_classes
            for b in range(n_bins):
                m = space.offset[f] + b
                if not is_live(state, m):
                    continue
                below, above, of_below, of_above = 0.0, 0.0, 0.0, 0.0
                for y in range(n_classes):
                    upto = state.total[start + y * n_bins + b]
                    low = float(upto)
                    high = float(state.total[start + (y + 1) * n_bins - 1] - upto)
                    below, above = below + low, above + high
                    of_below, of_above = of_below + low * low, of_above + high * high
                impure = -(of_below / below + of_above / above)
                if impure < impurity[g]:
                    impurity[g], split[g] = impure, m


@njit(**INNER)
def largest_below(state: State) -> int:
    """Return the largest cost that a tree better than the best may have."""
    best, grain = state.number[BEST], state.grain[0]
    if len(state.sums) == 0:
        return best - 1
    largest = -1
    for s in state.sums:
        if s < best:
            largest = max(largest, s + (best - 1 - s) // grain * grain)
    return largest


@njit(**INNER)
def absorb(space: Space, state: State, cost_left: int, cost_right: int) -> None:
    """Bound the sides of all live root splits by the two sides of the last one.

    ``cost_left`` and ``cost_right`` are lower bounds on what these sides cost.
    Directions whose root splits cannot be better are no longer live.
    """
    number, endlessly = state.number, endless(state)
    cutoff = min(largest_below(state), endlessly - 1)
    spare_left = state.sides.weight[0].sum() - cost_left
    spare_right = state.sides.weight[1].sum() - cost_right
    n_live, lowest, own_lowest, least_fitting = 0, number[BEST], endlessly, endlessly
    by_bound, by_fitting, seeks_fitting = -1, -1, number[N_TRIED] < MOST_TRIES
    bound_left, bound_right, fit = state.bound_left, state.bound_right, state.fitting
    reach_left, reach_right = state.reach.left, state.reach.right
    for k in range(number[N_LIVE]):
        f = state.live[k]
        limit = cutoff - space.penalty[f]
        first, last = space.offset[f], space.offset[f + 1]
        of_left, of_right = reach_left[first:last], reach_right[first:last]
        bounds = bound_left[first:last], bound_right[first:last]
        low = _raise(
            bounds[0], bounds[1], of_left, of_right,
            spare_left, spare_right, cost_left, cost_right,
        )  # fmt: skip
        if low > limit:
            continue
        state.live[n_live] = f
        n_live += 1
        low += space.penalty[f]
        lowest = min(lowest, low)
        if f % number[N_SHARES] == number[SHARE]:
            if low < own_lowest:
                own_lowest, by_bound = low, f
            fitting = least_fitting
            if seeks_fitting:
                fitting = _least_fitting(bounds[0], bounds[1], fit[first:last], limit)
            if fitting < least_fitting:
                least_fitting, by_fitting = fitting, f
    number[N_LIVE], number[LOWEST] = n_live, lowest
    number[NEXT_BOUND] = _place_of_bound(space, state, by_bound)
    number[NEXT_FITTING] = _place_of_fitting(space, state, by_fitting, cutoff)


@njit(**INNER)
def _raise(
    left: AnyArray,
    right: AnyArray,
    of_left: AnyArray,
    of_right: AnyArray,
    spare_left: int,
    spare_right: int,
    cost_left: int,
    cost_right: int,
) -> int:
    """Raise the bounds of one direction to those of two anchors; return the lowest."""
    lowest = left[0] + right[0] + cost_left + cost_right
    for b in range(len(left)):
        found = max(of_left[b] - spare_left, of_right[b] - spare_right)
        left[b] = max(left[b], found)
        found = max(cost_left - of_left[b], cost_right - of_right[b])
        right[b] = max(right[b], found)
        lowest = min(lowest, left[b] + right[b])
    return lowest


@njit(**INNER)
def _least_fitting(
    left: AnyArray, right: AnyArray, fitting: AnyArray, limit: int
) -> int:
    """Return the least cost with given subtrees of roots with bounds in the limit."""
    nothing = np.iinfo(left.dtype).max // 4
    least = nothing
    for b in range(len(left)):
        least = min(least, fitting[b] if left[b] + right[b] <= limit else nothing)
    return least


@njit(**INNER)
def _place_of_bound(space: Space, state: State, f: int) -> int:
    """Return the first root split of the lowest bound of a direction."""
    if f < 0:
        return NO_ROOT
    place, low = NO_ROOT, endless(state)
    for m in range(space.offset[f], space.offset[f + 1]):
        bound = state.bound_left[m] + state.bound_right[m]
        if bound < low:
            low, place = bound, m
    return place


@njit(**INNER)
def _place_of_fitting(space: Space, state: State, f: int, cutoff: int) -> int:
    """Return the first root split that fits best, of those that may be better."""
    if f < 0:
        return NO_ROOT
    place, least = NO_ROOT, endless(state)
    limit = cutoff - space.penalty[f]
    for m in range(space.offset[f], space.offset[f + 1]):
        bound = state.bound_left[m] + state.bound_right[m]
        if bound <= limit and state.fitting[m] < least:
            least, place = state.fitting[m], m
    return place


@njit(**INNER)
def finish(state: State, root: int) -> None:
    """Note that a root split is evaluated."""
    if root != NO_ROOT:
        state.bound_left[root] = endless(state)
    state.order[state.number[N_EVALUATED]] = root
    state.number[N_EVALUATED] += 1


@njit(**INNER)
def try_root(space: Space, rows: Rows, state: State, root: int, min_leaf: int) -> bool:
    """Evaluate a root split, bound all others, and return whether it is the best."""
    number, sides = state.number, state.sides
    f, b, after = begin_root(space, rows, state, root)
    penalty, gap = 0, 0.0
    if root != NO_ROOT:
        penalty = space.penalty[f]
        gap = (after - b) * space.shortness[f]
    evaluate(space, rows, state.total, state.left, min_leaf, state.reach, sides)
    cost = np.int64(sides.cost[0]) + sides.cost[1] + penalty
    margin = gap + sides.gap[0] + sides.gap[1]
    is_better = cost < number[BEST]
    if is_better or (cost == number[BEST] and margin > state.margin[0]):
        number[BEST], state.margin[0] = cost, margin
        state.tree[0, 0], state.tree[0, 1], state.tree[0, 2] = f, b, after
        for k in range(6):
            state.tree[1 + k // 3, k % 3] = sides.split[k // 3, k % 3]
    if is_better:
        set_fitting(space, rows, _subtree_costs(space, rows, state), state.fitting)
        number[N_TRIED] = 0
    absorb(space, state, sides.bound[0], sides.bound[1])
    return is_better


@njit(**INNER)
def next_bin(space: Space, state: State, f: int, b: int) -> int:
    """Return the next bin of direction f that holds rows."""
    after = b + 1
    here = weight_upto(space, state, f, b)
    while after < space.n_bins[f] - 1 and weight_upto(space, state, f, after) == here:
        after += 1
    return after


@njit(**INNER)
def begin_root(
    space: Space, rows: Rows, state: State, root: int
) -> tuple[int, int, int]:
    """Find the rows on the left of a root split.

    Returns its direction, its last bin on the left and the first on the right.
    """
    f, b, after = NO_SPLIT, 0, 0
    if root == NO_ROOT:
        state.left[:] = True
    else:
        f = space.direction[root]
        b = root - space.offset[f]
        left_of(space, f, b, rows.grid, state.left)
        after = next_bin(space, state, f, b)
    finish(state, root)
    return f, b, after


@njit(**INNER)
def set_fitting(space: Space, rows: Rows, cost: AnyArray, fitting: AnyArray) -> None:
    """Set the cost of every root split with given subtrees, in the cheaper order.

    ``cost`` (2, n) is what each row costs in the two subtrees. The penalty of the root
    is left out.
    """
    ends = np.array([0, len(rows.label)])
    all_sums(space, rows.grid, cost[0] - cost[1], ends, fitting)
    in_first, in_second = cost[0].sum(), cost[1].sum()
    for m in range(len(fitting)):
        moved = fitting[m]
        fitting[m] = min(in_second + moved, in_first - moved)


@njit(**INNER)
def _subtree_costs(space: Space, rows: Rows, state: State) -> AnyArray:
    """Return (2, n): what each row costs in the left and in the right subtree."""
    n_rows, n_classes = len(rows.label), state.sides.weight.shape[1]
    weight = np.zeros((4, n_classes), np.int64)
    leaf = np.zeros((2, n_rows), np.int8)
    f, b = state.tree[0, 0], state.tree[0, 1]
    for i in range(n_rows):
        side = 0 if f == NO_SPLIT or bin_of(space, f, rows.grid, i) <= b else 1
        for k in range(2):
            g, c = state.tree[1 + k, 0], state.tree[1 + k, 1]
            goes_right = g != NO_SPLIT and bin_of(space, g, rows.grid, i) > c
            leaf[k, i] = 2 * k + (1 if goes_right else 0)
        weight[leaf[side, i], rows.label[i]] += rows.weight[i]
    label = np.zeros(4, np.int64)
    for k in range(4):
        label[k] = weight[k].argmax()
    cost = np.zeros((2, n_rows), rows.weight.dtype)
    for k in range(2):
        for i in range(n_rows):
            if label[leaf[k, i]] != rows.label[i]:
                cost[k, i] = rows.weight[i]
    return cost


@njit(**KERNEL)
def advance(
    space: Space,
    rows: Rows,
    state: State,
    starts: AnyArray,
    min_leaf: int,
    n_steps: int,
    flag: AnyArray,
) -> int:
    """Evaluate so many root splits, unless flagged or none is left.

    First come those to start with; how many of them are done is returned. Then live
    ones are taken by their bound, and every second one because it fits the subtrees of
    the best tree, for as long as that may help.
    """
    number = state.number
    if number[N_EVALUATED] > 0:
        absorb(space, state, 0, 0)  # other threads may have raised bounds
    n_starts, n_done, improves = 0, 0, 0
    while n_done < n_steps and not flag[0]:
        if improves > 0 and number[NEXT_FITTING] != NO_ROOT:
            root, improves = number[NEXT_FITTING], improves - 1
        elif n_starts < len(starts):
            root, n_starts, improves = starts[n_starts], n_starts + 1, 0
            if root != NO_ROOT and not is_live(state, root):
                continue
        else:
            if number[NEXT_BOUND] == NO_ROOT:
                break
            by_fit = number[N_EVALUATED] % 2 == 1 and number[NEXT_FITTING] != NO_ROOT
            root = number[NEXT_FITTING] if by_fit else number[NEXT_BOUND]
            number[N_TRIED] += 1 if by_fit else 0
        n_done += 1
        is_better = try_root(space, rows, state, root, min_leaf)
        # The root of a better tree is chosen anew with the subtrees fixed.
        improves = (improves or MOST_IMPROVEMENTS) if is_better and root >= 0 else 0
    return n_starts
