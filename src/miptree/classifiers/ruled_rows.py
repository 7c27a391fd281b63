"""Constraints and groups as they enter a fit, and the rows that they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from miptree.constraints.constraint import Constraint
from miptree.constraints.effective import (
    directed,
    effective_constraints,
    left_out,
    refuse_unweighted_classes,
)
from miptree.constraints.errors import ImpossibleConstraintsError
from miptree.constraints.impossible import why_impossible
from miptree.constraints.impossible_splits import why_fixed_impossible
from miptree.constraints.rules import Rules, rules_of
from miptree.data.groups import RowGroups
from miptree.data.labels import checked_weight
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.utils.arrays import AnyArray


class GivenGroups(NamedTuple):
    """Groups of the rows as the user gives them."""

    sensitive: Any = None
    control: Any = None


def ruled_rows(
    rows: TrainingRows,
    classes: AnyArray,
    constraints: Sequence[Constraint] | None,
    sample_weight: ArrayLike | None,
    given: GivenGroups,
) -> tuple[TrainingRows, tuple[Constraint, ...]]:
    """Return the rows with their groups, and the constraints that take effect.

    The rows know which columns are forbidden, and which are numbers by a constraint.
    Without constraints they stay as they are.
    """
    if not constraints and given.sensitive is None and given.control is None:
        return rows, ()
    weight = checked_weight(sample_weight, len(rows))
    groups = RowGroups.of(given.sensitive, given.control, weight)
    names = [cells.name for cells in rows.cells]
    effective = effective_constraints(constraints, names, groups)
    if not effective:
        return rows, ()
    refuse_unweighted_classes(rows, classes.tolist())
    rows = replace(rows, groups=groups, left_out=left_out(effective))
    return replace(rows, directed=directed(effective)), effective


def possible_rules(
    constraints: Sequence[Constraint],
    problem: Problem,
    schema: Schema,
    rows: TrainingRows,
    seconds: float | None = None,
) -> Rules:
    """Make constraints ready for the rows of a problem.

    The proof by counting takes the seconds given at most.

    Raises
    ------
    ImpossibleConstraintsError
        If counting alone proves that no predictions, or no splits, keep them.
    """
    rules = rules_of(constraints, problem, schema, rows.costs)
    why = why_impossible(constraints, rules.population, seconds)
    why = why or why_fixed_impossible(rules, problem.X)
    if why is not None:
        raise ImpossibleConstraintsError.proved(why)
    return rules
