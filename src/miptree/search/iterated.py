"""Iterated search: an elite pool, moves repaired by line search, soft restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from miptree.control.clock import Clock
from miptree.search.elite import SAME, Pool
from miptree.search.measure import LONG, DescentEffort, Measure, ValuedTree, ZeroOne
from miptree.search.neighbourhood import random_move
from miptree.search.node_mip import optimise_node
from miptree.search.rng import random_state
from miptree.search.soft_trees import BATCH, FULL_BATCH_UP_TO, soft_trees
from miptree.tree import HeapTree
from miptree.utils.arrays import AnyArray

_ROUNDS_PER_BATCH = 5
_MOVES_PER_ROUND = 50

_MIP_AFTER = 1500
"""Iterations without improvement after which a node is left to a MIP."""
_MIP_NODES, _MIP_SHARE = 500, 0.1
"""Limits of that MIP: branch-and-bound nodes, and a part of the seconds."""

_PROMISING = 0.1
"""A candidate worse than the best by this part, and one mean row, is refined."""

_TRIES = 6
"""Random moves compared before one is repaired."""


class IteratedSearch:
    """One search with its own random numbers; :meth:`run` goes on until the clock ends.

    Parameters
    ----------
    measure : Measure
        What to minimise.
    depth : int
        Depth of the trees.
    rng : numpy.random.Generator
    clock : Clock
    lower_bound : float
        Stop when the value (in units of the data) reaches it.
    on_improvement : callable, optional
        Told of every new best candidate.
    """

    def __init__(
        self,
        measure: Measure,
        depth: int,
        rng: np.random.Generator,
        clock: Clock,
        lower_bound: float = 0.0,
        on_improvement: Callable[[ValuedTree], None] | None = None,
    ) -> None:
        self.measure, self.data = measure, measure.data
        self.errors = ZeroOne(measure.data)
        self.depth, self.rng, self.clock = depth, rng, clock
        self.lower_bound, self.on_improvement = lower_bound, on_improvement
        self.pool = Pool(nearness=measure.nearness)
        self.p_errors_first = 0.0

    def run(self, starts: Iterable[HeapTree]) -> None:
        """Search from the starts until the clock says stop."""
        for tree in starts:
            self.add(self.measure.value(tree))
        for candidate in list(self.pool):
            if self.over():
                return
            self.step(self._descend(candidate.tree, LONG))
        while not self.over():
            self._soft_batch()
            for round_ in range(_ROUNDS_PER_BATCH):
                if not self.over():
                    self._round(self._elite(round_))
            if self.clock.stalled >= _MIP_AFTER and not self.over():
                self._node_mip()

    def run_from(self, tree: HeapTree) -> None:
        """Descend and move from one tree alone until the clock says stop."""
        self.add(self.measure.value(tree))
        if not self.over():
            self.step(self._descend(tree, LONG))
        while not self.over():
            self._round(self.pool.best)

    def add(self, candidate: ValuedTree) -> bool:
        """Add a candidate to the pool and report it if it is the best."""
        improved = self.pool.add(candidate)
        if improved and self.on_improvement is not None:
            self.on_improvement(candidate)
        return improved

    def over(self) -> bool:
        """Whether to stop: the bound is reached or the budget is spent."""
        if self.pool.best.value <= self.lower_bound + SAME:
            self.clock.end("bound")
        return self.clock.is_spent

    def step(self, candidate: ValuedTree) -> None:
        """One iteration is done: a candidate was made."""
        self.clock.count(self.add(candidate))

    def keep_routing(self, tree: HeapTree) -> ValuedTree:
        """One iteration: make the best of the way that a tree routes the points."""
        candidate = self._refine(self.measure.value(tree), random_state(self.rng))
        self.step(candidate)
        return candidate

    def _descend(
        self, tree: HeapTree, effort: DescentEffort | None = None
    ) -> ValuedTree:
        """Improve a tree by line searches, and further if it is promising.

        By default the effort is the short one. With probability ``p_errors_first`` the
        line searches look at the errors alone, and the margins are made good after.
        """
        state = random_state(self.rng)
        if self.p_errors_first and self.rng.random() < self.p_errors_first:
            few = self.errors.descend(tree, effort or self.errors.short, state)
            found = self.measure.value(few.tree)
            # The value is at least the cost of the errors.
            promising = few.value < self.pool.best.value
        else:
            found = self.measure.descend(tree, effort or self.measure.short, state)
            worst = self.pool.best.value * (1.0 + _PROMISING) + 1.0
            promising = found.value <= worst
        return self._refine(found, state) if promising else found

    def _refine(self, candidate: ValuedTree, state: AnyArray) -> ValuedTree:
        return self.measure.refine(candidate, state, self.clock)

    def _move(self, tree: HeapTree) -> HeapTree:
        """Pick the move of least cost, before its repair, of a few random ones.

        The cost of the errors it is: any move ruins the margins at first.
        """
        tries = [
            self.errors.value(
                random_move(self.data, tree, self.rng, self.measure.p_sparse)
            )
            for _ in range(_TRIES)
        ]
        return min(tries, key=lambda candidate: candidate.value).tree

    def _elite(self, round_: int) -> ValuedTree:
        """Start of a round: the best tree every other time, else one of the next."""
        if round_ % 2 == 0:
            return self.pool.best
        return self.pool[int(self.rng.integers(min(6, len(self.pool))))]

    def _soft_batch(self) -> None:
        """Train a batch of soft trees and descend from the best of them."""
        if not self.data.n_open:
            return  # only subset splits, which the moves try
        n_trees = BATCH if self.data.n_rows <= FULL_BATCH_UP_TO else BATCH // 4
        trees = soft_trees(
            self.data,
            self.depth,
            self.rng,
            n_trees=n_trees,
            clock=self.clock,
        )
        hardened = sorted(map(self.errors.value, trees), key=lambda c: c.value)
        for candidate in hardened[: n_trees // 4]:
            self.step(self._descend(candidate.tree, LONG))
            if self.over():
                return

    def _node_mip(self) -> None:
        """Solve the 0-1 problem of one node of the best tree by MIP."""
        tree = self.pool.best.tree
        better = None
        if isinstance(self.measure, ZeroOne):
            better = optimise_node(
                self.data,
                tree,
                int(self.rng.integers(len(tree.threshold))),
                clock=self.clock.phase(_MIP_SHARE),
                nodes=_MIP_NODES,
            )
        if better is not None:
            self.step(self._descend(better, LONG))

    def _round(self, current: ValuedTree) -> None:
        """Move from an elite tree until the moves no longer help."""
        stalled = 0
        while stalled < _MOVES_PER_ROUND and not self.over():
            candidate = self._descend(self._move(current.tree))
            rise = candidate.value - current.value
            stalled = 0 if rise < -SAME else stalled + 1
            self.step(candidate)
            if rise <= SAME or rise < self.rng.exponential(self.measure.temperature):
                current = candidate
