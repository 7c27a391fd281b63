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

_ZERO = 1e-9


class _Side(NamedTuple):
    """One side of a limit: ``sign * value <= most``."""

    constraint: Constraint
    limit: Limit
    sign: int
    most: Fraction


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
    sides = list(_sides(constraints, population))
    if not sides:
        return None
    weight = _multipliers(sides, population)
    if weight is None or _least_excess(sides, weight, population) <= 0:
        return None
    used = {
        id(s.constraint): s.constraint for s, w in zip(sides, weight, strict=True) if w
    }
    names = " and ".join(repr(constraint) for constraint in used.values())
    if len(used) == 1:
        return f"{names} cannot be kept by any predictions at all on these rows."
    return f"{names} contradict each other: no predictions at all keep them together."


def _sides(constraints: Sequence[Constraint], population: Population) -> list[_Side]:
    found = []
    for constraint in constraints:
        for limit in constraint.limits(population):
            if limit.upper is not None:
                found.append(_Side(constraint, limit, 1, limit.upper))
            if limit.lower is not None:
                found.append(_Side(constraint, limit, -1, -limit.lower))
    return found


def _multipliers(
    sides: Sequence[_Side], population: Population
) -> list[Fraction] | None:
    """Return weights >= 0 of the sides that an LP takes for a proof, if any."""
    total = np.array(population.total, dtype=np.float64)
    n_cells, n_classes = population.n_cells, population.n_classes
    rows = np.array([s.sign * s.limit.floats * total[:, None] for s in sides])
    rows = rows.reshape(len(sides), -1)
    scale = np.maximum(np.abs(rows).max(axis=1), 1e-300)
    a_ub = np.column_stack([rows / scale[:, None], -np.ones(len(sides))])
    b_ub = np.array([float(s.most) for s in sides]) / scale
    a_eq = np.zeros((n_cells, n_cells * n_classes + 1))
    for c in range(n_cells):
        a_eq[c, c * n_classes : (c + 1) * n_classes] = 1.0
    objective = np.zeros(a_eq.shape[1])
    objective[-1] = 1.0
    answer = linprog(objective, a_ub, b_ub, a_eq, np.ones(n_cells), (0, None))
    if answer.status != 0 or answer.fun <= _ZERO:
        return None
    weight = np.maximum(0.0, -answer.ineqlin.marginals) / scale
    weight[weight < 1e-9 * weight.max()] = 0.0
    return [Fraction(float(w)) for w in weight]


def _least_excess(
    sides: Sequence[_Side], weight: Sequence[Fraction], population: Population
) -> Fraction:
    """Return the least weighted excess of all predictions, exactly."""
    total = Fraction(0)
    for cell, in_cell in enumerate(population.total):
        of_label = [
            sum(
                (
                    w * s.sign * s.limit.terms[cell, k]
                    for s, w in zip(sides, weight, strict=True)
                ),
                start=Fraction(0),
            )
            for k in range(population.n_classes)
        ]
        total += in_cell * min(of_label)
    return total - sum(
        (w * s.most for s, w in zip(sides, weight, strict=True)), start=Fraction(0)
    )
