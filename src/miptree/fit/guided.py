"""The search for trees that keep constraints: prices on the limits, round by round.

A round searches with the present prices, grows trees layer by layer where rules say
which columns a split may use, and then makes the best tree better: hyperplanes refit to
their routing, thresholds moved, small random steps. Every tree is offered under the
constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from miptree.constraints.free_signs import free_signs
from miptree.constraints.placed import with_placed
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.cuts import best_cut
from miptree.fit.iterations import Iterations
from miptree.fit.kept import KeptTrees
from miptree.fit.multipliers import Multipliers
from miptree.fit.regrow import has_layers, regrown, without_columns
from miptree.fit.walk import walk
from miptree.mip.node_lp import refit_nodes
from miptree.objective.leaf_labels import relabel, tree_value
from miptree.search import search
from miptree.search.starts import start_trees
from miptree.tree import HeapTree

# Chosen as the search was written. Of those halved or doubled since, on development
# splits alone, none gave better trees beyond chance, and warm rounds gave worse ones:
# benchmarks/results/rule_settings.md, which has too few cases to tell more.
MOST_ROUNDS, LEAST_ITERATIONS = 16, 8
"""Priced searches that a budget of iterations is dealt out to, and fewest for each."""
STALLED_AFTER = 8
"""Rounds without a better tree that end the guided search under the clock, not counting
those that their share of the time cuts short."""
ROUND_ITERATIONS, ROUND_STALL = 150, 40
"""Most iterations of a priced search, and those without a better tree that end it."""
ROUND_SHARE = 0.15
"""Part of the time left that a priced search may take."""
WARM_ROUNDS = 0
"""Priced searches that first make starts of their own, beside the trees before."""
MOST_TRIALS = 10
"""Times that greedy trees move the prices before the first search."""
SWEPT_TREES = 3
"""Trees of a search whose thresholds are tried under the constraints."""
MOST_STEPS, STEPS_PER_ITERATION = 150, 4
"""Small steps from the best tree after each priced search: most of them, and how many
for each iteration of the search."""


@dataclass
class GuidedSearch:
    """The search of one fit, which may go on where it stopped.

    Attributes
    ----------
    kept : KeptTrees
        Takes in every tree; it has the rows, the plan and the constraints as well.
    iterations : Iterations
        Those of the whole fit.
    prices : Multipliers
        The prices on the limits.
    right : Problem or None
        The rows without the columns that a tree without constraints uses against the
        directions they must have; None where there are none.
    last : HeapTree
        The tree that last moved them.
    rng : numpy.random.Generator
        Shakes prices, and makes small steps.
    n_rounds : int
        Rounds so far.
    may_go_on : bool
        Whether the last run ended for its time alone, so that more may help.
    """

    kept: KeptTrees
    iterations: Iterations
    prices: Multipliers
    right: Problem | None
    last: HeapTree
    rng: np.random.Generator
    n_rounds: int = 0
    may_go_on: bool = True

    @classmethod
    def begin(
        cls, kept: KeptTrees, iterations: Iterations, free: HeapTree, clock: Clock
    ) -> GuidedSearch:
        """Begin with prices that a tree without constraints and greedy trees move."""
        last = _placed(kept.problem, kept.rules, free)
        prices = Multipliers.begin(kept.problem, kept.rules)
        rng = np.random.default_rng(kept.plan.seed)
        wrong = kept.rules.wrong_columns(last)
        right = without_columns(kept.problem, wrong) if wrong.any() else None
        guided = cls(kept, iterations, prices, right, last, rng)
        prices.step(last)
        guided._sweep(last, clock)
        if kept.rules.limits:
            guided._try_prices(clock)
            guided._search_right(LEAST_ITERATIONS, clock.share(ROUND_SHARE))
        return guided

    def _try_prices(self, clock: Clock) -> None:
        """Move the prices by greedy trees first, which are made in a moment."""
        kept, left = self.kept, self.iterations.left
        for _ in range(MOST_TRIALS if left is None else min(MOST_TRIALS, left // 4)):
            if clock.is_over or kept.is_done:
                return
            problem = self.prices.priced()
            trees = start_trees(problem, kept.plan.depth)
            for heap in trees:
                kept.offer(heap)
                self._sweep(heap, clock)
            values = [tree_value(problem, kept.plan.objective, heap) for heap in trees]
            self.prices.step(trees[int(np.argmin(values))])

    def run(self, clock: Clock) -> None:
        """Make rounds until time or iterations are used up, or nothing gets better.

        A second time it goes on with the prices and the number of rounds that it had:
        from the start, the same seeds would find the same trees again.
        """
        has_budget, n_stalled = self.iterations.most is not None, 0
        rounds_left = self._rounds_to_go()
        while rounds_left > 0 and not (clock.is_over or self.kept.is_done):
            before = self.kept.objective
            is_cut = self._round(rounds_left, clock)
            self.n_rounds += 1
            rounds_left -= 1
            if self.kept.objective < before:
                n_stalled = 0
            elif not is_cut:  # by its time: it may have lacked just that
                n_stalled += 1
            if not has_budget and n_stalled >= STALLED_AFTER:
                break
        if self.kept.best is not None:
            is_spent = self.iterations.left == 0
            end = clock.ended or ("max_iter" if is_spent else "stalled")
            self.kept.best.note_end(end)
        self.may_go_on = clock.ended == "time_limit"

    # ---------------------------------------------------------------- iterations

    def _rounds_to_go(self) -> float:
        """Return how many rounds the iterations that are left are dealt out to."""
        left = self.iterations.left
        if left is None:
            return np.inf
        return int(np.clip(left // LEAST_ITERATIONS, 1, MOST_ROUNDS))

    def _budget(self, rounds_left: float) -> int:
        """Return the iterations of the next round."""
        left = self.iterations.left
        if left is None:
            return ROUND_ITERATIONS
        return max(1, min(ROUND_ITERATIONS, int(left / rounds_left)))

    # -------------------------------------------------------------------- a round

    def _round(self, rounds_left: float, clock: Clock) -> bool:
        """Search, and improve the best tree; return if time cut the search short."""
        kept, n_before, is_cut = self.kept, self.iterations.done, False
        kept.note_stage("search")
        if kept.rules.limits:
            turn = clock.share(ROUND_SHARE)
            self.last = self._priced_search(self._budget(rounds_left), turn)
            self.prices.step(self.last)
            is_cut = turn.is_over
        elif self.right is not None:
            turn = clock.share(ROUND_SHARE)
            self._search_right(self._budget(rounds_left), turn)
            is_cut = turn.is_over
        if has_layers(kept.rules):
            self._regrow(clock)
        if self.iterations.done == n_before:
            self.iterations.done += LEAST_ITERATIONS
        self._refit(clock)
        self._sweep_best(clock)
        steps = STEPS_PER_ITERATION * (self.iterations.done - n_before)
        walk(kept, min(MOST_STEPS, steps), self.rng, clock)
        return is_cut

    def _priced_search(self, budget: int, clock: Clock) -> HeapTree:
        """Search once with the present prices, some of them shaken; return its tree."""
        kept, plan, price = self.kept, self.kept.plan, self.prices.price.copy()
        if self.n_rounds % 3 == 2:
            price *= np.exp(self.rng.normal(0.0, 0.4, len(price)))
        problem, best = self.prices.priced(price), kept.best
        starts = [self.last]
        if best is not None and best.heap is not None:
            starts.append(best.heap)
        result = search(
            problem,
            plan.objective,
            plan.depth,
            clock=clock.counting(budget, ROUND_STALL),
            seed=plan.seed + 1000 + self.n_rounds,
            starts=[relabel(problem, tree) for tree in starts],
            n_jobs=plan.n_jobs,
            on_improvement=lambda heap, _: kept.offer(heap),
            warms_up=self.n_rounds < WARM_ROUNDS,
        )
        self.iterations.done += max(1, result.n_iter)
        for heap in result.trees:
            kept.offer(heap)
        for heap in result.trees[:SWEPT_TREES]:
            self._sweep(heap, clock)
        return _placed(problem, kept.rules, result.tree)

    def _search_right(self, budget: int, clock: Clock) -> None:
        """Search without the columns that trees use against their directions.

        Where such a column tells the classes apart, the trees around the best one are
        worse with the direction right than trees that do without the column.
        """
        kept, plan, right = self.kept, self.kept.plan, self.right
        if right is None or clock.is_over or kept.is_done:
            return
        best = None if kept.best is None else kept.best.heap
        result = search(
            right,
            plan.objective,
            plan.depth,
            clock=clock.counting(budget, ROUND_STALL),
            seed=plan.seed + 3000 + self.n_rounds,
            starts=[] if best is None else [relabel(right, best)],
            n_jobs=plan.n_jobs,
        )
        self.iterations.done += max(1, result.n_iter)
        for heap in result.trees:
            kept.offer(kept.problem.into_box(heap))

    def _regrow(self, clock: Clock) -> None:
        """Grow trees layer by layer, with the columns that each may use."""
        kept = self.kept
        problem = self.prices.priced() if kept.rules.limits else kept.problem
        seed = kept.plan.seed + 2000 + self.n_rounds
        turn = clock.share(ROUND_SHARE)
        given = problem, kept.plan, kept.rules, LEAST_ITERATIONS, seed, turn
        for heap in regrown(*given):
            kept.offer(heap)
            self._sweep(heap, clock)

    # ------------------------------------------------------ trees made better

    def _sweep(self, heap: HeapTree, clock: Clock) -> None:
        """Try the best threshold under the constraints at each split of a tree."""
        for node in range(len(heap.threshold)):
            if clock.is_over:
                return
            cut = best_cut(self.kept.problem, self.kept.rules, heap, node)
            if cut is not None:
                self.kept.offer(cut)

    def _sweep_best(self, clock: Clock) -> None:
        """Move the thresholds of the best tree as long as that makes it better."""
        before = np.inf
        while self.kept.objective < before and self.kept.best is not None:
            before = self.kept.objective
            if self.kept.best.heap is not None:
                self._sweep(self.kept.best.heap, clock)

    def _refit(self, clock: Clock) -> None:
        """Refit the hyperplanes of the best tree to its routing."""
        kept, best = self.kept, self.kept.best
        if best is not None and best.heap is not None and not clock.is_over:
            given = kept.problem, kept.plan.objective, best.heap, clock
            signs = free_signs(kept.rules, best.heap)
            kept.offer(refit_nodes(*given, signs))


def _placed(problem: Problem, rules: Rules, heap: HeapTree) -> HeapTree:
    """Put the fixed splits into a tree that prices move by."""
    if not rules.fixed:
        return heap
    return relabel(problem, with_placed(heap, rules.fixed))
