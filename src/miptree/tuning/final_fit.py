"""The last training of a cross-validation: the winner on all rows."""

from __future__ import annotations

from typing import NamedTuple

from threadpoolctl import threadpool_limits

from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.repair import RepairedTree
from miptree.objective.leaf_labels import relabel
from miptree.search.starts import constant_tree
from miptree.tree import ObliqueTree
from miptree.tuning.candidates import PointsTree
from miptree.tuning.cv_results import Winner
from miptree.tuning.evaluate_fold import FOLD_EFFORT
from miptree.tuning.folds import stratified_part
from miptree.tuning.grow import Grower, TrainingEffort
from miptree.tuning.training_part import TrainingPart
from miptree.utils.arrays import FloatArray

_EFFORT = TrainingEffort(restarts=48, bag=64, polished=6, rounds=5, max_iter=50)
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
    repaired for all rows, and the one that costs least is taken.
    """
    few = problem
    if problem.n_rows > most_rows:
        few = problem.subset(stratified_part(problem.y, most_rows, seed))
    part = TrainingPart(few, costs)
    candidate, depth = winner.setting.candidate, winner.setting.depth
    assert not isinstance(candidate, PointsTree)
    effort = FOLD_EFFORT if in_a_hurry else _EFFORT
    with threadpool_limits(1, user_api="blas"):
        grown = Grower(part, depth, effort, seed, clock=clock).grow([candidate])
    # A candidate for hyperplanes has no tree where there are only categories.
    n_trees = 1 if rules is None else _REPAIRED
    found = grown[0] or [constant_tree(few, depth)]
    heaps = [part.thinned(heap, winner.threshold) for heap in found[:n_trees]]
    if few is not problem:
        heaps = [relabel(problem, problem.into_box(heap)) for heap in heaps]
    free = problem.to_user(heaps[0]).prune(problem.X)
    if rules is None:
        return FinalTree(free, free)
    return FinalTree(RepairedTree(problem, rules, heaps, clock).tree, free)
