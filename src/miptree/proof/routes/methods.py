"""Two ways to search all trees at a threshold, and which of them goes farther.

The search *by structure* sends points to leaves, one search for each shape and labels
of the leaves. The search *by root* sends them to the sides of the root only. Its nodes
take longer, but often grow more slowly with the threshold. So it is tried at thresholds
that are proved already, to see how its nodes grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from miptree.proof.routes.budget import Budget
from miptree.proof.routes.sweep import Sweep
from miptree.proof.routes.thresholds import Thresholds

_TRIED_FROM, _AGAIN = 2000, 10
"""Nodes foretold of a sweep by structure from which on the other search is tried; and
how many times as many they must be before it is tried again."""
_LEAST_TRIED, _PART_TRIED = 6000, 4
"""Nodes that it may use for that at least, and the part of those by structure."""
_TIMES_FORETOLD, _LEAST_NODES = 4.0, 10_000
"""A sweep by structure may use so many times the nodes that were foretold, and so many
at least, where there is another way to go on."""
_TRIED_AT = (0.75, 0.9)
"""Parts of what is proved at which it is tried."""


@dataclass
class Methods:
    """What is known of the nodes of both searches.

    Parameters
    ----------
    by_structure, by_root : Thresholds
        What each of them took.
    uses_roots : bool
        Whether the search by root applies, and proves what it is asked for.
    """

    by_structure: Thresholds = field(default_factory=Thresholds)
    by_root: Thresholds = field(default_factory=Thresholds)
    uses_roots: bool = True
    _tried_from: float = field(default=_TRIED_FROM, init=False)
    _chosen: Thresholds | None = field(default=None, init=False)

    def begin(self, base: float, can_use_roots: bool) -> None:
        """Take in what every tree costs anyway, and whether roots can be searched."""
        self.by_structure.base = self.by_root.base = base
        self.uses_roots = self.uses_roots and can_use_roots

    def give_up_roots(self) -> None:
        """Search by structure from now on."""
        self.uses_roots = False
        self.by_root.clear()

    def try_roots(
        self,
        proved: float,
        threshold: float,
        budget: Budget,
        search: Callable[[float, int], Sweep],
    ) -> None:
        """Learn how the nodes by root grow, where those by structure become many.

        Parameters
        ----------
        proved : float
            What is proved already.
        threshold : float
            What the search by structure would prove next.
        budget : Budget
        search : callable
            Searches by root, at a threshold, with so many nodes at most.
        """
        nodes = self.by_structure.nodes_at(threshold)
        is_wanted = self.uses_roots and self._chosen is not self.by_root
        if not is_wanted or nodes < self._tried_from:
            return
        self._tried_from = _AGAIN * nodes
        most = max(_LEAST_TRIED, self.by_structure.last_nodes // _PART_TRIED)
        self.by_root.clear()
        base = self.by_root.base
        for part in _TRIED_AT:
            began = budget.clock.elapsed
            found = search(base + part * (proved - base), most)
            if found.bound is None:
                self.by_root.clear()
                return
            seconds = budget.clock.elapsed - began
            self.by_root.note(found.bound, found.nodes, seconds)

    def most_nodes(self, threshold: float) -> float:
        """Return the nodes that the search by structure should use for a threshold."""
        foretold = self.by_structure.nodes_at(threshold)
        if not self.uses_roots or foretold == 0:
            return inf
        return max(_TIMES_FORETOLD * foretold, _LEAST_NODES)

    def better(self, limit: float, budget: Budget) -> Thresholds:
        """Return the one that seems to prove more, or the limit with fewer nodes."""
        self._chosen = self._better(limit, budget)
        return self._chosen

    def _better(self, limit: float, budget: Budget) -> Thresholds:
        by_structure = self.by_structure.reach(budget)
        by_root = self.by_root.reach(budget)
        if by_structure is None or by_root is None:
            return self.by_structure
        if min(by_structure, by_root) < limit:
            return self.by_root if by_root > by_structure else self.by_structure
        is_less = self.by_root.nodes_at(limit) < self.by_structure.nodes_at(limit)
        return self.by_root if is_less else self.by_structure

    def reaches(self, limit: float, budget: Budget, times: float) -> bool:
        """Tell whether so many times a budget seem to be enough for the limit."""
        both = self.by_structure, self.by_root
        return any(one.reaches(limit, budget, times) for one in both)
