"""What a fit tells while it runs: to a callback, to the terminal, to its trace."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from miptree.objective.tolerance import percent, relative_gap

_SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class FitProgress:
    """State of a fit at a moment.

    Attributes
    ----------
    stage : str
        "start", "compile" (kernels of the next stage, once on a machine), "search",
        "count" and "prove" (the errors, and the objective), "solve" (a MIP) or "done";
        "round 1" and so on where rows are selected; "folds" while the feature penalty
        of a points tree is chosen; "sample" where all numbers are those of a sample of
        rows in partitions.
    seconds : float
        Since the fit began.
    objective, errors
        Of the best tree so far, counted by prediction.
    bound : float
        Lower bound on the objective.
    """

    stage: str
    seconds: float
    objective: float
    errors: int
    bound: float

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.bound)

    def __str__(self) -> str:
        if self.stage == "compile":
            return (
                "compiling for the next step, once on this machine, which may take "
                "minutes; `miptree compile` does it before"
            )
        if self.stage == "folds":  # no tree yet: nothing to say of its objective
            return f"choosing the feature penalty in folds, {self.seconds:.1f} s"
        return (
            f"{self.stage:>6} {self.seconds:7.1f} s  objective {self.objective:.6g}  "
            f"errors {self.errors}  bound {self.bound:.6g}  gap {percent(self.gap)}"
        )


FitCallback = Callable[[FitProgress], bool | None]
"""Called with the state of a fit; a true answer stops the fit."""


class Stage(Protocol):
    """What :class:`ProgressLine` must know of a state; its text is the line."""

    @property
    def stage(self) -> str:
        """What is being done."""

    @property
    def seconds(self) -> float:
        """Since the fit began."""


class ProgressLine:
    """One line that is rewritten on a terminal, or a line now and then elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._next = 0.0
        self._has_told_of_compiling = False

    def begin(self) -> None:
        """Say that the work begins: what is imported first may take seconds."""
        self._stream.write("the fit begins" + ("" if self._live else "\n"))
        self._stream.flush()

    def __call__(self, state: Stage) -> None:
        """Show the state."""
        if self._live:
            end = "\n" if state.stage == "done" else ""
            self._stream.write(f"\r\x1b[2K{state}{end}")
        elif self._is_due(state):
            self._next = state.seconds + _SECONDS_BETWEEN_LINES
            self._stream.write(f"{state}\n")
        self._stream.flush()

    def _is_due(self, state: Stage) -> bool:
        """Tell whether to write a line: now and then, and once of what compiles.

        The trees of the start come while others compile; later stages compile anew.
        """
        if state.stage == "compile":
            has_told, self._has_told_of_compiling = self._has_told_of_compiling, True
            return not has_told
        if state.stage != "start":
            self._has_told_of_compiling = False
        return state.stage == "done" or state.seconds >= self._next


def listeners_of(verbose: int, callback: Any) -> list[Callable[[Any], bool | None]]:
    """Return who hears of a fit: the line of progress, and the user's callback."""
    heard: list[Callable[[Any], bool | None]] = []
    if verbose:
        line = ProgressLine()
        line.begin()
        heard.append(line)
    return heard + ([callback] if callback is not None else [])
