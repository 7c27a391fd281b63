"""The fewest errors among some rows: searches that allow more and more errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Subset
from miptree.proof.space import Space
from miptree.tree import HeapTree
from miptree.utils.arrays import IntArray

_NODES_AT_A_TIME = 200
"""Nodes of the search between two looks at the clock."""
_SAME = 1e-9
"""Part of the smallest weight that is rounding."""


class ErrorBound(NamedTuple):
    """Errors that a search has proved.

    Attributes
    ----------
    bound : float
        Lower bound on the errors that every tree makes among the rows.
    tree : HeapTree or None
        Tree that the search ended with, if it did. It makes about so many errors: its
        margin is only roughly the one asked for.
    nodes : int
        Nodes of the search.
    is_met : bool
        Whether it is known that a tree makes no more errors.
    """

    bound: float
    tree: HeapTree | None
    nodes: int
    is_met: bool = False


def fewest_errors(
    problem: Problem,
    space: Space,
    depth: int,
    rows: IntArray,
    known: Sequence[Subset],
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
) -> ErrorBound:
    """Raise the bound on the errors among some rows as far as the budget allows.

    Where no tree makes as few errors as the bound says, the fewest errors at which
    the search turned back are the next bound.

    Parameters
    ----------
    problem : Problem
    space : Space
    depth : int
        Depth of the trees.
    rows : int array
        Rows whose errors count.
    known : sequence of Subset
        Disjoint subsets of the rows, with the errors proved for each.
    enough : float
        Errors of a tree at hand: a higher bound is of no use.
    clock : Clock
        Ends the search.
    max_nodes : int, optional
        Limit on the nodes of the search.
    """
    # Numba is imported only where a proof is wanted.
    from miptree.proof.branching import advance
    from miptree.proof.state import (
        EXHAUSTED,
        PAUSED,
        begin_search,
        search_fits_memory,
    )

    weight = problem.weight[rows]
    group = np.full(len(rows), len(known))
    for number, subset in enumerate(known):
        group[np.isin(rows, subset.rows)] = number
    group_bound = np.array([subset.errors for subset in known] + [0.0])
    bound, nodes, tree = float(group_bound.sum()), 0, None
    if not search_fits_memory(len(rows), space.X.shape[1], depth):
        return ErrorBound(bound, None, 0)
    same = _SAME * float(weight.min())
    # With equal weights no tree is half an error above the bound, so that a tree
    # found is as good as the bound. With others it may be between two sums of weights.
    allowance = 0.5 * float(weight.min())
    while bound < enough - same:
        state = begin_search(
            space.X[rows], problem.y[rows], weight, depth, group, group_bound
        )
        outcome = PAUSED
        while outcome == PAUSED:
            left = _NODES_AT_A_TIME if max_nodes is None else max_nodes - nodes
            if left <= 0 or clock.is_over:
                return ErrorBound(bound, tree, nodes)
            outcome, done = advance(
                state,
                bound + allowance,
                space.min_distance,
                min(left, _NODES_AT_A_TIME),
            )
            nodes += done
        if outcome == EXHAUSTED:
            bound = float(state.turned_back[0])
            continue
        tree = space.to_heap(*state.tree(), problem.n_features)
        if state.errors <= bound + same:
            break
        allowance = same
    return ErrorBound(bound, tree, nodes)
