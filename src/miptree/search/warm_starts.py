"""Short searches that find starts for (1a), where one search may miss the good basins.

Two ways compete. One searches for few errors and then makes the margins of that
routing good by LPs; it wins where the errors are nearly all of (1a). The other
searches (1a) itself and wins where the norms weigh more. The better way goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.search.iterated import IteratedSearch
from miptree.search.measure import Measure, Svm1, ValuedTree, ZeroOne
from miptree.tree import HeapTree

_ERROR_SEARCHES, _ERROR_SHARE, _LAST_ERROR_SHARE = 4, 0.05, 0.2
"""Searches for few errors, their part of the budget, and that of one more."""

_SHARE, _MORE_SEARCHES, _MORE_SHARE = 0.06, 2, 0.15
"""The same for the search of (1a), and for those that follow if it wins."""

_OFTEN, _SELDOM = 0.85, 0.15
"""Part of the later descents that look at the errors alone, by the way that won."""

_CLIMBERS = 3
"""Best trees that go on from a search of (1a)."""


def warm_starts(
    search: IteratedSearch, measure: Svm1, starts: Sequence[HeapTree]
) -> list[HeapTree]:
    """Find starts for the search of (1a), and tell it which way won."""
    errors, nothing = ZeroOne(search.data), _nothing(search)
    few: list[HeapTree] = []
    good: list[ValuedTree] = []
    for tree in starts:
        search.add(measure.value(tree))
    for _ in range(_ERROR_SEARCHES):
        # Not from the starts: around them all margins tend to be narrow.
        new = _short_search(search, errors, [nothing], _ERROR_SHARE)
        few += new
        good += _make_good(search, new)
    found = _short_search(search, measure, starts, _SHARE)[:_CLIMBERS]
    best = min((candidate.value for candidate in good), default=np.inf)
    if measure.value(found[0]).value < best:
        search.p_errors_first = 0.0 if measure.problem is None else _SELDOM
        for _ in range(_MORE_SEARCHES):
            found += _short_search(search, measure, [nothing], _MORE_SHARE)[:_CLIMBERS]
    else:
        search.p_errors_first = _OFTEN
        last = _short_search(search, errors, [nothing, *few], _LAST_ERROR_SHARE)
        good += _make_good(search, last)
    return found + [candidate.tree for candidate in good]


def _nothing(search: IteratedSearch) -> HeapTree:
    """Tree without any split, from which a search begins with soft trees."""
    n_branch = 2**search.depth - 1
    return HeapTree(
        np.zeros((n_branch, search.data.n_features)),
        np.ones(n_branch),
        np.zeros(n_branch + 1, dtype=np.intp),
    )


def _short_search(
    search: IteratedSearch, measure: Measure, starts: Sequence[HeapTree], share: float
) -> list[HeapTree]:
    """Best trees of a search of its own, best first."""
    clock = search.clock.phase(share)
    short = IteratedSearch(measure, search.depth, search.rng, clock)
    if measure is search.measure:
        short.lower_bound = search.lower_bound
        short.on_improvement = search.on_improvement
    short.run(starts)
    search.clock.absorb(clock)
    return [candidate.tree for candidate in short.pool]


def _make_good(search: IteratedSearch, trees: Sequence[HeapTree]) -> list[ValuedTree]:
    """Best margins for the routings of trees of few errors."""
    good = []
    for tree in trees:
        # (1a) is at least the cost of the errors.
        errors = search.errors.value(tree).value
        if errors < search.pool.best.value and not search.over():
            good.append(search.keep_routing(tree))
    return good
