"""The fewest errors among some rows, by searching for trees with fewer and fewer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from miptree._typing import IntArray
from miptree.bounds import Subset, round_up_cost
from miptree.problem import Problem
from miptree.proof.space import Space
from miptree.tree import HeapTree

_NODES_AT_A_TIME = 200
"""Nodes of the search between two looks at the clock."""
_SAME = 1e-9


class Fewest(NamedTuple):
    """What a search found out.

    Attributes
    ----------
    bound : float
        Errors that every tree makes among the rows.
    tree : HeapTree or None
        A tree that may make no more, where the search ended with one; its margin is
        only roughly the one asked for.
    nodes : int
        Nodes of the search.
    """

    bound: float
    tree: HeapTree | None
    nodes: int


def fewest_errors(
    problem: Problem,
    space: Space,
    depth: int,
    rows: IntArray,
    known: Sequence[Subset],
    enough: float,
    should_stop: Callable[[], bool] = lambda: False,
    max_nodes: int | None = None,
) -> Fewest:
    """Raise the bound on the errors among some rows as far as the budget allows.

    Parameters
    ----------
    problem : Problem
    space : Space
    depth : int
        Depth of the trees.
    rows : int array
        Rows looked at.
    known : sequence of Subset
        Disjoint subsets of the rows, with the errors known to be made among each.
    enough : float
        Errors of a tree at hand: a higher bound is of no use.
    should_stop : callable
        Asked now and then.
    max_nodes : int, optional
        Nodes of the search.
    """
    # Numba is imported only where a proof is wanted.
    from miptree.proof.branching import EXHAUSTED, PAUSED, advance
    from miptree.proof.state import begin

    weight = problem.weight[rows]
    group = np.full(len(rows), len(known))
    for number, subset in enumerate(known):
        group[np.isin(rows, subset.rows)] = number
    group_bound = np.array([subset.errors for subset in known] + [0.0])
    bound, step, nodes = float(group_bound.sum()), float(weight.min()), 0
    while bound < enough - _SAME:
        state = begin(space.X[rows], problem.y[rows], weight, depth, group, group_bound)
        outcome = PAUSED
        while outcome == PAUSED:
            if should_stop() or (max_nodes is not None and nodes >= max_nodes):
                return Fewest(bound, None, nodes)
            outcome, done = advance(
                state, bound + 0.5 * step, space.least, _NODES_AT_A_TIME
            )
            nodes += done
        if outcome != EXHAUSTED:
            plane, label = state.tree()
            tree = space.to_heap(plane, label, problem.n_features)
            return Fewest(bound, tree, nodes)
        # Only weights that are multiples of one step let the bound rise by it.
        bound = round_up_cost(problem, bound + 0.5 * step)
    return Fewest(bound, None, nodes)
