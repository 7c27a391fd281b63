"""What the classifiers of oblique trees share: how tables become their problem."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from miptree.classifiers.table_classifier import TABLE_CONSTRAINTS, TableClassifier
from miptree.data import ENCODINGS
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.utils.arrays import AnyArray

OBLIQUE_CONSTRAINTS: dict[str, list[Any]] = {
    **TABLE_CONSTRAINTS,
    "categorical_encoding": [StrOptions(set(ENCODINGS))],
    "max_features_per_split": [Interval(Integral, 1, None, closed="left"), None],
}
"""What the parameters of every classifier of oblique trees may be."""


@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueClassifier(TableClassifier):
    """Base of the classifiers whose splits are hyperplanes or subsets of values."""

    categorical_encoding: str = "both"
    max_features_per_split: int | None = None

    def _problem_of(
        self, rows: TrainingRows, classes: AnyArray
    ) -> tuple[Problem, Schema]:
        """Return the problem of the rows, and how they are read."""
        rows.check_ranges()
        table = rows.learn_table(self.categorical_encoding, self.missing, self.unknown)
        problem = rows.problem(table, self.max_features_per_split)
        return problem, self._schema(table, classes)
