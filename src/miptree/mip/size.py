"""How large a MIP is, and whether a time limit allows to build it."""

from __future__ import annotations

from miptree.control.clock import Clock
from miptree.data.problem import Problem

NONZEROS_PER_SECOND = 1e5
"""Size of a MIP, per second of the limit, above which building it would not pay."""


def mip_size(problem: Problem, depth: int) -> float:
    """Return about how many non-zeros a MIP of a problem has, without building it."""
    return problem.n_rows * (2**depth - 1) * (2.0 * problem.n_features + 10)


def pays(size: float, clock: Clock) -> bool:
    """Tell whether the time limit suffices to do something with a MIP of that size."""
    return clock.limit is None or size <= NONZEROS_PER_SECOND * clock.limit
