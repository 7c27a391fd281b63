"""Training on selected rows, round by round: the supplement's iterative algorithm.

select rows by the best tree -> train on them -> polish on all rows -> keep the best
tree *on all rows*. The printed algorithm takes each round's tree as the next one and
claims that its accuracy never falls; it can (J may be right in different leaves, whose
hull is then not covered). Here rows that became wrong come back into the next round,
and a tree is replaced only by one that is better on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from miptree.certificate.certificate import Certificate, certify
from miptree.control.clock import Clock
from miptree.control.interrupt import InterruptGuard
from miptree.data.problem import Problem
from miptree.fit.layers import PerLayer, resolved, train_layers
from miptree.fit.progress import FitCallback, FitProgress, announce
from miptree.fit.train import SEARCH_STALL, Plan, Status, Trained, end_of, train
from miptree.fit.working_set import WorkingSets
from miptree.objective import Score
from miptree.objective.bounds import Bound, combinatorial_bound
from miptree.objective.leaf_labels import with_cheapest_labels
from miptree.objective.tolerance import relative_gap
from miptree.search import SearchBudget, compile_kernels_within, search
from miptree.search.starts import cart_tree
from miptree.selection import Selector
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray, IntArray

TRAIN_SHARE = 0.5
"""Part of a round's time for training on the subset; the rest is for the polish."""
POLISH_SHARE = 0.9
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
        The tree trained on them, before the polish on all rows.
    raw_errors, raw_objective
        Its errors and objective on all rows.
    errors, cost, objective
        Of the tree kept after the round: errors, what they cost, and objective.
    bound : float or None
        Lower bound on the objective on all rows that the round proved; None where its
        weights exceed the rows' own, so that its bound holds for the subset only.
    """

    rows: IntArray
    weight: FloatArray
    raw_tree: ObliqueTree
    raw_errors: int
    raw_objective: float
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
) -> tuple[Trained, list[Round]]:
    """Train on selected rows for some rounds.

    The first round selects among the rows of each class in each leaf of the start
    tree, as Algorithm 1 does. Later ones select among the rows that the best tree
    gets right, add those it gets wrong (I), and give the rows that stand for others
    (J) the weight of all of I besides their own. The cost of errors never rises from
    one round to the next. The rounds end when nothing changes; time that is left goes
    to the polish.

    Parameters
    ----------
    problem : Problem
        All rows.
    plan : Plan
        ``init="auto"`` searches in each round; any other start is given to the
        solver alone, as in the paper, which may be ``"search"``. Limits in iterations
        and nodes hold per round.
    selection : str, Selector or PerLayer
    max_rounds : int
    clock, listeners
        As for :func:`~miptree.fit.train.train`.
    """
    with InterruptGuard() as guard:
        rounds = _Rounds(
            problem,
            plan,
            resolved(selection, plan.seed, plan.n_jobs),
            clock or Clock(plan.time_limit),
            listeners,
            guard,
        )
        return rounds.run(max_rounds), rounds.done


@dataclass
class _Rounds:
    problem: Problem
    plan: Plan
    selection: Selector | PerLayer
    clock: Clock
    listeners: Sequence[FitCallback]
    guard: InterruptGuard
    stage: str = "start"
    stop_asked: bool = False
    interrupted: bool = False
    n_iter: int = 0
    done: list[Round] = field(default_factory=list)
    trace: list[FitProgress] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.any_tree = combinatorial_bound(self.problem, self.plan.depth)
        self.errors = self.whole = self.any_tree
        compile_kernels_within(self.clock)
        began = self.clock.elapsed
        self.tree = self._start_tree()
        self.start_seconds = self.clock.elapsed - began
        self.select_seconds = 0.0
        self.score = self._score(self.tree)
        self.working_sets = WorkingSets(
            self.problem, self.plan, self.selection, self.clock.limit
        )

    def run(self, max_rounds: int) -> Trained:
        """Do the rounds and certify the best tree."""
        self._tell()
        for number in range(max_rounds):
            if self._is_over() or not self._has_time(self.clock, self.select_seconds):
                break
            if not self._round(number, max_rounds - number):
                break
        if self.done and self.clock.limit is not None and not self._is_over():
            self._polish([], self.clock)
        self.stage = "done"
        self._tell()
        certificate = certify(
            self.problem,
            self.plan.objective,
            self.plan.depth,
            self.tree,
            self.score,
            self.any_tree,
            self.errors,
            self.whole,
            self.clock.elapsed,
        )
        status = self._status(certificate)
        return Trained(
            self.tree,
            self.score,
            certificate,
            status,
            self.trace,
            self.n_iter,
            self._wants_stop(),
        )

    # ------------------------------------------------------------------- one round

    def _round(self, number: int, rounds_left: int) -> bool:
        """Select, train, polish; whether another round may bring something new."""
        self.stage = f"round {number + 1}"
        before = self.tree
        began = self.clock.elapsed
        turn = self.clock.share(1.0 / rounds_left)
        chosen = self.working_sets.choose(before, number, turn)
        trees = [self._in_box(tree) for tree in chosen.trees]
        for tree in trees:
            self._offer(tree, self._score(tree))
        self.select_seconds = self.clock.elapsed - began
        # From here: a slow selection must leave time to train on what it chose.
        clock = self.clock.share(1.0 / rounds_left)
        rows, weight = chosen.rows, chosen.weight
        subset = self.problem.subset(rows, weight)
        trained = train(
            subset, self._subset_plan(), clock.share(TRAIN_SHARE), [self._hear]
        )
        self.interrupted = self.interrupted or trained.was_stopped
        self.n_iter += trained.n_iter
        bound = self._take_bounds(rows, weight, trained.certificate)
        raw = trained.tree
        if isinstance(self.selection, PerLayer) and not self._is_over():
            raw, was_stopped = train_layers(
                self.problem,
                raw,
                self._subset_plan(),
                self.selection,
                clock,
                [self._hear],
            )
            self.interrupted = self.interrupted or was_stopped
        raw = self._in_box(raw)
        raw_score = self._score(raw)
        self._offer(raw, raw_score)
        labelled = with_cheapest_labels(self.problem, raw)
        self._offer(labelled, self._score(labelled))
        if not self._is_over():
            self._polish([raw, *trees], clock)
        self._note(rows, weight, raw, raw_score, bound)
        some_came = self.working_sets.take_back(number + 1, rows, before, raw)
        return some_came or self.tree is not before

    def _subset_plan(self) -> Plan:
        """Plan of a round: from new starts, or from the best tree."""
        plan = replace(self.plan, seed=self.plan.seed + len(self.done))
        return plan if plan.init == "auto" else replace(plan, init=self.tree)

    def _polish(self, trees: Sequence[ObliqueTree], clock: Clock) -> None:
        """Search on all rows from new trees and from the best one."""
        problem, plan = self.problem, self.plan
        starts = [problem.to_scaled(tree, plan.depth) for tree in (*trees, self.tree)]
        if not self._has_time(clock, self.start_seconds):
            return  # a search begins with start trees of its own
        seconds = clock.remaining
        if seconds is not None:
            seconds *= POLISH_SHARE
        no_limit = seconds is None and plan.max_iter is None
        result = search(
            problem,
            plan.objective,
            plan.depth,
            budget=SearchBudget(
                seconds, plan.max_iter, SEARCH_STALL if no_limit else None
            ),
            seed=plan.seed + len(self.done),
            starts=starts,
            n_jobs=plan.n_jobs,
            should_stop=self._wants_stop,
            lower_bound=self.whole.value,
        )
        self.n_iter += result.n_iter
        tree = problem.to_user(result.tree).prune(problem.X)
        self._offer(tree, self._score(tree))

    # ------------------------------------------------------- incumbents and bounds

    def _start_tree(self) -> ObliqueTree:
        problem, plan = self.problem, self.plan
        if isinstance(plan.init, ObliqueTree):
            heap = problem.to_scaled(plan.init, plan.depth)
        elif plan.init == "cart":
            heap = cart_tree(problem, plan.depth)
        else:
            starts = SearchBudget(max_iter=0)
            heap = search(problem, plan.objective, plan.depth, budget=starts).tree
        return problem.to_user(heap).prune(problem.X)

    def _in_box(self, tree: ObliqueTree) -> ObliqueTree:
        """The tree of a subset with its scores in the box on all rows."""
        heap = self.problem.to_scaled(tree, self.plan.depth)
        return self.problem.to_user(heap).prune(self.problem.X)

    def _score(self, tree: ObliqueTree) -> Score:
        return self.plan.objective.evaluate(self.problem, tree)

    def _offer(self, tree: ObliqueTree, score: Score) -> None:
        """Keep a tree that is better on all rows; no round may end dearer."""
        lowest = self.done[-1].cost if self.done else np.inf
        if score.objective < self.score.objective and score.cost <= lowest:
            self.tree, self.score = tree, score
            self._tell()

    def _take_bounds(
        self, rows: IntArray, weight: FloatArray, found: Certificate
    ) -> float | None:
        """Raise the bounds for all rows where those of the subset hold for them."""
        if (weight > self.problem.weight[rows]).any():
            return None
        where = f"on {len(rows)} of {self.problem.n_rows} distinct rows"
        errors = Bound(found.errors_bound, f"{found.errors_proved_by}, {where}")
        whole = Bound(found.objective_bound, f"{found.objective_proved_by}, {where}")
        self.errors = max(self.errors, errors, key=lambda bound: bound.value)
        self.whole = max(self.whole, whole, key=lambda bound: bound.value)
        return whole.value

    def _note(
        self,
        rows: IntArray,
        weight: FloatArray,
        raw: ObliqueTree,
        raw_score: Score,
        bound: float | None,
    ) -> None:
        source = self.problem.source
        self.done.append(
            Round(
                rows if source is None else source[rows],
                weight,
                raw,
                raw_score.errors,
                raw_score.objective,
                self.score.errors,
                self.score.cost,
                self.score.objective,
                bound,
            )
        )

    # --------------------------------------------------------- progress and stops

    def _hear(self, state: FitProgress) -> bool:
        self._tell()
        return self._wants_stop()

    def _tell(self) -> None:
        stop = announce(
            self.stage,
            self.clock.elapsed,
            self.score,
            self.whole.value,
            self.trace,
            self.listeners,
        )
        self.stop_asked = self.stop_asked or stop

    def _wants_stop(self) -> bool:
        return self.stop_asked or self.interrupted or self.guard.requested

    def _is_over(self) -> bool:
        score = self.score
        gap = relative_gap(score.objective, self.whole.value, score.scale)
        proved = gap <= self.plan.gap_tol
        return proved or self._wants_stop() or self.clock.is_over

    def _has_time(self, clock: Clock, seconds: float) -> bool:
        """Whether there is time for a step that took so long before."""
        remaining = clock.remaining
        return remaining is None or remaining > 2 * seconds

    def _status(self, certificate: Certificate) -> Status:
        if certificate.objective_optimal:
            return "optimal"
        if certificate.gap <= self.plan.gap_tol:
            return "gap_tol"
        if self._wants_stop():
            return "interrupted"
        return end_of(self.clock, self.plan.max_iter)
