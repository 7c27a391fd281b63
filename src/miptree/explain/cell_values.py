"""What the atoms of a tree are for a cell of a row, and what they add to a split."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from miptree.data import CategoricalColumn, Cells, Column, Value
from miptree.export.conditions import Part
from miptree.export.readable import Atom, Branch, Member, Missing, Number, Steps


def row_of(columns: Sequence[Column], table: Sequence[Cells], row: int) -> list[Value]:
    """Take a row's cells: categories as values, numbers as floats, None for a gap."""
    found: list[Value] = []
    for column, cells in zip(columns, table, strict=True):
        if cells.numbers is None:
            found.append(cells.as_values()[row])
            continue
        number = float(cells.numbers[row])
        found.append(None if number != number else number)
        if isinstance(column, CategoricalColumn):
            found[-1] = known_value(column, found[-1])
    return found


def known_value(column: CategoricalColumn, value: Value) -> Value:
    """Give a value as training had it: 2 where a table without gaps has 2.0."""
    for known in (*column.values, *column.rare):
        if known == value:
            return known
    return value


def atom_value(atom: Atom, cell: Value) -> float:
    """Return what the tree reads where a cell has this value."""
    if isinstance(atom, Member):
        return float(cell in atom.values)
    if isinstance(atom, Missing):
        return float(cell is None)
    if isinstance(atom, Number):
        return atom.fill if cell is None else float(cell)
    return float(_steps(atom, cell))


def _steps(atom: Steps, cell: Value) -> int:
    return atom.of_missing if cell is None else bisect_right(atom.cuts, float(cell))


def added(branch: Branch, column: int, cell: Value) -> float:
    """Return what a column adds to the score of a split."""
    terms = (term for term in branch.terms if term[1].column == column)
    return sum((coef * atom_value(atom, cell) for coef, atom in terms), start=0.0)


def slope_of(branch: Branch, column: int) -> float:
    """Return what a column's number adds to the score of a split for each 1."""
    return sum(
        (
            coef
            for coef, atom in branch.terms
            if isinstance(atom, Number) and atom.column == column
        ),
        start=0.0,
    )


def score_of(branch: Branch, row: Sequence[Value]) -> float:
    """Return the score of a row at a split, summed in the order of the terms."""
    score = 0.0
    for coef, atom in branch.terms:
        score += coef * atom_value(atom, row[atom.column])
    return score


def points_of(part: Part, cell: Value) -> int:
    """Return the points that a cell has on a card."""
    if isinstance(part.atom, Member):
        return part.weight * ((cell in part.atom.values) != part.falls)
    if cell is None and part.missing_level is not None:
        return part.weight * part.missing_level
    number = part.atom.fill if cell is None else float(cell)
    reached = bisect_right(part.cuts, number)
    return part.weight * (len(part.cuts) - reached if part.falls else reached)
