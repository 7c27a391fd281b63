"""Search of one structure, that can be paused: begin, advance, and what came out.

state = begin(problem, structure, threshold, record=True)
while advance(state, max_nodes=1000) == PAUSED:
...
bound = min(state.threshold, state.open_value)  # of this structure, once EXHAUSTED
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.proof.routes import search
from miptree.proof.routes.look import make_look
from miptree.proof.routes.state import (
    MOST_OPTIONS,
    Levels,
    Log,
    Rows,
    Trail,
    grown,
    make_data,
    make_levels,
    make_rows,
    make_trail,
    view_lps,
)
from miptree.proof.routes.structures import Structure
from miptree.proof.routes.trace import Trace, backward
from miptree.proof.routes.units import RouteProblem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

EXHAUSTED, PAUSED = search.EXHAUSTED, search.PAUSED
_FIRST_LEVELS = 24
_MOST_CANDIDATES = 64


class Candidate(NamedTuple):
    """A tree that a search met.

    Attributes
    ----------
    coef : float array of shape (n_splits, d)
        In scaled units, scores within the box abs(score) <= 1 where the margin is eps.
        Subset splits have none.
    threshold : float array of shape (n_splits,)
    structure : Structure
        Which split is where, and the labels.
    left_values : list of n_splits int arrays
        The values that go left at each subset split, as in ``RouteProblem.values``.
    """

    coef: FloatArray
    threshold: FloatArray
    structure: Structure
    left_values: list[IntArray]


class SearchState:
    """A search of one structure; see :func:`begin`.

    Attributes
    ----------
    threshold : float
        T: what is to be proved. It may be lowered between calls of :func:`advance`,
        never raised. The search lowers it itself to ``open_value``.
    open_value : float
        Least proved value of the nodes that could not be closed at the threshold they
        met; infinite without. Once exhausted, no tree of the structure (within the
        first masks) costs less than ``min(threshold, open_value)``.
    outcome : int
        EXHAUSTED or PAUSED.
    """

    def __init__(
        self,
        problem: RouteProblem,
        structure: Structure,
        threshold: float,
        record: bool,
        mask: IntArray | None = None,
    ) -> None:
        self.problem, self.structure, self.record = problem, structure, record
        n, m, B = problem.n_points, problem.X.shape[1] + 1, structure.n_hyperplanes
        n_subsets = structure.n_splits - B
        self.fixed = -1
        if mask is None:
            mask = np.full(n, (1 << structure.n_leaves) - 1, dtype=np.int64)
            if structure.is_symmetric:
                self.fixed = central_point(problem)
                mask[self.fixed] = structure.left_of_root
        self._data = make_data(problem, structure, np.asarray(mask, dtype=np.int64))
        self._here = make_rows(n, m, B, 1)
        self._lps = view_lps(self._here, n, m, B)
        self._scratch = make_rows(n, m, B, 1)
        self._kept = view_lps(self._scratch, n, m, B)
        self._look = make_look(n, m, B)
        self._saved = make_rows(n, m, B, _FIRST_LEVELS)
        uses = B, m - 1 if problem.is_limited else 0
        self._levels = make_levels(_FIRST_LEVELS, n, n_subsets, uses)
        self._levels.mask[0] = mask
        self._trail = make_trail(n, m, B, *_trail_room(n, structure.n_leaves, 4))
        room = 4 * ((2 * n + m) * B + 100)
        self._log = Log(
            np.zeros((64, 4), dtype=np.int64),
            np.zeros(64, dtype=np.int64),
            np.zeros((room, 2), dtype=np.int64),
        )
        self._counter = np.zeros(search.N_COUNTERS, dtype=np.int64)
        self._number = np.array([threshold, np.inf])
        self._candidate = np.zeros((_MOST_CANDIDATES, B, m))
        self._routed = np.zeros((_MOST_CANDIDATES, n + n_subsets), dtype=np.int64)
        self._room = (
            np.zeros((B, 2 * n + m), dtype=np.int64),
            np.zeros((B, 2 * n + m), dtype=np.int64),
            np.zeros(self._lps.q.shape),
            np.zeros(3),
            np.zeros(MOST_OPTIONS, dtype=np.int64),
            np.zeros_like(self._levels.used[0]),
        )
        self.outcome = PAUSED

    @property
    def threshold(self) -> float:
        """T, what is to be proved."""
        return float(self._number[0])

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._number[0] = min(self._number[0], value)

    @property
    def open_value(self) -> float:
        """Least value of nodes that were met and not closed."""
        return float(self._number[1])

    @property
    def nodes(self) -> int:
        """Nodes so far."""
        return int(self._counter[search.NODES])

    @property
    def n_entries(self) -> int:
        """Multipliers recorded so far."""
        return int(self._counter[search.N_ENTRIES])

    def take_candidates(self) -> list[Candidate]:
        """Return the trees met since the last call."""
        end = int(self._counter[search.N_CANDIDATES])
        self._counter[search.N_CANDIDATES] = 0
        planes = self._candidate[:end] / self.problem.box
        return [self._tree(y, self._routed[k]) for k, y in enumerate(planes)]

    def _tree(self, planes: FloatArray, routed: IntArray) -> Candidate:
        """Return a tree by its hyperplanes, the points' leaves, and features."""
        structure = self.structure
        plane = np.zeros((structure.n_splits, planes.shape[1]))
        plane[~structure.is_subset] = planes
        left_values = [np.zeros(0, dtype=np.intp)] * structure.n_splits
        mask, feature = np.split(routed, [self.problem.n_points])
        leaves = self._data.subset_leaves[:, 0]
        for k, split in enumerate(np.flatnonzero(structure.is_subset)):
            goes_left = mask & leaves[k] > 0
            left_values[split] = np.unique(self.problem.values[feature[k], goes_left])
        return Candidate(plane[:, :-1], plane[:, -1], structure, left_values)

    def trace(self) -> Trace:
        """Return the recorded proof; it is complete once the search is exhausted."""
        counter = self._counter
        trace = backward(
            self.fixed,
            self._log.event[: counter[search.N_EVENTS]],
            self._log.mask[: counter[search.N_MASKS]],
            self._log.entry[: counter[search.N_ENTRIES]],
        )
        return trace.renumbered(self.structure.is_subset)

    def work(self) -> search.Work:
        """Return all that the kernel works on."""
        return search.Work(
            self._data, self._lps, self._kept, self._here, self._scratch, self._saved,
            self._look, self._levels, self._trail, self._log, self._counter,
            self._number, self._candidate, self._routed, *self._room,
            self.problem.rho, self.problem.least_split, self.record,
        )  # fmt: skip

    def _grow(self) -> None:
        """Double the arrays that are about to be full."""
        n, B = self.problem.n_points, self.structure.n_hyperplanes
        m = self.problem.X.shape[1] + 1
        n_leaves, counter = self.structure.n_leaves, self._counter
        if counter[search.LEVEL] + 2 >= len(self._levels.mode):
            size = 2 * len(self._levels.mode)
            self._levels = Levels._make(grown(self._levels, size))
            self._saved = Rows._make(grown(self._saved, size))
        parts = [self._trail[:4], self._trail[4:6], self._trail[6:]]
        counts = [search.N_RECORDS, search.N_CHANGES, search.N_SNAPSHOTS]
        for k, needed in enumerate(_trail_room(n, n_leaves, 2)):
            size = len(parts[k][0])
            if counter[counts[k]] + needed >= size:
                parts[k] = tuple(grown(parts[k], 2 * size))
        self._trail = Trail._make(array for part in parts for array in part)
        used = counter[[search.N_EVENTS, search.N_MASKS, search.N_ENTRIES]]
        room = (16, 32, 2 * (2 * n + m) * B)
        self._log = Log(*(
            grown((old,), 2 * len(old))[0] if k + more >= len(old) else old
            for old, k, more in zip(self._log, used, room, strict=True)
        ))  # fmt: skip


