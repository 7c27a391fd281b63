"""Compile the kernels before the clock of a search starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np

from miptree.control.clock import Clock
from miptree.control.compilers import Compilers
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search.starts import constant_tree
from miptree.utils.kernel_cache import COMPILE_ONCE, can_keep_kernels, is_on_disk
from miptree.utils.warn import warn

Kind = Literal["errors", "svm1"]
"""Kernels for few errors, or for a low (1a)."""

_ready = False
_PATIENCE = 30.0
"""Seconds to wait for the helper before its share is compiled here, too."""
SECONDS_TO_LOAD = 1.0
"""Seconds in which kernels are loaded from disk; a fit with less left goes without."""


def _compilers_of(*kinds: Kind) -> Compilers:
    source = f"from {__name__} import use_kernels; use_kernels"
    return Compilers([f"{source}({kind!r})" for kind in kinds])


SEARCH_COMPILERS = _compilers_of("errors", "svm1")
"""They compile for searches."""


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
    helper = _compilers_of("svm1")

    def compiles() -> None:
        on_compile()
        if can_keep_kernels():
            helper.start()

    try:
        with announced(compiles):
            use_kernels("errors")
            helper.wait(Clock(_PATIENCE))  # its kernels come from the cache, then
            use_kernels("svm1")
    finally:
        helper.kill()  # an interrupt must not leave it behind
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
        once, advice = ", done once on a machine,", "Fit it again."
        if not can_keep_kernels():
            once, advice = "", _NO_FOLDER
        warn(
            f"Compiling{once} took {seconds:.0f} s, most of the time limit, and left "
            f"little for the tree. {advice}"
        )


def kernels_are_ready_in_time(
    clock: Clock, on_compile: Callable[[], object], is_done_by: Callable[[], bool]
) -> bool:
    """Make the kernels ready within a clock, and tell whether they are.

    Where they must be compiled and seconds are limited, other processes compile them.
    This one does meanwhile what it can without kernels, and then waits for them as
    long as there is time. If that is too short, warn, and end the clock.

    Parameters
    ----------
    clock : Clock
    on_compile : callable
        Called once before the compiling, if there is anything to compile.
    is_done_by : callable
        What to do meanwhile; tells whether nothing is left to do.
    """
    is_quick = clock.limit is None or searches_are_at_hand()
    if not is_quick and can_keep_kernels():
        on_compile()
        SEARCH_COMPILERS.start()
        if is_done_by() and not clock.is_over:
            return False
        if not SEARCH_COMPILERS.are_done_in_time(clock, SECONDS_TO_LOAD):
            if not clock.stop.requested:
                warn(_TOO_LATE)
            return False
    compile_kernels_within(clock, on_compile)
    return True


_NO_FOLDER = (
    "Every process compiles anew, as numba finds no folder to keep kernels in: set "
    "NUMBA_CACHE_DIR to one that can be written to."
)
_TOO_LATE = (
    "The search was left out: its kernels are not compiled yet on this machine, and "
    "the time limit was too short for that. The tree is the best of CART, a greedy SVM "
    f"tree and a logistic split. {COMPILE_ONCE}."
)


def searches_are_at_hand() -> bool:
    """Tell whether the kernels of searches are loaded, or in numba's cache."""
    if _ready:
        return True
    from miptree.search import line01, line_svm1, node_refit, perturb, routing

    return all(
        map(
            is_on_disk,
            (
                line01.descend_01,
                line_svm1.descend_svm1,
                line_svm1.side_costs,
                node_refit.reweighted_logistic,
                perturb.perturb,
                routing.relabel,
            ),
        )
    )


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


def use_kernels(kind: Kind) -> None:
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
