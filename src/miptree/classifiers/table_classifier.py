"""What the classifiers that read tables share: from the user's X and y to a problem."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from miptree.classifiers.notebook import notebook_html
from miptree.classifiers.predictor import TreePredictor
from miptree.data import ENCODINGS, categorical_mask, is_frame, read_cells
from miptree.data.labels import checked_costs, class_codes, row_weights
from miptree.data.problem import Problem
from miptree.data.rows import TrainingRows
from miptree.fit.progress import ProgressLine
from miptree.utils.arrays import AnyArray, FloatArray

TABLE_CONSTRAINTS: dict[str, list[Any]] = {
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "cost_matrix": ["array-like", None],
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    "categorical_encoding": [StrOptions(set(ENCODINGS))],
    "max_features_per_split": [Interval(Integral, 1, None, closed="left"), None],
    "missing": [StrOptions({"fill", "error"})],
    "unknown": [StrOptions({"majority", "error"})],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "callback": [callable, None],
}
"""What the parameters of every classifier that reads tables may be."""


class TableClassifier(TreePredictor, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that read tables of numbers and categories."""

    class_weight: dict[Any, float] | str | None
    cost_matrix: ArrayLike | None
    categorical_features: ArrayLike | None
    categorical_encoding: str
    max_features_per_split: int | None
    missing: str
    unknown: str
    verbose: int
    callback: Any

    def _rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        largest_cost: float = np.inf,
    ) -> TrainingRows:
        """Rows of X and y, checked; the classes are kept."""
        self._forget_tree()
        X, y = self._validated_rows(X, y)
        classes, codes = class_codes(y)
        weight, factor = row_weights(self.class_weight, classes, codes, sample_weight)
        costs = None
        if self.cost_matrix is not None:
            costs = checked_costs(self.cost_matrix, classes, largest_cost)
        cells = read_cells(X)
        mask = categorical_mask(cells, self.categorical_features)
        self.classes_ = classes
        return TrainingRows(cells, mask, codes, weight, len(classes), factor, costs)

    def _problem_of(self, rows: TrainingRows) -> Problem:
        """The problem of the rows; the table is kept."""
        self.table_ = rows.learn_table(
            self.categorical_encoding, self.missing, self.unknown
        )
        return rows.problem(self.table_, self.max_features_per_split)

    def _validated_rows(self, X: Any, y: ArrayLike) -> tuple[Any, AnyArray]:
        """Rows that can be read, and their labels."""
        if not is_frame(X):
            found: tuple[AnyArray, AnyArray]
            found = validate_data(
                self, _array(X), y, dtype=None, ensure_all_finite=False
            )
            return found
        validate_data(self, X, y, skip_check_array=True)
        stand_in = np.zeros((len(X), 1))  # scikit-learn would make X an array
        return X, check_X_y(stand_in, y, estimator=self)[1]

    def _listeners(self) -> list[Callable[[Any], bool | None]]:
        shown: list[Callable[[Any], bool | None]] = []
        if self.verbose:
            shown.append(ProgressLine())
        return shown + ([self.callback] if self.callback is not None else [])

    # -------------------------------------------------------------- predicting

    def _validated(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if is_frame(X):
            rows = validate_data(self, X, reset=False, skip_check_array=True)
        else:
            rows = validate_data(
                self, _array(X), reset=False, dtype=None, ensure_all_finite=False
            )
        return self.table_.transform(rows)

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = notebook_html(self)
        return bundle

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "fill"
        tags.input_tags.categorical = True
        return tags


def _array(X: Any) -> Any:
    """A list as an array that keeps text and numbers apart; anything else as it is."""
    if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
        return np.array(X, dtype=object)
    return X
