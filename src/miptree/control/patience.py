"""When work has stalled: nothing moved for a while that grows with what was spent."""

from __future__ import annotations

from typing import NamedTuple

from miptree.control.clock import Clock

NOTICEABLE = 0.01
"""Part of what is left to do that must go at least, or else nothing has moved."""


class Patience(NamedTuple):
    """A while without movement that is long enough, in seconds or iterations alike.

    Attributes
    ----------
    least : float
        Waited in any case.
    part : float
        Of all that was spent up to the last move, waited on top of it: what took long
        to move once may take long again.
    """

    least: float
    part: float

    def after(self, spent: float) -> float:
        """Return how long to wait for a move where so much was spent before."""
        return self.least + self.part * spent

    def is_over(self, spent: float, last_move: float) -> bool:
        """Tell whether nothing has moved for long enough, with so much spent by now."""
        return spent - last_move >= self.after(last_move)


class Movement:
    """Notes when work last moved: small steps count once they have added up.

    Parameters
    ----------
    left : float
        What is left to do.
    clock : Clock
        Its seconds count.

    Attributes
    ----------
    n_moves : int
        How often what is left became less by a part worth noticing.
    last : float
        Second at which it last did.
    """

    def __init__(self, left: float, clock: Clock) -> None:
        self._left, self._clock = left, clock
        self.n_moves, self.last = 0, clock.elapsed

    def note(self, left: float) -> None:
        """Take in what is left by now."""
        if left <= (1 - NOTICEABLE) * self._left:
            self._left, self.last = left, self._clock.elapsed
            self.n_moves += 1

    def awaited(self, patience: Patience, clock: Clock) -> Clock:
        """Return a clock for one step that also ends when nothing has moved for long.

        A step may take its while even if nothing moved before it.
        """
        began = self._clock.elapsed

        def is_stalled() -> bool:
            return patience.is_over(self._clock.elapsed, max(began, self.last))

        return clock.until(is_stalled)
