"""From small groups of the rows to all rows: the bounds of two halves add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import fsum, inf, nextafter

from joblib import delayed, effective_n_jobs

from miptree.control.threads import apart, on_threads
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.bounds import ROUTES, Bound
from miptree.objective.proved import Bounds
from miptree.proof.routes.again import record_more
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.candidates import heap_of
from miptree.proof.routes.engine import Candidate
from miptree.proof.routes.methods import Methods
from miptree.proof.routes.part import Raised, raise_bound
from miptree.proof.routes.result import Part
from miptree.proof.routes.thresholds import highest_threshold
from miptree.proof.routes.units import route_problem
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray

FIRST_SHARE, HOPE = 0.08, 4.0
"""Part of the budget after which groups are taken where all rows seem too hard: where
the proof seems to need more than so many times the budget."""
_SHARES = 1 << 30
"""Parts of the norms' price of which every group has a whole number."""
LEVEL_SHARE = 0.6
"""Part of the budget left that the groups of a level may use at first."""


@dataclass
class Group:
    """Rows, the parts of them whose bounds add up, and whether more can be proved."""

    rows: IntArray
    parts: list[Part] = field(default_factory=list)
    is_solved: bool = False

    @property
    def bound(self) -> float:
        """What every tree costs on these rows at least."""
        return fsum(part.threshold for part in self.parts)

    def take(self, raised: Raised) -> None:
        """Take in what was proved."""
        self.is_solved = raised.is_solved
        if raised.part.threshold > self.bound:
            self.parts = [raised.part]


