"""From one search to the whole plan: first errors, then (1a); first samples, then all.

Up to :data:`FIRST_SAMPLE` rows the search sees all rows. Above, it runs on a random
sample, its best trees are improved on samples that grow, then on all rows, and the
next round draws another sample. Only sweeps of the line search read all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from miptree._typing import IntArray
from miptree.search.iterated import IteratedSearch
from miptree.search.measure import ONE_SWEEP, Svm1, ZeroOne
from miptree.search.rng import random_state
from miptree.tree import HeapTree

FIRST_SAMPLE = 10_000
"""Rows that a whole search looks at."""

_GROWTH = 8
"""Each sample is so many times larger than the one before."""

_ZERO_ONE_SHARE = 0.1
"""Part of the budget that goes to the errors alone before (1a) is searched."""

_SAMPLE_SHARE = 0.35
_SAMPLE_ITERATIONS = 400
"""Limits of one search on a sample: a part of the time left, and iterations."""

_CLIMBERS = 3
"""Trees that go from one sample to the next."""


def run_plan(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """Search from the starts until the clock ends."""
    if search.data.n_rows <= FIRST_SAMPLE:
        _search_all_rows(search, starts)
        return
    for tree in starts:
        search.add(search.measure.value(tree))
    while not search.over():
        _climb(search, [candidate.tree for candidate in search.pool])


def _search_all_rows(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """Search on all rows; for (1a), trees of few errors are good starts."""
    if isinstance(search.measure, Svm1):
        clock = search.clock.share(_ZERO_ONE_SHARE)
        errors = IteratedSearch(ZeroOne(search.data), search.depth, search.rng, clock)
        errors.run(starts)
        search.clock.absorb(clock)
        starts = [*starts, *(candidate.tree for candidate in errors.pool)]
    search.run(starts)


def _climb(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """One round: search a fresh sample and bring its trees up to all rows."""
    n_rows, size = search.data.n_rows, FIRST_SAMPLE
    order = search.rng.permutation(n_rows)
    on_sample = _on_rows(search, order[:size])
    _search_all_rows(on_sample, starts)
    search.clock.absorb(on_sample.clock)
    trees = [candidate.tree for candidate in on_sample.pool][:_CLIMBERS]
    seconds_per_row = 0.0
    while size * _GROWTH < n_rows:
        size *= _GROWTH
        larger = search.measure.on_rows(order[:size])
        began = search.clock.elapsed()
        for place, tree in enumerate(trees):
            if search.clock.fits(seconds_per_row * size):
                found = larger.descend(tree, ONE_SWEEP, random_state(search.rng))
                trees[place] = found.tree
                seconds_per_row = (search.clock.elapsed() - began) / size / (place + 1)
    values = sorted(map(search.measure.value, trees), key=lambda c: c.value)
    for candidate in values:
        search.step(candidate)
    while search.clock.fits(seconds_per_row * n_rows) and not search.over():
        began, before = search.clock.elapsed(), search.pool.best.value
        search.step(
            search.measure.descend(
                search.pool.best.tree, ONE_SWEEP, random_state(search.rng)
            )
        )
        seconds_per_row = (search.clock.elapsed() - began) / n_rows
        if search.pool.best.value >= before * (1 - 1e-3):
            break


def _on_rows(search: IteratedSearch, rows: IntArray) -> IteratedSearch:
    """Search on some of the rows, for a part of the time left."""
    clock = search.clock.share_of_rest(_SAMPLE_SHARE, _SAMPLE_ITERATIONS)
    return IteratedSearch(search.measure.on_rows(rows), search.depth, search.rng, clock)
