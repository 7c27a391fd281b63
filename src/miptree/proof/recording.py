"""A row partition proved once more, with all that a stranger needs to check it.

The search is that of :mod:`branching`, so that it takes the same nodes. At each of them
it notes the points that it decides on, and why leaves are closed to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import NO_ERRORS, Bound
from miptree.proof.box_limits import BoxLimits, box_limits
from miptree.proof.row_partition import Part, words_of
from miptree.proof.space import Space
from miptree.utils.arrays import IntArray

if TYPE_CHECKING:
    from miptree.proof.reasons import Reasons
    from miptree.proof.state import SearchState

MOST_BYTES = 1 << 29
"""Size of all branches: they are held in memory until they are written."""
_NODES_AT_A_TIME = 50
"""Nodes of the search between two looks at the clock."""
_SAME = 1e-6
"""Part of the smallest weight by which errors allowed are below those proved."""


class RecordedPart(NamedTuple):
    """The search of a part of the rows.

    Attributes
    ----------
    rows : int array
        Rows of the problem.
    errors : float
        Errors that every tree makes among them.
    most : float
        Errors that the search allows.
    made_of : tuple of int
        Numbers of the recorded parts whose errors it builds on.
    branches : list of str
        Lines of the file: a point, and why sides of splits are closed to it.
    """

    rows: IntArray
    errors: float
    most: float
    made_of: tuple[int, ...]
    branches: list[str]


class ErrorsRecord(NamedTuple):
    """What was recorded of a proof of the errors.

    Attributes
    ----------
    limits : BoxLimits
    parts : list of RecordedPart
        Parts that are in no other one add up.
    bound : Bound
        Errors that they prove of every tree.
    roots : list of str
        In place of parts, lines about all splits of the root.
    """

    limits: BoxLimits
    parts: list[RecordedPart]
    bound: Bound
    roots: Sequence[str] = ()


NOTHING_RECORDED = ErrorsRecord(BoxLimits({}, {}), [], Bound(0.0, NO_ERRORS))


def record_errors(
    problem: Problem,
    space: Space,
    depth: int,
    parts: Sequence[Part],
    *,
    clock: Clock,
) -> ErrorsRecord | None:
    """Search the parts of a row partition again, and record it.

    Parameters
    ----------
    problem : Problem
    space : Space
        Space of the problem at the margin.
    depth : int
        Depth of the trees.
    parts : sequence of Part
        The smallest come first.
    clock : Clock
        Ends the recording; what is proved by then is returned.

    Returns
    -------
    ErrorsRecord or None
        None where the limits of the space cannot be written exactly.
    """
    limits = box_limits(problem, space)
    if limits is None:
        return None
    recorder = _Recorder(problem, space, depth, clock)
    # Of each part, the recorded ones that show its errors.
    shown: list[tuple[int, ...]] = []
    for part in parts:
        halves = tuple(k for half in part.halves for k in shown[half])
        shown.append(recorder.record(part, halves))
    last = shown[-1] if shown else ()
    bound = Bound(recorder.errors_of(last), words_of(len(last)))
    return ErrorsRecord(limits, recorder.parts, bound)


class _Recorder:
    """Records parts, one after the other, while there is time and room."""

    def __init__(
        self, problem: Problem, space: Space, depth: int, clock: Clock
    ) -> None:
        self.problem, self.space, self.depth = problem, space, depth
        self.clock, self.n_bytes = clock, 0
        self.name = np.arange(problem.n_rows)
        if problem.source is not None:
            self.name = problem.source
        self.parts: list[RecordedPart] = []

    def errors_of(self, numbers: tuple[int, ...]) -> float:
        """Return the sum of the errors of some recorded parts."""
        return float(sum(self.parts[k].errors for k in numbers))

    def record(self, part: Part, halves: tuple[int, ...]) -> tuple[int, ...]:
        """Record a part; return the numbers of those that show most of it."""
        same = _SAME * float(self.problem.weight[part.rows].min())
        if part.errors <= self.errors_of(halves) + 2 * same:
            return halves
        most = part.errors - same
        before = self.n_bytes
        branches = self._search(part.rows, most, halves)
        if branches is None:
            self.n_bytes = before
            return halves
        found = RecordedPart(part.rows, part.errors, most, halves, branches)
        self.parts.append(found)
        return (len(self.parts) - 1,)

    def _search(
        self, rows: IntArray, most: float, halves: tuple[int, ...]
    ) -> list[str] | None:
        """Return the branches of a search, or None if it does not come to its end."""
        # Numba is imported only where a proof is wanted.
        from miptree.proof.reasons import enter_level, leave_level, room_for_reasons
        from miptree.proof.state import begin_search, search_fits_memory

        X = self.space.X[rows]
        if not search_fits_memory(len(rows), X.shape[1], self.depth):
            return None
        group = np.full(len(rows), len(halves))
        for number, half in enumerate(halves):
            group[np.isin(rows, self.parts[half].rows)] = number
        bounds = np.array([self.parts[k].errors for k in halves] + [0.0])
        labels, weight = self.problem.y[rows], self.problem.weight[rows]
        s = begin_search(X, labels, weight, self.depth, group, bounds)
        room = room_for_reasons(2**self.depth, X.shape[1])
        names, least = self.name[rows].tolist(), self.space.min_distance
        lines: list[str] = []
        n_nodes = 0
        while True:
            n_nodes += 1
            if n_nodes % _NODES_AT_A_TIME == 0 and self._must_end():
                return None
            if not enter_level(s, most, least):
                return None  # a tree was found
            for i, options in _decided(s):
                line = _line_of(s, i, options, least, room, names)
                if line is None:
                    return None
                self.n_bytes += len(line)
                lines.append(line)
            if not leave_level(s, most, least):
                return lines

    def _must_end(self) -> bool:
        return self.clock.is_over or self.n_bytes > MOST_BYTES


def _decided(s: SearchState) -> list[tuple[int, int]]:
    """Return the points that a level decides on, with the leaves that are tried."""
    level = int(s.level[0])
    forced = s.forced[s.forced_at[level] : s.forced_at[level + 1]].tolist()
    chosen = int(s.chosen[level])
    last = [(chosen, int(s.options[level]))] if chosen >= 0 else []
    return [(i, 0) for i in forced] + last


def _line_of(
    s: SearchState, i: int, options: int, least: float, room: Reasons, names: list[int]
) -> str | None:
    """Write a branch: a point, and why all leaves but some are closed to it."""
    from miptree.proof.reasons import find_reasons

    n_reasons = find_reasons(s, i, options, least, room)
    if n_reasons < 0:
        return None
    words = [f'["b",{names[i]}']
    for k in range(n_reasons):
        size = room.size[k]
        points, times = room.point[k, :size].tolist(), room.times[k, :size].tolist()
        pairs = ",".join(f"{names[p]},{t}" for p, t in zip(points, times, strict=True))
        words.append(f"[{room.split[k]},{room.side[k]},{pairs}]")
    return ",".join(words) + "]\n"
