"""The winner once more, on all rows."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from miptree._typing import FloatArray
from miptree.polish import relabel
from miptree.problem import Problem
from miptree.search.starts import constant_tree
from miptree.tree import ObliqueTree
from miptree.tuning.candidates import Effort, grow
from miptree.tuning.part import Part
from miptree.tuning.verdict import Choice

_EFFORT = Effort(restarts=48, bag=64, polished=6, rounds=5, max_iter=50)


def refit(
    problem: Problem, costs: FloatArray, choice: Choice, seed: int, most_rows: int
) -> ObliqueTree:
    """Train the chosen candidate with more effort, and drop small coefficients.

    Of more than ``most_rows`` rows a random part is trained on; all label the leaves.
    """
    few = problem
    if problem.n_rows > most_rows:
        rng = np.random.default_rng(seed)
        few = problem.subset(np.sort(rng.choice(problem.n_rows, most_rows, False)))
    part = Part(few, costs)
    candidate, depth, _ = choice.setting
    with threadpool_limits(1, user_api="blas"):
        labelled, trees = grow(part, [candidate], depth, _EFFORT, seed)[0]
    # A candidate for hyperplanes has no tree where there are only categories.
    found = trees[0] if trees else constant_tree(few, depth)
    heap = part.thinned(labelled, found, choice.threshold)
    if few is not problem:
        heap = relabel(problem, problem.into_box(heap))
    return problem.to_user(heap).prune(problem.X)
