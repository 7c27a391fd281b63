"""The best tree of a fit under constraints: every tree is repaired and recounted."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from miptree.constraints.constraint import Finding
from miptree.constraints.errors import NoTreeFoundError
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree, ObliqueTree


class KeptTrees:
    """Takes in any trees and keeps the best of those that keep the constraints.

    A tree in scaled units is repaired, gets the cheapest labels that keep the
    constraints, is brought into the user's units and checked there by prediction.

    Parameters
    ----------
    problem, plan, rules
        The rows, the plan of the fit and its constraints.
    clock, listeners
        As for :class:`~miptree.fit.incumbent.Incumbent`.

    Attributes
    ----------
    best : Incumbent or None
        None until a tree keeps all constraints.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        rules: Rules,
        clock: Clock,
        listeners: Sequence[FitCallback] = (),
    ) -> None:
        self.problem, self.plan, self.rules = problem, plan, rules
        self._clock, self.listeners = clock, listeners
        self.best: Incumbent | None = None
        self._nearest: tuple[float, list[Finding]] | None = None
        self._lock = threading.RLock()
        self.offer(constant_tree(problem, plan.depth))

    @property
    def objective(self) -> float:
        """Objective value of the best tree, infinity without one."""
        return np.inf if self.best is None else self.best.score.objective

    @property
    def clock(self) -> Clock:
        """The clock of the fit; with a tree, looking at it polls the listeners."""
        return self._clock if self.best is None else self.best.clock

    @property
    def is_done(self) -> bool:
        """Whether a stop was requested, or the best tree needs no more work."""
        is_stopped = self.clock.stop.requested
        return is_stopped or (self.best is not None and self.best.is_done)

    def offer(self, heap: HeapTree) -> bool:
        """Take in a tree; return whether it made the best one better."""
        with self._lock:
            heap = self.problem.limited(heap)
            before = self.objective
            for near in self.rules.repaired(self.problem, heap):
                self._offer(near)
            return self.objective < before

    def _offer(self, heap: HeapTree) -> None:
        problem = self.problem
        routing = problem.to_user(heap)
        tree = self.rules.labelled(problem, routing)
        if tree is None:
            self._note_nearest(routing)
            return
        score = self.plan.objective.evaluate(problem, tree)
        if not score.objective < self.objective:
            return
        # The recount by prediction has the last word, whatever chose the labels.
        findings = self.rules.findings(tree, tree.apply(problem.X))
        if not all(found.kept for found in findings):
            self._note(findings)
            return
        heap = problem.to_scaled(tree, self.plan.depth)
        if self.best is not None:
            self.best.offer(tree, score, heap)
            return
        bounds = Bounds.without_solver(problem, self.plan.depth)
        given = self.clock, self.listeners, self.plan.gap_tol
        self.best = Incumbent(tree, score, bounds, *given, heap)
        self.best.tell()

    def note_stage(self, stage: str) -> None:
        """Note what is being done, for what the listeners are told next."""
        if self.best is not None:
            self.best.stage = stage

    def tell(self) -> None:
        """Tell the listeners, once there is a tree."""
        if self.best is not None:
            self.best.tell()

    # ------------------------------------------------------------- without a tree

    def _note_nearest(self, tree: ObliqueTree) -> None:
        """Note how near a routing comes whose every labelling breaks a limit."""
        if self.best is not None:
            return
        tree = self.rules.nearly_labelled(self.problem, tree)
        self._note(self.rules.findings(tree, tree.apply(self.problem.X)))

    def _note(self, findings: list[Finding]) -> None:
        excess = sum(found.excess for found in findings)
        if self._nearest is None or excess < self._nearest[0]:
            self._nearest = excess, findings

    def not_found(self) -> NoTreeFoundError:
        """Return the error of a fit that found no tree, with the nearest one."""
        seconds = self.clock.elapsed
        return NoTreeFoundError(
            f"No tree that keeps all constraints was found in {seconds:.1f} s; that "
            f"there is none is not proved.{self.nearest_words} Loosen a constraint, or "
            "give more time or depth."
        )

    @property
    def nearest_words(self) -> str:
        """What the nearest tree breaks, after a space; nothing where none is known."""
        findings = () if self._nearest is None else self._nearest[1]
        broken = [found.sentence for found in findings if not found.kept]
        return " ".join([" The nearest tree:", *broken]) if broken else ""
