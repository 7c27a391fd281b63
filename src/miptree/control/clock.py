"""The clock of one fit."""

from __future__ import annotations

import time
from collections.abc import Callable


def _never() -> bool:
    return False  # a lambda could not go to another process


class Clock:
    """Counts from its making to a limit.

    Parameters
    ----------
    limit : float or None
        Seconds, None for no limit.
    should_stop : callable, optional
        True ends the time at once.
    time_source : callable
        Seconds.
    """

    def __init__(
        self,
        limit: float | None = None,
        should_stop: Callable[[], bool] = _never,
        time_source: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.limit = limit
        self._should_stop = should_stop
        self._time = time_source
        self._began = time_source()

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return self._time() - self._began

    @property
    def remaining(self) -> float | None:
        """Seconds left but for a stop, at least 0; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether no time is left, or a stop was asked for."""
        is_late = self.limit is not None and self.elapsed >= self.limit
        return is_late or self._should_stop()

    def share(self, part: float) -> Clock:
        """Return a clock that ends after a part of the time left."""
        remaining = self.remaining
        limit = None if remaining is None else part * remaining
        return Clock(limit, self._should_stop, self._time)

    def heeding(self, should_stop: Callable[[], bool]) -> Clock:
        """Return a clock of the same end, of this process, that a stop ends as well."""

        def stops() -> bool:
            return self._should_stop() or should_stop()

        return Clock(self.remaining, stops, self._time)
