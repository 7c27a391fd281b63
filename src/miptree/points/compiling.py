"""Compile the kernels of points trees, here or in another process."""

from __future__ import annotations

from functools import cache

import numpy as np

from miptree.control.compilers import Compilers
from miptree.points.family import Family
from miptree.points.layout import cost_type
from miptree.points.problem import PointsProblem
from miptree.points.solve import make_ready
from miptree.utils.kernel_cache import is_on_disk

_USUAL, _DEEP = 2, 3
"""Depths of trees for which kernels differ: all deeper ones need those of the last."""


def compile_points_kernels(type_name: str = "int32", depth: int = _DEEP) -> None:
    """Compile what points trees of a depth need whose costs are such integers."""
    X, y = np.array([[0, 1], [1, 0], [2, 2], [2, 0]]), np.array([0, 1, 0, 1])
    family = Family((2, 2), (0, 1), (False, False))
    count = np.ones(4, dtype=np.intp)
    problem = PointsProblem.of(
        X, y, 2, np.ones(4), None, count, family, column_penalty=np.zeros(2)
    )
    make_ready(problem, depth, np.dtype(type_name).type)


def compilers_for(problem: PointsProblem, depth: int) -> Compilers:
    """Return the process that compiles for a problem, the same for all alike."""
    return _compilers_of(cost_type(problem).__name__, _like(depth))


@cache
def _compilers_of(type_name: str, depth: int) -> Compilers:
    source = f"from {__name__} import compile_points_kernels as compile_them"
    return Compilers([f"{source}; compile_them({type_name!r}, {depth})"])


def points_are_on_disk(problem: PointsProblem, depth: int) -> bool:
    """Tell whether numba's cache has the kernels that a problem needs."""
    from miptree.points import outer, roots

    kernels = [roots.fill_totals, roots.impurities, roots.advance]
    if _like(depth) == _DEEP:
        kernels += [outer.open_root, outer.close_root, outer.fit_roots]
    costs = f"Reach(array({cost_type(problem).__name__}"  # its arrays are of costs
    return all(is_on_disk(kernel, costs) for kernel in kernels)


def _like(depth: int) -> int:
    return _DEEP if depth > _USUAL else _USUAL
