"""Several threads on one search over root splits, which is the same in every run.

Each thread has a copy of the state and takes root splits of its share of directions.
After a few of them the copies learn from each other; what they learn depends on the
number of threads, but not on their speed.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from miptree.points.evaluate import Reach, Sides
from miptree.points.known import (
    BEST,
    LOWEST,
    N_EVALUATED,
    N_LIVE,
    N_SHARES,
    N_TRIED,
    SHARE,
    State,
)
from miptree.points.layout import Rows, Space
from miptree.points.roots import advance
from miptree.utils.arrays import AnyArray

_STEPS = 8
"""Root splits that a thread evaluates before it learns from the others."""
_NO_STARTS = np.zeros(0, dtype=np.int64)


class Shares:
    """The copies of a state, one for each thread."""

    def __init__(self, state: State, n_threads: int) -> None:
        self.states = [_copied(state, k, n_threads) for k in range(n_threads)]
        self._pool = ThreadPoolExecutor(n_threads)

    def advance(
        self, space: Space, rows: Rows, min_leaf: int, n_steps: int, flag: AnyArray
    ) -> State:
        """Evaluate at most so many root splits; return the state of all threads."""
        each = min(_STEPS, -(-n_steps // len(self.states)))
        before = [int(state.number[N_EVALUATED]) for state in self.states]
        jobs = [
            self._pool.submit(
                advance, space, rows, state, _NO_STARTS, min_leaf, each, flag
            )
            for state in self.states
        ]
        for job in jobs:
            job.result()
        best = self._learn(before)
        # A state knows bounds for all root splits, so the highest of them holds.
        best.number[LOWEST] = max(int(state.number[LOWEST]) for state in self.states)
        if int(best.number[N_EVALUATED]) == before[0] and not flag[0]:
            best.number[N_LIVE] = 0  # no thread has found one that may be better
        return best

    def _learn(self, before: list[int]) -> State:
        """Give every copy the best tree, the highest bounds and all evaluations."""
        states = self.states
        best = min(states, key=lambda state: int(state.number[BEST]))
        is_better = any(s.number[BEST] > best.number[BEST] for s in states)
        new = [
            state.order[start : state.number[N_EVALUATED]]
            for state, start in zip(states, before, strict=True)
        ]
        order = np.concatenate([states[0].order[: before[0]], *new])
        for name in ("bound_left", "bound_right"):
            highest = np.maximum.reduce([getattr(state, name) for state in states])
            for state in states:
                getattr(state, name)[:] = highest
        for state in states:
            state.order[: len(order)] = order
            state.number[N_EVALUATED] = len(order)
            state.number[N_LIVE] = len(state.live)
            state.live[:] = np.arange(len(state.live))
            if is_better and state is not best:
                state.number[N_TRIED] = best.number[N_TRIED]
            _adopt(state, best)
        return best

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown()


def _copied(state: State, share: int, n_shares: int) -> State:
    number = state.number.copy()
    number[SHARE], number[N_SHARES] = share, n_shares
    copies = {
        name: getattr(state, name).copy()
        for name in (
            *("margin", "tree", "live", "bound_left", "bound_right", "fitting"),
            *("order", "left"),
        )
    }
    reach = Reach(*(array.copy() for array in state.reach))
    sides = Sides(*(array.copy() for array in state.sides))
    return state._replace(number=number, reach=reach, sides=sides, **copies)


def _adopt(state: State, best: State) -> None:
    """Take over the best tree."""
    if state is not best:
        state.number[BEST] = best.number[BEST]
        for name in ("margin", "tree", "fitting"):
            getattr(state, name)[:] = getattr(best, name)