def central_point(problem: RouteProblem) -> int:
    """Return the point that is nearest, on average, to those of other wishes.

    Fixed to the left of the root of a symmetric structure, it says most; outliers say
    little, and the search takes several times as long.
    """
    cost = problem.cost[:, problem.labels]
    is_other = cost[:, cost.argmin(axis=1)] > cost.min(axis=1)[:, None]
    weight = is_other * problem.C
    mean = (problem.distance * weight).sum(axis=1) / np.maximum(
        weight.sum(axis=1), 1e-9
    )
    return int(np.where(weight.any(axis=1), mean, np.inf).argmin())


def _trail_room(n: int, n_leaves: int, nodes: int) -> tuple[int, int, int]:
    """Return the records, changes and snapshots of so many nodes."""
    return nodes * (n * n_leaves + 2), nodes * 4 * (n + 2) * n_leaves, nodes * 32


def begin(
    problem: RouteProblem,
    structure: Structure,
    threshold: float,
    record: bool = False,
    mask: IntArray | None = None,
) -> SearchState:
    """Make a search for the claim that no tree of a structure costs less than T.

    Parameters
    ----------
    problem : RouteProblem
        With rho > 0.
    structure : Structure
    threshold : float
        T > 0.
    record : bool
        Whether to record the proof.
    mask : int array of shape (n,), optional
        Leaves that are open to each point at first, as bits: by default all, except
        that in a symmetric structure a central point (``state.fixed``) is left of the
        root.
    """
    return SearchState(problem, structure, threshold, record, mask)


def advance(
    state: SearchState, max_nodes: int = 1000, stop: AnyArray | None = None
) -> int:
    """Search on for so many nodes, or until a flag is set; return the outcome.

    The kernel releases the GIL. ``stop`` is the array of ``Clock.flag()``.
    """
    flag = np.zeros(1, dtype=np.uint8) if stop is None else stop
    last = state.nodes + max_nodes
    while True:
        outcome = search.advance_kernel(state.work(), last - state.nodes, flag)
        if outcome != search.FULL:
            state.outcome = outcome
            return int(outcome)
        state._grow()


def search_bytes(problem: RouteProblem, structure: Structure) -> int:
    """Return about how much memory :func:`begin` takes."""
    n, m, B = problem.n_points, problem.X.shape[1] + 1, structure.n_hyperplanes
    levels = _FIRST_LEVELS * B * (8 * m * m + 90 * n)
    return 8 * n * n + 2 * levels + 128 * B * 8 * (4 * n + 2 * m)
