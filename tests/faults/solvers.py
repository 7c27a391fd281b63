"""Solvers that do what no solver should. Each stands in the place of a real one.

They keep to the contract otherwise: they work as the real ones do on a thread that is
watched, and tell the listener. What they say is made of a true answer by HiGHS.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from miptree.mip.solvers.base import Result
from miptree.mip.solvers.highs import HighsSolver
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.solver import Solver
from miptree.mip.solvers.watch import run_watched


class FailedError(RuntimeError):
    """What a solver raises that fails."""


@dataclass
class Faulty(Solver):
    """Answers as a fault says.

    Parameters
    ----------
    fault : callable
        Makes (status, x, bound) of a true result.
    """

    fault: Callable[[Result], tuple[Any, Any, Any]]
    name = "faulty"
    calls: int = 0

    def _solve(self, listener: Listener) -> Result:
        self.calls += 1
        answers: list[tuple[Any, Any, Any]] = []

        def run() -> None:
            start, limits = listener.start, listener.limits
            truth = HighsSolver().solve(listener.model, start, limits)
            status, x, bound = self.fault(truth)
            answers.append((status, x, bound))
            listener.report(truth.objective, bound, 1)
            if x is not None:
                listener.incumbent(x)
            time.sleep(0.1)  # so that the state is told

        run_watched(run, listener)
        return listener.finish(*answers[0], 1, "Faulty 1.0")


def raising(_: Result) -> Any:
    raise FailedError("out of order")


def out_of_memory(_: Result) -> Any:
    raise MemoryError("std::bad_alloc")


def bound_above(share: float) -> Callable[[Result], Any]:
    """Claim to have proved more than is true, for the best solution."""

    def claim(truth: Result) -> Any:
        return "optimal", truth.x, truth.objective * (1 + share) + share

    return claim


def infinite_bound(truth: Result) -> Any:
    return "optimal", truth.x, np.inf


def no_solution(_: Result) -> Any:
    """Claim that there is no solution, although the start is one."""
    return "infeasible", None, np.inf


def nan_bound(truth: Result) -> Any:
    return "optimal", truth.x, np.nan


def nan_solution(truth: Result) -> Any:
    return "optimal", _garbage(truth, np.nan), truth.bound


def infinite_solution(truth: Result) -> Any:
    return "optimal", _garbage(truth, -np.inf), truth.bound


def huge_solution(truth: Result) -> Any:
    return "optimal", _garbage(truth, 1e300), truth.bound


def zero_solution(truth: Result) -> Any:
    """Claim that nothing but zeros is a solution, and so costs nothing."""
    return "optimal", _garbage(truth, 0.0), truth.bound


def random_solution(truth: Result) -> Any:
    x = np.random.default_rng(0).normal(size=len(truth.x)) * 10
    return "optimal", x, -np.inf


def short_solution(truth: Result) -> Any:
    return "optimal", np.zeros(3), truth.bound


def _garbage(truth: Result, value: float) -> Any:
    return np.full(len(truth.x), value)


FAULTS: dict[str, Callable[[Result], Any]] = {
    "a bound far above": bound_above(1.0),
    "a bound a little above": bound_above(1e-4),
    "an infinite bound": infinite_bound,
    "no solution": no_solution,
    "a bound of NaN": nan_bound,
    "NaN": nan_solution,
    "infinite numbers": infinite_solution,
    "huge numbers": huge_solution,
    "zeros": zero_solution,
    "random numbers": random_solution,
    "too few numbers": short_solution,
}
"""What a solver may answer that is not true."""


class Hanging(Solver):
    """Never comes back, and heeds no stop, until the test lets it go."""

    name = "hanging"

    def __init__(self) -> None:
        self.let_go, self.is_over, self.is_asked = Event(), Event(), False

    def _solve(self, listener: Listener) -> Result:
        self.is_asked = True

        def run() -> None:
            self.let_go.wait()
            self.is_over.set()

        run_watched(run, listener)
        return listener.finish_left_behind("Hanging 1.0")
