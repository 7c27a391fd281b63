"""What texts say of missing values, where training had such."""

from __future__ import annotations

from miptree.data import NumericalColumn
from miptree.export.describe import is_points_tree
from miptree.export.names import number_text, printable
from miptree.export.readable import Branch, Number, ReadableTree

_DIGITS = 15
"""Of a number that stands for missing ones: as many as a decimal keeps."""


def missing_goes_left(rules: ReadableTree, branch: Branch) -> bool | None:
    """Tell where rows go whose number is missing, of a split that reads just one.

    None if it reads more than that, or if training had no gaps in it.
    """
    columns = {atom.column for _, atom in branch.terms}
    if len(columns) != 1 or not _has_gaps(rules, *columns):
        return None
    score = 0.0
    for coef, atom in branch.terms:
        score += coef * (atom.fill if isinstance(atom, Number) else 1.0)
    return score <= branch.threshold


def gap_notes(rules: ReadableTree) -> list[str]:
    """Say what missing values count as, unless splits say themselves where they go."""
    if is_points_tree(rules) or rules.refuses_missing:
        return []
    sums = [branch for branch in rules.branches if branch.missing_left is None]
    atoms = dict.fromkeys(atom for branch in sums for _, atom in branch.terms)
    taken = [
        f"{rules.name(atom.column)} {number_text(atom.fill, _DIGITS)}"
        for atom in atoms
        if isinstance(atom, Number) and _has_gaps(rules, atom.column)
    ]
    named = {atom.column for atom in rules.atoms if getattr(atom, "has_missing", False)}
    others = [
        rules.name(j)
        for j in rules.used
        if None in rules.known_values(j) and j not in named
    ]
    notes = [f"(Missing numbers count as: {', '.join(taken)}.)"] if taken else []
    notes += [f"(A missing {name} is none of the values named.)" for name in others]
    return [printable(note) for note in notes]


def _has_gaps(rules: ReadableTree, column: int) -> bool:
    found = rules.columns[column]
    return isinstance(found, NumericalColumn) and found.marks_missing
