"""What the classifiers that read tables share: from the user's X and y to a problem."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from miptree.classifiers.predictor import TreePredictor
from miptree.data import Table, categorical_mask, is_frame, read_cells
from miptree.data.labels import (
    above_tolerance,
    checked_costs,
    class_codes,
    price_by_class,
    row_weights,
)
from miptree.data.rows import TrainingRows
from miptree.data.schema import Schema
from miptree.utils.arrays import AnyArray, FloatArray

TABLE_CONSTRAINTS: dict[str, list[Any]] = {
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "cost_matrix": ["array-like", None],
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    "missing": [StrOptions({"fill", "error"})],
    "unknown": [StrOptions({"majority", "error"})],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "callback": [callable, None],
}
"""What the parameters of every classifier that reads tables may be."""


@dataclass(kw_only=True, eq=False, repr=False)
class TableClassifier(TreePredictor, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that read tables of numbers and categories."""

    class_weight: dict[Any, float] | str | None = None
    cost_matrix: ArrayLike | None = None
    categorical_features: ArrayLike | None = "from_dtype"
    missing: str = "fill"
    unknown: str = "majority"
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    callback: Any = None

    def _rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        largest_cost: float = np.inf,
        class_weight: dict[Any, float] | str | None = None,
    ) -> tuple[TrainingRows, AnyArray]:
        """Check and read the rows of X and y; return them and the class labels.

        Their weights are those of the parameter, unless others are given.
        """
        class_weight = self.class_weight if class_weight is None else class_weight
        self._forget_tree()
        X, y = self._validated_rows(X, y)
        classes, codes = class_codes(y)
        weight, factor = row_weights(class_weight, classes, codes, sample_weight)
        costs = None
        if self.cost_matrix is not None:
            costs = checked_costs(self.cost_matrix, classes, np.inf)
            price = price_by_class(costs)
            if price is None:
                costs = checked_costs(costs, classes, largest_cost)
            else:
                above_tolerance(weight * price[codes])
        cells = read_cells(X)
        mask = categorical_mask(cells, self.categorical_features)
        n_classes = len(classes)
        rows = TrainingRows(cells, mask, codes, weight, n_classes, factor, costs)
        return rows, classes

    def _schema(self, table: Table, classes: AnyArray) -> Schema:
        """Return how rows and labels of the table that was checked last are read."""
        return Schema(table, classes, getattr(self, "feature_names_in_", None))

    def _validated_rows(self, X: Any, y: ArrayLike) -> tuple[Any, AnyArray]:
        """Check X and y; return rows that can be read, and their labels."""
        if not is_frame(X):
            found: tuple[AnyArray, AnyArray]
            found = validate_data(
                self, _array(X), y, dtype=None, ensure_all_finite=False
            )
            return found
        _check_names([str(name) for name in X.columns])
        validate_data(self, X, y, skip_check_array=True)
        stand_in = np.zeros((len(X), 1))  # scikit-learn would make X an array
        return X, check_X_y(stand_in, y, estimator=self)[1]

    # -------------------------------------------------------------- predicting

    def tree_inputs(self, X: Any) -> FloatArray:
        """Return the numbers that the tree reads of each row of X.

        Their columns, (n_samples, n_columns), are in the order of ``tree_.coef``.
        """
        check_is_fitted(self)
        if is_frame(X):
            rows = validate_data(self, X, reset=False, skip_check_array=True)
        else:
            rows = validate_data(
                self, _array(X), reset=False, dtype=None, ensure_all_finite=False
            )
        return self.table_.transform(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "fill"
        tags.input_tags.categorical = True
        return tags


def _array(X: Any) -> Any:
    """Make a list an array that keeps text and numbers apart; return others as is."""
    if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
        return np.array(X, dtype=object)
    return X


def _check_names(names: list[str]) -> None:
    """Refuse a data frame without columns, or with two of one name."""
    if not names:
        raise ValueError("X has no columns: nothing to learn from.")
    if len(set(names)) < len(names):
        twice, number = Counter(names).most_common(1)[0]
        raise ValueError(f"X has {number} columns {twice!r}. Rename all but one.")
