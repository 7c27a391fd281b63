"""The iterations that the steps of one fit share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Iterations:
    """How many iterations all steps may make together, and have made.

    A step counts its own in ``done``; which part of ``left`` it takes is its affair.
    """

    most: int | None
    """None for no limit."""
    done: int = 0

    @property
    def left(self) -> int | None:
        """Iterations that are left, None without a limit."""
        return None if self.most is None else max(0, self.most - self.done)
