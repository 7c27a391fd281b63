"""How long to search, and the clock that says when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from miptree.control.clock import Clock as FitClock
from miptree.control.watcher import watching
from miptree.utils.arrays import AnyArray

StopReason = Literal["seconds", "max_iter", "stall", "bound", "interrupted"]


@dataclass(frozen=True)
class SearchBudget:
    """Limits of a search; the first one reached stops it.

    Without ``seconds`` the result depends on the problem, the seed and the budget
    alone. A budget without any limit is refused, since the search would never end.

    Parameters
    ----------
    seconds : float, optional
        Wall clock.
    max_iter : int, optional
        Iterations: one start or one move of the iterated search each.
    stall : int, optional
        Iterations without improvement.
    """

    seconds: float | None = None
    max_iter: int | None = None
    stall: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "max_iter", "stall"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be >= 0 or None, got {value!r}.")
        if self.seconds is None and self.max_iter is None and self.stall is None:
            raise ValueError("The budget has no limit. Set seconds, max_iter or stall.")


class Clock:
    """Counts the iterations of one search against its budget.

    Parameters
    ----------
    budget : SearchBudget
    should_stop : callable
        Asked between iterations and LPs, and on another thread during long ones;
        True interrupts the search.
    time_source : callable
        Seconds; the benchmark counts CPU seconds.
    began : float, optional
        Its reading when the search began, by default now.
    """

    def __init__(
        self,
        budget: SearchBudget,
        should_stop: Callable[[], bool] = lambda: False,
        time_source: Callable[[], float] = time.monotonic,
        began: float | None = None,
    ) -> None:
        self.budget = budget
        self.n_iter = 0
        self.stopped: StopReason | None = None
        self._last_improvement = 0
        self._should_stop = should_stop
        self._time = time_source
        self._start = time_source() if began is None else began

    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self._time() - self._start

    def rest(self, part: float = 1.0) -> float | None:
        """Seconds left, at most a part of all of them; None without a limit."""
        limit = self.budget.seconds
        if limit is None:
            return None
        return min(part * limit, max(0.0, limit - self.elapsed()))

    def deadline(self, part: float = 1.0) -> FitClock:
        """Return a clock for a step that looks at it by itself."""
        return FitClock(self.rest(part), self._should_stop, self._time)

    def fraction(self) -> float:
        """Largest share of a limit that is used up."""
        limit, used = self.budget, 0.0
        if limit.seconds is not None:
            used = max(used, self.elapsed() / max(limit.seconds, 1e-9))
        if limit.max_iter is not None:
            used = max(used, self.n_iter / max(limit.max_iter, 1))
        return used

    @property
    def stalled(self) -> int:
        """Iterations since the last improvement."""
        return self.n_iter - self._last_improvement

    def count(self, improved: bool) -> None:
        """Note one iteration."""
        self.n_iter += 1
        if improved:
            self._last_improvement = self.n_iter

    def share(self, part: float) -> Clock:
        """Return a clock for a first phase that may use a part of every limit."""
        limit = self.budget
        most = [n for n in (limit.max_iter, limit.stall) if n is not None]
        budget = SearchBudget(
            seconds=self.rest(part),
            max_iter=int(part * min(most)) if most else None,
        )
        return Clock(budget, self._should_stop, self._time)

    def share_of_rest(self, part: float, max_iter: int) -> Clock:
        """Return a clock for a part of the time left and at most so many iterations."""
        limit = self.budget
        for most, used in (
            (limit.max_iter, self.n_iter),
            (limit.stall, self.stalled),
        ):
            if most is not None:
                max_iter = min(max_iter, most - used)
        rest = self.rest()
        seconds = None if rest is None else part * rest
        budget = SearchBudget(seconds=seconds, max_iter=max_iter)
        return Clock(budget, self._should_stop, self._time)

    def absorb(self, other: Clock) -> None:
        """Count the iterations that another clock has counted."""
        self.n_iter += other.n_iter

    def fits(self, seconds: float) -> bool:
        """Whether a step of so many seconds ends in time; always without a limit."""
        limit = self.budget.seconds
        return limit is None or self.elapsed() + seconds < limit

    def stop(self, reason: StopReason) -> None:
        """Stop the search for good."""
        self.stopped = self.stopped or reason

    def out_of_time(self) -> bool:
        """Check the wall clock and the interrupt alone, inside an iteration."""
        seconds = self.budget.seconds
        if self._should_stop():
            self.stop("interrupted")
        elif seconds is not None and self.elapsed() >= seconds:
            self.stop("seconds")
        return self.stopped is not None

    @contextmanager
    def watch(self) -> Iterator[AnyArray]:
        """Flag for a long kernel, which cannot ask: [1] once the time is up."""
        flag = np.zeros(1, dtype=np.uint8)
        with watching(self.out_of_time, lambda: flag.fill(1)):
            yield flag

    def over(self) -> bool:
        """Check all limits, between iterations."""
        limit = self.budget
        if limit.max_iter is not None and self.n_iter >= limit.max_iter:
            self.stop("max_iter")
        if limit.stall is not None and self.stalled >= limit.stall:
            self.stop("stall")
        return self.out_of_time()
