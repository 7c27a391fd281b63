"""The constraints of a fit as they take effect on the columns of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from miptree.constraints.constraint import Constraint
from miptree.constraints.features import AllowFeatures, ForbidFeatures
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.monotone import Monotone, listed_directions, with_names
from miptree.constraints.signs import Signs
from miptree.data.groups import RowGroups
from miptree.data.rows import TrainingRows


def effective_constraints(
    given: Sequence[Any] | None, columns: Sequence[str], groups: RowGroups
) -> tuple[Constraint, ...]:
    """Check the constraints of a fit and return what they come to.

    Columns get their names. A column of X with the name of a sensitive one stays out
    of the splits, unless ``AllowFeatures`` of all splits names it.

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
        if isinstance(constraint, AllowFeatures):
            constraint = replace(constraint, features=constraint.names(columns))
        if isinstance(constraint, (Monotone, Signs)):
            constraint = with_names(constraint, columns)
        if isinstance(constraint, FixedSplit):
            constraint = constraint.with_names(columns)
        found.append(constraint)
    forbidden, allowed = left_out(found), _allowed(found)
    if allowed is not None:  # what no split may use is left out at once
        others = [c for c in columns if c not in allowed and c not in forbidden]
        found += [ForbidFeatures(others)] if others else []
        forbidden = left_out(found)
    hidden: list[str] = []
    if groups.sensitive is not None:
        hidden = [c for c in groups.sensitive.columns if c in columns]
        hidden = [c for c in hidden if c not in forbidden | (allowed or frozenset())]
        if hidden:
            found.append(ForbidFeatures(hidden))
    if left_out(found).issuperset(columns):
        _refuse_all(given or (), bool(hidden))
    return tuple(found)


def _refuse_all(given: Sequence[Constraint], has_hidden: bool) -> None:
    """Refuse constraints that together leave out every column, and name them."""
    names = {
        rule.name
        for rule in given
        if isinstance(rule, ForbidFeatures)
        or (isinstance(rule, AllowFeatures) and rule.is_about_all)
    }
    by = sorted(names) + ["sensitive_features"] * has_hidden
    raise ValueError(
        "No column of X is left that splits may use: all are left out by "
        f"{' and '.join(by)}."
    )


def _allowed(constraints: Sequence[Constraint]) -> frozenset[str] | None:
    """Return the names of the columns that all splits are limited to, if they are."""
    sets = [
        frozenset(map(str, constraint.listed))
        for constraint in constraints
        if isinstance(constraint, AllowFeatures) and constraint.is_about_all
    ]
    return frozenset.intersection(*sets) if sets else None


def left_out(constraints: Sequence[Constraint]) -> frozenset[str]:
    """Return the names of the columns that no split may use."""
    return frozenset(
        str(name)
        for constraint in constraints
        if isinstance(constraint, ForbidFeatures)
        for name in constraint.listed
    )


def directed(constraints: Sequence[Constraint]) -> frozenset[str]:
    """Return the names of the columns that have a direction or a coefficient."""
    found: set[str] = set()
    for constraint in constraints:
        if isinstance(constraint, (Monotone, Signs)):
            found |= {name for name, _ in listed_directions(constraint)}
        if isinstance(constraint, FixedSplit):
            found |= {str(name) for name, _ in constraint.listed}
    return frozenset(found)


def refuse_unweighted_classes(rows: TrainingRows, classes: Sequence[Any]) -> None:
    """Refuse classes of weight zero: their rows would be missing in every rate."""
    # A model that is distilled may have more classes than it predicts.
    for label, factor in zip(classes, rows.class_factor, strict=False):
        if factor == 0:
            raise ValueError(
                f"class_weight gives class {label!r} the weight 0, and such rows are "
                "left out, but constraints count them. Give it a weight above 0."
            )
