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
from miptree.points.histograms import all_bins, bin_of, left_of
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


class State(NamedTuple):
    """What is known of the root splits so far.

    ``number`` holds N_LIVE root splits that may be better, the cost of the BEST tree,
    N_EVALUATED root splits, the live ones of the lowest bound (NEXT_BOUND) and of the
    lowest cost with the subtrees of the best tree (NEXT_FITTING), the LOWEST bound,
    N_TRIED fitting ones since the best tree, and SHARE of N_SHARES: the root splits
    that are to be evaluated here have the number SHARE modulo N_SHARES.
    """

    number: AnyArray
    margin: FloatArray
    """(1,): sum of the gaps of the best tree."""
    tree: AnyArray
    """(3, 3) int64: splits of root, left and right node of the best tree."""
    live: AnyArray
    """(M,) int32: the first N_LIVE are the live root splits."""
    bound_left: AnyArray
    bound_right: AnyArray
    """(M,): lower bounds on the cost of the sides."""
    fitting: AnyArray
    """(M,): cost of each root split with the subtrees of the best tree."""
    is_done: AnyArray
    """(M,) bool: the evaluated ones."""
    order: AnyArray
    """(M + 1,) int32: the first N_EVALUATED are those evaluated, in order."""
    reach: Reach
    sides: Sides
    left: AnyArray
    """(n,) bool: rows on the left of the one evaluated last."""
    total: AnyArray
    """(M * Y,): weight of each class in each bin, of all rows."""
    sums: AnyArray
    """(S,) int64: penalties that the splits of a tree may have in sum."""
    grain: AnyArray
    """(1,) int64: the costs of all rows are multiples of it."""


@njit(**KERNEL)
def fill_totals(space: Space, rows: Rows, state: State) -> None:
    """Count all rows, and make every split live that has rows on both sides."""
    n_classes = len(state.total) // space.offset[-1]
    all_bins(space, rows.grid, rows.label, rows.weight, n_classes, state.total)
    n_live = 0
    for f in range(len(space.n_bins)):
        before = -1
        for b in range(space.n_bins[f]):
            start = (space.offset[f] + b) * n_classes
            if state.total[start : start + n_classes].sum() > 0:
                if before >= 0:
                    state.live[n_live] = space.offset[f] + before
                    n_live += 1
                before = b
    state.number[N_LIVE] = n_live


@njit(**KERNEL)
def purest(space: Space, state: State, n_starts: int) -> AnyArray:
    """Return the live splits of least Gini impurity, one for each set of columns."""
    n_classes = len(state.total) // space.offset[-1]
    n_groups = len(space.group) - 1
    impurity, split = np.full(n_groups, np.inf), np.full(n_groups, NO_ROOT)
    group_of = np.empty(len(space.n_bins), np.int64)
    for g in range(n_groups):
        group_of[space.group[g] : space.group[g + 1]] = g
    classes = np.zeros(n_classes)
    if n_groups:
        for k in range(space.n_bins[0] * n_classes):
            classes[k % n_classes] += state.total[k]
    below, f, b = np.zeros(n_classes), -1, 0
    for k in range(state.number[N_LIVE]):
        m = state.live[k]
        if space.direction[m] != f:
            f, b = space.direction[m], 0
            below[:] = 0.0
        while b <= m - space.offset[f]:
            for y in range(n_classes):
                below[y] += state.total[(space.offset[f] + b) * n_classes + y]
            b += 1
        above = classes - below
        pure = (below**2).sum() / below.sum() + (above**2).sum() / above.sum()
        if -pure < impurity[group_of[f]]:
            impurity[group_of[f]], split[group_of[f]] = -pure, m
    order = np.argsort(impurity, kind="mergesort")[:n_starts]
    return split[order][impurity[order] < np.inf]


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


@njit(**KERNEL)
def absorb(
    space: Space,
    state: State,
    weight_left: int,
    weight_right: int,
    cost_left: int,
    cost_right: int,
) -> None:
    """Bound the sides of all live root splits by two new anchors.

    Root splits that cannot be better are no longer live.
    """
    number, reach = state.number, state.reach
    cutoff = largest_below(state)
    n_live, lowest, next_bound, next_fitting = 0, number[BEST], NO_ROOT, NO_ROOT
    own_lowest, least_fitting = np.iinfo(np.int64).max, np.iinfo(np.int64).max
    for k in range(number[N_LIVE]):
        m = state.live[k]
        if state.is_done[m]:
            continue
        of_left, of_right = reach.left[m], reach.right[m]
        left = max(
            state.bound_left[m],
            cost_left - (weight_left - of_left),
            cost_right - (weight_right - of_right),
        )
        right = max(state.bound_right[m], cost_left - of_left, cost_right - of_right)
        state.bound_left[m], state.bound_right[m] = left, right
        bound = left + right + space.penalty[space.direction[m]]
        if bound > cutoff:
            continue
        state.live[n_live] = m
        n_live += 1
        lowest = min(lowest, bound)
        if m % number[N_SHARES] == number[SHARE]:
            if bound < own_lowest:
                own_lowest, next_bound = bound, m
            if state.fitting[m] < least_fitting:
                least_fitting, next_fitting = state.fitting[m], m
    number[N_LIVE], number[LOWEST] = n_live, lowest
    number[NEXT_BOUND], number[NEXT_FITTING] = next_bound, next_fitting


