"""The kernels that some candidates of a comparison need, made ready beside the others.

On a new machine they have to be compiled, which takes longer than a short time limit.
Then other processes do it, while candidates are compared that need no kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from miptree.control.clock import Clock
from miptree.control.compilers import Compilers
from miptree.points import (
    PointsProblem,
    compilers_for,
    make_ready,
    points_are_on_disk,
)
from miptree.search import compile_kernels_within
from miptree.search.compiling import SEARCH_COMPILERS, searches_are_at_hand
from miptree.tuning.candidates import PointsTree, Svm1Tree
from miptree.tuning.cv_results import TuningSetting
from miptree.utils.arrays import BoolArray
from miptree.utils.kernel_cache import COMPILE_ONCE, can_keep_kernels

_WAITING_SHARE = 0.6
"""Part of the time left to wait for others that compile; the rest is for scores."""


@dataclass
class RaceKernels:
    """What has to be compiled for the settings of a comparison.

    Parameters
    ----------
    settings : sequence of TuningSetting
    points : PointsProblem, optional
        What is to be solved for points trees, where such trees take part.
    depth : int
        Depth of the deepest of them.

    Attributes
    ----------
    are_late : bool
        Whether they were not compiled in time.
    """

    settings: Sequence[TuningSetting]
    points: PointsProblem | None = None
    depth: int = 2
    are_late: bool = field(default=False, init=False)

    @property
    def needed(self) -> BoolArray:
        """Which settings need kernels."""
        kinds = (Svm1Tree, PointsTree)
        return np.array([isinstance(s.candidate, kinds) for s in self.settings])

    @property
    def _has_searches(self) -> bool:
        return any(isinstance(s.candidate, Svm1Tree) for s in self.settings)

    def begin(self, clock: Clock) -> list[Compilers]:
        """Let others compile what is not on disk, if seconds are limited.

        Returns
        -------
        list of Compilers
            To be waited for by :meth:`are_ready`; otherwise all kernels are ready.
        """
        is_long = clock.limit is not None and can_keep_kernels()
        awaited = self._missing() if is_long else []
        for compilers in awaited:
            compilers.start()
        if not awaited:
            self.load(clock)
        return awaited

    def _missing(self) -> list[Compilers]:
        """Return those who compile what is not on disk."""
        missing, points, depth = [], self.points, self.depth
        if self._has_searches and not searches_are_at_hand():
            missing.append(SEARCH_COMPILERS)
        if points is not None and not points_are_on_disk(points, depth):
            missing.append(compilers_for(points, depth))
        return missing

    def are_ready(self, awaited: Sequence[Compilers], clock: Clock) -> bool:
        """Wait for a part of the time left, and tell whether all is compiled."""
        waiting = clock.share(_WAITING_SHARE)
        if any(compilers.wait(waiting) == "late" for compilers in awaited):
            self.are_late = True
            return False
        self.load(clock)
        return True

    def load(self, clock: Clock) -> None:
        """Load the kernels, or compile them where nobody else did."""
        if self._has_searches:
            compile_kernels_within(clock)
        if self.points is not None:
            make_ready(self.points, self.depth)


LEFT_OUT = (
    "Points trees and trees of low cost were not compared: their kernels are not "
    "compiled yet on this machine, and the time limit is too short for that. "
    f"{COMPILE_ONCE}."
)
"""What to say then."""
