"""Proof that every tree makes so many errors: by parts of the rows, or all splits."""

from __future__ import annotations

from functools import partial

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Bound, Subset
from miptree.proof.row_partition import Proof, row_partition_bound
from miptree.proof.space import space_of

_NODES_WITHOUT_LIMIT = 20_000
"""Nodes of a search where neither the clock nor the caller sets a limit."""
_PARTITION_SHARE, _FIRST_SHARE, _ALL_SPLITS_SHARE = 0.5, 0.1, 0.9
"""Shares of the time: for the row partition; for it where all splits can be tried next;
and for those. A MIP has the rest."""


def prove_errors(
    problem: Problem,
    margin: float,
    depth: int,
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Proof:
    """Prove that every tree of this depth makes so many errors at a margin.

    Parameters
    ----------
    problem : Problem
    margin : float
        epsilon: a point nearer to a hyperplane on its way counts as an error.
    depth : int
        Depth of the trees.
    enough : float
        Errors of a tree at hand: a higher bound is of no use.
    clock : Clock
        Limits the time; some of it is left to the MIP that follows.
    max_nodes : int, optional
        Limit on the nodes of each search: the deterministic budget.
    seed : int
        Seed of the partition of the rows.
    n_jobs : int, optional
        Jobs of joblib.
    """
    # Numba is imported only where a proof is wanted.
    from miptree.proof.all_splits import arrangement_bound, can_arrange

    if clock.limit is None and max_nodes is None:
        max_nodes = _NODES_WITHOUT_LIMIT
    space = space_of(problem, margin)
    by_partition = partial(
        row_partition_bound,
        problem,
        space,
        depth,
        enough,
        max_nodes=max_nodes,
        seed=seed,
        n_jobs=n_jobs,
    )
    if not can_arrange(space, depth, max_nodes):
        return by_partition(clock=clock.share(_PARTITION_SHARE))
    proof = by_partition(clock=clock.share(_FIRST_SHARE))
    if proof.tree is not None or proof.bound.value >= enough:
        return proof
    found = arrangement_bound(
        problem,
        space,
        depth,
        enough,
        clock=clock.share(_ALL_SPLITS_SHARE),
        n_jobs=n_jobs,
    )
    if found.nodes == 0 and clock.limit is not None and not clock.is_over:
        # It was too slow for the clock, and left it most of its time.
        again = by_partition(clock=clock.share(_PARTITION_SHARE))
        return max(proof, again, key=lambda one: one.bound.value)
    if found.bound <= proof.bound.value:
        return proof._replace(tree=found.tree)
    everything = Subset(np.arange(problem.n_rows), found.bound)
    bound = Bound(found.bound, "exhaustive search of all splits of the points")
    return Proof(bound, [everything], found.tree)
