"""Train a baseline: start tree, search, the baseline's MIP, certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from miptree.baselines._oblique import search_hyperplanes
from miptree.baselines._univariate import univariate_trees
from miptree.baselines._valuation import BaselineValuation
from miptree.control.clock import Clock, interruptible
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.mips import ended_by
from miptree.fit.progress import FitCallback
from miptree.fit.searches import SEARCH_SHARE
from miptree.mip.size import pays
from miptree.mip.solvers import Limits, Progress, get_solver
from miptree.objective import Score
from miptree.objective.bounds import Bound
from miptree.objective.leaf_labels import relabel
from miptree.objective.proved import Bounds
from miptree.search.starts import cart_tree, constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray


def train_baseline(
    valuation: BaselineValuation,
    solver: str,
    limits: Limits,
    clock: Clock,
    listeners: Sequence[FitCallback],
    init: str,
) -> FittedTree:
    """Train a tree by a baseline's formulation.

    Parameters
    ----------
    valuation : BaselineValuation
        The baseline's objective and its MIP, made for the data.
    solver : str
        One of ``SOLVERS``.
    limits : Limits
        Nodes, gap, threads and seed; the seconds are the clock's.
    clock, listeners
        As for :func:`~miptree.fit.train.train`.
    init : {"cart", "search"}
        Whether a local search in the baseline's class comes before the MIP.
    """
    formulation = valuation.formulation
    with interruptible(clock) as clock:
        training = _BaselineTraining(valuation, solver, limits, clock, listeners, init)
        training.run()
        return training.best.end(formulation.problem, valuation, formulation.depth)


@dataclass
class _BaselineTraining:
    valuation: BaselineValuation
    solver: str
    limits: Limits
    clock: Clock
    listeners: Sequence[FitCallback]
    init: str

    def __post_init__(self) -> None:
        self.formulation = self.valuation.formulation
        self.problem, self.depth = self.formulation.problem, self.formulation.depth

    @cached_property
    def best(self) -> Incumbent:
        """The best tree of the class, at first the constant one."""
        heap, price = (
            constant_tree(self.problem, self.depth),
            self.formulation.error_price,
        )
        best = Incumbent(
            *self._recount(heap),
            Bounds.without_solver(self.problem, self.depth, price),
            self.clock,
            self.listeners,
            self.limits.gap,
            heap,
        )
        best.ended = "unproved"
        return best

    def run(self) -> None:
        """Run the steps until the tree is proved or the time is over."""
        self.clock = self.best.clock
        for step in (self._start, self._search, self._solve):
            if self.best.is_done:
                break
            step()

    def _start(self) -> None:
        self._adapt(cart_tree(self.formulation.start_problem, self.depth))

    def _search(self) -> None:
        """Look for better trees of the class, where asked to."""
        if self.init != "search":
            return
        self.best.stage = "search"
        clock = self.clock.share(SEARCH_SHARE).heeding(lambda: self.best.gap == 0)
        formulation, seed = self.formulation, self.limits.seed
        problem, depth, strip = formulation.start_problem, self.depth, formulation.strip
        if strip is not None:
            search_hyperplanes(problem, depth, strip, clock, seed, self._adapt)
            return
        for heap in univariate_trees(problem, depth, seed):
            self._adapt(heap)
            if clock.is_over:
                return

    def _solve(self) -> None:
        """Solve the baseline's MIP from the best tree so far."""
        best, formulation = self.best, self.formulation
        if not pays(formulation.size, self.clock):
            best.ended = "time_limit"
            return
        best.stage = "solve"
        assert best.heap is not None
        result = get_solver(self.solver).solve(
            formulation.model,
            formulation.encode(best.heap),
            replace(self.limits, seconds=self.clock.remaining),
            self._hear,
            self._take,
        )
        best.ended = ended_by(result, "unproved")
        if result.x is not None:
            self._take(result.x)
        self._raise_bound(result.bound, result.solver)

    # -------------------------------------------------------- trees and bounds

    def _recount(self, heap: HeapTree) -> tuple[ObliqueTree, Score]:
        tree = self.problem.to_user(heap).prune(self.problem.X)
        return tree, self.valuation.evaluate(self.problem, tree)

    def _offer(self, heap: HeapTree) -> None:
        self.best.offer(*self._recount(heap), heap)

    def _adapt(self, heap: HeapTree) -> None:
        """Offer the tree of the class that is nearest to a start tree."""
        self._offer(relabel(self.problem, self.formulation.adapt(heap)))

    def _take(self, x: FloatArray) -> FloatArray | None:
        """Take in a solution, with its labels and with those that cost least."""
        heap = self.formulation.decode(x)
        self._offer(heap)
        self._offer(relabel(self.problem, heap))
        return None

    def _raise_bound(self, bound: float, solver: str) -> None:
        text = f"{solver} on the MIP of {self.valuation.method}"
        self.best.raise_objective_bound(Bound(self.formulation.round_up(bound), text))

    def _hear(self, progress: Progress) -> bool:
        self._raise_bound(progress.bound, self.solver)
        self.best.tell()
        return self.best.is_stopped or self.best.gap == 0
