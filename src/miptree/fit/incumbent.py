"""The best tree of a fit so far, beside what is proved, and who is told of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from miptree.certificate.certificate import Certificate, certify
from miptree.certificate.exact_score import exact_score
from miptree.control.clock import Clock, End
from miptree.control.patience import Movement
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.progress import FitCallback, FitProgress
from miptree.objective import Score, Svm1Objective
from miptree.objective.bounds import Bound
from miptree.objective.proved import Bounds
from miptree.objective.tolerance import cost_meets
from miptree.objective.valuation import Valuation
from miptree.tree import HeapTree, ObliqueTree

if TYPE_CHECKING:
    from miptree.proof import ErrorsRecord
    from miptree.proof.routes.result import RoutesProof

POLL_SECONDS = 0.1
"""Seconds between two calls of the listeners while nothing changes."""
POLL_FACTOR = 9
"""The same in times that the last call took: slow listeners get a tenth of the time."""


class Incumbent:
    """The best tree of one fit: offer a tree, raise a bound, tell, end.

    A tree is replaced only by one of a lower recounted objective. Threads may offer at
    the same time; after :meth:`end` nothing changes any more.

    Parameters
    ----------
    tree : ObliqueTree
        A first tree, in the user's units.
    score : Score
        Its recounted score.
    bounds : Bounds
        What is proved before the fit begins.
    clock : Clock
        Clock of the fit. A listener that answers true requests its stop.
    listeners : sequence of callables
        Told of every state.
    gap_tol : float
        Relative gap that is small enough.

    Attributes
    ----------
    clock : Clock
        The clock for all steps; looking at it also polls the listeners.
    heap : HeapTree or None
        The tree in scaled units, where it was offered in them.
    stage : str
        What is being done, for the listeners.
    ended : str
        Why the last step ended, where nobody stopped it.
    trace : list of FitProgress
        States that differ in objective or bound.
    proof : RoutesProof or None
        Proof over routes of the highest bound; others may have proved a higher one.
    errors_record : ErrorsRecord or None
        What was recorded of a proof of the errors.
    movement : Movement
        When a better tree or a higher bound last made a difference.
    """

    def __init__(
        self,
        tree: ObliqueTree,
        score: Score,
        bounds: Bounds,
        clock: Clock,
        listeners: Sequence[FitCallback] = (),
        gap_tol: float = 0.0,
        heap: HeapTree | None = None,
    ) -> None:
        self.tree, self.score, self.heap = tree, score, heap
        self.first_bounds = bounds
        self.errors_bound, self.objective_bound = bounds.errors, bounds.objective
        self._stop = clock.stop
        self.clock = clock.heeding(self._poll)
        self.listeners, self.gap_tol = listeners, gap_tol
        self.stage = "start"
        self.ended: End = "stalled"
        self.n_iter = 0
        self.trace: list[FitProgress] = []
        self.proof: RoutesProof | None = None
        self.errors_record: ErrorsRecord | None = None
        self.movement = Movement(self._left, clock)
        self._is_closed = False
        self._lock, self._polling = threading.Lock(), threading.Lock()
        self._telling = threading.RLock()
        self._next_poll = np.inf  # nobody is told before the first tree
        self._failure: BaseException | None = None

    # -------------------------------------------------------- trees and bounds

    def offer(
        self, tree: ObliqueTree, score: Score, heap: HeapTree | None = None
    ) -> bool:
        """Keep a tree if its score is the best so far; return whether it is."""
        with self._lock:
            # A solver that did not hear in time may still come with a tree.
            if self._is_closed or not score.objective < self.score.objective:
                return False
            self.tree, self.score, self.heap = tree, score, heap
        self.movement.note(self._left)
        self.tell()
        return True

    def raise_errors_bound(self, bound: Bound) -> None:
        """Take in a bound on the cost of the errors at the margin."""
        if self.errors_bound.value < bound.value < np.inf:
            self.errors_bound = bound
            self.movement.note(self._left)

    def raise_objective_bound(self, bound: Bound) -> None:
        """Take in a bound on the objective."""
        # An equal bound counts: the last word of a solver names its version.
        least = np.nextafter(self.first_bounds.objective.value, np.inf)
        if max(self.objective_bound.value, least) <= bound.value < np.inf:
            self.objective_bound = bound
            self.movement.note(self._left)

    def keep_proof(self, proof: RoutesProof) -> None:
        """Take in the bound of a proof, and keep the proof of the highest bound."""
        if self.proof is None or proof.bound.value >= self.proof.bound.value:
            self.proof = proof
        self.raise_objective_bound(proof.bound)

    # --------------------------------------------------------------- questions

    @property
    def gap(self) -> float:
        """Relative gap between the objective and its bound."""
        leeway = self.first_bounds.leeway
        return leeway.gap(self.score.objective, self.objective_bound.value)

    @property
    def _left(self) -> float:
        """What is left to prove, of the objective and of the errors at the margin."""
        score = self.score
        errors = score.cost_at_margin - self.errors_bound.value
        return score.objective - self.objective_bound.value + max(0.0, errors)

    @property
    def errors_are_proved(self) -> bool:
        """Whether no tree makes errors of a lower cost at the margin."""
        cheapest = self.first_bounds.cheapest_error
        return cost_meets(self.score.cost_at_margin, self.errors_bound.value, cheapest)

    @property
    def is_done(self) -> bool:
        """Whether the gap is small enough, the time over or a stop requested."""
        self.check()
        if self.gap <= self.gap_tol:
            return True
        if self.clock.is_over:
            self.ended = "time_limit"
            return True
        return False

    @property
    def is_stopped(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.requested

    # --------------------------------------------------------- telling and ending

    def note_end(self, reason: End | None) -> None:
        """Note why a step ended, where that would be a reason for the fit to end."""
        if reason in ("time_limit", "node_limit", "max_iter", "stalled"):
            self.ended = reason

    def enter(self, stage: str) -> None:
        """Begin a stage and tell of it."""
        self.stage = stage
        self.tell()

    def tell(self) -> None:
        """Tell the listeners, one thread at a time; any of them may stop the fit."""
        with self._telling:
            score, seconds = self.score, self.clock.elapsed
            bound = min(self.objective_bound.value, score.objective)  # but for rounding
            objective, errors = score.objective, score.errors
            state = FitProgress(self.stage, seconds, objective, errors, bound)
            last = self.trace[-1] if self.trace else None
            if last is None or (last.objective, last.bound) != (objective, bound):
                self.trace.append(state)
            self._next_poll = np.inf  # a listener may look at the clock
            answers = [listener(state) for listener in self.listeners]
            now = self.clock.elapsed
            self._next_poll = now + max(POLL_SECONDS, POLL_FACTOR * (now - seconds))
            if any(answers):
                self._stop.request()

    def _poll(self) -> bool:
        """Tell the listeners now and then, whoever looks at the clock.

        What a listener raises stops the fit, and is raised by :meth:`check`: this
        thread may be one that nobody waits for.
        """
        is_time = self.listeners and self.clock.elapsed >= self._next_poll
        if is_time and not self._is_closed:
            # One of several threads will do, and a listener may look at the clock.
            if self._polling.acquire(blocking=False):
                try:
                    self.tell()
                except BaseException as error:
                    self._failure = error
                    self._stop.request()
                finally:
                    self._polling.release()
        return self._stop.requested

    def close(self) -> None:
        """Let nothing change any more: a solver that was left behind may still call."""
        self.check()
        with self._lock:
            self._is_closed = True

    def check(self) -> None:
        """Raise what a listener raised while somebody looked at the clock."""
        if self._failure is not None:
            raise self._failure

    @property
    def bounds(self) -> Bounds:
        """What is proved, less what the best tree refutes."""
        found = self.first_bounds._replace(
            errors=self.errors_bound, objective=self.objective_bound
        )
        return found.believed(self.score)

    def end(self, problem: Problem, valuation: Valuation, depth: int) -> FittedTree:
        """Close the fit and return its tree with certificate and status."""
        self.close()
        if isinstance(valuation, Svm1Objective):
            self._recount_exactly(problem, valuation)
        self.enter("done")
        certificate = certify(
            problem,
            valuation,
            depth,
            self.tree,
            self.score,
            self.bounds,
            self.clock.elapsed,
        )
        return FittedTree.of(
            problem,
            self.tree,
            certificate,
            self.status(certificate),
            self.n_iter,
            self.trace,
            self.clock.elapsed,
            self.proof,
            self.errors_record,
        )

    def _recount_exactly(self, problem: Problem, objective: Svm1Objective) -> None:
        """Take rounding out of the score; no state before was better than the tree."""
        self.score = exact_score(problem, objective, self.tree, self.score)
        least = self.score.objective
        self.trace = [
            replace(state, objective=max(least, state.objective))
            for state in self.trace
        ]

    def status(self, certificate: Certificate) -> End:
        """Return why the fit ended, by what its certificate proves."""
        if certificate.objective_optimal:
            return "optimal"
        if certificate.gap <= self.gap_tol:
            return "gap_tol"
        return "interrupted" if self.is_stopped else self.ended
