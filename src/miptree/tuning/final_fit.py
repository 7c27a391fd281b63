"""The last training of a cross-validation: the winner on all rows."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from miptree.control.clock import Clock
from miptree.data.problem import Problem
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


def final_fit(
    problem: Problem,
    costs: FloatArray,
    winner: Winner,
    seed: int,
    most_rows: int,
    in_a_hurry: bool,
    clock: Clock,
) -> ObliqueTree:
    """Train the chosen candidate with more effort, and drop small coefficients.

    Of more than ``most_rows`` rows it trains on a part, but all rows label the leaves.
    In a hurry the effort is that of a fold.
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
    found = grown[0][0] if grown[0] else constant_tree(few, depth)
    heap = part.thinned(found, winner.threshold)
    if few is not problem:
        heap = relabel(problem, problem.into_box(heap))
    return problem.to_user(heap).prune(problem.X)
