"""What a proof may use: time, and nodes, which are the same on any machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from miptree.control.clock import Clock


@dataclass
class Budget:
    """A clock and a number of nodes.

    Parameters
    ----------
    clock : Clock
        Ends the work.
    max_nodes : int or None
        Nodes that all searches may have together: the deterministic budget.

    Attributes
    ----------
    used : int
        Nodes that were used.
    """

    clock: Clock
    max_nodes: int | None = None
    used: int = field(default=0, init=False)

    @property
    def is_over(self) -> bool:
        """Whether the time is over or no nodes are left."""
        return self.left == 0 or self.clock.is_over

    @property
    def left(self) -> int | None:
        """Nodes left; None without a limit."""
        return None if self.max_nodes is None else max(0, self.max_nodes - self.used)

    @property
    def spent(self) -> float:
        """Part of the budget that is gone, from 0 to 1."""
        parts = [0.0]
        if self.max_nodes is not None:
            parts.append(self.used / max(1, self.max_nodes))
        if self.clock.limit is not None:
            parts.append(self.clock.elapsed / max(1e-9, self.clock.limit))
        return min(1.0, max(parts))

    def share(self, part: float, n_equal: int = 1) -> Budget:
        """Return a part of the time left, and one of equal parts of its nodes."""
        left = self.left
        nodes = None if left is None else int(part * left) // n_equal
        return Budget(self.clock.share(part), nodes)

    def at_most(self, nodes: float) -> tuple[Budget, bool]:
        """Return all of the time and so many nodes; tell whether these are fewer."""
        if nodes >= (inf if self.left is None else self.left):
            return Budget(self.clock, self.left), False
        return Budget(self.clock, int(nodes)), True

    def affordable(self, seconds: float, nodes: int) -> float:
        """Return the nodes that the rest is good for at a speed that was measured."""
        remaining = self.clock.remaining
        if self.left is not None:
            return float(self.left)
        if remaining is None or seconds <= 0:
            return inf
        return remaining * nodes / seconds
