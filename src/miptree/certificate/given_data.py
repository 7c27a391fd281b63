"""The rows as they are given to ``verify``, checked but neither merged nor scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from miptree.constraints.constraint import Constraint
from miptree.constraints.population import Population
from miptree.constraints.rules import Rules, number_names, source_names
from miptree.data.groups import RowGroups
from miptree.data.labels import checked_costs, plain_costs, price_by_class
from miptree.data.problem import Problem
from miptree.data.shape import DataShape
from miptree.data.table import Table
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.exact import Exact


@dataclass(frozen=True, eq=False)
class GivenData(DataShape):
    """The rows as given, without those of weight zero."""

    X: FloatArray
    y: IntArray
    weight: FloatArray
    n_classes: int
    value_feature: IntArray
    row_costs: FloatArray | None
    n_unweighted: int = 0
    groups: RowGroups | None = None

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None,
        value_feature: IntArray | None = None,
        cost_matrix: ArrayLike | None = None,
        row_costs: ArrayLike | None = None,
        groups: RowGroups | None = None,
        in_partitions: bool = False,
    ) -> GivenData:
        """Check the rows, their weights and their costs.

        A fit ``in_partitions`` never takes costs for weights.
        """
        table = np.asarray(X, dtype=np.float64)
        labels = np.asarray(y)
        if table.ndim != 2 or labels.shape != (len(table),) or not len(table):
            raise ValueError(
                "X must be a table with one label in y for each of its rows, got "
                f"shapes {table.shape} and {labels.shape}."
            )
        weight = np.ones(len(table))
        if sample_weight is not None:
            weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != labels.shape or not (weight >= 0).all() or not weight.any():
            raise ValueError(
                f"sample_weight must hold {len(table)} numbers >= 0, one for each row, "
                "and one of them above 0."
            )
        if not (np.isfinite(table).all() and np.isfinite(weight).all()):
            raise ValueError("X and sample_weight must be finite numbers.")
        codes, n_classes = _codes(labels, classes)
        if value_feature is None:
            value_feature = np.zeros(0, dtype=np.intp)
        costs = None
        if row_costs is not None and cost_matrix is not None:
            raise ValueError("Give a cost_matrix or row_costs, not both.")
        if row_costs is not None:
            costs = _checked_row_costs(row_costs, (len(table), n_classes))
        elif cost_matrix is not None:
            matrix = checked_costs(cost_matrix, np.arange(n_classes), np.inf)
            price = None if in_partitions else price_by_class(matrix)
            if price is None:
                costs = matrix[codes]
            else:
                weight = weight * price[codes]
        kept = weight > 0
        costs = None if costs is None else costs[kept]
        return cls(
            table[kept],
            codes[kept],
            weight[kept],
            n_classes,
            value_feature,
            costs,
            int((~kept).sum()),
            None if groups is None else groups.take(np.flatnonzero(kept)),
        )

    @cached_property
    def problem(self) -> Problem:
        """The training problem of the rows."""
        given = self.X, self.y, self.n_classes, self.weight
        return Problem.from_data(
            *given, self.row_costs, self.value_feature, groups=self.groups
        )

    def rules(
        self,
        constraints: Sequence[Constraint],
        classes: AnyArray,
        table: Table | None,
        costs: FloatArray | None = None,
    ) -> Rules:
        """Make constraints ready for the rows, none of which are merged.

        Without a ``table`` the columns are numbers called x[0], x[1], and so on.
        """
        columns = numbers = tuple(f"x[{j}]" for j in range(self.n_features))
        if table is not None:
            columns, numbers = source_names(table), number_names(table)
        assert self.groups is not None
        count, labels = np.ones(self.n_rows, dtype=np.intp), tuple(classes.tolist())
        population = Population(self.y, count, self.groups, labels, costs)
        return Rules(tuple(constraints), population, columns, numbers).ready()

    @cached_property
    def class_cost(self) -> Exact:
        """(n, Y): cost of predicting a class for a row, its weight included."""
        costs = self.row_costs
        if costs is None:
            costs = plain_costs(self.y, np.ones(len(self.y)), self.n_classes)
        return Exact.of(costs).times(Exact.of(self.weight[:, None]))


def _checked_row_costs(row_costs: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    costs = np.asarray(row_costs, dtype=np.float64)
    if costs.shape != shape or not (np.isfinite(costs) & (costs >= 0)).all():
        raise ValueError(
            f"row_costs must hold a finite number >= 0 for each of {shape[0]} rows and "
            f"{shape[1]} classes, got shape {costs.shape}."
        )
    return costs


def _codes(labels: AnyArray, classes: ArrayLike | None) -> tuple[IntArray, int]:
    """Return the class index of each label, and the number of classes.

    A label that is in no class gets an index of its own.
    """
    if classes is None:
        known, codes = np.unique(labels, return_inverse=True)
        return codes.ravel(), len(known)
    index = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    found = [index.get(label, len(index)) for label in labels.tolist()]
    return np.array(found, dtype=np.intp), max(len(index), max(found) + 1)
