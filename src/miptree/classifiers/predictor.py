"""Predicting with a fitted tree: what the classifiers of the package share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from miptree.data.problem import Problem
from miptree.objective.leaf_labels import leaf_weight
from miptree.tree import ObliqueTree
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


class TreePredictor:
    """Methods of a classifier that has a ``tree_``, for rows that it validates."""

    if TYPE_CHECKING:
        classes_: AnyArray
        tree_: ObliqueTree
        _node_proba: FloatArray

        def _validated(self, X: ArrayLike) -> FloatArray: ...

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the last fit went well."""
        return hasattr(self, "tree_")

    def _forget_tree(self) -> None:
        """Begin a fit: a tree does not know the columns and classes of another one."""
        self.__dict__.pop("tree_", None)

    def predict(self, X: ArrayLike) -> AnyArray:
        """Class label of each row: the class of the leaf it falls into."""
        leaf = self.apply(X)
        return self.classes_[self.tree_.label][leaf]

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


def smoothed_frequencies(problem: Problem, tree: ObliqueTree) -> FloatArray:
    """(n_nodes, Y): class frequencies of each leaf plus one mean row per class.

    The mean is over distinct rows, so weights and repeated rows agree, and the scale
    of the weights does not matter.
    """
    weight = leaf_weight(problem, tree.apply(problem.X), tree.n_nodes)
    weight += problem.weight.mean()
    proba: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return proba
