"""Kernels that bound all root splits by the sides of one that was evaluated.

A set of rows costs at least what an **anchor** costs, another set of rows, less the
weight of the anchor's rows outside of it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.points.known import (
    BEST,
    LOWEST,
    MOST_TRIES,
    N_LIVE,
    N_SHARES,
    N_TRIED,
    NEXT_BOUND,
    NEXT_FITTING,
    NO_ROOT,
    SHARE,
    State,
    endless,
)
from miptree.points.layout import Space
from miptree.utils.arrays import AnyArray
from miptree.utils.jit import UNCOUNTED


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
def _least_fitting(
    left: AnyArray, right: AnyArray, fitting: AnyArray, limit: int
) -> int:
    """Return the least cost with given subtrees of roots with bounds in the limit."""
    nothing = np.iinfo(left.dtype).max // 4
    least = nothing
    for b in range(len(left)):
        least = min(least, fitting[b] if left[b] + right[b] <= limit else nothing)
    return least


@njit(**UNCOUNTED)
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


@njit(**UNCOUNTED)
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
