"""HiGHS and SCIP side by side: the better incumbent, the higher bound, one answer."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock, Thread

import numpy as np

from miptree.mip.model import Model
from miptree.mip.solvers.base import (
    Limits,
    OnIncumbent,
    OnProgress,
    Progress,
    Result,
    Solver,
    Status,
)
from miptree.mip.solvers.highs import HighsSolver
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.scip import ScipSolver
from miptree.mip.solvers.watch import run_watched
from miptree.utils.arrays import FloatArray


class PortfolioSolver:
    """Runs both solvers on one thread each and stops when their bounds have met.

    Which of them is faster on a model of this package is a matter of luck, up to ten
    times either way. An incumbent of one is offered to the other at its next own, and
    the higher bound counts. As the two race, a run is not repeatable to the letter.
    """

    name = "portfolio"

    def solve(
        self,
        model: Model,
        start: FloatArray | None = None,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        on_progress: OnProgress | None = None,
        on_incumbent: OnIncumbent | None = None,
    ) -> Result:
        """Solve the model; see :class:`miptree.mip.solvers.base.Solver`."""
        if not model.integer.any():
            return HighsSolver().solve(model, start, limits)
        listener = Listener(model, on_progress, on_incumbent)
        race = _Race(model, start, replace(limits, threads=1), listener)
        run_watched(race.run, listener, limits)
        return listener.finish(*race.outcome(), start)


class _Race:
    """One solve by several solvers at once."""

    def __init__(
        self, model: Model, start: FloatArray | None, limits: Limits, listener: Listener
    ) -> None:
        self.model, self.start = model, start
        self.limits, self.listener = limits, listener
        self.solvers: list[Solver] = [HighsSolver(), ScipSolver()]
        self.states: dict[str, Progress] = {}
        self.results: dict[str, Result] = {}
        self.errors: list[BaseException] = []
        self.best: tuple[float, FloatArray | None] = (np.inf, None)
        self.lock = Lock()

    def run(self) -> None:
        """Run all solvers until one is done or all are told to stop."""
        threads = [
            Thread(target=self._run_one, args=(solver,)) for solver in self.solvers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _run_one(self, solver: Solver) -> None:
        def hear(progress: Progress) -> bool:
            self.states[solver.name] = progress
            self.listener.report(self.best[0], self.bound, self.nodes)
            return self._is_over()

        try:
            self.results[solver.name] = solver.solve(
                self.model, self.start, self.limits, hear, self._share
            )
        except BaseException as error:
            self.errors.append(error)

    def _share(self, x: FloatArray) -> FloatArray | None:
        """Take in an incumbent; answer with a better one that is known, if any."""
        self._keep(x)
        self.listener.incumbent(x)
        suggested = self.listener.take_suggestion()
        if suggested is not None:
            self._keep(suggested)
        value, best = self.best
        return best if value < self.model.objective(x) else None

    def _keep(self, x: FloatArray) -> None:
        value = self.model.objective(x)
        with self.lock:
            if value < self.best[0]:
                self.best = value, x

    def _is_over(self) -> bool:
        """Whether somebody asked for a stop, failed or has proved enough."""
        if self.listener.stop or self.errors:
            return True
        if any(r.status in ("optimal", "infeasible") for r in self.results.values()):
            return True
        return self._met()

    def _met(self) -> bool:
        gap = self.best[0] - self.bound
        return bool(gap <= max(self.limits.gap, 1e-9) * max(1.0, abs(self.best[0])))

    @property
    def bound(self) -> float:
        """Highest bound of a solver, done or not."""
        known = [state.bound for state in list(self.states.values())]
        known += [result.bound for result in list(self.results.values())]
        return max(known, default=-np.inf)

    @property
    def nodes(self) -> int:
        """Branch-and-bound nodes of the solver that has done most."""
        known = [state.nodes for state in list(self.states.values())]
        known += [result.nodes for result in list(self.results.values())]
        return max(known, default=0)

    def outcome(self) -> tuple[Status, FloatArray | None, float, int, str]:
        """Status, solution, bound, nodes and version of the race so far."""
        results = list(self.results.values())
        for result in results:
            if result.x is not None:
                self._keep(result.x)
        statuses = [result.status for result in results]
        status: Status = "interrupted"
        if "infeasible" in statuses or "optimal" in statuses:
            status = "infeasible" if "infeasible" in statuses else "optimal"
        elif self._met():
            status = "optimal"
        elif statuses and not self.listener.stop:
            status = statuses[0]
        return status, self.best[1], self.bound, self.nodes, self._names()

    def _names(self) -> str:
        """Names of the members, with their versions once they are done."""
        done = {name: result.solver for name, result in self.results.items()}
        return " and ".join(done.get(one.name, one.name) for one in self.solvers)
