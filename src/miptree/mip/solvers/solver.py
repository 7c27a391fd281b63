"""The contract of a solver: a Model in, one frozen Result out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from miptree.mip.model import Model
from miptree.mip.solvers.base import (
    NO_LIMITS,
    Limits,
    OnIncumbent,
    OnProgress,
    Progress,
    Result,
)
from miptree.mip.solvers.listener import Listener
from miptree.mip.solvers.visible import VisibleModel
from miptree.utils.arrays import FloatArray


class Solver(ABC):
    """Base class of the backends; see ``solvers/highs.py`` for the reference one."""

    name: ClassVar[str]

    def solve(
        self,
        model: Model,
        start: FloatArray | None = None,
        limits: Limits = NO_LIMITS,
        on_progress: OnProgress | None = None,
        on_incumbent: OnIncumbent | None = None,
    ) -> Result:
        """Solve the model from a start, within limits.

        A feasible start is the first incumbent and the result is never worse. A stop
        asked for by ``on_progress``, a limit or an interrupt keeps the incumbent. An
        exception raised in a callback ends the solve and propagates.

        The solver is shown a model of costs that it can see (``visible.py``), so that
        its bounds hold for the given one.
        """
        visible = VisibleModel.of(model)

        def hear(progress: Progress) -> bool | None:
            assert on_progress is not None
            return on_progress(visible.progress(progress))

        told = None if on_progress is None else hear
        return visible.result(
            self._solve(Listener(visible.model, start, limits, told, on_incumbent))
        )

    @abstractmethod
    def _solve(self, listener: Listener) -> Result:
        """Solve ``listener.model`` and return what :meth:`Listener.finish` makes of it.

        The listener holds the model, the start, the limits and the feasibility
        tolerance. The backend tells it of progress and of incumbents, hands its
        suggestions in, and ends when ``listener.stop`` is true.
        """
