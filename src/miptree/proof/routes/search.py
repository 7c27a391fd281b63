"""The search of one structure: levels of branches, with jumps back over unused ones."""

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from miptree.proof.routes.closing import closing
from miptree.proof.routes.columns import copy_lps, copy_row, start_anew
from miptree.proof.routes.jit import UNCOUNTED, UNCOUNTED_KERNEL
from miptree.proof.routes.limited_node import work_on_limited_node
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
from miptree.proof.routes.state import Data, Levels, Log, Lps, Rows, Trail
from miptree.proof.routes.subset_node import UNREACHED
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
from miptree.proof.routes.uses import BY_USE, decide_use, first_use
from miptree.utils.arrays import AnyArray, FloatArray, IntArray, WordArray

EXHAUSTED, PAUSED, FULL = 0, 1, 2
"""Why the kernel returned: all is closed, it may go on, it needs more room."""
ENTERED, BRANCHING, UNWINDING, REPAIRING = 0, 1, 2, 3
"""What a level is doing: just made; exploring the children of its branch; proving its
closed options again, the last one first; exploring an option whose proof fell short."""

LEVEL, NODES, N_EVENTS, N_MASKS, N_ENTRIES = 0, 1, 2, 3, 4
N_RECORDS, N_CHANGES, N_SNAPSHOTS, N_CANDIDATES = 5, 6, 7, 8
N_COUNTERS = 9
"""Places in the array of counters."""

_STEPS = 1 << 20, 1 << 12
"""Recorded multipliers are multiples of the first one, if that closes as well; else of
the second one; else of 1."""


@njit(**UNCOUNTED)
def go_down(levels: Levels, counter: IntArray, point: int, mask: int) -> None:
    """Make the next level, where a point's mask is another one."""
    level = counter[LEVEL] + 1
    counter[LEVEL] = level
    copy_row(levels.mask, level - 1, levels.mask, level)
    copy_row(levels.feature, level - 1, levels.feature, level)
    copy_row(levels.use, level - 1, levels.use, level)
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
    elif kind == BY_USE:
        feature = levels.option[level, 0]
        decide_use(data, levels.use[level + 1], split, feature, number == 1)


@njit(**UNCOUNTED)
def undo_last(levels: Levels, trail: Trail, counter: IntArray, level: int) -> None:
    """Take the last record off the trail, and open its option again."""
    k = counter[N_RECORDS] - 1
    levels.mask[level, trail.point[k]] |= trail.bits[k]
    counter[N_RECORDS], counter[N_CHANGES] = k, trail.start[k]
    counter[N_SNAPSHOTS] = trail.snapshot[k - 1] + 1 if k > 0 else 0


class Work(NamedTuple):
    """All that a search works on."""

    data: Data
    lps: Lps
    """The LPs of the node at hand: views of ``here``."""
    kept: Lps
    """Views of ``scratch``."""
    here: Rows
    scratch: Rows
    saved: Rows
    """The LPs of every level, as its branch found them."""
    look: Look
    levels: Levels
    trail: Trail
    log: Log
    counter: IntArray
    number: FloatArray
    """(2,): threshold, open value."""
    candidate: FloatArray
    """(., B, m): hyperplanes of the trees that were met."""
    routed: IntArray
    """(., n + n_subsets): leaves of the points there, and features of subset splits."""
    whole: IntArray
    """(B, 2n + m): room for the multipliers of a closing, as the next ones."""
    shorter: IntArray
    q: FloatArray
    answer: FloatArray
    masks: IntArray
    used: WordArray
    rho: float
    least_split: float
    record: bool


@njit(**UNCOUNTED)
def has_room(work: Work) -> bool:
    """Tell whether one more step of the search surely fits into the arrays."""
    counter, levels, trail, log = work.counter, work.levels, work.trail, work.log
    n, n_leaves = len(work.data.Z), leaf_count(work.data.determined)
    return (
        counter[LEVEL] + 2 < len(levels.mode)
        and counter[N_RECORDS] + n * n_leaves + 2 < len(trail.point)
        and counter[N_CHANGES] + (n + 2) * n_leaves * 4 < len(trail.change)
        and counter[N_SNAPSHOTS] + 40 < len(trail.snap_q)
        and counter[N_EVENTS] + 4 < len(log.event)
        and counter[N_MASKS] + 16 < len(log.mask)
        and counter[N_ENTRIES] + work.whole.size < len(log.entry)
    )


