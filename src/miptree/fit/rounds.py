"""Training on selected rows, round by round: the supplement's iterative algorithm.

select rows by the best tree -> train on them -> search on all rows -> keep the best
tree *on all rows*. The printed algorithm takes each round's tree as the next one and
claims that its accuracy never falls; it can (J may be right in different leaves, whose
hull is then not covered). Here rows that became wrong come back into the next round,
and a tree is replaced only by one that is better on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.control.clock import Clock, interruptible
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.incumbent import Incumbent
from miptree.fit.job import ITERATIONS, awaited
from miptree.fit.layers import PerLayer, resolved, train_layers
from miptree.fit.plan import Plan
from miptree.fit.progress import FitCallback, FitProgress
from miptree.fit.shorter import offer_shorter
from miptree.fit.train import train_incumbent
from miptree.fit.working_set import WorkingSets
from miptree.objective import Score
from miptree.objective.bounds import Bound
from miptree.objective.leaf_labels import tree_value, with_cheapest_labels
from miptree.objective.proved import Bounds
from miptree.search import kernels_are_ready_in_time, search
from miptree.search.starts import cart_tree, start_trees
from miptree.selection import Selection, Selector
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

TRAIN_SHARE = 0.5
"""Part of a round's time for training on the subset; the rest searches on all rows."""
SEARCH_SHARE = 0.9
"""Part of the time then left for that search; its trees are valued after it."""


@dataclass(frozen=True, eq=False)
class Round:
    """What one round did.

    Attributes
    ----------
    rows : int array
        Rows trained on, by the number of (the first copy of) the row in X.
    weight : float array
        Their weights.
    raw_tree : ObliqueTree
        The tree trained on them, before the search on all rows.
    raw_errors : int
        Its errors on all rows.
    errors, cost, objective
        The same of the tree kept after the round, and what its errors cost.
    bound : float or None
        Lower bound on the objective on all rows that the round proved; None where its
        weights exceed the rows' own, so that its bound holds for the subset only.
    """

    rows: IntArray
    weight: FloatArray
    raw_tree: ObliqueTree
    raw_errors: int
    errors: int
    cost: float
    objective: float
    bound: float | None


def train_in_rounds(
    problem: Problem,
    plan: Plan,
    selection: str | Selector | PerLayer,
    max_rounds: int = 3,
    clock: Clock | None = None,
    listeners: Sequence[FitCallback] = (),
) -> tuple[FittedTree, list[Round]]:
    """Train on selected rows for some rounds.

    The first round selects among the rows of each class in each leaf of the start
    tree, as Algorithm 1 does. Later ones select among the rows that the best tree
    gets right, add those it gets wrong (I), and give the rows that stand for others
    (J) the weight of all of I besides their own. The cost of errors never rises from
    one round to the next. The rounds end when nothing changes; time that is left goes
    to a search on all rows.

    Parameters
    ----------
    problem : Problem
        All rows.
    plan : Plan
        With ``init="auto"`` each round begins with a search; any other start goes
        straight to the solver, as in the paper. Limits in iterations and nodes hold
        per round.
    selection : str, Selector or PerLayer
        How rows are chosen, or made again at every node below the root.
    max_rounds : int, default=3
        Most rounds.
    clock, listeners
        As for :func:`~miptree.fit.train.train`.
    """
    with interruptible(clock or Clock()) as clock:
        selector = resolved(selection, plan.seed, plan.n_jobs)
        rounds = _Rounds(problem, plan, selector, clock, listeners)
        rounds.run(max_rounds)
        offer_shorter(rounds.best, problem, plan)
        return rounds.best.end(problem, plan.objective, plan.depth), rounds.done


