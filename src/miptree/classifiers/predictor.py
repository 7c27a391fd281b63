"""A classifier with a fitted tree: how it becomes fitted, and how it predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from miptree.classifiers.notebook import notebook_html
from miptree.data.schema import Schema
from miptree.fit.fitted import FittedTree
from miptree.objective.blurred import blurred
from miptree.tree import ObliqueTree
from miptree.tree.column_use import column_use
from miptree.utils.arrays import AnyArray, FloatArray, IntArray
from miptree.utils.warn import warn

Self = TypeVar("Self", bound="TreePredictor")


class TreePredictor:
    """Base of the classifiers that predict by a ``tree_``."""

    if TYPE_CHECKING:
        classes_: AnyArray
        tree_: ObliqueTree
        fitted_: FittedTree
        n_features_in_: int

        def tree_inputs(self, X: ArrayLike) -> FloatArray:
            """Return the numbers that the tree reads of each row."""

    def adopt(self: Self, schema: Schema, fitted: FittedTree) -> Self:
        """Become fitted and return self; ``fit`` and model files use only this.

        ``schema`` says how rows and labels are read, ``fitted`` holds the tree and
        what is known of it.
        """
        self.classes_, self.table_ = schema.classes, schema.table
        self.n_features_in_ = len(schema.table.columns)
        if schema.feature_names is not None:
            self.feature_names_in_ = schema.feature_names
        self.fitted_ = fitted
        self.certificate_ = fitted.certificate
        self.objective_ = fitted.certificate.objective
        self.bound_ = fitted.certificate.objective_bound
        self.gap_ = fitted.certificate.gap
        self.status_ = fitted.status
        self.trace_ = fitted.trace
        self.n_iter_ = fitted.n_iter
        self.fit_time_ = fitted.seconds
        self.tree_ = fitted.tree  # last: from here on it is fitted
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether the last fit succeeded."""
        return hasattr(self, "tree_")

    def _forget_tree(self) -> None:
        """Drop the tree of an earlier fit, whose columns and classes may differ."""
        self.__dict__.pop("tree_", None)

    def _warn_if_interrupted(self) -> None:
        """Warn that the fit was stopped, and the best tree so far kept."""
        if self.status_ == "interrupted":
            warn(
                "The fit was interrupted; the best tree found so far is kept "
                f"(objective {self.objective_:.6g}, bound {self.bound_:.6g})."
            )

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return the class label of each row: that of the leaf it falls into."""
        leaf = self.apply(X)
        return self.classes_[self.tree_.label][leaf]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probabilities of the classes for each row.

        They are the smoothed class frequencies of its leaf, ``fitted_.node_proba``. A
        row near a split of an oblique tree gets a mean of the leaves on both sides,
        where that made the training rows more likely; the class of its leaf stays the
        most probable one. ``clf.fitted_.node_proba[clf.apply(X)]`` is the leaf's alone.

        Returns
        -------
        float array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        X, fitted = self.tree_inputs(X), self.fitted_
        return blurred(fitted.tree, X, fitted.node_proba, fitted.blur)

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`, -inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def apply(self, X: ArrayLike) -> IntArray:
        """Return the index of the leaf of each row among the nodes of ``tree_``."""
        X = self.tree_inputs(X)
        return self.tree_.apply(X)

    def decision_path(self, X: ArrayLike) -> sparse.csr_matrix:
        """Return the nodes that each row passes, as a sparse indicator matrix."""
        X = self.tree_inputs(X)
        return self.tree_.decision_path(X)

    @property
    def feature_importances_(self) -> FloatArray:
        """How much the splits use each column of X, (n_features_in_,); the sum is 1.

        At a split the weight of a column is its abs(coefficient) times the standard
        deviation of its training rows (of a category or a number with gaps, the sum of
        these over its 0/1 columns; of a points tree, points times the deviation of its
        steps), as a share of all weights there. Importance is the mean of these shares
        over the splits, each weighed by the training rows that reach it. A tree without
        splits has zeros. It tells what the tree reads, not what would be lost without.
        """
        check_is_fitted(self)
        fitted = self.fitted_
        if fitted.spread is None:
            raise AttributeError(
                "The model file does not tell the spread of its columns, by which "
                "importances are weighed: it is older than that. Fit the model again."
            )
        use = column_use(fitted.tree, fitted.spread, fitted.node_count.sum(axis=1))
        found = np.zeros(self.n_features_in_)
        np.add.at(found, self.table_.column_sources, use)
        return found / (found.sum() or 1.0)

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = notebook_html(self)
        return bundle

    def get_depth(self) -> int:
        """Return the depth of the fitted tree, at most ``max_depth``."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the fitted tree."""
        check_is_fitted(self)
        return self.tree_.n_leaves
