"""Replay of a trace in plain NumPy: what its weakest closing proves."""

import numpy as np

from miptree.proof.routes.trace import (
    BOX_LEFT,
    BOX_RIGHT,
    BRANCH,
    ENVELOPE,
    HARD,
    LEMMA,
    MARGIN,
)

UNIT = 2.0**-32


class Replay:
    """One structure of a problem at a threshold."""

    def __init__(self, problem, structure, threshold):
        self.problem, self.structure, self.T = problem, structure, threshold
        self.cost = problem.cost[:, structure.label]

    def bound(self, trace):
        """Return the least value of all closings; every event is looked at once."""
        n, B = self.problem.n_points, self.structure.n_splits
        mask = np.full(n, (1 << self.structure.n_leaves) - 1)
        if trace.fixed >= 0:
            assert self.structure.is_symmetric
            mask[trace.fixed] = self.structure.left_of_root
        lower = np.full(B, self.problem.least_split)
        end, value = self._follow(trace, 0, mask, lower)
        assert end == trace.n_events
        return value

    def _follow(self, trace, event, mask, lower):
        """Replay the subtree at an event; return the event after it, and its value."""
        kind, point = trace.kind[event], trace.point[event]
        entries = trace.entries(event, event + 1)
        if kind == LEMMA:
            assert not (entries.kind == ENVELOPE).any()
            values = self._values(entries, mask, lower)
            known = lower.copy()
            known[point] = max(self.problem.least_split, values[point])
            return self._follow(trace, event + 1, mask, known)
        if kind == BRANCH:
            masks = trace.masks_of(event)
            assert int(np.bitwise_or.reduce(masks)) & mask[point] == mask[point]
            least, event = np.inf, event + 1
            for one in masks:
                below = mask.copy()
                below[point] &= one
                event, value = self._follow(trace, event, below, lower)
                least = min(least, value)
            return event, least
        if (mask == 0).any():
            return event + 1, np.inf
        values = self._values(entries, mask, lower)
        return event + 1, self._base(mask) + np.maximum(lower, values).sum()

    def _leaves(self, mask):
        return [leaf for leaf in range(self.structure.n_leaves) if mask >> leaf & 1]

    def _base(self, mask):
        return sum(self.cost[i, self._leaves(mask[i])].min() for i in range(len(mask)))

    def _side(self, b, leaves):
        """Return the side of a split that all these leaves are on, 0 if none."""
        sides = {int(side) for side in self.structure.side[b, leaves]}
        return sides.pop() if len(sides) == 1 else 0

    def _values(self, entries, mask, lower):
        """Return what the multipliers prove of each split, the last split first."""
        known, problem = lower.copy(), self.problem
        columns = [*entries[:4], entries.q * UNIT]
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        values = np.full(len(lower), -np.inf)
        A = max(0.0, self.T - self._base(mask)) / problem.rho
        for b in range(len(lower) - 1, -1, -1):
            here = [row for row in rows if row[1] == b]
            if not here:
                continue
            balance, sum_q, value = np.zeros(problem.X.shape[1]), 0.0, 0.0
            for i, _, kind, _, q in here:
                leaves = self._leaves(mask[i])
                side, gain, cap = self._side(b, leaves), 1.0, problem.C[i]
                if kind == ENVELOPE:
                    cheap, cap = self._envelope(i, rows, mask, known)
                    side = self._side(b, cheap)
                elif kind == HARD:
                    gain, cap = 0.0, np.inf
                elif kind in (BOX_LEFT, BOX_RIGHT):
                    side, gain, cap = (
                        1 if kind == BOX_LEFT else -1,
                        -problem.box,
                        np.inf,
                    )
                else:
                    assert kind == MARGIN
                assert side != 0
                assert q <= cap * (1 + 1e-12)
                value += gain * q
                balance += side * q * problem.X[i]
                sum_q += side * q
            excess = max(0.0, (np.abs(balance) - problem.rho).max())
            values[b] = value - A * excess - (problem.box + A) * abs(sum_q)
            known[b] = max(known[b], values[b])
        return values

    def _envelope(self, i, rows, mask, known):
        """Return the cheap leaves of a point, and the cap of its multiplier."""
        problem, leaves = self.problem, self._leaves(mask[i])
        cost = self.cost[i, leaves]
        cheap = [leaf for leaf in leaves if self.cost[i, leaf] == cost.min()]
        gap = cost[cost > cost.min()].min() - cost.min()
        own = {r[1]: r[3] for r in rows if r[0] == i and r[2] == ENVELOPE}
        assert all(self._side(k, leaves) == 0 for k in own)
        most = len(own) * (1 + problem.box)
        if min(own.values()) >= 0:
            for k, p in own.items():
                assert self._side(k, self._leaves(mask[p])) == self._side(k, cheap) != 0
            rest = sum(known[k] for k in range(len(known)) if k not in own)
            budget = max(0.0, self.T - self._base(mask) - rest - gap)
            far = [np.abs(problem.X[i] - problem.X[p]).max() for p in own.values()]
            reach = max(far) / problem.rho
            ends = sum(max(0.0, 1 - reach * problem.C[p]) for p in own.values())
            most = min(most, reach * budget + ends)
        return cheap, problem.C[i] if most * problem.C[i] <= gap else gap / most
