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
    CHANGE,
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
_AT_A_TIME = 1000
"""Events whose entries are unpacked together."""


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
        plain, envelopes, shift = entries.of(event)
        more = [shift] if shift else []
        if kind == LEMMA:
            if envelopes:
                raise ValueError("A lemma may not rest on envelopes.")
            yield line(["l", plain, *more])
        else:
            name = "k" if kind == CHANGE else "c"
            yield line([name, plain, envelopes, *more])


class _Entries:
    """The multipliers of a trace as flat lists, four numbers for an entry."""

    def __init__(self, trace: Trace, number: IntArray) -> None:
        self._trace, self._number = trace, number
        self._first = self._end = 0

    def of(self, event: int) -> tuple[list[int], list[int], int]:
        """Return entries of margins, sides and the box; of envelopes; and a shift.

        Multipliers are those of the entries, times 2 to the power of the shift.
        """
        if not self._first <= event < self._end:
            self._look_at(event)
        k = event - self._first
        plain = _flat(self._plain, self._plain_start, k)
        envelopes = _flat(self._envelope, self._envelope_start, k)
        return plain, envelopes, int(self._shift[k])

    def _look_at(self, first: int) -> None:
        """Make tables of an event and some that follow: those of all take memory."""
        trace, number = self._trace, self._number
        end = min(first + _AT_A_TIME, trace.n_events)
        entries = trace.entries(first, end)
        starts = trace.entries_start[first : end + 1] - trace.entries_start[first]
        self._shift = _shifts(entries.q, starts)
        q = entries.q >> np.repeat(self._shift, np.diff(starts))
        is_envelope = entries.kind == ENVELOPE
        point = number[entries.point]
        partner = np.where(entries.partner >= 0, number[entries.partner], -1)
        plain = np.column_stack([entries.split, KIND[entries.kind], point, q])
        envelope = np.column_stack([entries.split, point, q, partner])
        self._plain = plain[~is_envelope].astype(np.int64)
        self._envelope = envelope[is_envelope].astype(np.int64)
        self._plain_start = _starts(~is_envelope, starts)
        self._envelope_start = _starts(is_envelope, starts)
        self._first, self._end = first, end


def _starts(is_kept: AnyArray, starts: IntArray) -> IntArray:
    """Return where the entries of each event begin among those that are kept."""
    before = np.concatenate([[0], np.cumsum(is_kept)])
    return np.asarray(before[starts])


def _shifts(q: IntArray, starts: IntArray) -> IntArray:
    """Return how many bits all multipliers of an event end with that are 0."""
    shift = np.zeros(len(starts) - 1, dtype=np.int64)
    has_any = np.diff(starts) > 0
    if has_any.any():
        together = np.bitwise_or.reduceat(q, starts[:-1][has_any])
        lowest = np.maximum(together & -together, 1)  # all of an event may be 0
        shift[has_any] = np.log2(lowest).astype(np.int64)
    return shift


def _flat(table: IntArray, starts: IntArray, event: int) -> list[int]:
    values: list[int] = table[starts[event] : starts[event + 1]].ravel().tolist()
    return values
