"""Closings as what changes from one to the next: most of their entries stay.

Nodes that follow each other in a proof have nearly the same multipliers, of which those
at their caps are the same to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from miptree.proof.routes.jit import KERNEL, SMALL, UNCOUNTED
from miptree.proof.routes.places import key_of, point_of, without_partner
from miptree.proof.routes.trace import CHANGE, CLOSE, Trace
from miptree.utils.arrays import AnyArray, IntArray


def as_changes(trace: Trace) -> Trace:
    """Return a trace whose closings have the entries that change, and 0 for those gone.

    One of which more changes than it has entries stays as it is. So does one without
    entries, and the next one changes the one before it. If a closing has two entries of
    the same point, split and kind, nothing is changed.
    """
    if len(trace.entry) == 0:
        return trace
    kind, starts = trace.kind.copy(), trace.entries_start.copy()
    # At worst all entries of a closing are new, and all of the one before it are gone.
    entry = np.empty((2 * len(trace.entry), 2), dtype=np.int64)
    n_entries = _write_changes(
        trace.kind, trace.entries_start, trace.entry, kind, starts, entry
    )
    if n_entries < 0:
        return trace
    return trace._replace(
        kind=kind, entries_start=starts, entry=entry[:n_entries].copy()
    )


@njit(**KERNEL)
def _write_changes(
    old_kind: AnyArray, old_starts: IntArray, old: IntArray,
    kind: AnyArray, starts: IntArray, entry: IntArray,
) -> int:  # fmt: skip
    """Write kinds, starts and entries; return how many these are, -1 if it fails."""
    n, n_present, end = 0, 0, 0
    for row in range(len(old)):
        n = max(n, point_of(old[row, 0]) + 1)
    n_keys = 0
    for row in range(len(old)):
        n_keys = max(n_keys, key_of(old[row, 0], n) + 1)
    place, q = np.zeros(n_keys, dtype=np.int64), np.zeros(n_keys, dtype=np.int64)
    seen, present = np.zeros(n_keys, dtype=np.int64), np.zeros(n_keys, dtype=np.int64)
    for event in range(len(old_kind)):
        first, last = old_starts[event], old_starts[event + 1]
        if old_kind[event] != CLOSE or first == last:
            end = starts[event + 1] = _append_all(entry, end, old[first:last])
            continue
        begin = end
        for row in range(first, last):
            key = key_of(old[row, 0], n)
            if seen[key] == event + 1:
                return -1
            is_new = seen[key] == 0
            if is_new:
                present[n_present] = key
                n_present += 1
            seen[key] = event + 1
            if is_new or place[key] != old[row, 0] or q[key] != old[row, 1]:
                place[key], q[key] = old[row, 0], old[row, 1]
                end = _append(entry, end, place[key], q[key])
        before, n_present = n_present, 0
        for k in range(before):
            key = present[k]
            if seen[key] == event + 1:
                present[n_present] = key
                n_present += 1
            else:
                seen[key] = 0
                end = _append(entry, end, without_partner(place[key]), 0)
        if end - begin < last - first:
            kind[event] = CHANGE
        else:
            end = _append_all(entry, begin, old[first:last])
        starts[event + 1] = end
    return end


@njit(**UNCOUNTED)
def _append_all(entry: IntArray, end: int, more: IntArray) -> int:
    """Write entries as they are; return how many there are then."""
    for k in range(len(more)):
        end = _append(entry, end, more[k, 0], more[k, 1])
    return end


@njit(**SMALL)
def _append(entry: IntArray, end: int, place: int, q: int) -> int:
    """Write an entry; return how many there are then."""
    entry[end, 0], entry[end, 1] = place, q
    return end + 1