@njit(**UNCOUNTED_KERNEL)
def advance_kernel(work: Work, max_nodes: int, stop: AnyArray) -> int:
    """Search on for so many nodes; return why that ended."""
    counter, levels = work.counter, work.levels
    last = counter[NODES] + max_nodes
    if counter[NODES] == 0:
        start_anew(work.lps)
    while True:
        if stop[0] != 0:
            return PAUSED
        if not has_room(work):
            return FULL
        level = counter[LEVEL]
        if level < 0:
            return EXHAUSTED
        mode = levels.mode[level]
        if mode == ENTERED:
            if counter[NODES] >= last:
                return PAUSED
            counter[NODES] += 1
            enter(work, level)
        elif mode == BRANCHING:
            try_child(work, level)
        elif counter[N_RECORDS] > levels.trail_start[level]:
            unwind(work, level)
        else:
            leave(work, level)


@njit(**UNCOUNTED)
def enter(work: Work, level: int) -> None:
    """Work on the node of a level: branch, or go on to what was closed on the way."""
    levels, counter = work.levels, work.counter
    at = counter[N_EVENTS : N_EVENTS + 3]
    outcome, point, n_options, kind, split = work_on_limited_node(
        work.data, work.lps, work.kept, work.here, work.scratch, work.look, work.trail,
        counter[N_RECORDS : N_RECORDS + 3],
        levels.mask[level], levels.feature[level], levels.use[level], work.number[0],
        work.least_split, work.rho, work.whole, levels.used[level],
        levels.option[level], work.answer,
    )  # fmt: skip
    if outcome == BRANCHED:
        levels.mode[level] = BRANCHING
        levels.branch_kind[level], levels.branch_split[level] = kind, split
        levels.branch_point[level] = point
        levels.n_options[level], levels.current[level] = n_options, 0
        copy_lps(work.here, 0, work.saved, level)
        return
    levels.mode[level] = UNWINDING
    if outcome == CONFLICT:
        clear(levels.used[level])
        set_bit(levels.used[level], point)
    elif outcome == UNREACHED:
        if work.record:
            write_empty(work.log, at)
    else:
        if outcome == OPEN:
            keep_open(work, level)
        if work.record:
            lps = work.lps
            record_closing(work, level, lps.q, lps.partner, lps.boxed)


@njit(**UNCOUNTED)
def keep_open(work: Work, level: int) -> None:
    """Lower the threshold to the value of a node that stays open, and keep its tree."""
    number, mask, feature = work.number, work.levels.mask, work.levels.feature
    number[1] = min(number[1], work.answer[0])
    number[0] = min(number[0], number[1])
    k = work.counter[N_CANDIDATES]
    if k < len(work.candidate):
        for b in range(len(work.lps.y)):
            copy_row(work.lps.y, b, work.candidate[k], b)
        n = mask.shape[1]
        for i in range(n):
            work.routed[k, i] = mask[level, i]
        for b in range(feature.shape[1]):
            work.routed[k, n + b] = feature[level, b]
        work.counter[N_CANDIDATES] += 1


@njit(**UNCOUNTED)
def try_child(work: Work, level: int) -> None:
    """Go down to the next child of a branch, or end the branch after the last one."""
    levels, counter, log = work.levels, work.counter, work.log
    at = counter[N_EVENTS : N_EVENTS + 3]
    k = levels.current[level]
    if k == levels.n_options[level]:
        end_branch(work.data, levels, level, log, at, work.record, work.masks)
        levels.mode[level] = UNWINDING
        return
    levels.current[level] += 1
    copy_lps(work.saved, level, work.here, 0)
    go_to_child(work.data, levels, counter, k)
    point = empty_point(levels.mask[level + 1])
    if point >= 0:
        levels.mode[level + 1] = UNWINDING
        set_bit(levels.used[level + 1], point)
        if work.record:
            write_empty(log, at)


