"""One training at work: what its steps share, and the clocks that they run by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from miptree.control.clock import Clock
from miptree.control.patience import Patience
from miptree.data.problem import Problem
from miptree.fit.incumbent import Incumbent
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback
from miptree.mip.node_lp import polish
from miptree.mip.size import mip_size, pays
from miptree.objective import Score
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree, ObliqueTree

SECONDS = Patience(0.8, 0.25)
"""How long a step may go on while neither the tree nor the bound moves."""
ITERATIONS = Patience(100, 0.5)
"""How many iterations without a better tree end a search."""
PROOF_FACTOR = 5
"""How many times as long a MIP must take that should prove something."""


@dataclass
class Job:
    """A problem, the plan of its training, and the best tree so far.

    Attributes
    ----------
    n_searches : int
        Searches so far: each has a seed of its own.
    on_tree : callable or None
        Called with every tree that is offered, in scaled units.
    """

    problem: Problem
    plan: Plan
    best: Incumbent
    n_searches: int = 0
    on_tree: Callable[[HeapTree], object] | None = None

    @classmethod
    def begin(
        cls,
        problem: Problem,
        plan: Plan,
        clock: Clock,
        listeners: Sequence[FitCallback] = (),
        on_tree: Callable[[HeapTree], object] | None = None,
    ) -> Job:
        """Begin with the constant tree, and what is known without any work."""
        heap = constant_tree(problem, plan.depth)
        best = Incumbent(
            *_recount(problem, plan, heap),
            Bounds.without_solver(problem, plan.depth),
            clock,
            listeners,
            plan.gap_tol,
            heap,
        )
        return cls(problem, plan, best, on_tree=on_tree)

    # ------------------------------------------------------------------ ending

    @property
    def clock(self) -> Clock:
        """The clock of the whole training."""
        return self.best.clock

    @property
    def is_done(self) -> bool:
        """Whether all is proved that was asked for, or no time is left."""
        return self.best.is_done or self.errors_were_enough()

    def errors_were_enough(self) -> bool:
        """Tell whether only the number of errors was to be proved, and is."""
        return self.plan.proof == "errors" and self.best.errors_are_proved

    @property
    def is_patient(self) -> bool:
        """Whether seconds without movement end a step."""
        return is_patient(self.plan, self.clock)

    @property
    def a_while(self) -> float | None:
        """Seconds that a step may take by now without any movement, if they decide."""
        return SECONDS.after(self.clock.elapsed) if self.is_patient else None

    def step_clock(self, part: float = 1.0) -> Clock:
        """Return the clock of a step, which may take a part of the time left."""
        return awaited(self.best, self.plan, self.clock.share(part))

    # ------------------------------------------------------------------- proofs

    @property
    def wants_proof(self) -> bool:
        """Whether proofs are wanted, and the time left is enough for one."""
        size = PROOF_FACTOR * mip_size(self.problem, self.plan.depth)
        return self.plan.solver != "search" and pays(size, self.clock)

    # ------------------------------------------------------------------- trees

    @property
    def heap(self) -> HeapTree:
        """The best tree in scaled units: all trees here are offered in them."""
        heap = self.best.heap
        assert heap is not None
        return heap

    def offer(self, heap: HeapTree) -> float:
        """Offer a tree; return the objective of the best one, recounted.

        Of a hyperplane with more features than it may have the largest ones are kept:
        proofs come upon trees of a wider class.
        """
        heap = self.problem.limited(heap)
        if self.on_tree is not None:
            self.on_tree(heap)
        self.best.offer(*_recount(self.problem, self.plan, heap), heap)
        return self.best.score.objective

    def offer_polished(self, heap: HeapTree) -> None:
        """Offer a tree, and the one that LPs of its nodes make of it."""
        heap = self.problem.limited(heap)
        self.offer(heap)
        self.offer(polish(self.problem, self.plan.objective, heap, self.clock))


def is_patient(plan: Plan, clock: Clock) -> bool:
    """Tell whether seconds without movement end a step.

    Not where the user asked for a proof by name. And without a time limit, or with a
    budget of iterations, no seconds decide: the result would depend on them.
    """
    is_timed = clock.limit is not None and plan.max_iter is None
    return is_timed and not plan.keeps_at_it


def awaited(best: Incumbent, plan: Plan, clock: Clock) -> Clock:
    """Return the clock of a step, which also ends when the step has stalled."""
    if not is_patient(plan, clock):
        return clock
    return best.movement.awaited(SECONDS, clock)


def _recount(problem: Problem, plan: Plan, heap: HeapTree) -> tuple[ObliqueTree, Score]:
    tree = with_cheapest_labels(problem, problem.to_user(heap))
    return tree, plan.objective.evaluate(problem, tree)
