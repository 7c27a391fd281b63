"""What all partitions share, and what the client learns of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from miptree.data import CategoricalColumn, Cells, Table
from miptree.data.groups import RowGroups, joined_groups
from miptree.data.limits import NumbersSeen
from miptree.data.problem import Problem
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are read.

    ``truths`` are the features of truth values, which are read as categories.
    ``sensitive`` and ``control`` are the columns of groups that constraints compare,
    and ``has_rules`` tells whether there are any constraints.
    """

    features: tuple[str, ...]
    target: str
    weights: str | None = None
    truths: frozenset[str] = frozenset()
    sensitive: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    has_rules: bool = False

    def cells(self, X: FloatArray) -> list[Cells]:
        """Turn features read as numbers into cells of numbers or truth values."""
        return [
            Cells(name, values=(x > 0).tolist())
            if name in self.truths
            else Cells(name, numbers=x)
            for name, x in zip(self.features, X.T, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Summary:
    """What the client learns of a partition: its ranges and classes, no rows.

    ``seen`` has what limits of the features follow from, for each of the classes.
    """

    n_rows: int
    low: FloatArray
    high: FloatArray
    classes: AnyArray
    class_weight: FloatArray
    class_count: IntArray
    seen: tuple[tuple[NumbersSeen, ...], ...] = ()
    n_unweighted: int = 0
    has_weights: bool = False


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns, classes, scaling, and what the errors cost.

    Attributes
    ----------
    table : Table
        How the columns become numbers.
    offset, scale : float array
        The scaling of all rows.
    costs : float array of shape (Y, Y) or None
        What it costs to predict class k for a row of class j, by default 1.
    max_features : int or None
        Most non-zero coefficients of a hyperplane.
    class_factor : float array of shape (Y,) or None
        What the weights of the rows of each class are multiplied with, by default 1.
    """

    columns: Columns
    classes: AnyArray
    table: Table
    offset: FloatArray
    scale: FloatArray
    costs: FloatArray | None = None
    max_features: int | None = None
    class_factor: FloatArray | None = None

    def numbers(self, X: FloatArray) -> FloatArray:
        """Return the features as the tree reads them."""
        if self.table.is_plain:
            return X
        return self.table.transform_cells(self.columns.cells(X))

    def problem(
        self,
        X: FloatArray,
        y: IntArray,
        weight: FloatArray,
        groups: RowGroups | None = None,
    ) -> Problem:
        """Make a problem of rows: scaled as all rows are, identical ones merged."""
        problem = Problem.from_data(
            X,
            y,
            len(self.classes),
            weight,
            None if self.costs is None else self.costs[y],
            self.table.value_feature,
            self.max_features,
            groups,
        )
        return replace(problem, offset=self.offset, scale=self.scale, source=None)

    def joined(self, parts: Sequence[Problem | None]) -> Problem:
        """Join the rows of several partitions to one problem."""
        some = [part for part in parts if part is not None]
        groups = [part.groups for part in some if part.groups is not None]
        return self.problem(
            np.concatenate([part.X for part in some]),
            np.concatenate([part.y for part in some]),
            np.concatenate([part.weight for part in some]),
            joined_groups(groups) if len(groups) == len(some) else None,
        )

    def label_costs(self, counts: FloatArray) -> FloatArray:
        """Return (n_nodes, Y): the cost of each class as the label of each leaf.

        ``counts`` is the weight of each class in each leaf.
        """
        if self.costs is None:
            return counts.sum(axis=1, keepdims=True) - counts
        return counts @ self.costs

    def unavoidable(self, class_weight: FloatArray, n_leaves: int) -> float:
        """Return the cost of the classes that can have no leaf: Proposition 1 (3)."""
        least = np.ones(len(self.classes))
        if self.costs is not None:
            own = np.eye(len(self.classes), dtype=bool)
            least = np.where(own, np.inf, self.costs).min(axis=1)
        spare = max(0, len(self.classes) - n_leaves)
        return float(np.sort(least * class_weight)[:spare].sum())

    def user_columns(self, X: FloatArray) -> dict[str, AnyArray]:
        """Return the user's columns of rows of numbers; truth values are all False."""
        found: dict[str, AnyArray] = {}
        place = 0
        for column in self.table.columns:
            if isinstance(column, CategoricalColumn):
                found[column.name] = np.zeros(len(X), dtype=bool)
                place += len(column.open_names)
            else:
                found[column.name] = X[:, place]
                place += 1
        return found
