"""From one search to the whole plan: first errors, then (1a); first samples, then all.

Up to :data:`FIRST_SAMPLE` rows the search sees all rows. Above, it runs on a random
sample, its best trees are improved on samples that grow, then on all rows, and the
next round draws another sample. Only sweeps of the line search read all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree._typing import IntArray
from miptree.search.iterated import IteratedSearch
from miptree.search.measure import ONE_SWEEP, Candidate, Measure, Svm1, ZeroOne
from miptree.search.rng import random_state
from miptree.tree import HeapTree

FIRST_SAMPLE = 10_000
"""Rows that a whole search looks at."""

_GROWTH = 8
"""Each sample is so many times larger than the one before."""

_HEATS, _HEAT_SHARE, _FINAL_SHARE = 4, 0.05, 0.2
"""Searches for few errors before (1a) is searched, and their parts of the budget."""

_SAMPLE_SHARE = 0.35
_SAMPLE_ITERATIONS = 400
"""Limits of one search on a sample: a part of the time left, and iterations."""

_CLIMBERS = 3
"""Best trees that go on from the first sample to the next."""

_SWEEPS, _LEAST_GAIN = 5, 0.002
"""Sweeps at each step, as long as one gains this part of the value."""


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
        for tree in starts:
            search.add(search.measure.value(tree))
        starts = [*starts, *_few_errors(search)]
    search.run(starts)


def _few_errors(search: IteratedSearch) -> list[HeapTree]:
    """Trees of few errors, made the best of their routing for (1a).

    A single search can end in a basin where all margins are narrow, as around the
    greedy starts: so several begin with nothing but soft trees of their own, and a
    last one goes on from the best of all.
    """
    n_branch = 2**search.depth - 1
    nothing = HeapTree(
        np.zeros((n_branch, search.data.n_features)),
        np.ones(n_branch),
        np.zeros(n_branch + 1, dtype=np.intp),
    )
    found: list[Candidate] = []
    refined: list[HeapTree] = []
    for heat in range(_HEATS + 1):
        last = heat == _HEATS
        clock = search.clock.share(_FINAL_SHARE if last else _HEAT_SHARE)
        errors = IteratedSearch(ZeroOne(search.data), search.depth, search.rng, clock)
        errors.run([nothing, *(c.tree for c in found)] if last else [nothing])
        search.clock.absorb(clock)
        found += errors.pool
        for candidate in errors.pool:
            # (1a) is at least the cost of the errors.
            if candidate.value < search.pool.best.value and not search.over():
                refined.append(search.keep_routing(candidate.tree).tree)
    return refined


def _climb(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """One round: search a fresh sample and bring its best tree up to all rows."""
    n_rows, size = search.data.n_rows, FIRST_SAMPLE
    order = search.rng.permutation(n_rows)
    on_sample = _on_rows(search, order[:size])
    _search_all_rows(on_sample, starts)
    search.clock.absorb(on_sample.clock)
    trees = [candidate.tree for candidate in on_sample.pool][:_CLIMBERS]
    seconds_per_row = 0.0
    while 4 * size * _GROWTH <= n_rows and not search.clock.out_of_time():
        size *= _GROWTH
        larger = search.measure.on_rows(order[:size])
        best = min(map(larger.value, trees), key=lambda c: c.value)
        best, seconds_per_row = _sweep(search, larger, best, seconds_per_row)
        trees = [best.tree]
    best = min(map(search.measure.value, trees), key=lambda c: c.value)
    search.add(best)
    best, _ = _sweep(search, search.measure, best, seconds_per_row)
    search.step(best)


def _sweep(
    search: IteratedSearch, measure: Measure, best: Candidate, seconds_per_row: float
) -> tuple[Candidate, float]:
    """Sweep the line search over all nodes while it helps and the time suffices.

    Returns the best candidate and the seconds that a sweep took per row, from which
    the time of the next, longer one is foreseen.
    """
    n_rows = measure.data.n_rows
    for _ in range(_SWEEPS):
        if not search.clock.fits(seconds_per_row * n_rows):
            break
        began, before = search.clock.elapsed(), best.value
        best = measure.descend(best.tree, ONE_SWEEP, random_state(search.rng))
        seconds_per_row = (search.clock.elapsed() - began) / n_rows
        if best.value >= before * (1.0 - _LEAST_GAIN):
            break
    return best, seconds_per_row


def _on_rows(search: IteratedSearch, rows: IntArray) -> IteratedSearch:
    """Search on some of the rows, for a part of the time left."""
    clock = search.clock.share_of_rest(_SAMPLE_SHARE, _SAMPLE_ITERATIONS)
    return IteratedSearch(search.measure.on_rows(rows), search.depth, search.rng, clock)
