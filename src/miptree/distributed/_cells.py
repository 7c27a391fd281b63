"""What constraints count of trees, partition by partition, and all of it together.

A partition sends for each tree how many rows of each class and group are in each leaf,
and their weight. The client adds that up in whole numbers; no row leaves its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from miptree.constraints.population import Population
from miptree.data.groups import Grouping, RowGroups, refuse_wide
from miptree.distributed._frame import Columns, Frame
from miptree.distributed._partition import groups_of, rows_of
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, IntArray

Cell = tuple[int, str, str]
"""Class index, sensitive group and control group; empty texts without groups."""


class PartCounts(NamedTuple):
    """What one partition counts."""

    cells: list[Cell]
    unit: Fraction
    """What a whole weight of 1 is."""
    rows: list[IntArray]
    """For each tree (n_nodes, cells): rows of each cell in each leaf."""
    weight: list[AnyArray]
    """The same in whole weights."""


def count_cells(
    table: Any, number: int, frame: Frame, trees: Sequence[ObliqueTree]
) -> PartCounts:
    """Count the rows of each class and group in each leaf of some trees."""
    X, codes, _ = rows_of(table, frame)
    groups = groups_of(table, frame)
    named = [_names(groups.sensitive, len(X)), _names(groups.control, len(X))]
    keys = list(zip(codes.tolist(), *named, strict=True))
    cells = sorted(set(keys))
    place = {cell: k for k, cell in enumerate(cells)}
    cell = np.array([place[key] for key in keys], dtype=np.intp)
    rows, weight = [], []
    for tree in trees:
        shape = (tree.n_nodes, len(cells))
        rows.append(np.zeros(shape, dtype=np.intp))
        weight.append(np.zeros(shape, dtype=groups.weight.dtype))
        if len(X):
            there = tree.apply(frame.numbers(X)), cell
            np.add.at(rows[-1], there, 1)
            np.add.at(weight[-1], there, groups.weight)
    return PartCounts(cells, groups.unit, rows, weight)


def _names(grouping: Grouping | None, n_rows: int) -> list[str]:
    if grouping is None:
        return [""] * n_rows
    return [grouping.names[code] for code in grouping.code]


@dataclass(frozen=True, eq=False)
class CountedRows:
    """All rows as one tree parts them: those of a cell in a leaf are one row.

    Attributes
    ----------
    leaf : int array
        Leaf of each of these rows.
    population : Population
        The rows as constraints count them.
    """

    leaf: IntArray
    population: Population

    @classmethod
    def of(
        cls,
        parts: Sequence[PartCounts],
        tree: int,
        columns: Columns,
        classes: tuple[Any, ...],
        costs: AnyArray | None,
    ) -> CountedRows:
        """Add up what the partitions counted of one of the trees."""
        cells = sorted({cell for part in parts for cell in part.cells})
        unit = Fraction(1, lcm(*(part.unit.denominator for part in parts)))
        shape = (len(parts[0].rows[tree]), len(cells))
        rows, weight = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=object)
        place = {cell: k for k, cell in enumerate(cells)}
        for part in parts:
            here = [place[cell] for cell in part.cells]
            rows[:, here] += part.rows[tree]
            weight[:, here] += part.weight[tree].astype(object) * int(part.unit / unit)
        refuse_wide(weight)
        leaf, cell = np.nonzero(rows)
        codes = np.array([cells[k][0] for k in cell], dtype=np.intp)
        groups = RowGroups(
            _grouping([cells[k][1] for k in cell], columns.sensitive),
            _grouping([cells[k][2] for k in cell], columns.control),
            weight[leaf, cell],
            unit,
        )
        population = Population(codes, rows[leaf, cell], groups, classes, costs)
        return cls(leaf, population)


def _grouping(of_row: list[str], columns: tuple[str, ...]) -> Grouping | None:
    if not columns:
        return None
    names = sorted(set(of_row))
    number = {name: k for k, name in enumerate(names)}
    code = np.array([number[name] for name in of_row], dtype=np.intp)
    return Grouping(code, tuple(names), columns)
