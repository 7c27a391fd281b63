"""The package's own search, for baselines whose splits are hyperplanes."""

from __future__ import annotations

from collections.abc import Callable

from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import SMALLEST_MARGIN, Svm1Objective
from miptree.search import compile_kernels_within, search
from miptree.tree import HeapTree

N_ITERATIONS = 300
_L1_PENALTY = 1e-3
"""Too small to outweigh an error; it keeps hyperplanes sparse."""
_MARGINS = (0.5, 2.0)
"""Margins to search at, in strips. A baseline may measure its strip where hyperplanes
have norm 1; in our box they are longer, so the same strip is a larger margin."""


def search_hyperplanes(
    problem: Problem,
    depth: int,
    strip: float,
    clock: Clock,
    seed: int,
    adopt: Callable[[HeapTree], None],
) -> None:
    """Search trees of few errors whose hyperplanes keep a distance of about a strip.

    ``adopt`` is called with every tree that improves on the last one, and must bring
    it into the baseline's class.
    """
    compile_kernels_within(clock)
    for place, factor in enumerate(_MARGINS):
        margin = min(max(SMALLEST_MARGIN, factor * strip), 1.0)
        share = clock.share(1.0 / (len(_MARGINS) - place))
        result = search(
            problem,
            Svm1Objective(1.0 / margin, _L1_PENALTY, margin),
            depth,
            clock=share.counting(N_ITERATIONS),
            seed=seed,
            on_improvement=lambda heap, value: adopt(heap),
        )
        adopt(result.tree)
        if clock.is_over:
            return
