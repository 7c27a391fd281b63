"""What every tree classifier of the package does around its own way of fitting."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from miptree._typing import AnyArray, FloatArray, IntArray
from miptree.polish import leaf_cost
from miptree.problem import Problem
from miptree.progress import FitCallback, FitProgress, ProgressLine
from miptree.tree import ObliqueTree


class AnyCertificate(Protocol):
    """What every certificate says."""

    @property
    def objective(self) -> float:
        """Objective of the tree, recounted."""
        ...

    @property
    def objective_bound(self) -> float:
        """Lower bound on it."""
        ...

    @property
    def gap(self) -> float:
        """Relative gap between the two."""
        ...


class TreeClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers whose fit ends in an :class:`ObliqueTree`.

    A child makes the problem of its data by :meth:`_problem`, finds a tree its own
    way and hands it to :meth:`_keep` with its certificate.
    """

    class_weight: dict[Any, float] | str | None
    certificate_: Any

    def _problem(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Problem:
        X, y = self._validated_table(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least 2 classes, got one class: {self.classes_[0]!r}."
            )
        weight = compute_sample_weight(self.class_weight, y)
        if sample_weight is not None:
            weight = weight * _checked_weight(sample_weight, X)
        if not weight.any():
            raise ValueError("All sample weights are zero: there is nothing to learn.")
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
        certificate: AnyCertificate,
        status: str,
        trace: list[FitProgress],
    ) -> None:
        """Set what every fit leaves behind, and warn if it was cut short."""
        self.tree_ = tree
        self._node_proba = _smoothed_frequencies(problem, tree)
        self.certificate_ = certificate
        self.objective_ = certificate.objective
        self.bound_ = certificate.objective_bound
        self.gap_ = certificate.gap
        self.status_ = status
        self.trace_ = trace
        if status == "interrupted":
            warnings.warn(
                "The fit was interrupted; the best tree found so far is kept "
                f"(objective {self.objective_:.6g}, bound {self.bound_:.6g}).",
                UserWarning,
                stacklevel=4,
            )

    # -------------------------------------------------------------- predicting

    def _validated(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X)

    def predict(self, X: ArrayLike) -> AnyArray:
        """Class label of each row: the class of the leaf it falls into."""
        leaf = self.apply(X)
        return self.classes_[self._node_proba.argmax(axis=1)][leaf]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class frequencies of the leaf of each row, with Laplace smoothing.

        Returns
        -------
        float array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        leaf = self.apply(X)
        return self._node_proba[leaf]

    def apply(self, X: ArrayLike) -> IntArray:
        """Index of the leaf of each row among the nodes of ``tree_``."""
        X = self._validated(X)
        return self.tree_.apply(X)

    def decision_path(self, X: ArrayLike) -> sparse.csr_matrix:
        """Nodes that each row passes, as a sparse indicator matrix."""
        X = self._validated(X)
        return self.tree_.decision_path(X)

    def get_depth(self) -> int:
        """Depth of the fitted tree, at most ``max_depth``."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves of the fitted tree."""
        check_is_fitted(self)
        return self.tree_.n_leaves


def _smoothed_frequencies(problem: Problem, tree: ObliqueTree) -> FloatArray:
    """(n_nodes, Y): class frequencies of each leaf plus one mean row per class.

    The mean is over distinct rows, so weights and repeated rows agree, and the scale
    of the weights does not matter.
    """
    cost = leaf_cost(problem, tree.apply(problem.X), tree.n_nodes)
    weight = cost.sum(axis=1, keepdims=True) / (problem.n_classes - 1) - cost
    weight += problem.weight.mean()
    proba: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return proba


def _checked_weight(sample_weight: ArrayLike, X: FloatArray) -> FloatArray:
    given = np.asarray(sample_weight)
    if given.ndim == 1 and len(given) != len(X):
        raise ValueError(
            f"sample_weight has {len(given)} values, but X has {len(X)} rows. Give one "
            "weight >= 0 for each row."
        )
    weight: FloatArray = _check_sample_weight(
        given, X, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def listeners_of(verbose: int, callback: FitCallback | None) -> list[FitCallback]:
    """Who is told of a fit's progress."""
    shown: list[FitCallback] = [ProgressLine()] if verbose else []
    return shown + ([callback] if callback is not None else [])


def n_jobs_of(n_jobs: int | None) -> int:
    """Number of threads that scikit-learn's ``n_jobs`` asks for."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
