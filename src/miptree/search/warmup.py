"""Compile the kernels before the clock of a search starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from miptree.objective import Svm1Objective
from miptree.problem import Problem
from miptree.search.starts import constant_tree

_ready = False


def compile_kernels(on_compile: Callable[[], object] = lambda: None) -> float:
    """Make the kernels ready and return the seconds that took.

    The first call on a machine compiles them, about ten seconds; later processes load
    them from the cache on disk, and later calls do nothing.

    Parameters
    ----------
    on_compile : callable
        Called once before the compiling, if there is anything to compile.
    """
    global _ready
    if _ready:
        return 0.0
    began = time.perf_counter()
    with announced(on_compile):
        _use_every_kernel()
    _ready = True
    return time.perf_counter() - began


@contextmanager
def announced(on_compile: Callable[[], object]) -> Iterator[None]:
    """Call back before numba compiles for the first time inside the block."""
    from numba.core import event

    class First(event.Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                self.told = True
                on_compile()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", First()):
        yield


def _use_every_kernel() -> None:
    """Search tiny data, for both objectives."""
    from miptree.search.data import SearchData
    from miptree.search.measure import ONE_SWEEP, Measure, Svm1, ZeroOne
    from miptree.search.moves import random_move
    from miptree.search.rng import random_state

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    problem = Problem.from_data(X, y, 3)
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
