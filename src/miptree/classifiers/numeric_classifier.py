"""The base of the baselines: from the user's X and y to a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from miptree.classifiers.predictor import TreePredictor
from miptree.data.labels import class_codes, row_weights
from miptree.data.limits import learn_limits
from miptree.data.problem import Problem
from miptree.data.schema import Schema
from miptree.utils.arrays import AnyArray, FloatArray


class NumericTreeClassifier(TreePredictor, ClassifierMixin, BaseEstimator):
    """Base of the baselines: trees on numbers, without categories or gaps.

    A child makes the problem of its data by :meth:`_problem_of`, finds a tree its own
    way and hands it to :meth:`adopt` as a fitted tree.
    """

    class_weight: dict[Any, float] | str | None

    def _problem_of(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Problem, Schema]:
        """Return the problem of checked rows, and how they are read."""
        self._forget_tree()
        X, y = self._validated_table(X, y)
        classes, codes = class_codes(y)
        weight, _ = row_weights(self.class_weight, classes, codes, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        counted = X[weight > 0]
        limits = [learn_limits(counted[:, j]) for j in range(X.shape[1])]
        schema = Schema.of_numbers(X.shape[1], classes, names, limits)
        return Problem.from_data(X, codes, len(classes), weight), schema

    def _validated_table(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[FloatArray, AnyArray]:
        try:
            table: tuple[FloatArray, AnyArray]
            table = validate_data(self, X, y, dtype=np.float64)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError(
                f"Every column of X must be numeric: {error}. Encode text columns "
                "first, for example with sklearn.preprocessing.OneHotEncoder."
            ) from error
        return table

    # -------------------------------------------------------------- predicting

    def tree_inputs(self, X: ArrayLike) -> FloatArray:
        """Return the rows as the tree reads them: as they are, checked."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X)
