"""The tree in terms of the user's own columns: what every export writes down.

A tree reads the numeric columns that :mod:`miptree.data` makes. Here each of them is
traced back to a cell: the number in it, whether it is missing, or whether its value is
one of some. A branch is then a short sum over such atoms, in feature order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.predictor import TreePredictor
from miptree.data import (
    CategoricalColumn,
    Column,
    DroppedColumn,
    NumericalColumn,
    Table,
    Value,
)
from miptree.tree import ObliqueTree
from miptree.utils.arrays import FloatArray

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


Atom: TypeAlias = Number | Missing | Member


@dataclass(frozen=True)
class Leaf:
    """A leaf and its class."""

    node: int
    label: int


@dataclass(frozen=True)
class Branch:
    """A split: left iff the sum of the terms, in their order, is <= threshold."""

    node: int
    terms: tuple[tuple[float, Atom], ...]
    threshold: float
    left: Branch | Leaf
    right: Branch | Leaf

    def side(self, score: float) -> Branch | Leaf:
        """The child that a score leads to."""
        return self.left if score <= self.threshold else self.right

    @property
    def question(self) -> Question | None:
        """The split as a question about one categorical column, if it is one."""
        coef, atom = self.terms[0] if len(self.terms) == 1 else (0.0, None)
        if not isinstance(atom, Member):
            return None
        return Question(atom, self.side(coef), self.side(0.0))


class Question(NamedTuple):
    """Where rows go that are, or are not, members."""

    member: Member
    yes: Branch | Leaf
    no: Branch | Leaf


@dataclass(frozen=True)
class Rules:
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

    def name(self, column: int) -> str:
        """Name of a column."""
        return self.columns[column].name

    def key(self, column: int) -> str | int:
        """How a row's cell is found: by name, or by position."""
        return self.name(column) if self.has_names else column

    def known_values(self, column: int) -> tuple[Value, ...]:
        """The values of a categorical column that training met."""
        found = self.columns[column]
        if not isinstance(found, CategoricalColumn):
            raise TypeError(f"Column {found.name!r} holds numbers.")
        return (*found.values, *found.rare)

    def is_text(self, column: int) -> bool:
        """Whether a column holds text."""
        found = self.columns[column]
        if not isinstance(found, CategoricalColumn):
            return False
        return any(isinstance(value, str) for value in self.known_values(column))

    def is_category(self, column: int) -> bool:
        """Whether a column holds categories."""
        return isinstance(self.columns[column], CategoricalColumn)


def rules_of(
    model: Model,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    tree: ObliqueTree | None = None,
) -> Rules:
    """Trace a model's tree back to the columns of its data.

    Parameters
    ----------
    model : OptimalTreeClassifier, baseline of ``miptree.baselines``, or ObliqueTree
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
    return Rules(
        _node(tree, atoms_of(replace(table, columns=columns)), 0),
        columns,
        [_plain(name) for name in classes],
        has_names,
        table.missing == "error",
        table.unknown == "error",
    )


def table_of(model: Model) -> Table:
    """The table of a classifier; of a tree or a baseline one of numbers only."""
    table: Table | None = getattr(model, "table_", None)
    if table is not None:
        return table
    tree = model if isinstance(model, ObliqueTree) else model.tree_
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x[{j}]" for j in range(tree.n_features)]
    columns = (NumericalColumn(str(name), 0.0, False) for name in names)
    return Table(tuple(columns), missing="error")


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
    """A class as a plain Python value."""
    label = label.item() if isinstance(label, np.generic) else label
    known = label is None or isinstance(label, (str, bool, int, float))
    return label if known else str(label)  # type: ignore[return-value]


def atoms_of(table: Table) -> list[Atom]:
    """The atom behind each column that the tree reads."""
    opened: list[Atom] = []
    values: list[Atom] = []
    for j, column in enumerate(table.columns):
        if isinstance(column, NumericalColumn):
            both: list[Atom] = [Number(j, column.fill), Missing(j)]
            opened += both[: 1 + column.marks_missing]
        elif not isinstance(column, DroppedColumn):
            members: list[Atom] = [Member(j, (value,)) for value in column.values]
            members += [Member(j, column.rare)] if column.rare else []
            opened += members[column.first_indicator :] if column.as_indicators else []
            values += members if column.as_subsets else []
    return opened + values


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
    """The non-zero terms; a subset of the values of one column is one term."""
    terms = [(float(coef[j]), atoms[j]) for j in np.flatnonzero(coef)]
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
