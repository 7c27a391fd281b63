"""Multipliers of limits: prices that lead a search to trees which keep them.

Each limit gets a price, and a label that moves its sum towards the limit costs more at
a row, or less. So a search that knows nothing of constraints minimises (1a) plus priced
sums. Prices of limits that its tree breaks rise, those of others fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.constraints.limit import AnyLimit, Spread
from miptree.constraints.rules import Rules
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray

FIRST_STEP = 4.0
"""How much a price rises in the first round, in parts of the excess."""
SLOWER = 0.25
"""How much smaller steps become from round to round."""
LARGEST_PRICE = 4.0
"""In units of the cost of an error at the row that moves a sum most."""


@dataclass
class Multipliers:
    """Prices of the limits of one fit; a positive one pushes a sum down.

    Attributes
    ----------
    price : float array
        One for each sum of a limit, in units of the cost of an error.
    n_steps : int
        Steps so far.
    """

    problem: Problem
    rules: Rules
    price: FloatArray
    n_steps: int = 0

    @classmethod
    def begin(cls, problem: Problem, rules: Rules) -> Multipliers:
        """Begin with prices of zero."""
        n_sums = sum(len(limit.sums) for limit in rules.limits)
        return cls(problem, rules, np.zeros(n_sums))

    def priced(self, price: FloatArray | None = None) -> Problem:
        """Return the problem with the priced sums in its costs."""
        problem, population = self.problem, self.rules.population
        price = self.price if price is None else price
        cost = problem.class_cost
        if cost is None:
            cost = plain_costs(problem.y, problem.weight, problem.n_classes)
        of_cell = np.zeros((population.n_cells, problem.n_classes))
        sums = (one for limit in self.rules.limits for one in limit.sums)
        for one, theta in zip(sums, price, strict=True):
            if theta and len(one.cells):
                of_cell[one.cells] += theta * one.floats / np.abs(one.floats).max()
        cost = cost + problem.weight[:, None] * of_cell[population.cell]
        # A constant for a row changes no comparison, and costs must not be negative.
        return replace(problem, class_cost=cost - cost.min(axis=1, keepdims=True))

    def step(self, heap: HeapTree) -> bool:
        """Move the prices by what a tree makes of the sums; return whether it fits."""
        leaf = heap.leaf_of(self.problem.scaled)
        population = self.rules.population
        tally = population.tally(leaf, len(heap.label)).astype(np.float64)
        size = FIRST_STEP / (1.0 + SLOWER * self.n_steps)
        self.n_steps += 1
        leaves, keeps_all, place = np.arange(len(heap.label)), True, 0
        for limit in self.rules.limits:
            added = [one.of_leaves(tally) for one in limit.sums]
            values = [float(of_leaf[leaves, heap.label].sum()) for of_leaf in added]
            lower, upper = _range(limit, values)
            for one, value in zip(limit.sums, values, strict=True):
                most = tally[:, one.cells] @ np.abs(one.floats)
                reach = max(float(most.max(axis=1).sum()), 1e-300)
                keeps_all &= lower <= value <= upper
                above, below = (value - upper) / reach, (lower - value) / reach
                self.price[place] = _moved(self.price[place], above, below, size)
                place += 1
        return bool(keeps_all)


def _range(limit: AnyLimit, values: Sequence[float]) -> tuple[float, float]:
    """Return where the sums of a limit should be: many rates around their middle."""
    if isinstance(limit, Spread):
        middle, half = (max(values) + min(values)) / 2, float(limit.upper) / 2
        return middle - half, middle + half
    lower = -np.inf if limit.lower is None else float(limit.lower)
    return lower, np.inf if limit.upper is None else float(limit.upper)


def _moved(price: float, above: float, below: float, size: float) -> float:
    """Return the next price of a limit: up where its sum is above, else down.

    Within its limits a sum lets the price fall towards zero, at most to it.
    """
    if above > 0:
        price += size * above
    elif below > 0:
        price -= size * below
    elif price > 0:
        price = max(0.0, price + size * max(above, -1.0))
    elif price < 0:
        price = min(0.0, price - size * max(below, -1.0))
    return float(np.clip(price, -LARGEST_PRICE, LARGEST_PRICE))
