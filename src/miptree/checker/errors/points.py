"""Rows of equal x, values and class, put together: the points of a proof."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from ..columns import SubsetCategory
from ..data import Rows
from ..routes.numbers import Points, merged
from ..values import TooMuch
from .file import ErrorsProof

MOST_NUMBERS = 1 << 24
"""Numbers that are held as whole numbers of any size."""


class Labelled(NamedTuple):
    """The points of a proof.

    Attributes
    ----------
    place : list of n int
        Number of the first row of each in the data, from 0: its name in the file.
    at : list of n int
        Number of its x and values among those that differ.
    label : list of n int
    weight : list of n int
        In units of 1 / ``unit``.
    unit : int
    numbers : list of d lists
        For each column and each x that differs a whole number: x less the lowest,
        times a power of two that is the same for the column.
    powers : list of d int
        These powers of two.
    unlabelled : Points
        The x and values that differ.
    """

    place: list[int]
    at: list[int]
    label: list[int]
    weight: list[int]
    unit: int
    numbers: list[list[int]]
    powers: list[int]
    unlabelled: Points


def labelled(proof: ErrorsProof, rows: Rows) -> Labelled:
    """Return the points of some rows; weights are added up."""
    unlabelled = merged(rows)
    width = unlabelled.X.shape[1] + sum(_n_values(proof))
    if len(unlabelled.place) * width > MOST_NUMBERS:
        raise TooMuch(
            f"The proof is about {len(unlabelled.place)} different rows of {width} "
            "columns: more than this program takes."
        )
    where = _where(rows, unlabelled)
    number: dict[tuple[int, int], int] = {}
    place: list[int] = []
    weight: list[Fraction] = []
    for i, row in enumerate(rows.place):
        point = number.setdefault((where[i], proof.labels[row]), len(place))
        if point == len(place):
            place.append(row)
            weight.append(Fraction(0))
        weight[point] += rows.weight[i]
    unit = lcm(*(w.denominator for w in weight))
    whole = [_whole(column) for column in _columns(proof, unlabelled)]
    return Labelled(
        place=place,
        at=[at for at, _ in number],
        label=[label for _, label in number],
        weight=[int(w * unit) for w in weight],
        unit=unit,
        numbers=[numbers for numbers, _ in whole],
        powers=[power for _, power in whole],
        unlabelled=unlabelled,
    )


def _where(rows: Rows, points: Points) -> list[int]:
    """Return the point of each row."""
    key: dict[bytes, int] = {}
    for k, x in enumerate(points.X):
        key[x.tobytes() + points.values[k].tobytes()] = k
    X = rows.numbers.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    return [key[x.tobytes() + rows.values[i].tobytes()] for i, x in enumerate(X)]


def _columns(proof: ErrorsProof, points: Points) -> list[np.ndarray]:
    """Return the columns that a split may weigh, and 0/1 columns of values."""
    found = list(points.X.T)
    for own, n_values in zip(points.values.T, _n_values(proof), strict=True):
        found += [(own == k).astype(np.float64) for k in range(n_values)]
    return found


def _n_values(proof: ErrorsProof) -> list[int]:
    """Return how many values each category has that is split by subsets."""
    return [c.n_values for c in proof.columns if isinstance(c, SubsetCategory)]


def _whole(column: np.ndarray) -> tuple[list[int], int]:
    """Return a column less its lowest number, times a power of two, and the power."""
    parts = [value.as_integer_ratio() for value in column.tolist()]
    power = max(below for _, below in parts)
    whole = [above * (power // below) for above, below in parts]
    low = min(whole)
    return [value - low for value in whole], power
