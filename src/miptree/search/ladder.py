"""Large data: search on a sample, then refine on growing samples and on all rows."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.search.iterated import IteratedSearch
from miptree.tree import HeapTree
from miptree.search.measure import Svm1, ZeroOne

FIRST_SAMPLE = 20_000


SHARE = 0.2

def climb(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """Run a search from the starts until its clock ends."""
    if isinstance(search.measure, Svm1) and SHARE:
        clock = search.clock.share(SHARE)
        first = IteratedSearch(ZeroOne(search.data), search.depth, search.rng, clock)
        first.run(starts)
        search.clock.n_iter += clock.n_iter
        starts = [*starts, *[c.tree for c in first.pool][:6]]
    search.run(starts)
