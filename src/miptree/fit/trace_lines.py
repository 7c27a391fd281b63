"""The events of a proof over routes as lines of a proof file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from miptree.fit.proof_log import line
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import (
    BOX_LEFT,
    BOX_RIGHT,
    BRANCH,
    ENVELOPE,
    FEATURE,
    HARD,
    LEMMA,
    MARGIN,
    USE,
    VALUE,
    Trace,
)
from miptree.utils.arrays import AnyArray, IntArray

_IN_FILES = {MARGIN: 0, HARD: 1, ENVELOPE: -1, BOX_LEFT: 2, BOX_RIGHT: 3}
"""Number of each kind of entry in a file, where envelopes have a list of their own."""
KIND = np.array([_IN_FILES[kind] for kind in range(len(_IN_FILES))])


def structure_lines(
    proofs: Sequence[tuple[Structure, Trace]], number: IntArray
) -> Iterator[str]:
    """Write the proofs of some structures; see :func:`event_lines`."""
    for structure, trace in proofs:
        yield line(["s", structure.nested])
        if trace.fixed >= 0:
            yield line(["f", int(number[trace.fixed])])
        yield from event_lines(trace, number)


def n_lines_of(proofs: Sequence[tuple[Structure, Trace]]) -> int:
    """Return how many lines these are."""
    return sum(1 + (trace.fixed >= 0) + trace.n_events for _, trace in proofs)


def event_lines(trace: Trace, number: IntArray) -> Iterator[str]:
    """Write the events of a structure in their order.

    Parameters
    ----------
    trace : Trace
        Entries whose multiplier is 0 are left out.
    number : int array of shape (n,)
        What each point is called in the file.
    """
    entries = _Entries(trace, number)
    for event, kind in enumerate(trace.kind.tolist()):
        point = int(trace.point[event])
        if kind == BRANCH:
            yield line(["b", int(number[point]), *trace.masks_of(event)])
            continue
        if kind == FEATURE:
            yield line(["d", point])
            continue
        if kind == VALUE:
            yield line(["v", *trace.masks_of(event), int(number[point])])
            continue
        if kind == USE:
            yield line(["u", point, *trace.masks_of(event)])
            continue
        plain, envelopes = entries.plain(event), entries.envelopes(event)
        if kind == LEMMA:
            if envelopes:
                raise ValueError("A lemma may not rest on envelopes.")
            yield line(["l", plain])
        else:
            yield line(["c", plain, envelopes])


class _Entries:
    """The multipliers of a trace as flat lists, four numbers for an entry."""

    def __init__(self, trace: Trace, number: IntArray) -> None:
        counts = trace.entry_q > 0
        is_envelope = trace.entry_kind == ENVELOPE
        point, split, q = number[trace.entry_point], trace.entry_split, trace.entry_q
        has_partner = trace.entry_partner >= 0
        partner = np.where(has_partner, number[trace.entry_partner], -1)
        plain = np.column_stack([split, KIND[trace.entry_kind], point, q])
        envelope = np.column_stack([split, point, q, partner])
        self._plain = plain[counts & ~is_envelope].astype(np.int64)
        self._envelope = envelope[counts & is_envelope].astype(np.int64)
        self._plain_start = _starts(counts & ~is_envelope, trace.entries_start)
        self._envelope_start = _starts(counts & is_envelope, trace.entries_start)

    def plain(self, event: int) -> list[int]:
        """Return the entries of margins, sides and the box."""
        return _flat(self._plain, self._plain_start, event)

    def envelopes(self, event: int) -> list[int]:
        """Return the entries of envelopes."""
        return _flat(self._envelope, self._envelope_start, event)


def _starts(is_kept: AnyArray, starts: IntArray) -> IntArray:
    """Return where the entries of each event begin among those that are kept."""
    before = np.concatenate([[0], np.cumsum(is_kept)])
    return np.asarray(before[starts])


def _flat(table: IntArray, starts: IntArray, event: int) -> list[int]:
    values: list[int] = table[starts[event] : starts[event + 1]].ravel().tolist()
    return values
