"""Compile the kernels before the clock of a search starts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import numpy as np

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search.starts import constant_tree

_ready = False
_PATIENCE = 30.0
"""Seconds to wait for the helper before its share is compiled here, too."""


def compile_kernels(on_compile: Callable[[], object] = lambda: None) -> float:
    """Make the kernels ready and return the seconds that took.

    The first call on a machine compiles them, 10 to 20 seconds on two cores; later
    processes load them from the cache on disk, and later calls do nothing.

    Parameters
    ----------
    on_compile : callable
        Called once before the compiling, if there is anything to compile.
    """
    global _ready
    if _ready:
        return 0.0
    began = time.perf_counter()
    with _HelperProcess() as helper:

        def compiles() -> None:
            on_compile()
            helper.start()

        with announced(compiles):
            use_kernels("errors")
            helper.wait()  # its kernels come from the cache, then
            use_kernels("svm1")
    _ready = True
    return time.perf_counter() - began


def compile_kernels_within(
    clock: Clock, on_compile: Callable[[], object] = lambda: None
) -> None:
    """Make the kernels ready, and warn if compiling took most of a fit's time."""
    compiled = []

    def compiles() -> None:
        compiled.append(True)
        on_compile()

    seconds, limit = compile_kernels(compiles), clock.limit
    if compiled and limit is not None and seconds > 0.5 * limit:
        warnings.warn(
            f"Compiling, done once on a machine, took {seconds:.0f} s, most of the "
            "time limit, and left little for the tree. Fit it again.",
            UserWarning,
            stacklevel=2,
        )


class _HelperProcess:
    """Another process that compiles half of the kernels into the cache.

    If it cannot be started, or fails, nothing is lost but the time saved.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _HelperProcess:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()  # an interrupt must not leave it behind
            self._process.wait()

    def start(self) -> None:
        """Begin to compile."""
        if not sys.executable or getattr(sys, "frozen", False):
            return  # inside of another program, which should not be started again
        source = f"from {__name__} import use_kernels; use_kernels('svm1')"
        path = os.pathsep.join(entry for entry in sys.path if entry)
        silent = subprocess.DEVNULL
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-c", source],
                stdin=silent,
                stdout=silent,
                stderr=silent,
                env={**os.environ, "PYTHONPATH": path},
            )

    def wait(self) -> None:
        """Let it finish, if it runs."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)


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


def use_kernels(kind: Literal["errors", "svm1"]) -> None:
    """Search tiny data for few errors, or for a low (1a)."""
    from miptree.search.data import SearchData
    from miptree.search.measure import ONE_SWEEP, Measure, Svm1, ZeroOne
    from miptree.search.neighbourhood import random_move
    from miptree.search.rng import random_state

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    value = rng.integers(2, size=30)
    X = np.column_stack([X, value, 1 - value])  # one categorical feature
    problem = Problem.from_data(X, y, 3, value_feature=np.zeros(2, dtype=np.intp))
    data = SearchData.from_problem(problem)
    objective = Svm1Objective(100, 1, 0.01)
    measure: Measure = ZeroOne(data) if kind == "errors" else Svm1(data, objective)
    found = measure.value(constant_tree(problem, 2))
    for _ in range(20):  # every kind of random move has its turn
        moved = random_move(data, found.tree, rng, measure.p_sparse)
        found = measure.descend(moved, ONE_SWEEP, random_state(rng))
    measure.refine(found, random_state(rng), Clock())
