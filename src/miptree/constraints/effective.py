"""The constraints of a fit as they take effect on the columns of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from miptree.constraints.constraint import Constraint
from miptree.constraints.features import ForbidFeatures
from miptree.data.groups import RowGroups
from miptree.data.rows import TrainingRows


def effective_constraints(
    given: Sequence[Any] | None, columns: Sequence[str], groups: RowGroups
) -> tuple[Constraint, ...]:
    """Check the constraints of a fit and return what they come to.

    Columns get their names. A column of X with the name of a sensitive one stays out
    of the splits.

    Parameters
    ----------
    given : sequence of Constraint or None
    columns : sequence of str
        Names of the columns of X.
    groups : RowGroups
        The groups of the rows.
    """
    found: list[Constraint] = []
    for constraint in given or ():
        if not isinstance(constraint, Constraint):
            raise TypeError(
                "constraints must be a list of objects of miptree.constraints, such as "
                f"MinLeaf(rows=20), but it has {constraint!r:.80}."
            )
        if isinstance(constraint, ForbidFeatures):
            constraint = ForbidFeatures(constraint.names(columns))
        found.append(constraint)
    forbidden = left_out(found)
    if groups.sensitive is not None:
        hidden = [c for c in groups.sensitive.columns if c in columns]
        hidden = [c for c in hidden if c not in forbidden]
        if hidden:
            found.append(ForbidFeatures(hidden))
    return tuple(found)


def left_out(constraints: Sequence[Constraint]) -> frozenset[str]:
    """Return the names of the columns that no split may use."""
    return frozenset(
        str(name)
        for constraint in constraints
        if isinstance(constraint, ForbidFeatures)
        for name in constraint.listed
    )


def refuse_unweighted_classes(rows: TrainingRows, classes: Sequence[Any]) -> None:
    """Refuse classes of weight zero: their rows would be missing in every rate."""
    for label, factor in zip(classes, rows.class_factor, strict=True):
        if factor == 0:
            raise ValueError(
                f"class_weight gives class {label!r} the weight 0, and such rows are "
                "left out, but constraints count them. Give it a weight above 0."
            )
