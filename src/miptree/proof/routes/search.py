"""The search of one structure: levels of branches, with jumps back over unused ones."""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.closing import closing
from miptree.proof.routes.columns import copy_lps, copy_row, start_anew
from miptree.proof.routes.jit import KERNEL, UNCOUNTED
from miptree.proof.routes.look import Look
from miptree.proof.routes.node import BRANCHED, CONFLICT, OPEN
from miptree.proof.routes.record import (
    clear_bit,
    has_bit,
    keep_last_part,
    multipliers_of,
    set_bit,
    write_branch,
    write_close,
    write_empty,
)
from miptree.proof.routes.state import MOST_OPTIONS, Data, Levels, Log, Lps, Rows, Trail
from miptree.proof.routes.subset_node import UNREACHED, work_on_node
from miptree.proof.routes.subsets import (
    BY_FEATURE,
    BY_LEAF,
    BY_VALUE,
    clear,
    empty_point,
    end_branch,
    leaf_count,
    refers_to_branch,
    restrict,
)
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

EXHAUSTED, PAUSED, FULL = 0, 1, 2
"""Why the kernel returned: all is closed, it may go on, it needs more room."""
ENTERED, BRANCHING, UNWINDING, REPAIRING = 0, 1, 2, 3
"""What a level is doing: just made; exploring the children of its branch; proving its
closed options again, the last one first; exploring an option whose proof fell short."""

LEVEL, NODES, JUMPS, REPAIRS, N_EVENTS, N_MASKS, N_ENTRIES = 0, 1, 2, 3, 4, 5, 6
N_RECORDS, N_CHANGES, N_SNAPSHOTS, N_CANDIDATES = 7, 8, 9, 10
N_COUNTERS = 11
"""Places in the array of counters."""


@njit(**UNCOUNTED)
def go_down(levels: Levels, counter: IntArray, point: int, mask: int) -> None:
    """Make the next level, where a point's mask is another one."""
    level = counter[LEVEL] + 1
    counter[LEVEL] = level
    copy_row(levels.mask, level - 1, levels.mask, level)
    copy_row(levels.feature, level - 1, levels.feature, level)
    levels.mask[level, point] = mask
    levels.mode[level] = ENTERED
    clear(levels.used[level])
    levels.trail_start[level] = counter[N_RECORDS]
    for k in range(3):
        levels.trace_start[level, k] = counter[N_EVENTS + k]
        levels.child_start[level - 1, k] = counter[N_EVENTS + k]


@njit(**UNCOUNTED)
def go_to_child(data: Data, levels: Levels, counter: IntArray, k: int) -> None:
    """Make the next level, that of a child of a branch.

    The log is read backwards: the last feature, and the right side, come first.
    """
    level = counter[LEVEL]
    number = levels.n_options[level] - 1 - k
    kind, split = levels.branch_kind[level], levels.branch_split[level]
    point = levels.branch_point[level]
    mask = levels.option[level, k] if kind == BY_LEAF else levels.mask[level, point]
    go_down(levels, counter, point, mask)
    if kind == BY_FEATURE:
        levels.feature[level + 1, split] = number
    elif kind == BY_VALUE:
        restrict(
            data, levels.feature[level], split, point, number, levels.mask[level + 1]
        )


@njit(**UNCOUNTED)
def undo_last(levels: Levels, trail: Trail, counter: IntArray, level: int) -> None:
    """Take the last record off the trail, and open its option again."""
    k = counter[N_RECORDS] - 1
    levels.mask[level, trail.point[k]] |= trail.bits[k]
    counter[N_RECORDS], counter[N_CHANGES] = k, trail.start[k]
    counter[N_SNAPSHOTS] = trail.snapshot[k - 1] + 1 if k > 0 else 0


@njit(**UNCOUNTED)
def has_room(
    counter: IntArray, levels: Levels, trail: Trail, log: Log, n: int, n_leaves: int,
    most_entries: int,
) -> bool:  # fmt: skip
    """Tell whether one more step of the search surely fits into the arrays."""
    return (
        counter[LEVEL] + 2 < len(levels.mode)
        and counter[N_RECORDS] + n * n_leaves + 2 < len(trail.point)
        and counter[N_CHANGES] + (n + 2) * n_leaves * 4 < len(trail.change)
        and counter[N_SNAPSHOTS] + 40 < len(trail.snap_q)
        and counter[N_EVENTS] + 4 < len(log.event)
        and counter[N_MASKS] + 16 < len(log.mask)
        and counter[N_ENTRIES] + most_entries < len(log.entry)
    )