class _Rounds:
    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        selection: Selector | PerLayer,
        clock: Clock,
        listeners: Sequence[FitCallback],
    ) -> None:
        self.problem, self.plan, self.selection = problem, plan, selection
        self.clock, self.done = clock, list[Round]()
        self._grown: list[HeapTree] = []
        is_ready = kernels_are_ready_in_time(clock, lambda: None, self._is_done_grown)
        began = clock.elapsed
        start = self._start_tree(is_ready)
        self.start_seconds, self.select_seconds = clock.elapsed - began, 0.0
        bounds = Bounds.without_solver(problem, plan.depth)
        self.best = Incumbent(
            start, self._score(start), bounds, clock, listeners, plan.gap_tol
        )
        self.clock = self.best.clock
        self.working_sets = WorkingSets(problem, plan, selection, clock.limit)

    def run(self, max_rounds: int) -> None:
        """Do the rounds, and search on with the time that is left."""
        self.best.tell()
        for number in range(max_rounds):
            if self.best.is_done or not self._has_time(self.clock, self.select_seconds):
                break
            if not self._round(number, max_rounds - number):
                break
        if self.done and self.clock.limit is not None and not self.best.is_done:
            self._search([], self.clock)

    # ------------------------------------------------------------------- one round

    def _round(self, number: int, rounds_left: int) -> bool:
        """Select, train, search; return whether another round may improve anything."""
        best, before = self.best, self.best.tree
        best.stage = f"round {number + 1}"
        chosen, trees = self._select(number, self.clock.share(1.0 / rounds_left))
        if best.is_stopped:
            return False
        # From here: a slow selection must leave time to train on what it chose.
        clock = self.clock.share(1.0 / rounds_left)
        raw, bound = self._train(chosen, clock)
        raw_score = self._offer(raw)
        self._offer(with_cheapest_labels(self.problem, raw))
        if not best.is_done:
            self._search([raw, *trees], clock)
        self._note(chosen, raw, raw_score, bound)
        some_came = self.working_sets.take_back(number + 1, chosen.rows, before, raw)
        return some_came or best.tree is not before

    def _select(self, number: int, clock: Clock) -> tuple[Selection, list[ObliqueTree]]:
        """Choose rows; offer the trees that the selector found on the way."""
        began = self.clock.elapsed
        chosen = self.working_sets.choose(self.best.tree, number, clock)
        trees = [self._in_box(tree) for tree in chosen.trees]
        for tree in trees:
            self._offer(tree)
        self.select_seconds = self.clock.elapsed - began
        return chosen, trees

    def _train(
        self, chosen: Selection, clock: Clock
    ) -> tuple[ObliqueTree, float | None]:
        """Train on chosen rows; return the tree and its bound for all rows, if any."""
        plan = self._subset_plan()
        trained = train_incumbent(
            self.problem.subset(chosen.rows, chosen.weight),
            plan,
            clock.share(TRAIN_SHARE),
            [self._hear],
        )
        self.best.n_iter += trained.n_iter
        bound = self._take_bounds(chosen, trained)
        tree = trained.tree
        if isinstance(self.selection, PerLayer) and not self.best.is_done:
            tree = train_layers(
                self.problem, tree, plan, self.selection, clock, [self._hear]
            )
        return self._in_box(tree), bound

    def _subset_plan(self) -> Plan:
        """Return the plan of a round: from new starts, or from the best tree."""
        plan = replace(self.plan, seed=self.plan.seed + len(self.done))
        return plan if plan.init == "auto" else replace(plan, init=self.best.tree)

    def _search(self, trees: Sequence[ObliqueTree], clock: Clock) -> None:
        """Search on all rows from new trees and from the best one."""
        problem, plan, best = self.problem, self.plan, self.best
        starts = [problem.to_scaled(tree, plan.depth) for tree in (*trees, best.tree)]
        if not self._has_time(clock, self.start_seconds):
            return  # a search begins with start trees of its own
        no_limit = (clock.limit, plan.max_iter) == (None, None)
        stall = int(ITERATIONS.after(best.n_iter)) if no_limit else None
        result = search(
            problem,
            plan.objective,
            plan.depth,
            clock=awaited(best, plan, clock.share(SEARCH_SHARE)).counting(
                plan.max_iter, stall
            ),
            seed=plan.seed + len(self.done),
            starts=starts,
            n_jobs=plan.n_jobs,
            on_improvement=lambda heap, _: self._offer_heap(heap),
            lower_bound=best.objective_bound.value,
        )
        best.note_end(result.stopped)
        best.n_iter += result.n_iter
        self._offer_heap(result.tree)

    # ------------------------------------------------------------ trees and bounds

    def _is_done_grown(self) -> bool:
        """Grow greedy trees while kernels are compiled: one must do if that is late."""
        self._grown = start_trees(self.problem, self.plan.depth)
        return False

    def _start_tree(self, can_search: bool) -> ObliqueTree:
        problem, plan = self.problem, self.plan
        if isinstance(plan.init, ObliqueTree):
            heap = problem.to_scaled(plan.init, plan.depth)
        elif plan.init == "cart":
            heap = cart_tree(problem, plan.depth)
        elif not can_search:
            values = [tree_value(problem, plan.objective, t) for t in self._grown]
            heap = self._grown[int(np.argmin(values))]
        else:
            starts = Clock(max_iter=0)
            heap = search(problem, plan.objective, plan.depth, clock=starts).tree
        return problem.to_user(heap).prune(problem.X)

    def _in_box(self, tree: ObliqueTree) -> ObliqueTree:
        """Return the tree of a subset with its scores in the box on all rows."""
        heap = self.problem.to_scaled(tree, self.plan.depth)
        return self.problem.to_user(heap).prune(self.problem.X)

    def _score(self, tree: ObliqueTree) -> Score:
        return self.plan.objective.evaluate(self.problem, tree)

    def _offer(self, tree: ObliqueTree) -> Score:
        """Offer a tree unless its errors cost more than after the last round."""
        score = self._score(tree)
        if score.cost <= (self.done[-1].cost if self.done else np.inf):
            self.best.offer(tree, score)
        return score

    def _offer_heap(self, heap: HeapTree) -> None:
        self._offer(self.problem.to_user(heap).prune(self.problem.X))

    def _take_bounds(self, chosen: Selection, trained: Incumbent) -> float | None:
        """Raise the bounds for all rows where those of the subset hold for them."""
        if (chosen.weight > self.problem.weight[chosen.rows]).any():
            return None
        where = f"on {len(chosen)} of {self.problem.n_rows} distinct rows"
        bounds = trained.bounds
        errors, objective = bounds.errors, bounds.objective
        self.best.raise_errors_bound(
            Bound(errors.value, f"{errors.proved_by}, {where}")
        )
        self.best.raise_objective_bound(
            Bound(objective.value, f"{objective.proved_by}, {where}")
        )
        return objective.value

    def _note(
        self,
        chosen: Selection,
        raw: ObliqueTree,
        raw_score: Score,
        bound: float | None,
    ) -> None:
        source, score = self.problem.source, self.best.score
        self.done.append(
            Round(
                chosen.rows if source is None else source[chosen.rows],
                chosen.weight,
                raw,
                raw_score.errors,
                score.errors,
                score.cost,
                score.objective,
                bound,
            )
        )

    def _hear(self, state: FitProgress) -> None:
        self.best.tell()

    def _has_time(self, clock: Clock, seconds: float) -> bool:
        """Tell whether there is time for a step that took so long before."""
        has_time = clock.has_time_for(2 * seconds)
        if not has_time:
            self.best.ended = "time_limit"
        return has_time
