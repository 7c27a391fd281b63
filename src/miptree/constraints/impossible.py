"""Proves that no tree whatever keeps all constraints, by counting alone.

Any predictions at all give each label to some part of each cell. If even these parts
cannot keep the limits, which a small LP tells, no tree can. What the LP says is checked
exactly: weights on the limits by which every choice of parts breaks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, hstack, kron

from miptree.constraints.constraint import Constraint
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.limit import Limit, Spread
from miptree.constraints.population import Population
from miptree.utils.arrays import FloatArray

_ZERO = 1e-9
_LEAST_SECONDS = 0.05
"""Time that an LP has at least: most need less."""


class Side(NamedTuple):
    """One side of a limit: ``sign * (sum - middle) <= most``.

    Many rates differ by at most b where all are within b/2 of one middle in [0, 1].
    """

    constraint: Constraint
    sum: Limit
    sign: int
    most: Fraction
    middle: int | None = None
    """Number of the middle, None for 0."""


class Weights(NamedTuple):
    """Weights on sides of limits that an LP found."""

    of_sides: list[Fraction]
    """One for each side, >= 0."""
    excess: float
    """Without a cost: by how much predictions miss a limit at least."""


def why_impossible(
    constraints: Sequence[Constraint],
    population: Population,
    seconds: float | None = None,
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
    found = cell_lp(sides, population, None, seconds)
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
    found, n_middles = list[Side](), 0
    for constraint in constraints:
        for limit in constraint.limits(population):
            if isinstance(limit, Spread):
                given = limit.upper / 2, n_middles
                ones = ((one, sign) for one in limit.sums for sign in (1, -1))
                found += [Side(constraint, one, sign, *given) for one, sign in ones]
                n_middles += 1
                continue
            if limit.upper is not None:
                found.append(Side(constraint, limit, 1, limit.upper))
            if limit.lower is not None:
                found.append(Side(constraint, limit, -1, -limit.lower))
    return found


def cell_lp(
    sides: Sequence[Side],
    population: Population,
    cost: FloatArray | None,
    seconds: float | None = None,
) -> Weights | None:
    """Return the weights of the sides by an LP over parts of cells.

    It makes the cost (C, Y) of all cells least; without one, the largest excess of a
    side, and there are no weights where that is zero, or is not known in time.
    """
    n_cells, n_classes = population.n_cells, population.n_classes
    n_parts = n_cells * n_classes
    a_ub, scale = _scaled_rows(sides, population, is_elastic=cost is None)
    b_ub = np.array([float(s.most) for s in sides]) / scale
    objective = np.zeros(a_ub.shape[1])
    objective[-1] = 1.0
    if cost is not None:
        objective[:n_parts] = cost.ravel()
    one_each = kron(eye_array(n_cells), np.ones((1, n_classes)))
    a_eq = hstack([one_each, coo_array((n_cells, a_ub.shape[1] - n_parts))])
    upper = np.full(len(objective), np.inf)
    upper[n_parts:-1] = 1.0
    bounds = np.column_stack([np.zeros(len(upper)), upper])
    options = {} if seconds is None else {"time_limit": max(seconds, _LEAST_SECONDS)}
    equal = a_eq.tocsr(), np.ones(n_cells)
    answer = linprog(objective, a_ub, b_ub, *equal, bounds, options=options)
    if answer.status != 0 or answer.fun <= _ZERO:
        return None
    weight = np.maximum(0.0, -answer.ineqlin.marginals) / scale
    weight[weight < 1e-9 * weight.max(initial=0.0)] = 0.0
    width = np.where([s.middle is None for s in sides], 1.0, 2.0) * scale
    excess = float(answer.fun * width[weight > 0].max(initial=0.0))
    return Weights([Fraction(float(w)) for w in weight], excess)


def _scaled_rows(
    sides: Sequence[Side], population: Population, is_elastic: bool
) -> tuple[Any, FloatArray]:
    """Return a sparse row for each side, of terms up to 1, and what they were up to.

    The columns are parts of cells, middles, and how much all sides may be missed.
    """
    n_classes = population.n_classes
    n_parts = population.n_cells * n_classes
    middles = [s.middle for s in sides if s.middle is not None]
    n_columns = n_parts + (max(middles, default=-1) + 1) + 1
    total, labels = np.array(population.total, dtype=np.float64), np.arange(n_classes)
    rows, columns, terms, scale = [], [], [], np.ones(len(sides))
    for row, s in enumerate(sides):
        value = s.sign * (s.sum.floats * total[s.sum.cells, None]).ravel()
        place = (s.sum.cells[:, None] * n_classes + labels).ravel()
        if s.middle is not None:
            value = np.append(value, -s.sign)
            place = np.append(place, n_parts + s.middle)
        scale[row] = np.abs(value).max(initial=0.0) or 1.0
        rows.append(np.full(len(value) + is_elastic, row))
        columns.append(np.append(place, [n_columns - 1] * is_elastic))
        terms.append(np.append(value / scale[row], [-1.0] * is_elastic))
    found = np.concatenate(rows), np.concatenate(columns).astype(np.intp)
    shape = len(sides), n_columns
    return coo_array((np.concatenate(terms), found), shape=shape).tocsr(), scale


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
    of_middles: dict[int, Fraction] = {}
    for s, w in zip(sides, weight, strict=True):
        if w:
            added[s.sum.cells] += s.sum.whole * (w * s.sign / s.sum.denominator)
        if s.middle is not None:
            of_middles[s.middle] = of_middles.get(s.middle, Fraction(0)) - w * s.sign
    own = np.zeros(shape) if cost is None else cost
    total = sum(
        min(Fraction(float(o)) + in_cell * a for o, a in zip(*of_cell, strict=True))
        for in_cell, *of_cell in zip(population.total, own, added, strict=True)
    )
    most = (w * s.most for s, w in zip(sides, weight, strict=True))
    # A middle is anywhere in [0, 1]: the place that is worst for the bound is taken.
    worst = (min(Fraction(0), slope) for slope in of_middles.values())
    return total + sum(worst, start=Fraction(0)) - sum(most, start=Fraction(0))
