"""The elite pool: the best trees met, best first."""

from __future__ import annotations

from collections.abc import Iterator

from miptree.search.measure import ValuedTree

SAME = 1e-9
"""Values closer than this are equal."""


class Pool:
    """Keeps the best candidates; of those with about one value only the best few.

    Parameters
    ----------
    size : int
        Most candidates kept.
    same_value : int
        Most candidates of about one value, so that the pool stays diverse.
    nearness : float
        Relative difference up to which values are about the same.
    """

    def __init__(
        self, size: int = 10, same_value: int = 4, nearness: float = 0.0
    ) -> None:
        self.size, self.same_value, self.nearness = size, same_value, nearness
        self._items: list[ValuedTree] = []

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: int) -> ValuedTree:
        return self._items[place]

    def __iter__(self) -> Iterator[ValuedTree]:
        return iter(self._items)

    @property
    def best(self) -> ValuedTree:
        """The best candidate."""
        return self._items[0]

    def add(self, candidate: ValuedTree) -> bool:
        """Add a candidate; True if it is better than all the others."""
        improved = not self._items or candidate.value < self.best.value - SAME
        # Of equal values the newest comes first: a walk over a plateau gets ahead.
        place = sum(c.value < candidate.value - SAME for c in self._items)
        self._items.insert(place, candidate)
        near = SAME + self.nearness * abs(candidate.value)
        alike = [
            place
            for place, other in enumerate(self._items)
            if abs(other.value - candidate.value) <= near
        ]
        if len(alike) > self.same_value:
            del self._items[alike[-1]]
        del self._items[self.size :]
        return improved
