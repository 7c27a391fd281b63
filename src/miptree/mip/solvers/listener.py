"""The link between a solver and the callbacks of a solve, for every backend."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np

from miptree.control.clock import End
from miptree.mip.model import Model
from miptree.mip.solvers.base import (
    LOOSEST_TOLERANCE,
    NO_LIMITS,
    START_TOLERANCE,
    TIGHTEST_TOLERANCE,
    Limits,
    OnIncumbent,
    OnProgress,
    Progress,
    Result,
    believed_bound,
    clip_infinite,
    is_feasible,
    is_vector,
    keep_better,
)
from miptree.utils.arrays import FloatArray

SECONDS_BETWEEN_REPORTS = 0.05
"""``on_progress`` is called 20 times a second at most."""

_ROUNDING = 1e-9
"""Largest relative gap that rounding alone explains."""


@dataclass
class Listener:
    """Stands between a solver's events and the callbacks of one solve.

    Solvers print, wrap or swallow what a callback raises. So it is kept here, the
    solver told to stop, and :meth:`finish` raises it from Python.

    Parameters
    ----------
    model, start, limits, on_progress, on_incumbent
        As given to :meth:`~miptree.mip.solvers.Solver.solve`.

    Attributes
    ----------
    stop : bool
        Whether the solver must stop.
    suggestion : float array or None
        Answer of ``on_incumbent`` that the solver has not yet taken.
    is_watched : bool
        Whether another thread than the solver's calls :meth:`poll`.
    """

    model: Model
    start: FloatArray | None = None
    limits: Limits = NO_LIMITS
    on_progress: OnProgress | None = None
    on_incumbent: OnIncumbent | None = None
    began: float = field(default_factory=time.perf_counter)
    stop: bool = False
    suggestion: FloatArray | None = None
    is_watched: bool = False
    _best_suggestion: FloatArray | None = None
    _error: BaseException | None = None
    _best_told: float = np.inf
    _last_report: float = -np.inf
    _state: tuple[float, float, int] = (np.inf, -np.inf, 0)
    _best_x: FloatArray | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return time.perf_counter() - self.began

    @property
    def remaining(self) -> float | None:
        """Seconds the solver may still take; building the model took some."""
        if self.limits.seconds is None:
            return None
        return max(0.0, self.limits.seconds - self.seconds)

    @cached_property
    def _start_value(self) -> float:
        """Value of the start, inf without a feasible one."""
        if self.start is None or not is_feasible(self.model, self.start):
            return np.inf
        return self.model.objective(self.start)

    @property
    def tolerance(self) -> float:
        """Feasibility tolerance: tight, but not so tight that the start is lost."""
        if self.start is None or self._start_value == np.inf:
            return TIGHTEST_TOLERANCE
        violation = max(self.model.violation(self.start).values())
        return float(np.clip(2 * violation, TIGHTEST_TOLERANCE, START_TOLERANCE))

    @property
    def dual_tolerance(self) -> float:
        """That of reduced costs, which makes bounds too high: see ``visible.py``."""
        return min(self.tolerance, LOOSEST_TOLERANCE)

    def report(self, objective: float, bound: float, nodes: float) -> None:
        """Take the solver's state and pass it to ``on_progress``.

        A bound that the start or the solver's own solution refutes is not believed.
        """
        value = clip_infinite(objective, np.inf)
        known = min(value, self._start_value)
        bound = believed_bound(clip_infinite(bound, -np.inf), known)
        self._state = value, bound, int(nodes)
        if not self.is_watched:
            self.poll()

    def poll(self) -> None:
        """Call ``on_progress`` with the last state, unless it was called just now."""
        now = self.seconds
        if self.on_progress is None or self.stop:
            return
        if now - self._last_report < SECONDS_BETWEEN_REPORTS:
            return
        # The solver's thread may be in on_incumbent; then the next poll will do.
        if not self._lock.acquire(blocking=False):
            return
        self._last_report = now
        try:
            with self._keep_error():
                self.stop = bool(self.on_progress(Progress(now, *self._state)))
        finally:
            self._lock.release()

    def incumbent(self, x: FloatArray) -> None:
        """Pass a solution to ``on_incumbent`` if it is better than the last one."""
        if not is_vector(self.model, x):
            return
        value = self.model.objective(x)
        if self.stop or not _is_less(value, self._best_told):
            return
        self._best_told, self._best_x = value, x
        if self.on_incumbent is None:
            return
        with self._lock, self._keep_error():
            answer = self.on_incumbent(x)
            if answer is not None:
                self.suggestion = self._best_suggestion = answer

    def take_suggestion(self) -> FloatArray | None:
        """Return the suggestion once, if a solver could use it."""
        x, self.suggestion = self.suggestion, None
        return x if is_feasible(self.model, x) else None

    def pass_on_interrupt(self) -> None:
        """Give Python the Ctrl-C that made a solver stop, if none of us asked it to.

        For solvers that put their own signal handler in the place of Python's.
        """
        if not self.stop:
            signal.raise_signal(signal.SIGINT)

    def leave(self) -> None:
        """Cut off a solver that is left behind: it must stop and may not call back."""
        self.stop, self.on_progress, self.on_incumbent = True, None, None

    @contextmanager
    def _keep_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.stop, self._error = True, error

    def finish(
        self,
        status: End,
        x: FloatArray | None,
        bound: float,
        nodes: float,
        solver: str,
    ) -> Result:
        """Raise what a callback raised, or return the result.

        It is made of the solver's own words, and checked: see :class:`Result`. Nothing
        is believed of a solver whose solution is none.
        """
        if self._error is not None:
            raise self._error
        if x is not None and not is_vector(self.model, x):
            status, x, bound = "unproved", None, -np.inf
        objective = self.model.objective(x) if x is not None else np.inf
        bound = believed_bound(clip_infinite(bound, -np.inf), objective)
        if status == "optimal" and _is_less(bound, objective):
            status = "gap_tol"
        result = Result(status, x, objective, bound, int(nodes), self.seconds, solver)
        for known in (self.start, self._best_suggestion):
            result = keep_better(self.model, result, known)
        return result

    def finish_left_behind(self, solver: str) -> Result:
        """Return the result of a solver that was left behind: what it last told."""
        status: End = "time_limit" if self.remaining == 0 else "interrupted"
        _, bound, nodes = self._state
        return self.finish(status, self._best_x, bound, nodes, solver)


def _is_less(a: float, b: float) -> bool:
    return b - a > _ROUNDING * max(1.0, min(abs(a), abs(b)))
