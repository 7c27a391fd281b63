"""HiGHS and SCIP side by side: the better incumbent, the higher bound, one answer."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock, Thread

import numpy as np

from miptree.control.clock import End
from miptree.mip.solvers.base import Progress, Result
from miptree.mip.solvers.highs import HighsSolver
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.scip import ScipSolver
from miptree.mip.solvers.solver import Solver
from miptree.mip.solvers.watch import run_watched
from miptree.utils.arrays import FloatArray


class PortfolioSolver(Solver):
    """Runs both solvers on one thread each and stops when their bounds have met.

    Which of them is faster on a model of this package is a matter of luck, up to ten
    times either way. An incumbent of one is offered to the other at its next own, and
    the higher bound counts. As the two race, a run is not repeatable to the letter.
    """

    name = "portfolio"

    def _solve(self, listener: Listener) -> Result:
        model = listener.model
        if not model.integer.any():
            return HighsSolver().solve(model, listener.start, listener.limits)
        race = _Race(listener)
        run_watched(race.run, listener)
        return listener.finish(*race.outcome())


class _Race:
    """One solve by several solvers at once."""

    def __init__(self, listener: Listener) -> None:
        self.listener, self.model = listener, listener.model
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
            limits = replace(self.listener.limits, threads=1)
            # Past ``solve``: what is shown to a solver is shown to both already.
            self.results[solver.name] = solver._solve(
                Listener(self.model, self.listener.start, limits, hear, self._share)
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
        """Return whether somebody asked for a stop, failed or has proved enough."""
        if self.listener.stop or self.errors:
            return True
        if any(r.status in ("optimal", "infeasible") for r in self.results.values()):
            return True
        return self._met()

    def _met(self) -> bool:
        value = self.best[0]
        enough = max(self.listener.limits.gap, 1e-9)
        return bool(value - self.bound <= enough * max(1.0, abs(value)))

    @property
    def heard(self) -> list[Progress | Result]:
        """The last reports of the solvers, done or not."""
        return [*list(self.states.values()), *list(self.results.values())]

    @property
    def bound(self) -> float:
        """Highest bound of a solver."""
        return max((one.bound for one in self.heard), default=-np.inf)

    @property
    def nodes(self) -> int:
        """Branch-and-bound nodes of the solver that has done most."""
        return max((one.nodes for one in self.heard), default=0)

    def outcome(self) -> tuple[End, FloatArray | None, float, int, str]:
        """Return status, solution, bound, nodes and version of the race so far."""
        results = list(self.results.values())
        for result in results:
            if result.x is not None:
                self._keep(result.x)
        statuses = [result.status for result in results]
        status: End = "interrupted"
        if "infeasible" in statuses or "optimal" in statuses:
            status = "infeasible" if "infeasible" in statuses else "optimal"
        elif self._met():
            status = "optimal"
        elif statuses and not self.listener.stop:
            status = statuses[0]
        return status, self.best[1], self.bound, self.nodes, self._names()

    def _names(self) -> str:
        """Join the names of the members, with their versions once they are done."""
        done = {name: result.solver for name, result in self.results.items()}
        return " and ".join(done.get(one.name, one.name) for one in self.solvers)
