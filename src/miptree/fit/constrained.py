"""Training under constraints: search without them, guide, prove.

A tree that need not keep the constraints is searched for first: what is proved of all
trees holds for those that keep them, and it is the tree that their price is told by.
Then prices on the limits lead further searches to trees that keep them. Every tree met
on the way, by whatever step, gets its best labels under the constraints and is offered.
Proofs of all trees run against the tree without constraints; where that does not keep
them, a MIP with rows for them proves how good a tree that does can be. Where they leave
columns out, trees that may use all columns are trained last, for the price alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from miptree.certificate.rules import with_rules
from miptree.constraints.effective import left_out
from miptree.constraints.free_signs import free_signs
from miptree.constraints.placed import with_placed
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock, End, interruptible
from miptree.data.problem import Problem
from miptree.fit.all_columns import AllColumns
from miptree.fit.cuts import best_cut
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.kept import KeptTrees
from miptree.fit.multipliers import Multipliers
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback, FitProgress
from miptree.fit.regrow import has_layers, regrown
from miptree.fit.ruled_mip import can_prove_kept, prove_kept
from miptree.fit.train import train_incumbent
from miptree.fit.walk import walk
from miptree.mip.node_lp import refit_nodes
from miptree.objective.bounds import COUNTING, Bound
from miptree.objective.leaf_labels import relabel, tree_value
from miptree.search import search
from miptree.search.compiling import compile_kernels_within, searches_are_at_hand
from miptree.search.starts import start_trees
from miptree.tree import HeapTree

LARGEST_END = 0.05
"""Part of the time that is left for the certificate, at most."""
# Chosen as the search was written. Of those halved or doubled since, on development
# splits alone, none gave better trees beyond chance, and warm rounds gave worse ones:
# benchmarks/results/rule_settings.md, which has too few cases to tell more.
FREE_SHARE, GUIDED_SHARE = 0.25, 0.6
"""Parts of the time left for the search without constraints, and for that with them
where proofs follow."""
MORE_SHARE = 0.5
"""Part of the time or iterations then left for more of the first, where its tree keeps
the constraints."""
PROOF_SHARE = 0.5
"""Part of the time left for proofs of all trees, where one of those that keep the
constraints follows."""
FREE_PART = 0.25
"""The same in iterations, of all that there are."""
PRICE_SHARE = 0.15
"""Part of the time and of the iterations that is left for trees of all columns."""
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


def train_under_rules(
    problem: Problem,
    plan: Plan,
    rules: Rules,
    clock: Clock | None = None,
    listeners: Sequence[FitCallback] = (),
    all_columns: AllColumns | None = None,
) -> FittedTree:
    """Train a tree that keeps all constraints.

    ``all_columns`` are the rows with the columns that these leave out, to tell what
    that costs; without them it is not known.

    Raises
    ------
    NoTreeFoundError
        If no such tree was found.
    """
    with interruptible(clock or Clock()) as clock:
        _leave_time_to_end(clock)
        if all_columns is None:
            return _Constrained(problem, plan, rules, clock, listeners).run().end()
        given = _leaving_a_price(plan, clock)
        job = _Constrained(problem, given[0], rules, given[1], listeners).run()
        left = None if plan.max_iter is None else max(0, plan.max_iter - job.n_iter)
        job.price(all_columns, left, clock)
        return job.end()


def _leave_time_to_end(clock: Clock) -> None:
    """Shorten a clock by the time that the certificate will take.

    It reads all rows a few times, about as often as what made them ready.
    """
    if clock.limit is not None:
        clock.limit -= min(clock.elapsed, LARGEST_END * clock.limit)


def _leaving_a_price(plan: Plan, clock: Clock) -> tuple[Plan, Clock]:
    """Return a plan and a clock that leave some of theirs for trees of all columns."""
    clock = copy(clock)
    if clock.limit is not None:
        clock.limit *= 1 - PRICE_SHARE
    if plan.max_iter:
        own = plan.max_iter - int(np.ceil(PRICE_SHARE * plan.max_iter))
        plan = replace(plan, max_iter=max(1, own))
    return plan, clock


class _Constrained:
    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        rules: Rules,
        clock: Clock,
        listeners: Sequence[FitCallback],
    ) -> None:
        self.problem, self.plan, self.rules = problem, plan, rules
        self._clock = clock
        self.kept = KeptTrees(problem, plan, rules, clock, listeners)
        self.rng = np.random.default_rng(plan.seed)
        self.n_iter = 0
        self.free: Incumbent | None = None
        self.free_bound = 0.0
        self.wide: Incumbent | None = None
        self._may_go_on = True
        self._guided: tuple[Multipliers, HeapTree, int] | None = None

    def run(self) -> _Constrained:
        """Search without constraints, then with them, then prove; return itself.

        Raises
        ------
        NoTreeFoundError
            If no tree was found that keeps them.
        """
        wants_proof = self.plan.solver != "search"
        if searches_are_at_hand():  # loading them should not take all of a small share
            compile_kernels_within(self.clock)
        self._train_free("search", self.clock.share(FREE_SHARE), self._free_iterations)
        if self._may_search_on and not self._is_done:
            # A better tree may break them, so that some time is left to mend that.
            left = self._iterations_left
            half = None if left is None else int(np.ceil(MORE_SHARE * left))
            self._train_free("search", self.clock.share(MORE_SHARE), half)
        if not self._is_free_tree_kept and not self._is_done:
            part = GUIDED_SHARE if wants_proof else 1.0
            self._guide(self.clock.share(part))
        if not self._is_done and (wants_proof or self._may_search_on):
            part = PROOF_SHARE if can_prove_kept(self.kept, self.clock) else 1.0
            turn = self.clock.share(part)
            self._train_free(self.plan.solver, turn, self._iterations_left)
        # Where a tree that need not keep them costs as little, its bound is as good.
        is_apart = not self._is_free_tree_kept and not self._is_done
        if is_apart and can_prove_kept(self.kept, self.clock):
            prove_kept(self.kept, self.clock.share(1.0))
        # Proofs may end sooner than they may, and a free tree found late asks for it.
        may_guide = self._may_go_on and self._iterations_left != 0
        if may_guide and not (self._is_free_tree_kept or self._is_done):
            self._guide(self.clock.share(1.0))
        if self.kept.best is None:
            raise self.kept.not_found()
        return self

    # ------------------------------------------------------------- questions

    @property
    def clock(self) -> Clock:
        """The clock of the fit; with a tree, looking at it polls the listeners."""
        return self._clock if self.kept.best is None else self.kept.best.clock

    @property
    def _is_done(self) -> bool:
        best = self.kept.best
        return self.clock.stop.requested or (best is not None and best.is_done)

    @property
    def _is_free_tree_kept(self) -> bool:
        """Whether the best tree without constraints keeps them, as far as known."""
        assert self.free is not None
        return self.kept.objective <= self.free.score.objective * (1 + 1e-9)

    @property
    def _may_search_on(self) -> bool:
        """Whether the search without constraints is one with them, and may go on."""
        return self._is_free_tree_kept and self._iterations_left != 0

    @property
    def _free_iterations(self) -> int | None:
        most = self.plan.max_iter
        return None if most is None else int(np.ceil(FREE_PART * most))

    @property
    def _iterations_left(self) -> int | None:
        most = self.plan.max_iter
        return None if most is None else max(0, most - self.n_iter)

    # ----------------------------------------------------------------- steps

    def _train_free(self, solver: str, clock: Clock, most: int | None) -> None:
        """Train without constraints; every tree is offered with them."""
        plan = replace(self.plan, solver=solver, max_iter=most)
        if self.free is not None:
            plan = replace(plan, init=self.free.tree)
        if solver == "search":
            plan = replace(plan, seed=plan.seed + self.n_iter)  # not the same again
        trained = train_incumbent(
            self.problem, plan, clock, [self._hear], on_tree=self.kept.offer
        )
        self.n_iter += trained.n_iter
        if self.free is None or trained.score.objective <= self.free.score.objective:
            bounds = trained.bounds
            self.free = trained
        else:
            bounds = trained.bounds.believed(self.free.score)
        self.free_bound = max(self.free_bound, bounds.objective.value)
        best = self.kept.best
        if best is not None:
            best.raise_errors_bound(bounds.errors)
            best.raise_objective_bound(bounds.objective)
            best.note_end(_ended(trained, clock))

    def _guide(self, clock: Clock) -> None:
        """Search with prices on the limits, and around the best tree, in rounds.

        A second time it goes on with the prices and the number of rounds that it had:
        from the start, the same seeds would find the same trees again.
        """
        prices, last, first = self._guided or (*self._first_prices(clock), 0)
        n_rounds, stalled, left = 0, 0, self._iterations_left
        most = np.inf
        if left is not None:
            most = np.clip(left // LEAST_ITERATIONS, 1, MOST_ROUNDS)
        while n_rounds < most and not (clock.is_over or self._is_done):
            before, n_iter, is_cut = self.kept.objective, self.n_iter, False
            self._enter("search")
            if self.rules.limits:
                budget = self._budget(most - n_rounds)
                turn = clock.share(ROUND_SHARE)
                number = first + n_rounds
                last = self._priced_search(prices, last, number, budget, turn)
                prices.step(last)
                is_cut = turn.is_over
            if has_layers(self.rules):
                self._regrow(prices, first + n_rounds, clock)
            if self.n_iter == n_iter:
                self._count(LEAST_ITERATIONS)
            self._refit(clock)
            self._sweep_best(clock)
            steps = STEPS_PER_ITERATION * (self.n_iter - n_iter)
            walk(self.kept, min(MOST_STEPS, steps), self.rng, clock)
            if self.kept.objective < before:
                stalled = 0
            elif not is_cut:  # by its time: it may have lacked just that
                stalled += 1
            n_rounds += 1
            if left is None and stalled >= STALLED_AFTER:
                break
        self._guided = prices, last, first + n_rounds
        if self.kept.best is not None:
            is_spent = left is not None and self._iterations_left == 0
            end = clock.ended or ("max_iter" if is_spent else "stalled")
            self.kept.best.note_end(end)
        self._may_go_on = clock.ended == "time_limit"

    def _first_prices(self, clock: Clock) -> tuple[Multipliers, HeapTree]:
        """Return prices on the limits, and the tree that they were last moved by."""
        prices = Multipliers.begin(self.problem, self.rules)
        assert self.free is not None
        assert self.free.heap is not None
        last = self._placed(self.problem, self.free.heap)
        prices.step(last)
        self._sweep(last, clock)
        if self.rules.limits:
            self._try_prices(prices, clock)
        return prices, last

    def _budget(self, rounds_left: float) -> int:
        """Return the iterations of the next round."""
        left = self._iterations_left
        if left is None:
            return ROUND_ITERATIONS
        return max(1, min(ROUND_ITERATIONS, int(left / max(1.0, rounds_left))))

    def _priced_search(
        self,
        prices: Multipliers,
        last: HeapTree,
        number: int,
        budget: int,
        clock: Clock,
    ) -> HeapTree:
        """Search once with the present prices, some of them shaken; return its tree."""
        price = prices.price.copy()
        if number % 3 == 2:
            price *= np.exp(self.rng.normal(0.0, 0.4, len(price)))
        problem, best = prices.priced(price), self.kept.best
        starts = [last]
        if best is not None and best.heap is not None:
            starts.append(best.heap)
        result = search(
            problem,
            self.plan.objective,
            self.plan.depth,
            clock=clock.counting(budget, ROUND_STALL),
            seed=self.plan.seed + 1000 + number,
            starts=[relabel(problem, tree) for tree in starts],
            n_jobs=self.plan.n_jobs,
            on_improvement=lambda heap, _: self.kept.offer(heap),
            warms_up=number < WARM_ROUNDS,
        )
        self._count(result.n_iter)
        for heap in result.trees:
            self.kept.offer(heap)
        for heap in result.trees[:SWEPT_TREES]:
            self._sweep(heap, clock)
        return self._placed(problem, result.tree)

    def _placed(self, problem: Problem, heap: HeapTree) -> HeapTree:
        """Put the fixed splits into a tree that prices move by."""
        if not self.rules.fixed:
            return heap
        return relabel(problem, with_placed(heap, self.rules.fixed))

    def _regrow(self, prices: Multipliers, number: int, clock: Clock) -> None:
        """Grow trees layer by layer, with the columns that each may use."""
        problem = prices.priced() if self.rules.limits else self.problem
        seed = self.plan.seed + 2000 + number
        turn = clock.share(ROUND_SHARE)
        given = problem, self.plan, self.rules, LEAST_ITERATIONS, seed, turn
        for heap in regrown(*given):
            self.kept.offer(heap)
            self._sweep(heap, clock)

    def _try_prices(self, prices: Multipliers, clock: Clock) -> None:
        """Move the prices by greedy trees first, which are made in a moment."""
        left = self._iterations_left
        for _ in range(MOST_TRIALS if left is None else min(MOST_TRIALS, left // 4)):
            if clock.is_over or self._is_done:
                return
            problem = prices.priced()
            trees = start_trees(problem, self.plan.depth)
            for heap in trees:
                self.kept.offer(heap)
                self._sweep(heap, clock)
            values = [tree_value(problem, self.plan.objective, heap) for heap in trees]
            prices.step(trees[int(np.argmin(values))])

    def _sweep(self, heap: HeapTree, clock: Clock) -> None:
        """Try the best threshold under the constraints at each split of a tree."""
        for node in range(len(heap.threshold)):
            if clock.is_over:
                return
            cut = best_cut(self.problem, self.rules, heap, node)
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
        best = self.kept.best
        if best is not None and best.heap is not None and not clock.is_over:
            given = self.problem, self.plan.objective, best.heap, clock
            signs = free_signs(self.rules, best.heap)
            self.kept.offer(refit_nodes(*given, signs))

    def _count(self, n_iter: int) -> None:
        self.n_iter += max(1, n_iter)

    def _hear(self, state: FitProgress) -> None:
        self._enter(state.stage)
        self.kept.tell()

    def _enter(self, stage: str) -> None:
        if self.kept.best is not None:
            self.kept.best.stage = stage

    def price(
        self, all_columns: AllColumns, max_iter: int | None, clock: Clock
    ) -> None:
        """Train trees that may use all columns, and need not keep any constraint.

        They may take the time that was left for them, or as long as all did before.
        """
        best, known = self.kept.best, self.free
        assert best is not None
        assert known is not None
        known = best if self._is_free_tree_kept else known
        if clock.limit is not None:
            longest = max(PRICE_SHARE * clock.limit, clock.elapsed)
            clock = clock.counting(limit=longest)
        if clock.is_over:
            return
        given = self.plan, known.tree, clock, max_iter, [self._hear]
        wide = all_columns.train(*given)
        self.n_iter += wide.n_iter
        is_better = wide.score.objective < known.score.objective * (1 - 1e-9)
        if not (is_better or wide.n_iter or wide.gap == 0):
            return  # no tree that uses these columns was looked at
        # Trees of fewer columns are among these: what is proved holds for them, too.
        self.wide, bounds = wide, wide.bounds
        self.free_bound = max(self.free_bound, bounds.objective.value)
        best.raise_errors_bound(bounds.errors)
        best.raise_objective_bound(bounds.objective)

    def end(self) -> FittedTree:
        """Close the fit; return its tree with what is known of it."""
        best = self.kept.best
        assert best is not None
        best.n_iter = self.n_iter
        least = self.rules.least_cost(self.problem, self.clock.remaining)
        best.raise_objective_bound(Bound(least, COUNTING))
        fitted = best.end(self.problem, self.plan.objective, self.plan.depth)
        assert self.free is not None
        findings = self.rules.findings(fitted.tree, fitted.tree.apply(self.problem.X))
        free, bound, columns = self.free.score.objective, self.free_bound, None
        if self.wide is not None:
            columns = free, bound
            free = self.wide.score.objective
            bound = self.wide.bounds.objective.value
        certificate = with_rules(
            fitted.certificate,
            findings,
            free,
            least,
            sorted(left_out(self.rules.constraints)),
            bound,
            columns,
        )
        return replace(fitted, certificate=certificate)


def _ended(trained: Incumbent, clock: Clock) -> End:
    """Return why a training ended; where a proof would not pay, it has stalled."""
    gave_up = trained.ended == "time_limit" and not clock.is_over
    return "stalled" if gave_up else trained.ended
