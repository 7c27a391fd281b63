"""The proof of the errors that goes into a file, whatever proved them before."""

from __future__ import annotations

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.proof.recording import ErrorsRecord, record_errors
from miptree.proof.row_partition import Proof, row_partition_bound
from miptree.proof.space import space_of

_PARTITION_SHARE = 0.4
"""Share of the time left for a row partition, where the proof has none."""
_NODES_WITHOUT_LIMIT = 20_000
"""Nodes of a search where neither the clock nor the caller sets a limit."""


def recorded_proof(
    problem: Problem,
    margin: float,
    depth: int,
    proof: Proof | None,
    enough: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> ErrorsRecord | None:
    """Prove the errors by a row partition that is recorded.

    A proof that is a row partition is only repeated. Others, such as those by all
    splits of the root, cannot be recorded: then the record may show less.

    Parameters
    ----------
    problem, margin, depth, clock, max_nodes, seed, n_jobs
        As for :func:`miptree.proof.prove_errors`.
    proof : Proof or None
        What was proved, if anything.
    enough : float
        Errors that are known to be enough: the record need not show more.
    """
    space = space_of(problem, margin)
    parts = () if proof is None else proof.parts
    if not parts or parts[-1].errors < enough:
        if clock.limit is None and max_nodes is None:
            max_nodes = _NODES_WITHOUT_LIMIT
        again = row_partition_bound(
            problem,
            space,
            depth,
            enough,
            clock=clock.share(_PARTITION_SHARE),
            max_nodes=max_nodes,
            seed=seed,
            n_jobs=n_jobs,
        )
        if not parts or again.bound.value > parts[-1].errors:
            parts = again.parts
    return record_errors(problem, space, depth, parts, clock=clock)
