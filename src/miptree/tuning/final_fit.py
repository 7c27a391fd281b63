"""The last training of a cross-validation: the winner on all rows."""

from __future__ import annotations

from typing import NamedTuple

from threadpoolctl import threadpool_limits

from miptree.constraints.errors import NoTreeFoundError
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.constrained import train_under_rules
from miptree.fit.plan import Plan
from miptree.fit.repair import RepairedTree
from miptree.objective.leaf_labels import relabel
from miptree.objective.penalties import suited_objective
from miptree.search.starts import constant_tree
from miptree.tree import HeapTree, ObliqueTree
from miptree.tuning.candidates import ConstantTree, PointsTree
from miptree.tuning.cv_results import Winner
from miptree.tuning.evaluate_fold import FOLD_EFFORT
from miptree.tuning.folds import stratified_part
from miptree.tuning.grow import Grower, TrainingEffort
from miptree.tuning.grow_around import grow_around
from miptree.tuning.training_part import TrainingPart
from miptree.utils.arrays import FloatArray

_EFFORT = TrainingEffort(restarts=48, bag=64, polished=6, rounds=5, max_iter=50)
_ITERATIONS, _FEW_ITERATIONS = 60, 16
"""Iterations of a search under constraints, and in a hurry."""
_REPAIRED = 6
"""Trees of the winner that are repaired under constraints."""


class FinalTree(NamedTuple):
    """The tree of the winner, in the user's units."""

    tree: ObliqueTree | None
    """None where no tree of the winner keeps the constraints."""
    free: ObliqueTree
    """The one that need not keep them."""


def final_fit(
    problem: Problem,
    costs: FloatArray,
    winner: Winner,
    seed: int,
    most_rows: int,
    in_a_hurry: bool,
    clock: Clock,
    rules: Rules | None = None,
) -> FinalTree:
    """Train the chosen candidate with more effort, and drop small coefficients.

    Of more than ``most_rows`` rows it trains on a part, but all rows label the leaves.
    In a hurry the effort is that of a fold. Under constraints the best trees are
    repaired for all rows, and the one that costs least is taken; where they cost
    something, one that was searched for under them takes part.
    """
    few = problem
    if problem.n_rows > most_rows:
        few = problem.subset(stratified_part(problem.y, most_rows, seed))
    part = TrainingPart(few, costs)
    candidate, depth = winner.setting.candidate, winner.setting.depth
    assert not isinstance(candidate, PointsTree)
    effort = FOLD_EFFORT if in_a_hurry else _EFFORT
    grower = Grower(part, depth, effort, seed, clock=clock)
    fixed = () if rules is None else rules.fixed

    def thinned(trees: list[HeapTree], n_trees: int) -> list[HeapTree]:
        # A candidate for hyperplanes has no tree where there are only categories.
        found = (trees or [constant_tree(few, depth)])[:n_trees]
        heaps = [part.thinned(heap, winner.threshold) for heap in found]
        if few is problem:
            return heaps
        return [relabel(problem, problem.into_box(heap)) for heap in heaps]

    with threadpool_limits(1, user_api="blas"):
        grown = grow_around(grower, fixed, [candidate])[0]
        without = grower.grow([candidate])[0] if fixed else grown
    free = problem.to_user(thinned(without, 1)[0]).prune(problem.X)
    if rules is None:
        return FinalTree(free, free)
    heaps = thinned(grown, _REPAIRED)
    repaired = RepairedTree(problem, rules, heaps, clock)
    if repaired.is_bound and not isinstance(candidate, ConstantTree):
        n_iter = _FEW_ITERATIONS if in_a_hurry else _ITERATIONS
        others = _searched(problem, rules, depth, seed, n_iter, clock)
        if others:
            other = RepairedTree(problem, rules, others, clock)
            repaired = min(repaired, other, key=lambda found: found.cost)
    return FinalTree(repaired.tree, free)


def _searched(
    problem: Problem, rules: Rules, depth: int, seed: int, n_iter: int, clock: Clock
) -> list[HeapTree]:
    """Search for a tree under constraints; return it, or none if there was none.

    A candidate knows nothing of constraints. Where its trees have to pay for them, a
    search that heeds them may find one that pays less.
    """
    objective = suited_objective("auto", "auto", "auto", problem)
    plan = Plan(objective, depth, solver="search", max_iter=n_iter, seed=seed)
    try:
        found = train_under_rules(problem, plan, rules, clock)
    except NoTreeFoundError:
        return []
    return [problem.to_scaled(found.tree, depth)]
