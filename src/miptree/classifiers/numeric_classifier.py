"""What the baselines do around their own ways of fitting."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from miptree.baselines._certificate import BaselineCertificate
from miptree.classifiers.predictor import TreePredictor, smoothed_frequencies
from miptree.data.labels import class_codes, row_weights
from miptree.data.problem import Problem
from miptree.fit.progress import FitProgress
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray


class NumericTreeClassifier(TreePredictor, ClassifierMixin, BaseEstimator):
    """Base of the baselines: trees on numbers, without categories or gaps.

    A child makes the problem of its data by :meth:`_problem`, finds a tree its own
    way and hands it to :meth:`_keep` with its certificate.
    """

    class_weight: dict[Any, float] | str | None
    n_features_in_: int
    fit_time_: float

    def _problem(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Problem:
        self._forget_tree()
        X, y = self._validated_table(X, y)
        self.classes_, codes = class_codes(y)
        weight, _ = row_weights(self.class_weight, self.classes_, codes, sample_weight)
        return Problem.from_data(X, codes, len(self.classes_), weight)

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

    def _keep(
        self,
        problem: Problem,
        tree: ObliqueTree,
        certificate: BaselineCertificate,
        status: str,
        trace: list[FitProgress],
    ) -> None:
        """Keep what a fit leaves behind, and warn if it was cut short."""
        self._node_proba = smoothed_frequencies(problem, tree)
        self._set_fitted(tree, certificate, status, trace)
        if status == "interrupted":
            warnings.warn(
                "The fit was interrupted; the best tree found so far is kept "
                f"(objective {self.objective_:.6g}, bound {self.bound_:.6g}).",
                UserWarning,
                stacklevel=4,
            )

    def _set_fitted(
        self,
        tree: ObliqueTree,
        certificate: BaselineCertificate,
        status: str,
        trace: list[FitProgress],
    ) -> None:
        self.certificate_ = certificate
        self.objective_ = certificate.objective
        self.bound_ = certificate.objective_bound
        self.gap_ = certificate.gap
        self.status_ = status
        self.trace_ = trace
        self.tree_ = tree  # last: from here on it is fitted

    # -------------------------------------------------------------- predicting

    def _validated(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X)
