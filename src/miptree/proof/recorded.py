"""The proof of the errors that goes into a file, whatever proved them before.

It is a row partition, or all splits of the root. Where these prove more, but cannot be
recorded in the time or the room that there is, the row partition has to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective.bounds import Bound
from miptree.proof.box_limits import box_limits
from miptree.proof.recording import ErrorsRecord, record_errors
from miptree.proof.row_partition import ROOTS, Proof, row_partition_bound
from miptree.proof.space import Space, space_of

if TYPE_CHECKING:
    from miptree.proof.root_recording import RecordedRoots

_ROOTS_SHARE, _PARTITION_SHARE = 0.4, 0.4
"""Shares of the time left for each try of all splits of the root, and for a row
partition, where the proof has none."""
_LESS = 0.8
"""Part of the errors that all splits of the root have to show at the second try."""
_STEP = 1 / 16
"""Part of the errors still open that are tried beside those known; then twice that."""
_NODES_WITHOUT_LIMIT = 20_000
"""Nodes of a search where neither the clock nor the caller sets a limit."""


def recorded_proof(
    problem: Problem,
    margin: float,
    depth: int,
    proof: Proof | None,
    enough: float,
    hoped: float,
    *,
    clock: Clock,
    max_nodes: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> ErrorsRecord | None:
    """Prove the errors by all splits of the root or a row partition, and record it.

    A proof that is a row partition is only repeated. Others, such as those by all
    splits of the points, cannot be recorded: then the record may show less.

    Parameters
    ----------
    problem, margin, depth, clock, max_nodes, seed, n_jobs
        As for :func:`miptree.proof.prove_errors`.
    proof : Proof or None
        What was proved, if anything.
    enough : float
        Errors that are known to be enough: the record need not show more.
    hoped : float
        Errors of the best tree: once all splits of the root have shown what is enough,
        they are tried for more and more errors, up to these.
    """
    if clock.limit is None and max_nodes is None:
        max_nodes = _NODES_WITHOUT_LIMIT
    space = space_of(problem, margin)
    parts = () if proof is None else proof.parts
    is_shown = bool(parts) and parts[-1].errors >= enough
    roots = _by_roots(problem, space, depth, enough, hoped, is_shown, clock, max_nodes)
    least = np.nextafter(enough, np.inf) if is_shown else enough
    if roots is not None and roots.bound.value >= least:
        return roots
    if is_shown:
        return record_errors(problem, space, depth, parts, clock=clock)
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
    found = record_errors(problem, space, depth, parts, clock=clock)
    records = [record for record in (roots, found) if record is not None]
    return max(records, key=lambda record: record.bound.value, default=None)


def _by_roots(
    problem: Problem,
    space: Space,
    depth: int,
    enough: float,
    hoped: float,
    is_shown: bool,
    clock: Clock,
    max_nodes: int | None,
) -> ErrorsRecord | None:
    """Record all splits of the root.

    Where ``is_shown``, a row partition shows what is enough, and only more is of use.
    """
    # Numba is imported only where a proof is wanted.
    from miptree.proof.all_roots import can_try_roots
    from miptree.proof.root_recording import record_roots

    limits = box_limits(problem, space)
    if limits is None or enough <= 0 or not can_try_roots(space, depth):
        return None

    def recorded(errors: float) -> RecordedRoots | None:
        within = clock.share(_ROOTS_SHARE)
        return record_roots(problem, space, errors, clock=within, max_nodes=max_nodes)

    step = max(float(problem.weight.min()), _STEP * (hoped - enough))
    target, found = enough + step if is_shown else enough, None
    while True:
        more = recorded(min(target, hoped))
        found = more or found
        if more is None or more.errors < target or more.errors >= hoped:
            break  # it took too long, or a tree may make so few
        target, step = more.errors + step, 2 * step
    if found is None and not is_shown:
        found = recorded(_LESS * enough)
    if found is None:
        return None
    return ErrorsRecord(limits, [], Bound(found.errors, ROOTS), found.lines)