@njit(**INNER)
def try_root(space: Space, rows: Rows, state: State, root: int, min_leaf: int) -> bool:
    """Evaluate a root split, bound all others, and return whether it is the best."""
    number, sides = state.number, state.sides
    penalty, gap = 0, 0.0
    f, b = NO_SPLIT, 0
    if root == NO_ROOT:
        state.left[:] = True
    else:
        f = space.direction[root]
        b = root - space.offset[f]
        left_of(space, f, b, rows.grid, state.left)
        penalty = space.penalty[f]
        state.is_done[root] = True
    state.order[number[N_EVALUATED]] = root
    number[N_EVALUATED] += 1
    evaluate(space, rows, state.total, state.left, min_leaf, state.reach, sides)
    after = b
    if root != NO_ROOT:
        after = next_bin(space, state, f, b)
        gap = (after - b) * space.shortness[f]
    cost = np.int64(sides.cost[0]) + sides.cost[1] + penalty
    margin = gap + sides.gap[0] + sides.gap[1]
    best = number[BEST]
    is_better = cost < best
    if is_better or (cost == best and margin > state.margin[0]):
        number[BEST], state.margin[0] = cost, margin
        state.tree[0, 0], state.tree[0, 1], state.tree[0, 2] = f, b, after
        state.tree[1:] = sides.split
    weight_left = np.int64(0)
    for i in range(len(state.left)):
        if state.left[i]:
            weight_left += rows.weight[i]
    weight_right = rows.weight.sum() - weight_left
    if is_better:
        fit_roots(space, rows, state)
        number[N_TRIED] = 0
    absorb(space, state, weight_left, weight_right, sides.bound[0], sides.bound[1])
    return is_better


@njit(**INNER)
def next_bin(space: Space, state: State, f: int, b: int) -> int:
    """Return the next bin of direction f that holds rows."""
    n_classes = len(state.total) // space.offset[-1]
    after = b + 1
    while after < space.n_bins[f] - 1:
        start = (space.offset[f] + after) * n_classes
        if state.total[start : start + n_classes].sum() > 0:
            break
        after += 1
    return after


@njit(**INNER)
def fit_roots(space: Space, rows: Rows, state: State) -> None:
    """Find the cost of every root split with the subtrees of the best tree."""
    cost = _subtree_costs(space, rows, state)
    set_fitting(space, rows, cost, state.fitting)


@njit(**KERNEL)
def set_fitting(space: Space, rows: Rows, cost: AnyArray, fitting: AnyArray) -> None:
    """Set the cost of every root split with given subtrees, in the cheaper order.

    ``cost`` (2, n) is what each row costs in the two subtrees.
    """
    difference = cost[0] - cost[1]
    total = np.empty(len(fitting), cost.dtype)
    all_bins(space, rows.grid, np.zeros_like(rows.label), difference, 1, total)
    in_first, in_second = cost[0].sum(), cost[1].sum()
    for f in range(len(space.n_bins)):
        moved = in_first * 0
        for m in range(space.offset[f], space.offset[f + 1]):
            moved += total[m]
            cheaper = min(in_second + moved, in_first - moved)
            fitting[m] = cheaper + space.penalty[f]


@njit(**INNER)
def _subtree_costs(space: Space, rows: Rows, state: State) -> AnyArray:
    """Return (2, n): what each row costs in the left and in the right subtree."""
    n_rows = len(rows.label)
    n_classes = len(state.total) // space.offset[-1]
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
) -> None:
    """Evaluate the roots to start with, then so many live ones, unless flagged.

    Live ones are taken by their bound, and every second one because it fits the
    subtrees of the best tree, for as long as that may help.
    """
    number = state.number
    for root in starts:
        if flag[0]:
            return
        if root == NO_ROOT:
            try_root(space, rows, state, root, min_leaf)
        elif not state.is_done[root] and try_root(space, rows, state, root, min_leaf):
            _improve(space, rows, state, min_leaf, flag)
    for _ in range(n_steps):
        if number[N_LIVE] == 0 or number[NEXT_BOUND] == NO_ROOT or flag[0]:
            return
        by_fit = number[N_EVALUATED] % 2 == 1 and number[N_TRIED] < MOST_TRIES
        root = number[NEXT_FITTING] if by_fit else number[NEXT_BOUND]
        number[N_TRIED] += 1 if by_fit else 0
        if try_root(space, rows, state, root, min_leaf):
            _improve(space, rows, state, min_leaf, flag)


@njit(**INNER)
def _improve(
    space: Space, rows: Rows, state: State, min_leaf: int, flag: AnyArray
) -> None:
    """Choose the root anew with the subtrees fixed, while that helps."""
    for _ in range(6):
        root = state.number[NEXT_FITTING]
        if root == NO_ROOT or flag[0]:
            return
        if not try_root(space, rows, state, root, min_leaf):
            return
