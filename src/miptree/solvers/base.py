"""The contract of a solver: a Model in, one frozen Result out."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from miptree._typing import FloatArray
from miptree.formulations.model import Model

Status = Literal[
    "optimal", "gap", "time_limit", "node_limit", "interrupted", "infeasible"
]


@dataclass(frozen=True)
class Limits:
    """When a solver must stop, and what it may use.

    Parameters
    ----------
    seconds : float or None
        Wall-clock seconds.
    nodes : int or None
        Branch-and-bound nodes: the deterministic budget.
    gap : float
        Relative gap (objective - bound) / abs(objective) that is good enough.
    threads : int
        Threads the solver may use.
    seed : int
        Seed of the solver's own random choices.
    """

    seconds: float | None = None
    nodes: int | None = None
    gap: float = 0.0
    threads: int = 1
    seed: int = 0


@dataclass(frozen=True)
class Progress:
    """A solver's state during a solve.

    Attributes
    ----------
    seconds : float
        Since the solve began.
    objective, bound : float
        Best solution (inf without one) and best lower bound (-inf without one).
    nodes : int
        Branch-and-bound nodes done.
    """

    seconds: float
    objective: float
    bound: float
    nodes: int


OnProgress = Callable[[Progress], bool | None]
"""Called now and then from the solve; a true answer stops it."""

OnIncumbent = Callable[[FloatArray], FloatArray | None]
"""Called with each better solution; may answer with a still better one."""


@dataclass(frozen=True, eq=False)
class Result:
    """Outcome of a solve.

    Attributes
    ----------
    status : str
        Why it ended. "optimal" and "gap" are the solver's own words about its own
        numbers; whether a *tree* is optimal is for ``certify`` to say.
    x : float array or None
        Best solution found.
    objective, bound : float
        Value of x, and a lower bound on every solution.
    nodes : int
        Branch-and-bound nodes.
    seconds : float
        Wall-clock time of the solve.
    solver : str
        Name and version.
    """

    status: Status
    x: FloatArray | None
    objective: float
    bound: float
    nodes: int
    seconds: float
    solver: str


class Solver(Protocol):
    """What a backend must offer; see ``solvers/highs.py`` for the reference one."""

    name: str

    def solve(
        self,
        model: Model,
        start: FloatArray | None = None,
        limits: Limits = ...,
        on_progress: OnProgress | None = None,
        on_incumbent: OnIncumbent | None = None,
    ) -> Result:
        """Solve the model from a start, within limits.

        A feasible start is the first incumbent and the result is never worse. A stop
        asked for by ``on_progress``, a limit or an interrupt keeps the incumbent. An
        exception raised in a callback ends the solve and propagates.
        """
        ...


class SolverLicenceError(ValueError):
    """The licence found does not allow the solve."""

    @classmethod
    def of(cls, solver: str, model: Model, reason: object) -> SolverLicenceError:
        """Return the error for a model, with what to do about it."""
        return cls(
            f"{solver} refused a model of {model.n_rows} rows x {model.n_variables} "
            f"columns ({reason}). Its free licence is limited in size: install a full "
            'licence, or use solver="highs", which has no limit.'
        )


SECONDS_BETWEEN_REPORTS = 0.05
"""``on_progress`` is called 20 times a second at most."""

START_TOLERANCE = 1e-6
"""A start that violates no row by more is feasible to every solver."""

TIGHTEST_TOLERANCE = 1e-9
"""Smallest feasibility tolerance that every solver takes."""

OPTIMALITY_TOLERANCE = 1e-9
"""A relative gap that is rounding only."""


def is_feasible(model: Model, x: FloatArray | None) -> bool:
    """Whether x satisfies the model to the solvers' tolerance."""
    return x is not None and max(model.violation(x).values()) <= START_TOLERANCE


def keep_better(model: Model, result: Result, start: FloatArray | None) -> Result:
    """Result, or the start in its place where the solver lost it."""
    if start is None or not is_feasible(model, start):
        return result
    value = model.objective(start)
    if result.x is not None and result.objective <= value:
        return result
    # Within its tolerance a start may lie below the bound of a stricter solver.
    return replace(result, x=start, objective=value, bound=min(result.bound, value))


def tolerance_for(model: Model, start: FloatArray | None) -> float:
    """Feasibility tolerance for a solver: tight, but not so that it loses the start."""
    if start is None or not is_feasible(model, start):
        return TIGHTEST_TOLERANCE
    violation = max(model.violation(start).values())
    return float(np.clip(2 * violation, TIGHTEST_TOLERANCE, START_TOLERANCE))


def clip_infinite(value: float, infinity: float = 1e20) -> float:
    """Value, with what the solver calls infinite as inf."""
    return value if abs(value) < infinity else float(np.copysign(np.inf, value))


@dataclass
class Listener:
    """Stands between a solver's events and the callbacks of one solve.

    Solvers print, wrap or swallow what a callback raises. So it is kept here, the
    solver told to stop, and :meth:`finish` raises it from Python.

    Attributes
    ----------
    stop : bool
        Whether the solver must stop.
    suggestion : float array or None
        Answer of ``on_incumbent`` that the solver has not yet taken.
    """

    model: Model
    on_progress: OnProgress | None
    on_incumbent: OnIncumbent | None
    began: float = field(default_factory=time.perf_counter)
    stop: bool = False
    suggestion: FloatArray | None = None
    _best_suggestion: FloatArray | None = None
    _error: BaseException | None = None
    _best_told: float = np.inf
    _last_report: float = -np.inf
    _state: tuple[float, float, int] = (np.inf, -np.inf, 0)

    @property
    def seconds(self) -> float:
        """Seconds since the solve began."""
        return time.perf_counter() - self.began

    def remaining(self, limits: Limits) -> float | None:
        """Seconds the solver may still take; building the model took some."""
        if limits.seconds is None:
            return None
        return max(0.0, limits.seconds - self.seconds)

    def report(self, objective: float, bound: float, nodes: float) -> None:
        """Take the solver's state and pass it to ``on_progress``."""
        self._state = clip_infinite(objective), clip_infinite(bound), int(nodes)
        self.poll()

    def poll(self) -> None:
        """Call ``on_progress`` with the last state, unless it was called just now."""
        now = self.seconds
        if self.on_progress is None or self.stop:
            return
        if now - self._last_report < SECONDS_BETWEEN_REPORTS:
            return
        self._last_report = now
        with self._keep_error():
            self.stop = bool(self.on_progress(Progress(now, *self._state)))

    def incumbent(self, x: FloatArray) -> None:
        """Pass a solution to ``on_incumbent`` if it is better than the last one."""
        value = self.model.objective(x)
        if self.on_incumbent is None or self.stop:
            return
        if not _is_less(value, self._best_told):
            return
        self._best_told = value
        with self._keep_error():
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

    @contextmanager
    def _keep_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.stop, self._error = True, error

    def finish(
        self,
        status: Status,
        x: FloatArray | None,
        bound: float,
        nodes: float,
        solver: str,
        start: FloatArray | None,
    ) -> Result:
        """Raise what a callback raised, or return the result."""
        if self._error is not None:
            raise self._error
        objective = self.model.objective(x) if x is not None else np.inf
        bound = min(clip_infinite(bound), objective)
        if status == "optimal" and _is_less(bound, objective):
            status = "gap"
        result = Result(status, x, objective, bound, int(nodes), self.seconds, solver)
        for known in (start, self._best_suggestion):
            result = keep_better(self.model, result, known)
        return result


def _is_less(a: float, b: float) -> bool:
    return b - a > OPTIMALITY_TOLERANCE * max(1.0, min(abs(a), abs(b)))
