"""All constraints of one fit, made ready for its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from miptree.constraints.best_labels import best_labels, nearest_labels
from miptree.constraints.constraint import Constraint, Finding, TreeOnRows
from miptree.constraints.counting import is_by_weight, least_cost
from miptree.constraints.errors import NotOnTheseRowsError
from miptree.constraints.features import AllowFeatures
from miptree.constraints.fixed_split import FixedSplit
from miptree.constraints.full_leaves import with_full_leaves
from miptree.constraints.leaves import MinLeaf
from miptree.constraints.limit import AnyLimit
from miptree.constraints.monotone import (
    Monotone,
    Order,
    listed_directions,
    used_directions,
)
from miptree.constraints.placed import (
    PlacedSplit,
    placed_splits,
    with_exact,
    with_placed,
)
from miptree.constraints.population import Population
from miptree.constraints.signs import Signs
from miptree.constraints.ways import with_ways
from miptree.data.columns import NumericalColumn
from miptree.data.labels import plain_costs
from miptree.data.problem import Problem
from miptree.data.schema import Schema
from miptree.data.table import Table
from miptree.objective.leaf_labels import leaf_cost
from miptree.tree import HeapTree, ObliqueTree
from miptree.utils.arrays import AnyArray, BoolArray, FloatArray, IntArray


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
    numbers : tuple of str
        The same, but empty texts for indicators and values of categories.
    scaled : float array of shape (n, d), optional
        The rows in scaled units, for repairs.
    fixed : tuple of PlacedSplit
        The splits that are the same in every tree.
    """

    constraints: Sequence[Constraint]
    population: Population
    columns: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    scaled: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    fixed: tuple[PlacedSplit, ...] = ()

    @cached_property
    def limits(self) -> list[AnyLimit]:
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
        for constraint in self.constraints:
            constraint.limits(self.population)  # labels and groups that are not there
            if isinstance(constraint, (Monotone, Signs)):
                self.population.label_index(constraint.label, constraint.name)
                for name, _ in listed_directions(constraint):
                    self._number(name, constraint, "neither rise nor fall")
            if isinstance(constraint, FixedSplit):
                for column, _ in constraint.listed:
                    self._number(str(column), constraint, "have no coefficient")
        return self

    def _number(self, name: str, constraint: Constraint, but: str) -> None:
        """Refuse a column that holds no numbers, or is not there."""
        if name in self.numbers:
            return
        why = "is no column that splits may use"
        if name in self.columns:
            why = f"holds categories, which {but}"
        text = f"{constraint.name} names {name!r}, which {why}."
        raise NotOnTheseRowsError(text)

    # ------------------------------------------------------------------ checking

    def findings(self, tree: ObliqueTree, leaf: IntArray) -> list[Finding]:
        """Check a tree against each constraint, given the leaf of each row."""
        view = TreeOnRows(tree, leaf, self.population, self.columns, self.numbers)
        return [constraint.check(view) for constraint in self.constraints]

    def keeps(self, tree: ObliqueTree, X: FloatArray) -> bool:
        """Tell whether a tree keeps all constraints, counted by prediction."""
        return all(found.kept for found in self.findings(tree, tree.apply(X)))

    def least_cost(self, problem: Problem, seconds: float | None = None) -> float:
        """Return what errors cost at least where the limits are kept, by counting.

        The problem may hold the rows merged, in any order. 0 where rows of a cell
        differ in their costs, or more is not known in the seconds given.
        """
        rows = self._rows_of(problem)
        cost = problem.class_cost
        if cost is None:
            cost = plain_costs(problem.y, problem.weight, problem.n_classes)
        if not is_by_weight(rows, cost):
            return 0.0
        given = self.constraints, rows, cost, not problem.has_costs
        return least_cost(*given, seconds)

    def for_problem(self, problem: Problem) -> Rules:
        """Return the same constraints for rows that may be merged, in any order."""
        fixed = placed_splits(self.constraints, problem, self.numbers)
        rows = self._rows_of(problem)
        return replace(self, population=rows, scaled=problem.scaled, fixed=fixed)

    def _rows_of(self, problem: Problem) -> Population:
        assert problem.groups is not None
        return replace(
            self.population,
            y=problem.y,
            count=problem.count,
            groups=problem.groups,
        )

    # ----------------------------------------------------------------- repairing

    def labelled(self, problem: Problem, tree: ObliqueTree) -> ObliqueTree | None:
        """Give a tree in the user's units the cheapest labels that keep the limits.

        The tree is a complete one, in the order of a heap. It gets the fixed splits,
        and other splits that do nothing are dropped. None where no labels keep them.
        """
        tree = with_exact(tree, self.fixed)
        leaf = tree.apply(problem.X)
        leaves = np.flatnonzero(tree.is_leaf)
        cost = leaf_cost(problem, leaf, tree.n_nodes)[leaves]
        tally = self.population.tally(leaf, tree.n_nodes)[leaves]
        place = np.cumsum(tree.is_leaf) - 1
        orders = [
            Order(int(place[o.first]), int(place[o.second]), o.label)
            for o in self.orders(tree, np.bincount(leaf, minlength=tree.n_nodes) > 0)
        ]
        found = best_labels(cost, tally, self.limits, orders)
        return None if found is None else self._pruned(tree, leaf, found)

    def nearly_labelled(self, problem: Problem, tree: ObliqueTree) -> ObliqueTree:
        """Give a tree the labels that miss the limits by least, where none keep them.

        It gets the fixed splits and loses others, as by :meth:`labelled`.
        """
        tree = with_exact(tree, self.fixed)
        leaf = tree.apply(problem.X)
        tally = self.population.tally(leaf, tree.n_nodes)[tree.is_leaf]
        return self._pruned(tree, leaf, nearest_labels(tally, self.limits))

    def _pruned(
        self, tree: ObliqueTree, leaf: IntArray, labels: IntArray
    ) -> ObliqueTree:
        """Return a tree with these labels of its leaves, without idle splits."""
        label = np.zeros(tree.n_nodes, dtype=np.intp)
        label[tree.is_leaf] = labels
        return replace(tree, label=label).prune_to(
            np.bincount(leaf, minlength=tree.n_nodes),
            keep=[split.node for split in self.fixed],
        )

    def repaired(self, problem: Problem, heap: HeapTree) -> list[HeapTree]:
        """Return a tree, and trees near it that keep rules on splits and leaves.

        All of them are inside the box, where the given one is.
        """
        heap = with_placed(heap, self.fixed)
        found = [heap]
        heaps = [tree for c in self.constraints for tree in self._projected(c, heap)]
        heaps += self._with_ways(problem, heap)
        for tree in (heap, *heaps):
            found += [] if tree is heap else [tree]
            for size, least in self.leaf_sizes:
                found += with_full_leaves(problem, tree, size, least)
        # Without some of its coefficients a hyperplane may leave the box.
        return [heap, *map(problem.into_box, found[1:])]

    def _with_ways(self, problem: Problem, heap: HeapTree) -> list[HeapTree]:
        """Return a tree with splits above the fixed ones, where that is another."""
        if not any(split.node for split in self.fixed):
            return []

        def columns(node: int) -> IntArray:
            allowed = np.arange(problem.n_features) < problem.n_open
            for constraint in self.constraints:
                if isinstance(constraint, AllowFeatures) and constraint.is_about(node):
                    allowed &= constraint.allowed(self.columns)
            return np.flatnonzero(allowed)

        tree = with_ways(problem.scaled, heap, self.fixed, columns)
        if tree is None or np.array_equal(tree.coef, heap.coef):
            return []
        return [tree]

    def _projected(self, constraint: Constraint, heap: HeapTree) -> list[HeapTree]:
        """Return a tree without the coefficients that a constraint does not like."""
        coef = heap.coef.copy()
        if isinstance(constraint, AllowFeatures):
            for node in range(len(coef)):
                if constraint.is_about(node):
                    coef[node, ~constraint.allowed(self.columns)] = 0.0
        if isinstance(constraint, (Monotone, Signs)):
            coef = self._with_signs(
                Signs(constraint.directions, constraint.label), heap
            )
        return [] if np.array_equal(coef, heap.coef) else [heap._replace(coef=coef)]

    def wrong_columns(self, heap: HeapTree) -> BoolArray:
        """Return (d,): columns that a tree uses against a direction they have."""
        wrong = np.zeros(heap.coef.shape[1], dtype=bool)
        for constraint in self.constraints:
            if isinstance(constraint, (Monotone, Signs)):
                signs = Signs(constraint.directions, constraint.label)
                wrong |= (self._with_signs(signs, heap) != heap.coef).any(axis=0)
        return wrong

    def _with_signs(self, signs: Signs, heap: HeapTree) -> FloatArray:
        """Return the coefficients of a tree without those of wrong signs."""
        tree, coef = ObliqueTree.from_heap(heap), heap.coef.copy()
        leaf = tree.apply(self.scaled)
        view = TreeOnRows(tree, leaf, self.population, self.columns, self.numbers)
        sides, direction = signs.better_sides(view), dict(listed_directions(signs))
        for node, column in np.argwhere(coef):
            sign = direction.get(self.numbers[column], 0)
            if sign * np.sign(coef[node, column]) == -sides[node] != 0:
                coef[node, column] = 0.0
        return coef

    def ordered_labels(self, coef: FloatArray) -> set[int]:
        """Return the labels by which leaves are in order, given all hyperplanes."""
        used = np.abs(coef).sum(axis=0)
        return {
            self.population.label_index(constraint.label, constraint.name)
            for constraint in self.constraints
            if isinstance(constraint, Monotone)
            and used_directions(constraint, used, self.numbers)
        }

    def orders(self, tree: ObliqueTree, among: BoolArray | None = None) -> list[Order]:
        """Return which leaves, of all or some, must have a label where others do."""
        return [
            order
            for constraint in self.constraints
            if isinstance(constraint, Monotone)
            for order in constraint.orders(tree, self.numbers, self.population, among)
        ]


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
    columns, numbers = source_names(schema.table), number_names(schema.table)
    given = tuple(constraints), population, columns, numbers, problem.scaled
    rules = Rules(*given).ready()
    return replace(rules, fixed=placed_splits(constraints, problem, numbers))


def source_names(table: Table) -> tuple[str, ...]:
    """Return the name of the user's column behind each column that a tree reads."""
    return tuple(table.columns[j].name for j in table.column_sources)


def number_names(table: Table) -> tuple[str, ...]:
    """Return the name of each column that a tree reads where it is a number itself."""
    found = [""] * (len(table.open_names) + len(table.value_names))
    first = 0
    for column in table.columns:
        if isinstance(column, NumericalColumn):
            found[first] = column.name
        first += len(column.open_names)
    return tuple(found)
