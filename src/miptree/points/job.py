"""One run of the engine: what its parts share, and trees of depth 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from miptree.control.clock import Clock
from miptree.points.evaluate import NO_SPLIT
from miptree.points.known import (
    BEST,
    LOWEST,
    N_EVALUATED,
    N_LIVE,
    NEXT_BOUND,
    NO_ROOT,
    State,
)
from miptree.points.layout import Rows, Space
from miptree.points.part import Anchor, Part
from miptree.points.roots import advance
from miptree.points.shares import Shares
from miptree.points.state import (
    begin_state,
    evaluated,
    heap_of,
    leaf_tree,
    penalty_sums,
    purest,
)
from miptree.utils.arrays import AnyArray

N_STARTS = 25
"""Root splits to start with."""
_WORK_OF_A_CHUNK = 5e7
"""Rows and bins counted between two looks at the clock, a tenth of a second."""
_WORK_TO_SHARE = 1e5
"""Work of one evaluation, half a millisecond, from which threads share it."""


@dataclass(eq=False)
class Job:
    """What the steps of one run share.

    Attributes
    ----------
    space : Space
    n_classes, min_leaf : int
    grain : int
        The weights of all rows are multiples of it.
    flag : uint8 array of shape (1,)
        1 once the clock is over, for kernels.
    clock : Clock
    max_evaluations : int or None
    n_jobs : int
    keep_anchors : bool
    told : callable
        Called with a part that is about all rows.
    roots : bool array of shape (F,) or None
        Which directions the root of the tree of all rows may have, None for all.
    """

    space: Space
    n_classes: int
    min_leaf: int
    grain: int
    flag: AnyArray
    clock: Clock
    max_evaluations: int | None
    n_jobs: int
    keep_anchors: bool
    told: Callable[[Part], object]
    roots: AnyArray | None = None
    _evaluated: list[int] = field(default_factory=list)
    _sums: dict[int, AnyArray] = field(default_factory=dict)

    def without_minimum(self) -> Job:
        """Return a job like this one in which leaves may have any size."""
        return self if self.min_leaf <= 1 else replace(self, min_leaf=1)

    @property
    def n_evaluated(self) -> int:
        """Root splits whose subtrees were found."""
        return sum(self._evaluated)

    def count(self, n_evaluated: int) -> None:
        """Count evaluations; threads may do so at the same time."""
        self._evaluated.append(n_evaluated)

    @property
    def is_over(self) -> bool:
        """Whether the time or the evaluations are used up."""
        return self.clock.is_over or self.evaluations_left == 0

    @property
    def evaluations_left(self) -> int:
        """Evaluations that may follow."""
        if self.max_evaluations is None:
            return 1 << 40
        return max(0, self.max_evaluations - self.n_evaluated)

    def begin(self, rows: Rows, depth: int) -> State:
        """Return the state in which nothing is known of the root splits."""
        if depth not in self._sums:
            self._sums[depth] = penalty_sums(self.space.penalty, 2**depth - 1)
        sums = self._sums[depth]
        return begin_state(self.space, rows, self.n_classes, sums, self.grain)

    def card(self, split: int) -> Anchor:
        """Return a root split as an anchor without proofs for its sides."""
        if split == NO_ROOT:
            return Anchor((), (), 0)
        space = self.space
        f = int(space.direction[split])
        used = space.points[f] != 0
        threshold = int(space.lowest[f] + split - space.offset[f])
        columns, points = space.column[f][used], space.points[f][used]
        return Anchor(tuple(columns.tolist()), tuple(points.tolist()), threshold)


def best_leaf(job: Job, rows: Rows, depth: int) -> Part:
    """Return the cheapest class for some rows, as a tree of a depth, without proof."""
    weight = np.bincount(rows.label, rows.weight, job.n_classes).astype(np.int64)
    label = int(weight.argmax())
    cost = int(weight.sum() - weight[label])
    return Part(leaf_tree(len(job.space.steps), label, depth), cost, 0)


def best_stump(job: Job, rows: Rows) -> Part:
    """Return the best tree of depth 1."""
    state = job.begin(rows, 1)
    try_all_rows(job, rows, state)
    heap = heap_of(job.space, rows, job.n_classes, state.tree[1:2])
    cost = int(state.sides.cost[0])
    return Part(heap, cost, cost, (job.card(NO_ROOT),) if job.keep_anchors else ())


def try_all_rows(job: Job, rows: Rows, state: State) -> None:
    """Evaluate the root that sends all rows left, whatever the clock says."""
    start, no_flag = np.array([NO_ROOT]), np.zeros(1, dtype=np.uint8)
    advance(job.space, rows, state, start, job.min_leaf, 1, no_flag)
    job.count(1)


def limit_roots(job: Job, rows: Rows, state: State, roots: AnyArray) -> None:
    """Keep only splits of some directions live; a tree must beat the best leaf."""
    endless = np.iinfo(state.bound_left.dtype).max // 4
    state.bound_left[~roots[job.space.direction]] = endless
    state.number[BEST] = best_leaf(job, rows, 1).cost
    if (state.bound_left >= endless).all():
        state.number[N_LIVE], state.number[NEXT_BOUND] = 0, NO_ROOT


def best_pair_tree(job: Job, rows: Rows, is_whole: bool, n_starts: int) -> Part:
    """Return the best tree of depth 2; ``is_whole`` if it is what the run is about."""
    state = job.begin(rows, 2)
    roots = job.roots if is_whole else None
    if roots is not None:
        limit_roots(job, rows, state, roots)
    starts = purest(job.space, state, n_starts)
    if roots is None:
        try_all_rows(job, rows, state)
    work = len(job.space.n_bins) * len(rows.label) / 4 + len(job.space.direction)
    n_steps = max(1, int(_WORK_OF_A_CHUNK / work))
    shares = None
    while state.number[N_LIVE] > 0 and not job.is_over:
        before = int(state.number[N_EVALUATED])
        steps = min(n_steps, job.evaluations_left)
        if shares is not None:
            state = shares.advance(job.space, rows, job.min_leaf, steps, job.flag)
        else:
            done = advance(
                job.space, rows, state, starts, job.min_leaf, steps, job.flag
            )
            starts = starts[done:]
            if (
                is_whole
                and job.n_jobs > 1
                and work > _WORK_TO_SHARE
                and not len(starts)
            ):
                shares = Shares(state, job.n_jobs)
        job.count(int(state.number[N_EVALUATED]) - before)
        if is_whole:
            job.told(_part(job, rows, state, with_anchors=False))
    if shares is not None:
        shares.close()
    return _part(job, rows, state, with_anchors=job.keep_anchors)


def _part(job: Job, rows: Rows, state: State, with_anchors: bool) -> Part:
    heap = heap_of(job.space, rows, job.n_classes, _three_splits(state))
    cost = int(state.number[BEST])
    bound = cost if state.number[N_LIVE] == 0 else int(state.number[LOWEST])
    anchors: tuple[Anchor, ...] = ()
    if with_anchors:
        anchors = tuple(job.card(split) for split in evaluated(state).tolist())
    return Part(heap, cost, min(bound, cost), anchors)


def _three_splits(state: State) -> AnyArray:
    """Return the splits of the best tree; a root that splits nothing goes away."""
    if state.tree[0, 0] != NO_SPLIT:
        return state.tree
    nothing = np.full((1, 3), NO_SPLIT, dtype=np.int64)
    return np.concatenate([state.tree[1:2], nothing, nothing])
