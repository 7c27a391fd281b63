"""Compilation of everything that fits need, for those who cannot wait for it later."""

from __future__ import annotations

import warnings

from miptree.fit.job import Job
from miptree.proof import compile_proof_kernels
from miptree.proof.routes import compile_route_kernels
from miptree.search import compile_kernels as compile_search_kernels

LOADED_WITHIN = 5.0
"""Seconds that tell kernels on disk from those to be compiled."""


def compile_kernels() -> None:
    """Compile the kernels of searches and proofs, once on a machine.

    It takes a minute or two, and nothing where it was done before. A fit compiles what
    it needs by itself, within its time limit, and goes without a proof where that is
    too short for it.
    """
    compile_search_kernels()
    compile_proof_kernels()
    compile_route_kernels()


def has_time_to_compile(job: Job, seconds: float, is_last: bool) -> bool:
    """Tell whether a proof's kernels can be made ready in so many seconds.

    Warn if they cannot, where no other proof follows. Kernels that are on disk are
    loaded in a moment: then there is nothing to warn of.
    """
    if job.clock.has_time_for(seconds):
        return True
    if is_last and seconds > LOADED_WITHIN:
        warnings.warn(
            "A proof was left out: its kernels are not compiled yet on this machine, "
            "and the time limit is too short for that. Run `miptree compile`, or "
            "miptree.compile_kernels(), once, and fit again.",
            UserWarning,
            stacklevel=2,
        )
    return False
