"""Proof that every tree makes so many errors: by all roots, parts, or all splits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import EXHAUSTIVE, NO_ERRORS, Bound, Subset
from miptree.proof.fewest_errors import ErrorBound
from miptree.proof.row_partition import ROOTS, Proof, row_partition_bound
from miptree.proof.space import Space, space_of

_NODES_WITHOUT_LIMIT = 20_000
"""Nodes of a search where neither the clock nor the caller sets a limit."""
_ROOTS_SHARE, _PARTITION_SHARE, _FIRST_SHARE, _ALL_SPLITS_SHARE = 0.9, 0.5, 0.1, 0.9
"""Shares of the time left: for all roots; for the row partition; for either of them
where all splits can be tried next; and for those. A MIP has the rest."""


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
    from miptree.proof.all_roots import can_try_roots
    from miptree.proof.all_splits import can_arrange

    if clock.limit is None and max_nodes is None:
        max_nodes = _NODES_WITHOUT_LIMIT
    space = space_of(problem, margin)
    prover = _Prover(problem, space, depth, enough, clock, max_nodes, seed, n_jobs)
    lists_splits = can_arrange(space, depth, max_nodes)
    proof, is_done = _NOTHING, False
    if can_try_roots(space, depth):
        proof, is_done = prover.by_roots(_FIRST_SHARE if lists_splits else _ROOTS_SHARE)
    elif lists_splits:
        proof, is_done = prover.by_partition(_FIRST_SHARE)
    if lists_splits and not is_done:
        listed, is_done = prover.by_all_splits(_ALL_SPLITS_SHARE)
        proof = _better(proof, listed)
    if not is_done:
        proof = _better(proof, prover.by_partition(_PARTITION_SHARE)[0])
    return proof


_NOTHING = Proof(Bound(0.0, NO_ERRORS), [], None)


class _Prover(NamedTuple):
    """The proofs. Each returns what it proved, and whether no other is needed."""

    problem: Problem
    space: Space
    depth: int
    enough: float
    clock: Clock
    max_nodes: int | None
    seed: int
    n_jobs: int | None

    def by_roots(self, share: float) -> tuple[Proof, bool]:
        """Try all splits of the root, in a share of the time left."""
        from miptree.proof.all_roots import all_roots_bound

        found = all_roots_bound(
            self.problem,
            self.space,
            self.enough,
            clock=self.clock.share(share),
            max_nodes=self.max_nodes,
        )
        proof = self._of_all_rows(found, ROOTS)
        return proof, found.is_met or found.bound >= self.enough

    def by_partition(self, share: float) -> tuple[Proof, bool]:
        """Add up the errors of parts of the rows."""
        proof = row_partition_bound(
            self.problem,
            self.space,
            self.depth,
            self.enough,
            clock=self.clock.share(share),
            max_nodes=self.max_nodes,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )
        return proof, proof.tree is not None or proof.bound.value >= self.enough

    def by_all_splits(self, share: float) -> tuple[Proof, bool]:
        """List all splits of the points. Where that is too slow, others are needed."""
        from miptree.proof.all_splits import arrangement_bound

        found = arrangement_bound(
            self.problem,
            self.space,
            self.depth,
            self.enough,
            clock=self.clock.share(share),
            n_jobs=self.n_jobs,
        )
        text = f"{EXHAUSTIVE} of all splits of the points"
        has_time = self.clock.limit is not None and not self.clock.is_over
        return self._of_all_rows(found, text), found.nodes > 0 or not has_time

    def _of_all_rows(self, found: ErrorBound, text: str) -> Proof:
        """Return the proof that a bound on the errors of all rows is."""
        if found.bound <= 0:
            return _NOTHING._replace(tree=found.tree)
        everything = Subset(np.arange(self.problem.n_rows), found.bound)
        return Proof(Bound(found.bound, text), [everything], found.tree)


def _better(one: Proof, other: Proof) -> Proof:
    """Return the proof of the higher bound, with a tree if one of them has found it.

    The parts of a row partition stay, too: it can be recorded.
    """
    if one.bound.value < other.bound.value:
        one, other = other, one
    tree = other.tree if one.tree is None else one.tree
    return one._replace(tree=tree, parts=one.parts or other.parts)
