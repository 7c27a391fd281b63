"""A lower bound on what it costs to bring a row to a leaf, without a program.

Each split on the way that the row fails has to be passed. What a feature can move a
score by for a cost of 1 is known, and so is the least cost of moving it far enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from miptree.explain.cell_values import added, score_of, slope_of
from miptree.explain.moves import Move, Options
from miptree.explain.program import Row, Way
from miptree.export.readable import Branch

_LEAST = 1e-12
"""Cost of a change, at least: one by an ulp would cost nothing."""
_ROUNDED = 1 - 1e-9
"""Factor that makes up for rounding."""


def cost_at_least(way: Way, moves: Sequence[Move], row: Row) -> float:
    """Return a number that no change which leads the row this way costs less than."""
    bound = 0.0
    for branch, goes_left in way:
        excess = score_of(branch, row) - branch.threshold
        if (excess <= 0) == goes_left:
            continue
        sign = -1.0 if goes_left else 1.0
        gains = (_gain(branch, move, sign) for move in moves)
        most = max(gains, default=0.0)
        bound = max(bound, abs(excess) / most if most > 0 else inf)
    return bound * _ROUNDED


def _gain(branch: Branch, move: Move, sign: float) -> float:
    """Return how far a cost of 1 moves the score at most, up or down by the sign."""
    if isinstance(move, Options):
        now = added(branch, move.column, move.values[0])
        pairs = zip(move.values[1:], move.costs[1:], strict=True)
        gains = (
            sign * (added(branch, move.column, value) - now) / max(cost, _LEAST)
            for value, cost in pairs
        )
        return max(gains, default=0.0)
    rate = abs(slope_of(branch, move.column)) * move.limits.width / move.weight
    if move.cell is None:  # filling it in may count by itself
        now, then = (added(branch, move.column, c) for c in (None, move.start))
        rate = max(rate, abs(then - now) / move.fixed_cost)
    return rate
