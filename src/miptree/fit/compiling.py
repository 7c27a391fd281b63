"""Compilation of everything that fits need, for those who cannot wait for it later."""

from __future__ import annotations

from collections.abc import Callable

from miptree.control.compilers import Compilers
from miptree.fit.job import Job
from miptree.points import compile_points_kernels
from miptree.proof import compile_proof_kernels, compile_recording_kernels
from miptree.proof.routes import compile_route_kernels
from miptree.search import compile_kernels as compile_search_kernels
from miptree.search.compiling import announced
from miptree.utils.kernel_cache import COMPILE_ONCE, can_keep_kernels
from miptree.utils.warn import warn

LOADED_WITHIN = 5.0
"""Seconds that tell kernels on disk from those to be compiled."""

COUNT_COMPILERS = Compilers(
    ["from miptree.proof import compile_proof_kernels as f; f()"]
)
"""They compile for the proofs of the number of errors."""
ROUTE_COMPILERS = Compilers(
    ["from miptree.proof.routes import compile_route_kernels as f; f()"]
)
"""They compile for the proofs of (1a)."""


def compile_kernels() -> None:
    """Compile the kernels of searches, points trees and proofs, once on a machine.

    It takes some minutes, and nothing where it was done before. A fit compiles what
    it needs by itself, within its time limit, and goes without a proof where that is
    too short for it.
    """
    compile_search_kernels()
    compile_points_kernels()
    compile_proof_kernels()
    compile_recording_kernels()
    compile_route_kernels()


def has_time_to_compile(job: Job, seconds: float, is_last: bool) -> bool:
    """Tell whether a proof's kernels can be made ready in so many seconds.

    Warn if they cannot, where no other proof follows. Kernels that are on disk are
    loaded in a moment: then there is nothing to warn of.
    """
    if job.clock.has_time_for(seconds):
        return True
    if is_last and seconds > LOADED_WITHIN:
        warn(_LEFT_OUT)
    return False


def enters_compiled(
    job: Job,
    stage: str,
    compile_here: Callable[[], None],
    compilers: Compilers,
    expected: float,
) -> bool:
    """Enter a stage with its kernels ready, and tell whether they are.

    Where that is expected to take many seconds, and these are limited, other processes
    compile them, so that the clock, the listeners and Ctrl-C are heard meanwhile. If
    the time is over before, warn.
    """
    job.best.enter(stage)
    is_long = job.clock.limit is not None and expected > LOADED_WITHIN
    if is_long and can_keep_kernels():
        job.best.enter("compile")
        compilers.start()
        if compilers.wait(job.clock) == "late":
            if not job.best.is_stopped:
                warn(_LEFT_OUT)
            return False
    with announced(lambda: job.best.enter("compile")):
        compile_here()
    job.best.stage = stage
    return True


_LEFT_OUT = (
    "A proof was left out: its kernels are not compiled yet on this machine, and the "
    f"time limit is too short for that. {COMPILE_ONCE}."
)
