"""From one search to the whole plan: first errors, then (1a); first samples, then all.

Up to :data:`FIRST_SAMPLE` rows the search sees all rows. Above, it runs on a random
sample (for very large data see :mod:`miptree.search.stream`), its best trees are
improved on samples that grow, then on all rows, and the next round draws another.
Only sweeps of the line search read all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from miptree.search.iterated import IteratedSearch
from miptree.search.measure import ONE_SWEEP, Measure, Svm1, ValuedTree
from miptree.search.rng import random_state
from miptree.search.starts import LARGEST_CART
from miptree.search.stream import streamed_trees
from miptree.search.warm_starts import warm_starts
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray

FIRST_SAMPLE = 10_000
"""Rows that a whole search looks at."""

_GROWTH = 8
"""Each sample is so many times larger than the one before."""

_SAMPLE_SHARE = 0.35
_SAMPLE_ITERATIONS = 400
"""Limits of one search on a sample: a part of the time left, and iterations."""

_CLIMBERS = 3
"""Best trees that go on from the first sample to the next."""

_SWEEPS, _LEAST_GAIN = 5, 0.002
"""Sweeps at each step, as long as one gains this part of the value."""


def run_plan(
    search: IteratedSearch, starts: Sequence[HeapTree], warms_up: bool = True
) -> None:
    """Search from the starts until the clock ends.

    ``warms_up`` tells whether a search of (1a) makes better starts first.
    """
    if search.data.n_rows <= FIRST_SAMPLE:
        _search_all_rows(search, starts, warms_up)
        return
    for tree in starts:
        search.add(search.measure.value(tree))
    while not search.over():
        _climb(search, warms_up)


def _search_all_rows(
    search: IteratedSearch, starts: Sequence[HeapTree], warms_up: bool
) -> None:
    """Search on all rows; (1a) needs good starts first."""
    if warms_up and isinstance(search.measure, Svm1):
        starts = [*starts, *warm_starts(search, search.measure, starts)]
    search.run(starts)


def _climb(search: IteratedSearch, warms_up: bool) -> None:
    """One round: search a fresh sample and bring its best tree up to all rows."""
    n_rows, size = search.data.n_rows, FIRST_SAMPLE
    order = search.rng.permutation(n_rows)
    if n_rows > LARGEST_CART and search.data.n_open:
        trees = streamed_trees(search, search.measure.on_rows(order[:size]))
    else:
        trees = _search_sample(search, order[:size], warms_up)
    seconds_per_row = 0.0
    while 4 * size * _GROWTH <= n_rows and not search.clock.is_over:
        size *= _GROWTH
        larger = search.measure.on_rows(order[:size])
        best = min(map(larger.value, trees), key=lambda c: c.value)
        best, seconds_per_row = _sweep(search, larger, best, seconds_per_row)
        trees = [best.tree]
    if search.clock.is_over:
        trees = trees[:1]
    best = min(map(search.measure.value, trees), key=lambda c: c.value)
    search.add(best)
    best, _ = _sweep(search, search.measure, best, seconds_per_row)
    search.step(best)


def _sweep(
    search: IteratedSearch, measure: Measure, best: ValuedTree, seconds_per_row: float
) -> tuple[ValuedTree, float]:
    """Sweep the line search over all nodes while it helps and the time suffices.

    Returns the best candidate and the seconds that a sweep took per row, from which
    the time of the next, longer one is foreseen: another sample is better than a part
    of a sweep. One that still takes too long is cut short.
    """
    n_rows = measure.data.n_rows
    for _ in range(_SWEEPS):
        if not search.clock.has_time_for(seconds_per_row * n_rows):
            break
        began, before = search.clock.elapsed, best.value
        state = random_state(search.rng)
        with search.clock.flag() as stop:
            best = measure.descend(best.tree, ONE_SWEEP, state, stop)
        seconds_per_row = (search.clock.elapsed - began) / n_rows
        if best.value >= before * (1.0 - _LEAST_GAIN):
            break
    return best, seconds_per_row


def _search_sample(
    search: IteratedSearch, rows: IntArray, warms_up: bool
) -> list[HeapTree]:
    """Best trees of a search on some of the rows, for a part of the time left."""
    clock = search.clock.sample(_SAMPLE_SHARE, _SAMPLE_ITERATIONS)
    sample = search.measure.on_rows(rows)
    on_sample = IteratedSearch(sample, search.depth, search.rng, clock)
    starts = [candidate.tree for candidate in search.pool]
    _search_all_rows(on_sample, starts, warms_up)
    search.clock.absorb(clock)
    return [candidate.tree for candidate in on_sample.pool][:_CLIMBERS]
