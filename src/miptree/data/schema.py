"""How the user's X and y are read: all that predicting needs besides the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from miptree.data.columns import NumericalColumn
from miptree.data.limits import Limits
from miptree.data.table import Table
from miptree.utils.arrays import AnyArray


@dataclass(frozen=True, eq=False)
class Schema:
    """Columns and classes of a training table.

    Attributes
    ----------
    table : Table
        How the columns of X become the numbers that a tree reads.
    classes : array of shape (n_classes,)
        Class labels, in the order of the class indices.
    feature_names : array of shape (n_features,) or None
        Names of the columns, where X had any.
    """

    table: Table
    classes: AnyArray
    feature_names: AnyArray | None = None

    @classmethod
    def of_numbers(
        cls,
        n_features: int,
        classes: AnyArray,
        feature_names: AnyArray | None = None,
        limits: Sequence[Limits | None] | None = None,
    ) -> Schema:
        """Return the schema of a table of numbers without gaps.

        Their limits are not known, unless they are given.
        """
        names = [f"x[{j}]" for j in range(n_features)]
        if feature_names is not None:
            names = feature_names.tolist()
        columns = (NumericalColumn(name, 0.0, False) for name in names)
        table = Table(tuple(columns), "error", "majority")
        if limits is not None:
            table = table.with_limits(limits)
        return cls(table, classes, feature_names)
