"""The limits of coefficients in the box, in whole numbers that a stranger can check."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from miptree.data.problem import Problem
from miptree.proof.space import Space, box_multipliers
from miptree.utils.arrays import FloatArray

_BITS = 44
"""Binary places of the multipliers of a column."""
_LARGEST_DENOMINATOR = 1000
"""Of the factors of columns that others determine."""
_NEAR = 1e-9
"""A factor so near to 0 is none."""
_SAFETY = 5e-7
"""Half of what the space allows for rounding: the other half is that of reasons."""


class BoxLimits(NamedTuple):
    """Why no coefficient in the box is larger than the space says.

    Attributes
    ----------
    left_out : dict of int to dict of int to int
        For each column that others determine, whole numbers by which it and these add
        up to a constant, by column.
    multipliers : dict of int to dict of int to int
        For each other column that varies, whole numbers that add up to 0, by row.
    """

    left_out: dict[int, dict[int, int]]
    multipliers: dict[int, dict[int, int]]


def box_limits(problem: Problem, space: Space) -> BoxLimits | None:
    """Return the limits in whole numbers, or None where they cannot be written so.

    That is so where columns determine each other but for rounding.
    """
    left_out: dict[int, dict[int, int]] = {}
    for column in range(problem.n_features):
        if column not in space.kept:
            terms = _sum_of_others(problem.X, column, space.kept)
            if terms is None:
                return None
            left_out[column] = terms
    X = problem.scaled[:, space.kept]
    multipliers = {}
    size, rest = np.zeros(len(space.kept)), np.zeros(len(space.kept))
    for k, column in enumerate(space.kept):
        exact = np.rint(box_multipliers(X, k) * 2.0**_BITS)
        if not np.isfinite(exact).all() or np.abs(exact).max() >= 2.0**56:
            return None
        whole = exact.astype(np.int64)
        whole[np.argmax(np.abs(whole))] -= whole.sum()
        sums = whole @ X / 2.0**_BITS
        if sums[k] <= 0:
            return None
        size[k] = np.abs(whole).sum() / 2.0**_BITS / sums[k]
        rest[k] = (np.abs(sums).sum() - sums[k]) / sums[k]
        used = np.flatnonzero(whole)
        multipliers[column] = {int(i): int(whole[i]) for i in used}
    if rest.max(initial=0.0) >= 1:
        return None
    largest = size.max(initial=0.0) / (1 - rest.max(initial=0.0))
    is_within = size + rest * largest <= space.limit * (1 - _SAFETY)
    return BoxLimits(left_out, multipliers) if is_within.all() else None


def _sum_of_others(
    X: FloatArray, column: int, kept: list[int]
) -> dict[int, int] | None:
    """Return factors by which a column and others add up to a constant, exactly."""
    own = X[:, column]
    if (own == own[0]).all():
        return {column: 1}
    others = np.hstack([X[:, kept], np.ones((len(X), 1))])
    factors = np.linalg.lstsq(others, own, rcond=None)[0][:-1]
    near = [
        (j, Fraction(float(f)).limit_denominator(_LARGEST_DENOMINATOR))
        for j, f in zip(kept, factors, strict=True)
        if abs(f) > _NEAR
    ]
    unit = int(np.lcm.reduce([f.denominator for _, f in near], initial=1))
    terms = {column: unit} | {j: -int(f * unit) for j, f in near if f}
    exact = [[Fraction(float(x)) for x in X[:, j]] for j in terms]
    sums = {
        sum(f * x for f, x in zip(terms.values(), row, strict=True))
        for row in zip(*exact, strict=True)
    }
    return terms if len(sums) == 1 else None
