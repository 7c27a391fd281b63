"""Compilation of the kernels of routes, before a clock waits for them."""

from __future__ import annotations

from functools import cache

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.proof.routes.prove import prove_objective
from miptree.proof.routes.trace import CLOSE, backward
from miptree.proof.routes.units import route_problem
from miptree.utils.kernel_cache import is_on_disk

_SECONDS_TO_LOAD, _SECONDS_TO_COMPILE = 1.0, 45.0


@cache
def compile_route_kernels() -> None:
    """Compile the kernels: half a minute on a new machine, then cached."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = Problem.from_data(X, np.array([0, 1, 0, 1]), 2)
    objective = Svm1Objective(10.0, 1.0, 0.1)
    prove_objective(
        problem, objective, 2, 1.0,
        clock=Clock(), offer=lambda heap: 1.0, max_nodes=10,
    )  # fmt: skip
    from miptree.proof.routes.by_root.root_lp import RootLp
    from miptree.proof.routes.changes import as_changes

    event, none = np.array([[CLOSE, -1, 0, 1]]), np.zeros(0, dtype=np.int64)
    as_changes(backward(-1, event, none, np.zeros((1, 2), dtype=np.int64)))
    root = RootLp(route_problem(problem, objective))
    root.solve(1.0)
    root.look()
    root.close_sides(0.0, 0.0, 1.0)
    root.try_side(0, 0, 1.0, 1.0)
    root.proved(1.0)


def seconds_to_compile_routes() -> float:
    """Return the seconds that a fit should have left for this, with a reserve."""
    if compile_route_kernels.cache_info().currsize > 0:
        return 0.0
    from miptree.proof.routes.by_root.root_lp import try_side_kernel
    from miptree.proof.routes.search import advance_kernel

    are_on_disk = is_on_disk(advance_kernel) and is_on_disk(try_side_kernel)
    return _SECONDS_TO_LOAD if are_on_disk else _SECONDS_TO_COMPILE
