"""Proof of (1a): every tree of a depth costs so much, by branch and bound over routes.

Groups of the rows come first where there are many: each takes its share of the norms,
and their bounds add up. The groups are then joined two by two, up to all rows, as long
as the budget lasts. The highest bound of all is the result.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.bounds import Bound
from miptree.proof.routes.budget import Budget
from miptree.proof.routes.groups import group_levels
from miptree.proof.routes.result import RoutesProof
from miptree.proof.routes.structures import MOST_DEPTH, count_structures
from miptree.tree import HeapTree

_NODES_WITHOUT_LIMIT = 200_000
"""Nodes of all searches where neither the clock nor the caller sets a limit."""
SMALLEST_GROUP = 15
"""Points of the smallest groups: they take little time, and are a start."""
MOST_STRUCTURES = 2000
"""Structures of trees, with all labels of a group, that are searched."""


def can_prove(problem: Problem, objective: Svm1Objective, depth: int) -> bool:
    """Tell whether routes give a bound at all.

    They need a price of the norms. Every way to label the leaves, and to choose
    hyperplanes or subset splits of categories, is a search of its own. Where these are
    too many, groups of the rows with few classes each give a bound; but not where each
    class has a cost of its own at every row, as every label may serve any rows then.
    """
    if objective.l1_penalty == 0 or depth > MOST_DEPTH:
        return False
    is_free = problem.class_cost is None
    return is_free or _can_search(problem.n_classes, problem, depth)


def _can_search(n_labels: int, problem: Problem, depth: int) -> bool:
    """Tell whether the structures of so many labels are few enough to be searched."""
    has_subsets = len(problem.value_feature) > 0
    return count_structures(n_labels, depth, has_subsets) <= MOST_STRUCTURES


def _classes_in_group(problem: Problem, depth: int) -> int | None:
    """Return how many classes a group may have, where not all fit into a search."""
    if _can_search(problem.n_classes, problem, depth):
        return None
    return 3 if _can_search(3, problem, depth) else 2


def prove_objective(
    problem: Problem,
    objective: Svm1Objective,
    depth: int,
    best_value: float,
    *,
    clock: Clock,
    offer: Callable[[HeapTree], float],
    max_nodes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = 1,
    record: bool = False,
    smallest: int = SMALLEST_GROUP,
    on_bound: Callable[[Bound], object] = lambda bound: None,
) -> RoutesProof:
    """Prove that every tree of a depth costs so much.

    Parameters
    ----------
    problem, objective
        The rows and (1a).
    depth : int
        Depth of the trees.
    best_value : float
        Recounted (1a) of the best tree at hand: a higher bound is of no use.
    clock : Clock
        Limits the time.
    offer : callable
        Takes a tree in scaled units that the searches came upon, and returns the
        recounted (1a) of the best tree at hand.
    max_nodes : int, optional
        Limit on the nodes of all searches together: the deterministic budget, whose
        result is the same whatever the number of jobs.
    seed : int
        Seed of the groups of the rows.
    n_jobs : int, optional
        Jobs of joblib.
    record : bool
        Whether to keep the proof itself.
    smallest : int
        Points of the smallest groups of the rows.
    on_bound : callable
        Told of every bound that is higher than those before.
    """
    nothing = Bound(-inf, "")
    if not can_prove(problem, objective, depth) or not best_value > 0:
        return RoutesProof(nothing, None)
    # Numba is imported only where a proof is wanted.
    from miptree.proof.routes.climb import Climb

    if clock.limit is None and max_nodes is None:
        max_nodes = _NODES_WITHOUT_LIMIT
    climb = Climb(
        problem, objective, depth, best_value, offer, record, n_jobs, on_bound
    )
    rng, n_classes = np.random.default_rng(seed), _classes_in_group(problem, depth)
    levels = group_levels(problem, smallest, rng, n_classes)
    if not levels[-1]:
        return RoutesProof(nothing, None)
    climb.run(levels, Budget(clock, max_nodes))
    return RoutesProof(climb.bound, climb.parts if record and climb.parts else None)
