"""Slow and simple answers that the fast hull code is compared with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog


def naive_inside(X: np.ndarray, j: int, eps: float = 0.0) -> bool:
    """(7) of one point at b = 1, one LP over all other points."""
    others = np.delete(X, j, axis=0)
    others = others[(others != X[j]).any(axis=1)]
    if not len(others):
        return False
    n = len(others)
    found = linprog(
        np.zeros(n),
        A_ub=np.vstack([others.T, -others.T]),
        b_ub=np.concatenate([X[j] + eps, eps - X[j]]) + 1e-11,
        A_eq=np.ones((1, n)),
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    return found.status == 0


def exact_weights(X: np.ndarray, j: int, support: list[int]) -> list[Fraction] | None:
    """Rational weights on affinely independent rows that give row j, if any."""
    rows = [[Fraction(float(X[i, k])) for i in support] for k in range(X.shape[1])]
    rows.append([Fraction(1)] * len(support))
    right = [Fraction(float(x)) for x in X[j]] + [Fraction(1)]
    table = [[*row, r] for row, r in zip(rows, right, strict=True)]
    n = len(support)
    for column in range(n):
        pivot = next(
            (r for r in range(column, len(table)) if table[r][column] != 0), None
        )
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        head = table[column][column]
        table[column] = [value / head for value in table[column]]
        for r in range(len(table)):
            factor = table[r][column]
            if r != column and factor != 0:
                table[r] = [
                    value - factor * top
                    for value, top in zip(table[r], table[column], strict=True)
                ]
    if any(row[n] != 0 for row in table[n:]):
        return None
    return [table[i][n] for i in range(n)]
