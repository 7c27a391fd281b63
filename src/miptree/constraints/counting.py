"""What errors cost at least under constraints, by counting alone.

Predictions that keep the limits give each label to some part of each cell. The least
cost of such parts is a small LP, and weights on the limits that its solver finds prove
a lower bound, which is computed exactly here. It holds for all trees that keep the
constraints, whatever their depth: where groups differ in their classes, treating them
alike has a price.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from miptree.constraints.constraint import Constraint
from miptree.constraints.impossible import (
    cell_lp,
    least_sum,
    sides_of,
)
from miptree.constraints.population import Population
from miptree.utils.arrays import FloatArray

_ROUNDING = Fraction(1, 10**9)
"""Part by which a bound is lowered where costs were added up in floats."""


def least_cost(
    constraints: Sequence[Constraint],
    population: Population,
    row_cost: FloatArray,
    in_whole_errors: bool,
    seconds: float | None = None,
) -> float:
    """Return a lower bound on what the errors of any predictions cost.

    Parameters
    ----------
    constraints, population
        The constraints and the rows that they count.
    row_cost : float array of shape (n, Y)
        What predicting each class costs at each row; rows of one cell have the same
        for each unit of their weight.
    in_whole_errors : bool
        Whether every error costs 1, so that a bound may be rounded up.
    seconds : float, optional
        Time for the LP, after which nothing is known.
    """
    sides = sides_of(constraints, population)
    if not sides:
        return 0.0
    cost = np.zeros((population.n_cells, population.n_classes))
    np.add.at(cost, population.cell, row_cost)
    found = cell_lp(sides, population, cost, seconds)
    if found is None:
        return 0.0
    bound = least_sum(sides, found.of_sides, population, cost)
    if in_whole_errors:
        return float(max(0, ceil(bound - _ROUNDING)))
    return float(max(Fraction(0), bound * (1 - _ROUNDING)))


def is_by_weight(population: Population, row_cost: FloatArray) -> bool:
    """Tell whether rows of one cell cost the same for each unit of their weight."""
    weight = population.groups.weight.astype(np.float64)
    each = row_cost / weight[:, None]
    first = np.zeros((population.n_cells, row_cost.shape[1]))
    first[population.cell] = each
    return bool(np.allclose(each, first[population.cell], rtol=1e-9, atol=0.0))
