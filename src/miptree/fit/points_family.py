"""The family of splits that a points tree is chosen from, where it is left open.

More columns in a split and more points make better trees and many more kinds of
splits, all of which the engine goes through. What is left at "auto" is as rich as can
be gone through in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import comb, gcd
from typing import NamedTuple

import numpy as np

from miptree.data import Table
from miptree.data.problem import Problem
from miptree.objective.penalties import Auto
from miptree.objective.points import INDICATOR_POINTS
from miptree.points.family import Family
from miptree.utils.arrays import FloatArray, IntArray

MANY_DIRECTIONS, MANY_COUNTS = 10_000, 5e7
"""Directions, and directions times distinct rows, up to which three columns may meet in
a split: then trees of depth 2 are mostly proved in seconds."""
MOST_COUNTS = 1e9
"""Directions times distinct rows above which the columns are screened: looking at one
root split takes more than a second then."""
MOST_BYTES = 5e8
"""Memory for all splits above which the columns are screened."""


class Narrowed(NamedTuple):
    """A family of splits, and what it leaves out."""

    family: Family
    left_out: str
    """Columns that were screened out as there would be too many splits, in a sentence;
    empty where all take part."""


def suited_family(
    table: Table,
    problem: Problem,
    max_features: int | Auto,
    max_points: int | Auto,
    signs: Sequence[int],
) -> Narrowed:
    """Return the family for a table, as rich as its rows allow where left open.

    Parameters
    ----------
    table : Table
        Of grid columns.
    problem : Problem
        Its training rows.
    max_features, max_points : int or "auto"
        Most columns of a split, and most points. A number is kept.
    signs : sequence of int
        -1, 0 or 1 for each grid column; empty where no column has a sign.
    """
    family = Family(
        steps=tuple(table.open_steps),
        source=tuple(table.open_sources),
        is_category=tuple(table.open_is_category),
        max_features=3 if max_features == "auto" else max_features,
        max_points=1 if max_points == "auto" else max_points,
        signs=tuple(signs),
    )
    used, n_rows = np.array(family.columns, dtype=np.intp), problem.n_rows
    if not len(used):
        return Narrowed(family, "")  # of a table that does not vary: one leaf
    if max_features == "auto":
        number = n_directions(family, used)
        if number > MANY_DIRECTIONS or number * n_rows > MANY_COUNTS:
            family = replace(family, max_features=2)

    def fits(columns: IntArray) -> bool:
        number = n_directions(family, columns)
        memory = number * _bytes(family, columns, problem.n_classes)
        return number * n_rows <= MOST_COUNTS and memory <= MOST_BYTES

    if fits(used):
        return Narrowed(family, "")
    ranked = used[np.argsort(-gains(problem)[used], kind="stable")]
    return _screened(family, ranked, fits)


def _screened(
    family: Family, ranked: IntArray, fits: Callable[[IntArray], bool]
) -> Narrowed:
    """Return the family of as many of the first columns as will do."""
    low, high = 1, len(ranked)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(ranked[:middle]):
            low = middle
        else:
            high = middle - 1
    kept = np.zeros(len(family.steps), dtype=bool)
    kept[ranked[:low]] = True
    text = (
        f"Splits use the {low} of {len(ranked)} grid columns that tell the classes "
        f"apart best by themselves: all have {n_directions(family, ranked):,} kinds of "
        "splits, too many to go through. What is proved is about these columns."
    )
    return Narrowed(replace(family, allowed=tuple(kept.tolist())), text)


def n_directions(family: Family, columns: IntArray) -> int:
    """Return how many directions some grid columns have, at most.

    They are counted without listing them, which takes long where they are too many.
    """
    is_number = np.array(family.steps)[columns] > 1
    n_numbers, n_indicators = int(is_number.sum()), int((~is_number).sum())
    n = len(columns)
    sizes, total = range(1, family.max_points + 1), n
    if family.max_features >= 2:
        beside = INDICATOR_POINTS[family.max_points]
        total += 2 * comb(n_indicators, 2) + 2 * n_indicators * n_numbers * len(beside)
        total += 2 * _coprime(sizes, 2) * comb(n_numbers, 2)
    if family.max_features >= 3:
        total += 4 * _coprime(sizes, 3) * comb(n, 3)
    return total


def _bytes(family: Family, columns: IntArray, n_classes: int) -> float:
    """Return about how much memory the splits of a direction need."""
    steps = float(np.array(family.steps)[columns].mean())
    n_splits = 1 + family.max_features * family.max_points * steps
    return n_splits * (40 + 4 * n_classes)


def _coprime(sizes: range, n: int) -> int:
    """Count the tuples of sizes without a common divisor."""
    return sum(gcd(*found) == 1 for found in product(sizes, repeat=n))


def gains(problem: Problem) -> FloatArray:
    """Return for each grid column how pure its best split makes both sides."""
    weight, n_classes = problem.worst_class_cost, problem.n_classes
    found = np.zeros(problem.n_features)
    for j, column in enumerate(problem.X.T.astype(np.intp)):
        place = column * n_classes + problem.y
        size = (int(column.max()) + 1) * n_classes
        by_value = np.bincount(place, weight, size).reshape(-1, n_classes)
        below = by_value.cumsum(axis=0)[:-1]
        above = by_value.sum(axis=0) - below
        found[j] = np.max(_purity(below) + _purity(above), initial=0.0)
    return found


def _purity(by_class: FloatArray) -> FloatArray:
    """Return the weight of the rows of each set less its Gini impurity."""
    total = np.maximum(by_class.sum(axis=1), np.finfo(np.float64).tiny)
    purity: FloatArray = (by_class**2).sum(axis=1) / total
    return purity
