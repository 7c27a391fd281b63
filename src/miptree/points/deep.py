"""Trees of depth 3 and 4: the same search over root splits, with solved subtrees."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from miptree.points.job import (
    N_STARTS,
    Job,
    best_leaf,
    best_pair_tree,
    best_stump,
    limit_roots,
)
from miptree.points.known import (
    BEST,
    LOWEST,
    N_LIVE,
    NEXT_BOUND,
    NEXT_FITTING,
    NO_ROOT,
    State,
)
from miptree.points.layout import Rows
from miptree.points.outer import close_root, fit_roots, open_root
from miptree.points.part import Anchor, Part
from miptree.points.state import (
    heap_of,
    is_open,
    joined,
    leaf_tree,
    leaves_of,
    purest,
)
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray

_FEW_STARTS = 6
"""Root splits to start with in a subtree, and at the root above one."""
_SUBTREE_EVALUATIONS = 12
"""Root splits tried for a subtree of depth 3, below the root of a tree of depth 4."""
_IMPOSSIBLE = 1 << 60
"""Cost of rows that are too few for a leaf."""


def best_deep_tree(job: Job, rows: Rows, depth: int) -> Part:
    """Return the best tree of some rows that a job finds in its time."""
    if not len(rows.label) or not len(job.space.n_bins):
        leaf = best_leaf(job, rows, depth)
        return Part(leaf.heap, leaf.cost, leaf.cost)
    if job.clock.is_over:
        return best_leaf(job, rows, depth)
    if depth == 1:
        return best_stump(job, rows)
    if depth == 2:
        return best_pair_tree(job, rows, True, N_STARTS)
    return _OuterSearch(job, rows, depth, True).run(None)


def _subtree(job: Job, rows: Rows, depth: int) -> Part:
    """Return the best subtree of some rows."""
    leaf = best_leaf(job, rows, depth)
    if leaf.cost == 0 or job.is_over:
        return leaf
    if depth == 2:
        return best_pair_tree(job, rows, False, _FEW_STARTS)
    return _OuterSearch(job, rows, depth, False).run(_SUBTREE_EVALUATIONS)


class _OuterSearch:
    """The search over root splits of a tree of depth 3 or 4.

    Parameters
    ----------
    job : Job
    rows : Rows
    depth : int
    is_whole : bool
        Whether the tree is what the run is about.
    """

    def __init__(self, job: Job, rows: Rows, depth: int, is_whole: bool) -> None:
        self.job, self.rows, self.depth, self.is_whole = job, rows, depth, is_whole
        self.state: State = job.begin(rows, depth)
        self.anchors: list[Anchor] = []
        # Evaluated root splits whose subtrees are not proved to be the best.
        self.open_bound = _IMPOSSIBLE
        self.heap = best_leaf(job, rows, depth).heap

    def run(self, most: int | None) -> Part:
        """Evaluate root splits until none is left, or so many, or the time is over."""
        number = self.state.number
        self._begin()
        starts = purest(self.job.space, self.state, _FEW_STARTS).tolist()
        n_done = 0
        while number[N_LIVE] > 0 and not self.job.is_over and n_done != most:
            root = int(number[NEXT_FITTING if n_done % 2 else NEXT_BOUND])
            while starts and not is_open(self.state, starts[0]):
                starts.pop(0)
            if starts:
                root = starts.pop(0)
            while self._try(root) and number[N_LIVE] > 0 and not self.job.is_over:
                root = int(number[NEXT_FITTING])
            n_done += 1
        return self._part()

    def _begin(self) -> None:
        """Start with the best tree that is less deep, which is an anchor, too."""
        job, depth = self.job, self.depth - 1
        if self.is_whole and job.roots is not None:
            limit_roots(job, self.rows, self.state, job.roots)
            return
        smaller = _subtree(job, self.rows, depth)
        nothing = leaf_tree(len(job.space.steps), 0, 1)
        rest = leaf_tree(len(job.space.steps), int(smaller.heap.label[0]), depth)
        self.state.number[BEST] = smaller.cost
        self.heap = joined(nothing, smaller.heap, rest)
        bound, anchors = smaller.bound, smaller.anchors
        if job.min_leaf > 1:
            free = _subtree(job.without_minimum(), self.rows, depth)
            bound, anchors = free.bound, free.anchors
        self._open(smaller.bound)
        open_root(job.space, self.rows, self.state, NO_ROOT)
        self._fit(smaller.heap, rest)
        self._keep(NO_ROOT, anchors, ())
        close_root(job.space, self.state, bound, 0)

    def _try(self, root: int) -> bool:
        """Solve both sides of a root split; return whether the tree is the best."""
        job, state, space = self.job, self.state, self.job.space
        split = open_root(space, self.rows, state, root)
        parts, bounds = self._sides(state.left.copy())
        penalty = int(space.penalty[split[0]])
        cost = penalty + sum(part.cost for part in parts)
        is_better = cost < state.number[BEST]
        if is_better:
            top = heap_of(space, self.rows, job.n_classes, np.array([split]))
            self.heap = joined(top, parts[0].heap, parts[1].heap)
            state.number[BEST] = cost
            self._fit(parts[0].heap, parts[1].heap)
        self._open(penalty + sum(part.bound for part in parts))
        self._keep(root, *map(_all_anchors, parts, bounds))
        close_root(space, state, bounds[0].bound, bounds[1].bound)
        if self.is_whole:
            job.told(self._part(with_anchors=False))
        return is_better

    def _sides(self, left: AnyArray) -> tuple[list[Part], list[Part]]:
        """Solve both sides; return the trees, and the proofs for leaves of any size."""
        sides = [self.rows.take(left), self.rows.take(~left)]
        job, depth = self.job, self.depth - 1

        def solved(rows: Rows) -> tuple[Part, Part]:
            free = _subtree(job.without_minimum(), rows, depth)
            if job.min_leaf <= 1:
                return free, free
            return _with_minimum(job, rows, depth, free), free

        if job.n_jobs > 1:
            with ThreadPoolExecutor(2) as pool:
                found = list(pool.map(solved, sides))
        else:
            found = [solved(rows) for rows in sides]
        return [part for part, _ in found], [free for _, free in found]

    def _fit(self, left: HeapTree, right: HeapTree) -> None:
        """Find the cost of every root split with these subtrees."""
        rows = self.rows
        cost = np.empty((2, len(rows.label)), dtype=rows.weight.dtype)
        for row, heap in zip(cost, (left, right), strict=True):
            label = heap.label[leaves_of(heap, rows)]
            row[:] = np.where(label != rows.label, rows.weight, 0)
        fit_roots(self.job.space, rows, self.state, cost)

    def _open(self, bound: int) -> None:
        self.open_bound = min(self.open_bound, bound)

    def _keep(
        self, root: int, left: tuple[Anchor, ...], right: tuple[Anchor, ...]
    ) -> None:
        if self.job.keep_anchors:
            card = self.job.card(root)
            self.anchors.append(card._replace(left=left, right=right))

    def _part(self, with_anchors: bool = True) -> Part:
        number = self.state.number
        cost = int(number[BEST])
        lowest = cost if number[N_LIVE] == 0 else int(number[LOWEST])
        anchors = tuple(self.anchors) if with_anchors else ()
        return Part(self.heap, cost, min(cost, lowest, self.open_bound), anchors)


def _all_anchors(part: Part, free: Part) -> tuple[Anchor, ...]:
    """Return the anchors of both proofs of a side: with the minimum leaf, without."""
    return free.anchors if part is free else free.anchors + part.anchors


def _with_minimum(job: Job, rows: Rows, depth: int, free: Part) -> Part:
    """Return the best subtree whose leaves are large enough.

    That is the best one of all, where its leaves are.
    """
    if int(rows.copies.sum()) < job.min_leaf:
        return Part(free.heap, _IMPOSSIBLE, _IMPOSSIBLE)
    size = np.bincount(leaves_of(free.heap, rows), rows.copies)
    if (size[size > 0] >= job.min_leaf).all():
        return free
    return _subtree(job, rows, depth)
