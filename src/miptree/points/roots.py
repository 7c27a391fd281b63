"""Kernels of the search over root splits: evaluate one, bound all, take the next.

Every evaluated root split leaves two **anchors**, the rows on its sides. A set of rows
costs at least what an anchor costs, less the weight of the anchor's rows outside of it.
So the sides of all other root splits get a bound at once. The root split of the lowest
bound comes next; its bound holds for all trees that are not evaluated.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.points.anchors import absorb
from miptree.points.evaluate import NO_SPLIT, evaluate
from miptree.points.histograms import all_sums, bin_of, class_ends, left_of
from miptree.points.known import (
    BEST,
    N_EVALUATED,
    N_LIVE,
    N_TRIED,
    NEXT_BOUND,
    NEXT_FITTING,
    NO_ROOT,
    State,
    endless,
    is_live,
    weight_upto,
)
from miptree.points.layout import Rows, Space
from miptree.utils.arrays import AnyArray, FloatArray
from miptree.utils.jit import INNER, KERNEL, UNCOUNTED, UNCOUNTED_KERNEL

_COLUMN_GAP = 1e6
"""Gaps that a column less is worth among equally cheap trees."""
MOST_IMPROVEMENTS = 6
"""Times that the root of a better tree is chosen anew."""


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


@njit(**UNCOUNTED_KERNEL)
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


@njit(**UNCOUNTED)
def finish(state: State, root: int) -> None:
    """Note that a root split is evaluated."""
    if root != NO_ROOT:
        state.bound_left[root] = endless(state)
    state.order[state.number[N_EVALUATED]] = root
    state.number[N_EVALUATED] += 1


@njit(**UNCOUNTED)
def n_used(space: Space, f: int) -> int:
    """Return the number of columns of a direction."""
    used = 0
    for k in range(3):
        if f != NO_SPLIT and space.points[f, k] != 0:
            used += 1
    return used


@njit(**UNCOUNTED)
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
    # Of equally cheap trees that of the fewest columns, then of the widest gaps.
    n_columns = n_used(space, f)
    for side in range(2):
        n_columns += n_used(space, sides.split[side, 0])
        gap += sides.gap[side]
    margin = gap - _COLUMN_GAP * n_columns
    is_better = cost < number[BEST]
    if is_better or (cost == number[BEST] and margin > state.margin[0]):
        number[BEST], state.margin[0] = cost, margin
        state.tree[0, 0], state.tree[0, 1], state.tree[0, 2] = f, b, after
        for k in range(6):
            state.tree[1 + k // 3, k % 3] = sides.split[k // 3, k % 3]
    if is_better:
        _fit_to_best(space, rows, state)
        number[N_TRIED] = 0
    absorb(space, state, sides.bound[0], sides.bound[1])
    return is_better


@njit(**UNCOUNTED)
def next_bin(space: Space, state: State, f: int, b: int) -> int:
    """Return the next bin of direction f that holds rows."""
    after = b + 1
    here = weight_upto(space, state, f, b)
    while after < space.n_bins[f] - 1 and weight_upto(space, state, f, after) == here:
        after += 1
    return after


@njit(**UNCOUNTED)
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
def _fit_to_best(space: Space, rows: Rows, state: State) -> None:
    """Set the cost of every root split with the subtrees of the best tree."""
    set_fitting(space, rows, _subtree_costs(space, rows, state), state.fitting)


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


@njit(**UNCOUNTED_KERNEL)
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
