"""The tree in terms of the user's own columns: what every export writes down.

A tree reads the numeric columns that :mod:`miptree.data` makes. Here each of them is
traced back to a cell: the number in it, how many steps of a grid it reaches, whether it
is missing, or whether its value is one of some. A branch is then a short sum over such
atoms, in feature order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.data import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    GridColumn,
    NumericalColumn,
    Table,
    Value,
)
from miptree.data.schema import Schema
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

if TYPE_CHECKING:
    from miptree.export._plain_rule import PlainRule

Model: TypeAlias = ObliqueTree | TreePredictor


@dataclass(frozen=True)
class Number:
    """The number in a column, its ``fill`` where it is missing."""

    column: int
    fill: float


@dataclass(frozen=True)
class Missing:
    """1 where a number is missing, else 0."""

    column: int


@dataclass(frozen=True)
class Member:
    """1 where a categorical column holds one of some values (None: missing), else 0."""

    column: int
    values: tuple[Value, ...]

    @property
    def present(self) -> list[str | bool | int | float]:
        """The values other than 'missing'."""
        return [value for value in self.values if value is not None]

    @property
    def has_missing(self) -> bool:
        """Whether 'missing' is one of the values."""
        return None in self.values


@dataclass(frozen=True)
class Steps:
    """How many of some cut points are not above the number in a column.

    A missing number counts as ``missing_as``; where that is None, as its ``fill``.
    """

    column: int
    cuts: tuple[float, ...]
    fill: float
    missing_as: int | None

    @property
    def of_missing(self) -> int:
        """How many it is where the number is missing."""
        if self.missing_as is not None:
            return self.missing_as
        return bisect_right(self.cuts, self.fill)


Atom: TypeAlias = Number | Missing | Member | Steps


@dataclass(frozen=True)
class Leaf:
    """A leaf and its class."""

    node: int
    label: int


@dataclass(frozen=True)
class Branch:
    """A split: left iff the sum of the terms, in their order, is <= threshold.

    ``rule`` says the same in plain words, where that is possible and was looked for. As
    people read it, its numbers are those of the tree divided by ``unit``. That is
    negative where they read better with opposite signs: left iff the sum is >= then.
    ``missing_left`` tells where rows go that lack the one number of a split, where that
    was looked for; the terms then say nothing of gaps. ``comment`` says in the words of
    a text what rows have that get a yes, see :attr:`question`.
    """

    node: int
    terms: tuple[tuple[float, Atom], ...]
    threshold: float
    left: Branch | Leaf
    right: Branch | Leaf
    rule: PlainRule | None = None
    unit: float = 1.0
    missing_left: bool | None = None
    comment: str = ""

    def side(self, score: float) -> Branch | Leaf:
        """Give the child that a score leads to."""
        return self.left if score <= self.threshold else self.right

    @property
    def bound(self) -> Bound | None:
        """The one cut point that decides, if the split reads one column on a grid."""
        coef, atom = self.terms[0] if len(self.terms) == 1 else (0.0, None)
        if not isinstance(atom, Steps):
            return None
        steps = range(len(atom.cuts) + 1)
        goes_left = [coef * step <= self.threshold for step in steps]
        if len(set(goes_left)) == 1:
            return None
        cut = atom.cuts[goes_left.index(not goes_left[0]) - 1]
        return Bound(atom.column, cut, goes_left[0], goes_left[atom.of_missing])

    @property
    def question(self) -> Question:
        """The split as a question about one categorical column, or about its sum."""
        coef, atom = self.terms[0] if len(self.terms) == 1 else (0.0, None)
        if isinstance(atom, Member):
            return Question(atom, self.side(coef), self.side(0.0))
        return Question(None, self.left, self.right)

    @property
    def subset(self) -> tuple[str, Member] | None:
        """'in' or 'not in', and the values for which rows go left, if it is that."""
        member, yes, no = self.question
        if member is None or yes is no:
            return None
        return "in" if yes is self.left else "not in", member


class Bound(NamedTuple):
    """A test of the number in a column, after which a row goes left."""

    column: int
    cut: float
    is_below: bool
    """Whether it must be below the cut, or else at least that."""
    missing_too: bool
    """Whether a row goes left without a number."""


class Question(NamedTuple):
    """A test of a row, and where it goes if the answer is yes or no."""

    member: Member | None
    """What the row must be to get a yes; None where the sum decides."""
    yes: Branch | Leaf
    no: Branch | Leaf


@dataclass(frozen=True)
class ReadableTree:
    """A tree over the columns of a table."""

    root: Branch | Leaf
    columns: tuple[Column, ...]
    classes: list[Value]
    has_names: bool
    """Whether columns are known by names, and not only by position."""
    refuses_missing: bool
    refuses_unknown: bool

    @property
    def branches(self) -> list[Branch]:
        """All splits, a parent before its children, left before right."""
        return [node for node in self.nodes if isinstance(node, Branch)]

    @property
    def nodes(self) -> list[Branch | Leaf]:
        """All nodes in the same order."""
        return _below(self.root)

    @property
    def leaves(self) -> list[Leaf]:
        """All leaves from left to right."""
        return [node for node in self.nodes if isinstance(node, Leaf)]

    @property
    def atoms(self) -> list[Atom]:
        """What the splits read, each once, in order of first use."""
        found = (atom for branch in self.branches for _, atom in branch.terms)
        return list(dict.fromkeys(found))

    @property
    def used(self) -> list[int]:
        """Columns that the splits read."""
        return sorted({atom.column for atom in self.atoms})

    @property
    def cuts(self) -> dict[int, tuple[float, ...]]:
        """Cut points of the columns whose steps the splits add up."""
        sums = (branch.terms for branch in self.branches if branch.bound is None)
        atoms = (atom for terms in sums for _, atom in terms)
        return {atom.column: atom.cuts for atom in atoms if isinstance(atom, Steps)}

    def name(self, column: int) -> str:
        """Give the name of a column."""
        return self.columns[column].name

    def key(self, column: int) -> str | int:
        """Give what finds a row's cell: its column's name, or its position."""
        return self.name(column) if self.has_names else column

    def known_values(self, column: int) -> tuple[Value, ...]:
        """List the values of a column that training met, none for numbers."""
        found = self.columns[column]
        if isinstance(found, CategoricalColumn):
            return (*found.values, *found.rare)
        return ()

    def known(self, column: int) -> Member:
        """Give the test for values that training met; a missing one is not unknown."""
        met = Member(column, self.known_values(column))
        return met if met.has_missing else replace(met, values=(*met.values, None))

    def is_text(self, column: int) -> bool:
        """Tell whether a column holds text."""
        found = self.columns[column]
        return isinstance(found, CategoricalColumn) and found.is_text

    def is_category(self, column: int) -> bool:
        """Tell whether a column holds categories."""
        return isinstance(self.columns[column], CategoricalColumn)


def readable_tree(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    tree: ObliqueTree | None = None,
) -> ReadableTree:
    """Trace a model's tree back to the columns of its data.

    Parameters
    ----------
    model : fitted classifier of this package, or ObliqueTree
        A fitted classifier, which knows its columns and classes, or a bare tree.
    feature_names : sequence of str, optional
        Names of the columns, by default the classifier's, or ``x[0]``, ``x[1]``, ...
    class_names : sequence, optional
        Names of the classes, by default the classifier's, or their indices.
    tree : ObliqueTree, optional
        Stands for the model's own tree, for example one with rounded coefficients.
    """
    has_names = feature_names is not None
    known: Sequence[object]
    if isinstance(model, ObliqueTree):
        known, tree = range(int(model.label.max()) + 1), tree or model
    else:
        check_is_fitted(model)
        known, tree = model.classes_.tolist(), tree or model.tree_
        has_names = has_names or hasattr(model, "feature_names_in_")
    table = table_of(model)
    columns = _renamed(table.columns, feature_names)
    classes = known if class_names is None else class_names
    n_classes = int(tree.label.max()) + 1
    if len(classes) < n_classes:
        raise ValueError(
            f"class_names must name at least {n_classes} classes, got {len(classes)}."
        )
    return ReadableTree(
        _node(tree, atoms_of(replace(table, columns=columns)), 0),
        columns,
        [_plain(name) for name in classes],
        has_names,
        table.missing == "error",
        table.unknown == "error",
    )


def table_of(model: Model) -> Table:
    """Return the table of a classifier; of a tree one of numbers only."""
    if isinstance(model, ObliqueTree):
        return Schema.of_numbers(model.n_features, np.arange(2)).table
    table: Table = model.table_
    return table


def _renamed(
    columns: tuple[Column, ...], names: Sequence[str] | None
) -> tuple[Column, ...]:
    if names is None:
        return columns
    if len(names) != len(columns):
        raise ValueError(
            f"feature_names must have {len(columns)} names, got {len(names)}."
        )
    pairs = zip(columns, names, strict=True)
    return tuple(replace(column, name=str(name)) for column, name in pairs)


def _plain(label: object) -> Value:
    """Make a class a plain Python value."""
    label = label.item() if isinstance(label, np.generic) else label
    known = label is None or isinstance(label, (str, bool, int, float))
    return label if known else str(label)  # type: ignore[return-value]


def atoms_of(table: Table) -> list[Atom]:
    """List the atom behind each column that the tree reads."""
    opened: list[Atom] = []
    values: list[Atom] = []
    for j, column in enumerate(table.columns):
        if isinstance(column, NumericalColumn):
            both: list[Atom] = [Number(j, column.fill), Missing(j)]
            opened += both[: 1 + column.marks_missing]
        elif isinstance(column, GridColumn):
            ends = (0, len(column.cuts)) if column.has_gaps else (None,)
            opened += [Steps(j, column.cuts, column.fill, end) for end in ends]
        elif not isinstance(column, DroppedColumn):
            members: list[Atom] = [Member(j, (value,)) for value in column.values]
            members += [Member(j, column.rare)] if column.rare else []
            opened += members[column.first_indicator :] if column.as_indicators else []
            values += members if column.as_subsets else []
    return opened + values


def atom_spreads(model: TreePredictor) -> dict[Atom, float]:
    """Give the standard deviation of each atom over the training rows, if it is known.

    That of a constant is 1, so that its coefficient still counts.
    """
    spread = model.fitted_.spread
    if spread is None:
        return {}
    sizes = np.where(spread > 0, spread, 1.0).tolist()
    return dict(zip(atoms_of(model.table_), sizes, strict=True))


def _node(tree: ObliqueTree, atoms: list[Atom], node: int) -> Branch | Leaf:
    if tree.is_leaf[node]:
        return Leaf(node, int(tree.label[node]))
    return Branch(
        node,
        _terms(tree.coef[node], atoms),
        float(tree.threshold[node]),
        _node(tree, atoms, int(tree.children_left[node])),
        _node(tree, atoms, int(tree.children_right[node])),
    )


def _terms(coef: FloatArray, atoms: list[Atom]) -> tuple[tuple[float, Atom], ...]:
    """List the non-zero terms; a subset of the values of one column is one term."""
    terms = [
        (float(coef[j]), atoms[j])
        for j in np.flatnonzero(coef)
        if getattr(atoms[j], "cuts", True)  # without cut points it is always 0
    ]
    members = [atom for _, atom in terms if isinstance(atom, Member)]
    one_column = len({atom.column for atom in members}) == 1
    if one_column and len(members) == len(terms) and len({c for c, _ in terms}) == 1:
        # At most one of the indicators is 1, so their sum is that of the union.
        union = tuple(dict.fromkeys(v for atom in members for v in atom.values))
        return ((terms[0][0], Member(members[0].column, union)),)
    return tuple(terms)


def _below(node: Branch | Leaf) -> list[Branch | Leaf]:
    if isinstance(node, Leaf):
        return [node]
    return [node, *_below(node.left), *_below(node.right)]
