"""Proves that no tree whatever keeps all constraints, by counting alone.

Any predictions at all give each label to some part of each cell. If even these parts
cannot keep the limits, which a small LP tells, no tree can. What the LP says is checked
exactly: weights on the limits by which every choice of parts breaks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from miptree.constraints.constraint import Constraint
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.limit import Limit
from miptree.constraints.population import Population
from miptree.utils.arrays import FloatArray

_ZERO = 1e-9


class Side(NamedTuple):
    """One side of a limit: ``sign * value <= most``."""

    constraint: Constraint
    limit: Limit
    sign: int
    most: Fraction


class Weights(NamedTuple):
    """Weights on sides of limits that an LP found."""

    of_sides: list[Fraction]
    """One for each side, >= 0."""
    excess: float
    """Without a cost: by how much predictions miss a limit at least."""


def why_impossible(
    constraints: Sequence[Constraint], population: Population
) -> str | None:
    """Say why no tree keeps the constraints; None where counting does not tell."""
    for constraint in constraints:
        if isinstance(constraint, MinLeaf):
            size, least = constraint.sizes(population)
            if sum(int(n) for n in size) < least:
                total = f"all {population.count.sum()} rows together do not"
                return f"{constraint.asked}, but {total}."
    sides = sides_of(constraints, population)
    if not sides:
        return None
    found = cell_lp(sides, population, None)
    if found is None or least_sum(sides, found.of_sides, population) <= 0:
        return None
    pairs = zip(sides, found.of_sides, strict=True)
    used = {id(s.constraint): s.constraint for s, weight in pairs if weight}
    names = " and ".join(repr(constraint) for constraint in used.values())
    near = f"; the nearest ones miss a limit by {found.excess:.4g}."
    if len(used) == 1:
        return f"{names} cannot be kept by any predictions on these rows{near}"
    return f"{names} contradict each other: no predictions keep them together{near}"


def sides_of(constraints: Sequence[Constraint], population: Population) -> list[Side]:
    """Return the upper and lower sides of all limits."""
    found = []
    for constraint in constraints:
        for limit in constraint.limits(population):
            if limit.upper is not None:
                found.append(Side(constraint, limit, 1, limit.upper))
            if limit.lower is not None:
                found.append(Side(constraint, limit, -1, -limit.lower))
    return found


def cell_lp(
    sides: Sequence[Side], population: Population, cost: FloatArray | None
) -> Weights | None:
    """Return the weights of the sides by an LP over parts of cells.

    It makes the cost (C, Y) of all cells least; without one, the largest excess of a
    side, and there are no weights where that is zero.
    """
    total = np.array(population.total, dtype=np.float64)
    n_cells, n_classes = population.n_cells, population.n_classes
    rows = np.array([s.sign * s.limit.floats * total[:, None] for s in sides])
    rows = rows.reshape(len(sides), -1)
    largest = np.abs(rows).max(axis=1)
    scale = np.where(largest > 0, largest, 1.0)
    elastic = -1.0 if cost is None else 0.0
    a_ub = np.column_stack([rows / scale[:, None], np.full(len(sides), elastic)])
    b_ub = np.array([float(s.most) for s in sides]) / scale
    a_eq = np.zeros((n_cells, n_cells * n_classes + 1))
    for c in range(n_cells):
        a_eq[c, c * n_classes : (c + 1) * n_classes] = 1.0
    objective = np.append(np.zeros(n_cells * n_classes), 1.0)
    if cost is not None:
        objective[:-1] = cost.ravel()
    answer = linprog(objective, a_ub, b_ub, a_eq, np.ones(n_cells), (0, None))
    if answer.status != 0 or answer.fun <= _ZERO:
        return None
    weight = np.maximum(0.0, -answer.ineqlin.marginals) / scale
    weight[weight < 1e-9 * weight.max(initial=0.0)] = 0.0
    excess = float(answer.fun * scale[weight > 0].max(initial=0.0))
    return Weights([Fraction(float(w)) for w in weight], excess)


def least_sum(
    sides: Sequence[Side],
    weight: Sequence[Fraction],
    population: Population,
    cost: FloatArray | None = None,
) -> Fraction:
    """Return the least weighted excess, plus the cost, of all predictions, exactly.

    Whatever the weights, no predictions that keep all sides cost less; and without a
    cost none keep them if it is above zero.
    """
    shape = population.n_cells, population.n_classes
    added = np.full(shape, Fraction(0), dtype=object)
    for s, w in zip(sides, weight, strict=True):
        if w:
            used, whole = s.limit.of_used
            added[used] += whole * (w * s.sign / s.limit.denominator)
    own = np.zeros(shape) if cost is None else cost
    total = sum(
        min(Fraction(float(o)) + in_cell * a for o, a in zip(*of_cell, strict=True))
        for in_cell, *of_cell in zip(population.total, own, added, strict=True)
    )
    most = (w * s.most for s, w in zip(sides, weight, strict=True))
    return total - sum(most, start=Fraction(0))