@njit(**UNCOUNTED)
def unwind(work: Work, level: int) -> None:
    """Take the option that was closed last off the trail.

    If the proof of the level refers to its point, the option is proved again; where
    that falls short, it is searched.
    """
    levels, trail, counter = work.levels, work.trail, work.counter
    at = counter[N_EVENTS : N_EVENTS + 3]
    k = counter[N_RECORDS] - 1
    point, bits = trail.point[k], trail.bits[k]
    rest = levels.mask[level, point] & ~bits
    is_used = has_bit(levels.used[level], point)
    if levels.mode[level] == UNWINDING and is_used:
        levels.mask[level, point] = bits
        is_proved = prove_again(work, level, k)
        levels.mask[level, point] = rest
        if not is_proved:
            levels.mode[level] = REPAIRING
            start_anew(work.lps)
            go_down(levels, counter, point, bits)
            return
    if levels.mode[level] == REPAIRING or is_used:
        if work.record and rest:
            work.masks[0], work.masks[1] = bits, rest
            write_branch(work.log, at, point, work.masks, 2)
        if bits | rest == work.data.first_mask[point]:
            clear_bit(levels.used[level], point)
        levels.mode[level] = UNWINDING
    undo_last(levels, trail, counter, level)


@njit(**UNCOUNTED)
def prove_again(work: Work, level: int, k: int) -> bool:
    """Close a record's option by the multipliers kept; tell whether they suffice."""
    trail, levels, used = work.trail, work.levels, work.used
    snap = trail.snapshot[k]
    partner, boxed = trail.snap_partner[snap], trail.snap_boxed[snap]
    multipliers_of(trail, k, work.counter[N_CHANGES], len(work.data.Z), work.q)
    if recount(work, level, work.q, partner, boxed, work.whole, 1) < work.number[0]:
        return False
    for w in range(len(used)):
        levels.used[level, w] |= used[w]
    if work.record:
        record_closing(work, level, work.q, partner, boxed)
    return True


@njit(**UNCOUNTED)
def record_closing(
    work: Work, level: int, q: FloatArray, partner: IntArray, boxed: IntArray
) -> None:
    """Record a closing, by multipliers of as few bits as suffice.

    ``work.whole`` has those that close it in any case.
    """
    counter, levels, used, whole = work.counter, work.levels, work.used, work.whole
    for step in _STEPS:
        value = recount(work, level, q, partner, boxed, work.shorter, step)
        if value >= work.number[0]:
            whole = work.shorter
            for w in range(len(used)):
                levels.used[level, w] |= used[w]
            break
    write_close(
        work.data, work.log, counter[N_EVENTS : N_EVENTS + 3], levels.mask[level],
        whole, partner, boxed,
    )  # fmt: skip


@njit(**UNCOUNTED)
def recount(
    work: Work, level: int, q: FloatArray, partner: IntArray, boxed: IntArray,
    whole: IntArray, step: int,
) -> float:  # fmt: skip
    """Return what multipliers prove of a level, and write them as whole numbers."""
    data, levels = work.data, work.levels
    return closing(
        data.Z, data.least, data.following, data.cheap, data.root_cost, data.C,
        data.distance, data.determined, work.rho, data.box, data.unavoidable,
        work.least_split, work.number[0], levels.mask[level], levels.use[level], q,
        partner, boxed, whole, work.used, first_use(data), step,
    )  # fmt: skip


@njit(**UNCOUNTED)
def leave(work: Work, level: int) -> None:
    """Go up from a level that is done, past a branch that its proof does not need."""
    levels, trail, counter = work.levels, work.trail, work.counter
    counter[LEVEL] = level - 1
    if level == 0:
        return
    up = level - 1
    if levels.mode[up] == REPAIRING:
        point = trail.point[counter[N_RECORDS] - 1]
        is_used = has_bit(levels.used[level], point)
    else:
        is_used = refers_to_branch(work.data, levels, level)
    if is_used:
        for w in range(levels.used.shape[1]):
            levels.used[up, w] |= levels.used[level, w]
        return
    # The child never refers to the branch: its proof is one of the parent.
    at = counter[N_EVENTS : N_EVENTS + 3]
    keep_last_part(work.log, at, levels.trace_start[up], levels.child_start[up])
    copy_row(levels.used, level, levels.used, up)
    if levels.mode[up] != BRANCHING:
        undo_last(levels, trail, counter, up)
    levels.mode[up] = UNWINDING
