"""Compile the kernels before the clock of a search starts."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from miptree.objective import Svm1Objective
from miptree.problem import Problem
from miptree.search.starts import constant_tree


@cache
def compile_kernels() -> float:
    """Make the kernels ready and return the seconds that took.

    The first call on a machine compiles them, about ten seconds; later processes load
    them from the cache on disk, and later calls do nothing.
    """
    began = time.perf_counter()
    from miptree.search.data import SearchData
    from miptree.search.measure import ONE_SWEEP, Measure, Svm1, ZeroOne
    from miptree.search.moves import random_move
    from miptree.search.rng import random_state

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    value = rng.integers(2, size=30)
    X = np.column_stack([X, value, 1 - value])  # one categorical feature
    problem = Problem.from_data(X, y, 3, value_feature=np.zeros(2, dtype=np.intp))
    data = SearchData.from_problem(problem)
    measures: list[Measure] = [
        ZeroOne(data),
        Svm1(data, Svm1Objective(100, 1, 0.01)),
    ]
    for measure in measures:
        found = measure.value(constant_tree(problem, 2))
        for _ in range(20):  # every kind of random move has its turn
            moved = random_move(data, found.tree, rng, measure.p_sparse)
            found = measure.descend(moved, ONE_SWEEP, random_state(rng))
        measure.refine(found, random_state(rng))
    return time.perf_counter() - began
