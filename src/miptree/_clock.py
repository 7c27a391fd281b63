"""The clock of one fit."""

from __future__ import annotations

import time


class Clock:
    """Counts from its making to a limit.

    Parameters
    ----------
    limit : float or None
        Seconds, None for no limit.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.perf_counter() - self._began

    @property
    def remaining(self) -> float | None:
        """Seconds left, at least 0; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.limit is not None and self.elapsed >= self.limit

    def share(self, part: float) -> Clock:
        """Return a clock that ends after a part of the time left."""
        remaining = self.remaining
        return Clock(None if remaining is None else part * remaining)
