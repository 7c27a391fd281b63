"""All constraints of one fit, made ready for its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.constraints.best_labels import best_labels
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.constraints.full_leaves import with_full_leaves
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.limit import Limit
from miptree.constraints.population import Population
from miptree.data.problem import Problem
from miptree.data.schema import Schema
from miptree.data.table import Table
from miptree.objective.leaf_labels import leaf_cost
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rules:
    """The constraints of a fit and the rows that they count.

    Parameters
    ----------
    constraints : sequence of Constraint
        What a tree must keep.
    population : Population
        The rows.
    columns : tuple of str
        Name of the user's column behind each column that trees read.
    """

    constraints: Sequence[Constraint]
    population: Population
    columns: tuple[str, ...]

    @cached_property
    def limits(self) -> list[Limit]:
        """The limits of all counting constraints."""
        return [
            limit
            for constraint in self.constraints
            for limit in constraint.limits(self.population)
        ]

    @cached_property
    def leaf_sizes(self) -> list[tuple[AnyArray, Fraction]]:
        """Sizes of the rows and least sizes of leaves, where there are such rules."""
        return [
            constraint.sizes(self.population)
            for constraint in self.constraints
            if isinstance(constraint, MinLeaf)
        ]

    def ready(self) -> Rules:
        """Return itself, or say which constraint does not go with the rows."""
        assert len(self.limits) >= 0
        return self

    # ------------------------------------------------------------------ checking

    def findings(self, tree: ObliqueTree, leaf: IntArray) -> list[Finding]:
        """Check a tree against each constraint, given the leaf of each row."""
        view = TreeOnRows(tree, leaf, self.population, self.columns)
        return [constraint.check(view) for constraint in self.constraints]

    def keeps(self, tree: ObliqueTree, X: FloatArray) -> bool:
        """Tell whether a tree keeps all constraints, counted by prediction."""
        return all(found.kept for found in self.findings(tree, tree.apply(X)))

    # ----------------------------------------------------------------- repairing

    def labelled(self, problem: Problem, tree: ObliqueTree) -> ObliqueTree | None:
        """Give a tree in the user's units the cheapest labels that keep the limits.

        Splits that do nothing are dropped. None where no labels keep them.
        """
        leaf = tree.apply(problem.X)
        leaves = np.flatnonzero(tree.is_leaf)
        cost = leaf_cost(problem, leaf, tree.n_nodes)[leaves]
        tally = self.population.tally(leaf, tree.n_nodes)[leaves]
        found = best_labels(cost, tally, self.limits)
        if found is None:
            return None
        label = np.zeros(tree.n_nodes, dtype=np.intp)
        label[leaves] = found
        return replace(tree, label=label).prune_to(
            np.bincount(leaf, minlength=tree.n_nodes)
        )

    def repaired(self, problem: Problem, heap: HeapTree) -> list[HeapTree]:
        """Return a tree, and trees near it whose leaves are not too small."""
        found = [heap]
        for size, least in self.leaf_sizes:
            found += with_full_leaves(problem, heap, size, least)
        return found


def rules_of(
    constraints: Sequence[Constraint],
    problem: Problem,
    schema: Schema,
    costs: FloatArray | None = None,
) -> Rules:
    """Make constraints ready for the rows of a problem, which hold their groups.

    ``costs`` is the cost matrix of the fit, where one was given.
    """
    assert problem.groups is not None
    population = Population(
        problem.y,
        problem.count,
        problem.groups,
        tuple(schema.classes.tolist()),
        costs,
    )
    return Rules(tuple(constraints), population, source_names(schema.table)).ready()


def source_names(table: Table) -> tuple[str, ...]:
    """Return the name of the user's column behind each column that a tree reads."""
    opened = [table.columns[j].name for j in table.open_sources]
    values = [f.name for f in table.features for _ in f.value_names]
    return (*opened, *values)
