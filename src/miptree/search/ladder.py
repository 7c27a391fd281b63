"""Large data: search on a sample, then refine on growing samples and on all rows."""

from __future__ import annotations

from collections.abc import Sequence

from miptree.search.iterated import IteratedSearch
from miptree.tree import HeapTree

FIRST_SAMPLE = 20_000


def climb(search: IteratedSearch, starts: Sequence[HeapTree]) -> None:
    """Run a search from the starts until its clock ends."""
    search.run(starts)
