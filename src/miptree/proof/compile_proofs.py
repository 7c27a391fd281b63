"""Compilation of the proof kernels, before a clock waits for them."""

from __future__ import annotations

from functools import cache

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.utils.kernel_cache import is_on_disk

_SECONDS_TO_LOAD, _SECONDS_TO_COMPILE = 1.0, 45.0


@cache
def compile_proof_kernels() -> None:
    """Compile the kernels: some forty seconds on a new machine, then cached."""
    from miptree.proof.all_roots import all_roots_bound
    from miptree.proof.all_splits import arrangement_bound
    from miptree.proof.fewest_errors import fewest_errors
    from miptree.proof.space import space_of

    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem.from_data(X, np.array([0, 1, 0, 1]), 2)
    space = space_of(problem, 0.01)
    fewest_errors(problem, space, 1, np.arange(4), (), 2.0, clock=Clock())
    arrangement_bound(problem, space, 2, 2.0, clock=Clock())
    all_roots_bound(problem, space, 2.0, clock=Clock())


@cache
def compile_recording_kernels() -> None:
    """Compile the kernels that record a proof: some ten seconds, then cached."""
    from miptree.proof.recorded import recorded_proof

    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem.from_data(X, np.array([0, 1, 0, 1]), 2)
    recorded_proof(problem, 0.01, 1, None, 2.0, 2.0, clock=Clock())


def seconds_to_compile_proofs() -> float:
    """Return the seconds that a fit should have left for this, with a reserve."""
    if compile_proof_kernels.cache_info().currsize > 0:
        return 0.0
    from miptree.proof.arrangement import grow
    from miptree.proof.branching import advance
    from miptree.proof.root_search import advance_roots
    from miptree.proof.split_enumeration import search_roots

    are_on_disk = all(map(is_on_disk, (advance, advance_roots, grow, search_roots)))
    return _SECONDS_TO_LOAD if are_on_disk else _SECONDS_TO_COMPILE
