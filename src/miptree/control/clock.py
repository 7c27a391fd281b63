"""The clock that every piece of long work takes: time, iterations, and the stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from miptree.control.stop import Stop, stop_on_interrupt, when
from miptree.utils.arrays import AnyArray

End = Literal[
    "optimal",
    "bound",
    "gap_tol",
    "infeasible",
    "time_limit",
    "node_limit",
    "max_iter",
    "stalled",
    "unproved",
    "interrupted",
]
"""Why a solve, a search or a fit ended.

"optimal": proved; "bound": a tree reached the bound given; "gap_tol": the gap is small
enough; "infeasible": the model has no solution; "time_limit", "node_limit", "max_iter":
a limit in seconds, nodes or iterations; "stalled": nothing moved for a while;
"unproved": all is done and nothing is proved; "interrupted": a stop was requested.
"""


class Clock:
    """Counts seconds and iterations against their limits, and hears the stop.

    Parameters
    ----------
    limit : float or None
        Seconds from the making of the clock, None for no limit.
    max_iter, stall : int or None
        Iterations, and iterations without improvement, likewise.
    stop : Stop, optional
        Ends the work at once when it is requested.
    is_stalled : callable, optional
        Tells whether the work should end as nothing moves any more.
    time_source : callable
        Gives the seconds; a benchmark may count CPU seconds.

    Attributes
    ----------
    n_iter : int
        Iterations counted so far.
    ended : str or None
        The first reason to end that was noticed.
    """

    def __init__(
        self,
        limit: float | None = None,
        *,
        max_iter: int | None = None,
        stall: int | None = None,
        stop: Stop | None = None,
        is_stalled: Callable[[], bool] | None = None,
        time_source: Callable[[], float] = time.perf_counter,
    ) -> None:
        for name, value in (
            ("seconds", limit),
            ("max_iter", max_iter),
            ("stall", stall),
        ):
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be >= 0 or None, got {value!r}.")
        self.limit, self.max_iter, self.stall = limit, max_iter, stall
        self.stop = stop or Stop()
        self._is_stalled = is_stalled
        self.n_iter = 0
        self.ended: End | None = None
        self._last_improvement = 0
        self._time = time_source
        self._began = time_source()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the clock with the seconds left, but without its stop."""
        return (
            Clock,
            (self.remaining,),
            {"max_iter": self.max_iter, "stall": self.stall},
        )

    def __copy__(self) -> Clock:
        """Return a clock with the same beginning, limits and stop."""
        clock = Clock.__new__(Clock)
        clock.__dict__.update(self.__dict__)
        return clock

    # ------------------------------------------------------------------- time

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return self._time() - self._began

    @property
    def remaining(self) -> float | None:
        """Seconds left whether or not a stop was requested; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether the work ended or stalled, its time is over or a stop requested."""
        if self.stop.requested:
            self.end("interrupted")
        elif self.limit is not None and self.elapsed >= self.limit:
            self.end("time_limit")
        elif self._is_stalled is not None and self._is_stalled():
            self.end("stalled")
        return self.ended is not None

    def has_time_for(self, seconds: float) -> bool:
        """Tell whether a step of so many seconds would end in time."""
        return self.limit is None or self.elapsed + seconds < self.limit

    # ------------------------------------------------------------- iterations

    @property
    def has_limit(self) -> bool:
        """Whether anything but a stop ends the work."""
        return (self.limit, self.max_iter, self.stall) != (None, None, None)

    @property
    def stalled(self) -> int:
        """Iterations since the last improvement."""
        return self.n_iter - self._last_improvement

    @property
    def is_spent(self) -> bool:
        """Whether the work is over or a limit in iterations is reached.

        To be asked between iterations.
        """
        if self.max_iter is not None and self.n_iter >= self.max_iter:
            self.end("max_iter")
        if self.stall is not None and self.stalled >= self.stall:
            self.end("stalled")
        return self.is_over

    def count(self, improved: bool = False) -> None:
        """Count one iteration."""
        self.n_iter += 1
        if improved:
            self._last_improvement = self.n_iter

    def absorb(self, other: Clock) -> None:
        """Count the iterations that another clock has counted."""
        self.n_iter += other.n_iter

    def end(self, reason: End) -> None:
        """Note why the work ended, unless a reason was noted before."""
        self.ended = self.ended or reason

    # ---------------------------------------------------- clocks for the steps

    def share(self, part: float) -> Clock:
        """Return a clock that ends after this part of the time left."""
        remaining = self.remaining
        return self._made(None if remaining is None else part * remaining)

    def counting(
        self,
        max_iter: int | None = None,
        stall: int | None = None,
        limit: float | None = None,
    ) -> Clock:
        """Return a clock that counts its own iterations and ends with this one.

        It ends sooner after ``limit`` seconds, or after so many iterations.
        """
        seconds = [s for s in (self.remaining, limit) if s is not None]
        return self._made(min(seconds, default=None), max_iter, stall)

    def phase(self, part: float) -> Clock:
        """Return a clock for one phase, which may use a part of every limit."""
        most = [n for n in (self.max_iter, self.stall) if n is not None]
        limit, remaining = self.limit, self.remaining
        if limit is not None and remaining is not None:
            limit = min(part * limit, remaining)
        return self._made(limit, int(part * min(most)) if most else None)

    def sample(self, part: float, max_iter: int) -> Clock:
        """Return a clock for a part of the time left and at most so many iterations."""
        for most, used in ((self.max_iter, self.n_iter), (self.stall, self.stalled)):
            if most is not None:
                max_iter = min(max_iter, most - used)
        clock = self.share(part)
        clock.max_iter = max_iter
        return clock

    def restarted(self) -> Clock:
        """Return a clock with the same end and limits that counts from zero."""
        return self._made(self.remaining, self.max_iter, self.stall)

    def begun_now(self) -> Clock:
        """Return a clock of the same limits, all of them to come."""
        return self._made(self.limit, self.max_iter, self.stall)

    def dealt(self, n_clocks: int) -> list[Clock]:
        """Return clocks with the same end that share the iterations among them."""
        clocks = [self.__copy__() for _ in range(n_clocks)]
        if self.max_iter is not None:
            each, rest = divmod(self.max_iter, n_clocks)
            for number, clock in enumerate(clocks):
                clock.max_iter = each + (number < rest)
        return clocks

    def heeding(self, *conditions: Callable[[], bool]) -> Clock:
        """Return a copy with its own stop, which the conditions request as well."""
        clock = self.__copy__()
        clock.stop = self.stop.or_when(*conditions)
        return clock

    def until(self, is_stalled: Callable[[], bool]) -> Clock:
        """Return a copy that also ends, as do clocks made of it, once that is true."""
        clock = self.__copy__()
        clock._is_stalled = is_stalled
        return clock

    def _made(
        self,
        limit: float | None,
        max_iter: int | None = None,
        stall: int | None = None,
    ) -> Clock:
        return Clock(
            limit,
            max_iter=max_iter,
            stall=stall,
            stop=self.stop,
            is_stalled=self._is_stalled,
            time_source=self._time,
        )

    @contextmanager
    def flag(self) -> Iterator[AnyArray]:
        """Give a kernel, which cannot ask the clock, an array: [1] once it is over."""
        flag = np.zeros(1, dtype=np.uint8)
        with when(lambda: self.is_over, lambda: flag.fill(1)):
            yield flag


@contextmanager
def interruptible(clock: Clock) -> Iterator[Clock]:
    """Give a copy of the clock that the first Ctrl-C inside the block stops."""
    with stop_on_interrupt() as stop:
        yield clock.heeding(lambda: stop.requested)
