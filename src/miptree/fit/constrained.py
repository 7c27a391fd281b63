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
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock, End, interruptible
from miptree.data.problem import Problem
from miptree.fit.all_columns import AllColumns
from miptree.fit.fitted import FittedTree
from miptree.fit.guided import GuidedSearch
from miptree.fit.incumbent import Incumbent
from miptree.fit.iterations import Iterations
from miptree.fit.kept import KeptTrees
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback, FitProgress
from miptree.fit.ruled_mip import can_prove_kept, prove_kept
from miptree.fit.train import train_incumbent
from miptree.objective.bounds import COUNTING, Bound
from miptree.search.compiling import compile_kernels_within, searches_are_at_hand

LARGEST_END = 0.05
"""Part of the time that is left for the certificate, at most."""
# Chosen and tried like the constants of fit/guided.py, where more is said.
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
        job.iterations.most = plan.max_iter  # those that were left for the price, too
        job.price(all_columns, clock)
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
    """A fit under constraints, and what it has found so far.

    Attributes
    ----------
    kept : KeptTrees
        Takes in every tree, and has the best of those that keep the constraints.
    iterations : Iterations
        Those of all steps.
    guided : GuidedSearch or None
        The search for trees that keep the constraints, None until it was needed.
    free : Incumbent or None
        The best tree that need not keep them, None until the first search.
    free_bound : float
        What all trees cost at least, whether they keep them or not.
    wide : Incumbent or None
        The best tree that may use all columns, None where none was looked at.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        rules: Rules,
        clock: Clock,
        listeners: Sequence[FitCallback],
    ) -> None:
        self.problem, self.plan, self.rules = problem, plan, rules
        self.kept = KeptTrees(problem, plan, rules, clock, listeners)
        self.iterations = Iterations(plan.max_iter)
        self.guided: GuidedSearch | None = None
        self.free: Incumbent | None = None
        self.free_bound = 0.0
        self.wide: Incumbent | None = None

    def run(self) -> _Constrained:
        """Search without constraints, then with them, then prove; return itself.

        Raises
        ------
        NoTreeFoundError
            If no tree was found that keeps them.
        """
        wants_proof = self.plan.solver != "search"
        if searches_are_at_hand():  # loading them should not take all of a small share
            compile_kernels_within(self.kept.clock)
        self._search_free()
        if self._is_apart:
            self._guide(GUIDED_SHARE if wants_proof else 1.0)
        if not self.kept.is_done and (wants_proof or self._may_search_on):
            part = PROOF_SHARE if can_prove_kept(self.kept, self.kept.clock) else 1.0
            self._train_free(self.plan.solver, part, self.iterations.left)
        # Where a tree that need not keep them costs as little, its bound is as good.
        if self._is_apart and can_prove_kept(self.kept, self.kept.clock):
            prove_kept(self.kept, self.kept.clock.share(1.0))
        # Proofs may end sooner than they may, and a free tree found late asks for it.
        may_go_on = self.guided is None or self.guided.may_go_on
        if may_go_on and self.iterations.left != 0 and self._is_apart:
            self._guide(1.0)
        if self.kept.best is None:
            raise self.kept.not_found()
        return self

    # ------------------------------------------------------------- questions

    @property
    def _is_free_tree_kept(self) -> bool:
        """Whether the best tree without constraints keeps them, as far as known."""
        assert self.free is not None
        return self.kept.objective <= self.free.score.objective * (1 + 1e-9)

    @property
    def _is_apart(self) -> bool:
        """Whether it costs less without them, as far as known, and work may go on."""
        return not self._is_free_tree_kept and not self.kept.is_done

    @property
    def _may_search_on(self) -> bool:
        """Whether the search without constraints is one with them, and may go on."""
        return self._is_free_tree_kept and self.iterations.left != 0

    # ----------------------------------------------------------------- steps

    def _search_free(self) -> None:
        """Search without constraints, and go on where the tree keeps them anyway."""
        most = self.plan.max_iter
        few = None if most is None else int(np.ceil(FREE_PART * most))
        self._train_free("search", FREE_SHARE, few)
        if self._may_search_on and not self.kept.is_done:
            # A better tree may break them, so that some time is left to mend that.
            left = self.iterations.left
            half = None if left is None else int(np.ceil(MORE_SHARE * left))
            self._train_free("search", MORE_SHARE, half)

    def _train_free(self, solver: str, part: float, most: int | None) -> None:
        """Train without constraints in a part of the time left, of so many iterations.

        Every tree is offered with them.
        """
        clock = self.kept.clock.share(part)
        plan = replace(self.plan, solver=solver, max_iter=most)
        if self.free is not None:
            plan = replace(plan, init=self.free.tree)
        if solver == "search":
            # Not the same again.
            plan = replace(plan, seed=plan.seed + self.iterations.done)
        trained = train_incumbent(
            self.problem, plan, clock, [self._hear], on_tree=self.kept.offer
        )
        self.iterations.done += trained.n_iter
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

    def _guide(self, part: float) -> None:
        """Search with them in a part of the time left, or go on with that search."""
        clock = self.kept.clock.share(part)
        if self.guided is None:
            assert self.free is not None
            assert self.free.heap is not None
            given = self.kept, self.iterations, self.free.heap
            self.guided = GuidedSearch.begin(*given, clock)
        self.guided.run(clock)

    def _hear(self, state: FitProgress) -> None:
        self.kept.note_stage(state.stage)
        self.kept.tell()

    def price(self, all_columns: AllColumns, clock: Clock) -> None:
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
        given = self.plan, known.tree, clock, self.iterations.left, [self._hear]
        wide = all_columns.train(*given)
        self.iterations.done += wide.n_iter
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
        best.n_iter = self.iterations.done
        least = self.rules.least_cost(self.problem, self.kept.clock.remaining)
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
            free_bound=bound,
            columns=columns,
        )
        return replace(fitted, certificate=certificate)


def _ended(trained: Incumbent, clock: Clock) -> End:
    """Return why a training ended; where a proof would not pay, it has stalled."""
    gave_up = trained.ended == "time_limit" and not clock.is_over
    return "stalled" if gave_up else trained.ended
