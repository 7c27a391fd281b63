"""The points that rows have on the cards of a points tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miptree.export.conditions import Card, Part
from miptree.export.readable import Atom, Member
from miptree.utils.arrays import FloatArray, IntArray


def row_points(card: Card, atoms: Sequence[Atom], Z: FloatArray) -> IntArray:
    """Add up the points of rows.

    Parameters
    ----------
    card : Card
    atoms : sequence of Atom
        What stands behind each column of Z.
    Z : float array of shape (n_rows, n_columns)
        Rows as the tree reads them.
    """
    points = np.zeros(len(Z), dtype=np.intp)
    for part in card.parts:
        points += part.weight * _levels(part, atoms, Z)
    return points


def _levels(part: Part, atoms: Sequence[Atom], Z: FloatArray) -> IntArray:
    """Return the level of a part that each row reaches."""
    atom = part.atom
    if isinstance(atom, Member):
        values = set(atom.values)
        mine = [
            isinstance(other, Member)
            and other.column == atom.column
            and set(other.values) <= values
            for other in atoms
        ]
        level = Z[:, mine].sum(axis=1)
    else:
        first = atom.cuts.index(part.cuts[0])
        level = np.clip(Z[:, atoms.index(atom)] - first, 0, part.n_levels)
    return (part.n_levels - level if part.falls else level).astype(np.intp)
