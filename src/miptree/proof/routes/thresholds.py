"""The thresholds that a proof takes one after the other.

Each one that is exhausted is a bound. The nodes that it takes grow exponentially with
the threshold, so that all but the last ones cost little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log

from miptree.objective.tolerance import OPTIMALITY_TOLERANCE, Leeway
from miptree.proof.routes.budget import Budget

FIRST_PART = 0.1
"""The first threshold, as a part of what may be reached."""
LEAST_STEP, USUAL_STEP, MOST_STEP = 1.03, 1.15, 1.6
"""Factors from one threshold to the next: a sweep is hard, not known yet, is easy."""
_MORE_NODES = 8.0
"""Times as many nodes that the next sweep should have."""
_AFFORDABLE = 0.5
"""Part of the budget that the next sweep should need."""
_NEARLY = 0.93
"""Part of the limit from which the limit itself is the next threshold."""
_FORESIGHT = 0.6
"""Part of the limit that must be proved before the nodes at the limit are foretold."""
_MOST_LOG = 700.0
"""Logarithm of the most nodes that are foretold."""
_TOO_MANY = 1.5
"""Times too many that nodes are foretold: their growth often slows down."""


def highest_threshold(best_value: float, leeway: Leeway) -> float:
    """Return the threshold that proves a tree of this value optimal.

    Half of the leeway is left to rounding, and of small values half a millionth.
    """
    small = OPTIMALITY_TOLERANCE * leeway.avoidable(best_value)
    return best_value - 0.5 * min(small, leeway.below(best_value))


@dataclass
class Thresholds:
    """Chooses the next threshold by the nodes that the last ones took.

    Parameters
    ----------
    base : float
        What every tree costs anyway; what is above it grows from step to step.
    """

    base: float = 0.0
    _done: list[tuple[float, int]] = field(default_factory=list, init=False)
    _seconds: float = field(default=0.0, init=False)
    _least_slope: float = field(default=0.0, init=False)

    def note(self, threshold: float, nodes: int, seconds: float) -> None:
        """Take in an exhausted threshold."""
        self._done.append((threshold, max(1, nodes)))
        self._seconds, self._least_slope = seconds, 0.0

    def note_hard(self, threshold: float, nodes: int) -> None:
        """Take in a threshold that was not exhausted after so many nodes."""
        if self._done and threshold > self.last:
            growth = log(max(1, nodes) / self.last_nodes)
            self._least_slope = growth / (threshold - self.last)

    def clear(self) -> None:
        """Forget all thresholds."""
        self._done.clear()

    @property
    def last(self) -> float:
        """The last threshold, 0 if there was none."""
        return self._done[-1][0] if self._done else 0.0

    @property
    def last_nodes(self) -> int:
        """Nodes of the last threshold, 0 if there was none."""
        return self._done[-1][1] if self._done else 0

    def reach(self, budget: Budget) -> float | None:
        """Return the threshold that a budget seems to be enough for, if it is known."""
        if len(self._done) < 2:
            return None
        high, many = self._done[-1]
        more = log(max(budget.affordable(self._seconds, many), 1.0) / many)
        if self._slope <= 0:
            return inf if more > 0 else high
        return high + more / self._slope

    def nodes_at(self, threshold: float) -> float:
        """Return the nodes that a threshold seems to need, 0 if that is not known."""
        if len(self._done) < 2:
            return 0.0
        high, many = self._done[-1]
        return many * exp(min(self._slope * (threshold - high), _MOST_LOG))

    def affords(self, threshold: float, budget: Budget) -> bool:
        """Tell whether a budget seems to be enough for a threshold, or who knows."""
        affordable = budget.affordable(self._seconds, self.last_nodes)
        return self.nodes_at(threshold) <= affordable

    def is_hopeless(self, budget: Budget) -> bool:
        """Tell whether a budget is not even good for the nodes of the last sweep."""
        nodes = self.last_nodes
        return budget.affordable(self._seconds, nodes) < nodes

    def reaches(self, limit: float, budget: Budget, times: float = _TOO_MANY) -> bool:
        """Tell whether so many times a budget seem to be enough for the limit."""
        if len(self._done) < 2:
            return False
        high, many = self._done[-1]
        if high - self.base < _FORESIGHT * (limit - self.base):
            return False
        affordable = times * budget.affordable(self._seconds, many)
        return log(many) + self._slope * (limit - high) <= log(max(affordable, 1.0))

    def after(self, bound: float, limit: float, scale: float, budget: Budget) -> float:
        """Return the threshold to try after a bound.

        Parameters
        ----------
        bound : float
            What is proved.
        limit : float
            The highest threshold of use.
        scale : float
            About what may be reached at best.
        budget : Budget
            What the sweep may use.
        """
        proved, room = bound - self.base, limit - self.base
        first = FIRST_PART * (
            min(scale - self.base, room) if scale > self.base else room
        )
        if proved < (1 - 1e-9) * first:
            return self.base + first
        step = USUAL_STEP
        if self.reaches(limit, budget):
            return limit
        if len(self._done) >= 2:
            step = min(max(self._step(budget), LEAST_STEP), MOST_STEP)
        return limit if step * proved >= _NEARLY * room else self.base + step * proved

    def _step(self, budget: Budget) -> float:
        """Return the factor at which the nodes grow as they should."""
        slope, (high, many) = self._slope, self._done[-1]
        if slope <= 0:
            return MOST_STEP
        affordable = _AFFORDABLE * budget.affordable(self._seconds, many) / many
        factor = min(_MORE_NODES, max(affordable, 1.0))
        return 1.0 + log(factor) / (slope * (high - self.base))

    @property
    def _slope(self) -> float:
        """How fast the logarithm of the nodes grew with the last two thresholds."""
        (low, few), (high, many) = self._done[-2:]
        slope = log(many / few) / (high - low) if high > low else 0.0
        return max(slope, self._least_slope)