@njit(**KERNEL)
def advance_kernel(
    data: Data, lps: Lps, kept: Lps, here: Rows, scratch: Rows, saved: Rows, look: Look,
    levels: Levels, trail: Trail, log: Log,
    counter: IntArray, number: FloatArray, rho: float, least_split: float,
    record: bool, max_nodes: int, stop: AnyArray, candidate: FloatArray,
    routed: IntArray,
) -> int:  # fmt: skip
    """Search on. ``number``: threshold, open value."""
    n, m = data.Z.shape
    n_splits, n_leaves = len(lps.y), leaf_count(data.determined)
    whole = np.zeros((n_splits, 2 * n + m), dtype=np.int64)
    q, answer = np.zeros(lps.q.shape), np.zeros(3)
    masks = np.zeros(MOST_OPTIONS, dtype=np.int64)
    used = np.zeros(levels.used.shape[1], dtype=np.uint64)
    nodes = 0
    if counter[NODES] == 0:
        start_anew(lps)
    while True:
        if stop[0] != 0:
            return PAUSED
        if not has_room(counter, levels, trail, log, n, n_leaves, whole.size):
            return FULL
        level = counter[LEVEL]
        if level < 0:
            return EXHAUSTED
        mode = levels.mode[level]
        at = counter[N_EVENTS : N_EVENTS + 3]
        if mode == ENTERED:
            if nodes >= max_nodes:
                return PAUSED
            nodes += 1
            counter[NODES] += 1
            T = number[0]
            outcome, point, n_options, kind, split = work_on_node(
                data, lps, kept, here, scratch, look, trail,
                counter[N_RECORDS : N_RECORDS + 3],
                levels.mask[level], levels.feature[level], T, least_split, rho,
                whole, levels.used[level], levels.option[level], answer,
            )  # fmt: skip
            if outcome == BRANCHED:
                levels.mode[level] = BRANCHING
                levels.branch_kind[level], levels.branch_split[level] = kind, split
                levels.branch_point[level] = point
                levels.n_options[level], levels.current[level] = n_options, 0
                copy_lps(here, 0, saved, level)
                continue
            levels.mode[level] = UNWINDING
            if outcome == CONFLICT:
                clear(levels.used[level])
                set_bit(levels.used[level], point)
                continue
            if outcome == UNREACHED:
                if record:
                    write_empty(log, at)
                continue
            if outcome == OPEN:
                number[1] = min(number[1], answer[0])
                number[0] = min(number[0], number[1])
                if counter[N_CANDIDATES] < len(candidate):
                    for b in range(n_splits):
                        copy_row(lps.y, b, candidate[counter[N_CANDIDATES]], b)
                    for i in range(n):
                        routed[counter[N_CANDIDATES], i] = levels.mask[level, i]
                    for b in range(levels.feature.shape[1]):
                        routed[counter[N_CANDIDATES], n + b] = levels.feature[level, b]
                    counter[N_CANDIDATES] += 1
            if record:
                write_close(
                    data, log, at, levels.mask[level], whole, lps.partner, lps.boxed
                )
        elif mode == BRANCHING:
            k = levels.current[level]
            if k < levels.n_options[level]:
                levels.current[level] += 1
                copy_lps(saved, level, here, 0)
                go_to_child(data, levels, counter, k)
                point = empty_point(levels.mask[level + 1])
                if point >= 0:
                    levels.mode[level + 1] = UNWINDING
                    set_bit(levels.used[level + 1], point)
                    if record:
                        write_empty(log, at)
                continue
            end_branch(data, levels, level, log, at, record, masks)
            levels.mode[level] = UNWINDING
        elif counter[N_RECORDS] > levels.trail_start[level]:
            k = counter[N_RECORDS] - 1
            point, bits = trail.point[k], trail.bits[k]
            rest = levels.mask[level, point] & ~bits
            if mode == UNWINDING and has_bit(levels.used[level], point):
                levels.mask[level, point] = bits
                multipliers_of(trail, k, counter[N_CHANGES], n, q)
                value = closing(
                    data.Z, data.least, data.following, data.cheap, data.root_cost,
                    data.C, data.distance, data.determined, rho, data.box, least_split,
                    number[0], levels.mask[level], q,
                    trail.snap_partner[trail.snapshot[k]],
                    trail.snap_boxed[trail.snapshot[k]], whole, used,
                )  # fmt: skip
                if value < number[0]:
                    counter[REPAIRS] += 1
                    levels.mode[level] = REPAIRING
                    levels.mask[level, point] = rest
                    start_anew(lps)
                    go_down(levels, counter, point, bits)
                    continue
                if record:
                    write_close(
                        data, log, at, levels.mask[level], whole,
                        trail.snap_partner[trail.snapshot[k]],
                        trail.snap_boxed[trail.snapshot[k]],
                    )  # fmt: skip
                for w in range(len(used)):
                    levels.used[level, w] |= used[w]
                levels.mask[level, point] = rest
                mode = REPAIRING
            if mode == REPAIRING:
                if record and rest:
                    masks[0], masks[1] = bits, rest
                    write_branch(log, at, point, masks, 2)
                if bits | rest == data.first_mask[point]:
                    clear_bit(levels.used[level], point)
                levels.mode[level] = UNWINDING
            undo_last(levels, trail, counter, level)
        else:
            counter[LEVEL] = level - 1
            if level == 0:
                continue
            up = level - 1
            if levels.mode[up] == REPAIRING:
                point = trail.point[counter[N_RECORDS] - 1]
                is_used = has_bit(levels.used[level], point)
            else:
                is_used = refers_to_branch(levels, level, n)
            if is_used:
                for w in range(len(used)):
                    levels.used[up, w] |= levels.used[level, w]
                continue
            # The child never refers to the branch: its proof is one of the parent.
            counter[JUMPS] += 1
            keep_last_part(log, at, levels.trace_start[up], levels.child_start[up])
            copy_row(levels.used, level, levels.used, up)
            if levels.mode[up] == BRANCHING:
                levels.mode[up] = UNWINDING
            else:
                undo_last(levels, trail, counter, up)
                levels.mode[up] = UNWINDING