@dataclass
class Climb:
    """Proves bounds for groups of the rows, level by level.

    Parameters
    ----------
    problem, objective, depth, best_value, offer, record, n_jobs, on_bound
        As in :func:`miptree.proof.routes.prove_objective`.

    Attributes
    ----------
    bound : Bound
        The highest bound so far.
    parts : list of Part
        What the highest recorded bound is the sum of.
    """

    problem: Problem
    objective: Svm1Objective
    depth: int
    best_value: float
    offer: Callable[[HeapTree], float]
    record: bool
    n_jobs: int | None
    on_bound: Callable[[Bound], object]

    def __post_init__(self) -> None:
        self.bound = Bound(-inf, "")
        self.parts: list[Part] = []
        self._methods = Methods()
        self._leeway = Bounds.without_solver(self.problem, self.depth).leeway

    def run(self, levels: list[list[IntArray]], budget: Budget) -> None:
        """Prove bounds, and record as much of the proof as can be kept."""
        self._climb(levels, budget)
        shown = fsum(part.threshold for part in self.parts)
        if self.record and len(levels[-1]) == 1 and shown < self.bound.value:
            everything = self._part(Group(levels[-1][0]), 1.0)
            proved = everything._replace(threshold=self.bound.value)
            more = record_more(proved, self.depth, shown, budget, self.n_jobs)
            self.parts = self.parts if more is None else [more]

    def _climb(self, levels: list[list[IntArray]], budget: Budget) -> None:
        """Prove bounds of all rows, or of groups where they are too hard.

        The smallest groups come first. Where the groups of a level are too hard, larger
        ones would be harder still, so that this level may use the rest of the budget.
        """
        everything = Group(levels[-1][0])
        has_all_rows = len(levels[-1]) == 1
        if len(levels) > 1 and has_all_rows:
            if self._proves_all_at_once(everything, budget):
                return
        below = [Group(rows) for rows in levels[0] for _ in range(2)]
        for groups in levels:
            level = [
                Group(rows, below[2 * k].parts + below[2 * k + 1].parts)
                for k, rows in enumerate(groups)
            ]
            if len(level) == 1:
                best = max(level[0], everything, key=lambda group: group.bound)
                self._prove_all(best, budget)
                return
            # The first group shows how hard they are.
            probe = budget.share(LEVEL_SHARE / len(level))
            self._prove_one(level[0], len(level), probe, self.n_jobs)
            budget.used += probe.used
            part = LEVEL_SHARE if level[0].is_solved else 1.0
            self._prove_groups(level, budget, part)
            if sum(group.is_solved for group in level) < 0.5 * len(level):
                self._prove_groups(level, budget, 1.0)
            if budget.is_over or not self._is_open:
                return
            below = level

    def _proves_all_at_once(self, everything: Group, budget: Budget) -> bool:
        """Try all rows, for longer if the proof seems near; tell whether it was."""
        first = budget.share(FIRST_SHARE)
        self._prove_all(everything, first, stops_early=True)
        budget.used += first.used
        if self._is_open and self._methods.reaches(self._highest, budget, HOPE):
            self._prove_all(everything, budget)
        return budget.is_over or not self._is_open

    def _prove_groups(self, level: list[Group], budget: Budget, part: float) -> None:
        """Raise the bounds of the groups of a level that are not solved."""
        shared = budget.share(part)
        todo = [group for group in level if not group.is_solved]
        budgets = [shared.share(1.0, len(todo)) for _ in todo]

        def prove(number: int) -> None:
            # What the earlier groups left of their time goes to the later ones.
            rounds_left = -(-(len(todo) - number) // effective_n_jobs(self.n_jobs))
            budgets[number].clock = shared.clock.share(1.0 / rounds_left)
            self._prove_one(todo[number], len(level), budgets[number], n_jobs=1)

        threads = on_threads(self.n_jobs)
        tasks = [delayed(prove)(number) for number in range(len(todo))]
        apart(lambda: threads(tasks))
        budget.used += sum(own.used for own in budgets)
        self._take([part for group in level for part in group.parts])

    def _prove_one(
        self, group: Group, n_groups: int, budget: Budget, n_jobs: int | None
    ) -> None:
        """Raise the bound of one of so many groups."""
        if budget.is_over:
            return
        group.take(
            raise_bound(
                self._part(group, _share(n_groups)),
                self.depth,
                lambda: inf,
                scale=self.best_value / n_groups,
                budget=budget,
                record=self.record,
                n_jobs=n_jobs,
            )
        )

    def _prove_all(
        self, group: Group, budget: Budget, stops_early: bool = False
    ) -> None:
        """Prove a bound for all rows, up to the value of the best tree."""
        raised = raise_bound(
            self._part(group, 1.0),
            self.depth,
            lambda: self._highest,
            scale=self.best_value,
            budget=budget,
            record=self.record,
            n_jobs=self.n_jobs,
            on_candidates=self._offer,
            on_bound=lambda part: self._take([part]),
            methods=self._methods,
            stops_early=stops_early,
        )
        group.take(raised)

    @property
    def _is_open(self) -> bool:
        return self.bound.value < self._highest

    @property
    def _highest(self) -> float:
        """The threshold that proves the best tree optimal."""
        return highest_threshold(self.best_value, self._leeway)

    def _part(self, group: Group, share: float) -> Part:
        """Return the part of all rows of a group, with what is known of it."""
        routes = route_problem(self.problem, self.objective, group.rows, share)
        return Part(routes, group.rows, share, group.bound)

    def _offer(self, candidates: list[Candidate]) -> float:
        """Give trees to the caller, whose best value limits what is to be proved."""
        for coef, threshold, structure, left_values in candidates:
            heap = heap_of(
                self.problem, structure, coef, threshold, self.depth, left_values
            )
            self.best_value = min(self.best_value, self.offer(heap))
        return self._highest

    def _take(self, parts: list[Part]) -> None:
        """Take in a bound, if it is higher than the one before."""
        if not parts:
            return
        value = fsum(part.threshold for part in parts)
        text = ROUTES
        if len(parts) > 1:
            value = nextafter(value, -inf)  # the sum is rounded
            text += (
                f", in {len(parts)} disjoint groups of the rows, whose bounds add up"
            )
        if value > self.bound.value:
            self.bound = Bound(value, text)
            if all(part.is_recorded for part in parts):
                self.parts = parts
            self.on_bound(self.bound)


def _share(n_groups: int) -> float:
    """Return the share of the norms of each of so many groups.

    It is rounded down to a short binary fraction, so that the shares add up to no more
    than 1, exactly.
    """
    return (_SHARES // n_groups) / _SHARES
