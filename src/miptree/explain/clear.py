"""Whether no row can end so near to a split that rounding decides on its side.

Where all numbers that a split adds up are whole, as those of a points tree are, its
scores are exact and differ from each other by 1 at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from miptree.data import Value
from miptree.explain.cell_values import atom_value
from miptree.explain.moves import Move, Options
from miptree.explain.program import PASSED, Row
from miptree.export.readable import Branch

_MOST = 2.0**50
"""Sums up to this are exact, whatever their order."""


def is_clear(branch: Branch, moves: Sequence[Move], row: Row) -> bool:
    """Tell whether a split is passed by a program exactly where it is by prediction.

    Parameters
    ----------
    branch : Branch
    moves : sequence of Move
        What may change, by whole steps.
    row : sequence of Value
    """
    known = {move.column: move for move in moves}
    most = 0.0
    for coef, atom in branch.terms:
        move = known.get(atom.column)
        cells = [row[atom.column]] if move is None else _extremes(move)
        values = [atom_value(atom, cell) for cell in cells]
        if not all(value.is_integer() for value in (coef, *values)):
            return False
        most += abs(coef) * max(abs(value) for value in values)
    above = floor(branch.threshold) + 1 - branch.threshold
    return most < _MOST and 2 * most * PASSED < above


def _extremes(move: Move) -> list[Value]:
    """List cells that are whole, and bound all others, if all of them are and do."""
    if isinstance(move, Options):
        return list(move.values)
    ends = move.limits.inside()
    return [move.cell, move.start, move.start + move.limits.step, ends.low, ends.high]
