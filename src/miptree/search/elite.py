"""The elite pool: the best trees met, best first."""

from __future__ import annotations

from miptree.search.measure import ValuedTree

SAME = 1e-9
"""Values closer than this are equal."""


class Pool(list[ValuedTree]):
    """The best trees, best first; of those of about one value only a few.

    Parameters
    ----------
    size : int
        Most trees kept.
    same_value : int
        Most trees of about one value, so that the pool stays diverse.
    nearness : float
        Relative difference up to which values are about the same.
    """

    def __init__(
        self, size: int = 10, same_value: int = 4, nearness: float = 0.0
    ) -> None:
        super().__init__()
        self.size, self.same_value, self.nearness = size, same_value, nearness

    @property
    def best(self) -> ValuedTree:
        """The best tree."""
        return self[0]

    def add(self, found: ValuedTree) -> bool:
        """Add a tree; return whether it is better than all the others."""
        improved = not self or found.value < self.best.value - SAME
        # Of equal values the newest comes first: a walk over a plateau gets ahead.
        self.insert(sum(c.value < found.value - SAME for c in self), found)
        near = SAME + self.nearness * abs(found.value)
        alike = [k for k, c in enumerate(self) if abs(c.value - found.value) <= near]
        if len(alike) > self.same_value:
            del self[alike[-1]]
        del self[self.size :]
        return improved
