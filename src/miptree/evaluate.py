"""How a fitted tree does on rows with labels, in all and leaf by leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree.estimator import OptimalTreeClassifier
from miptree.utils.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Counts of rows, all by prediction.

    Attributes
    ----------
    labels : array of shape (n_labels,)
        The model's classes, then labels of the rows that are no class of it.
    confusion : int array of shape (n_labels, n_classes)
        Rows of each true label (row) by predicted class (column).
    node_counts : int array of shape (n_nodes, n_labels)
        Rows of each true label that pass each node of the tree.
    """

    labels: AnyArray
    confusion: IntArray
    node_counts: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.confusion.sum())

    @property
    def n_right(self) -> int:
        """Rows predicted rightly."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """Share of rows predicted rightly."""
        return self.n_right / self.n_rows

    @property
    def recall(self) -> FloatArray:
        """(n_labels,): share of each label's rows predicted rightly, NaN for none."""
        total = self.confusion.sum(axis=1).astype(float)
        right = np.zeros(len(total))
        right[: self.confusion.shape[1]] = np.diagonal(self.confusion)
        return np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)


def evaluate(clf: OptimalTreeClassifier, X: Any, y: ArrayLike) -> Evaluation:
    """Predict rows and count.

    Parameters
    ----------
    clf : OptimalTreeClassifier
        A fitted one.
    X : data frame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True labels; one that is no class of the model can only be wrong.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from miptree import OptimalTreeClassifier, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(solver="search", max_iter=5, random_state=0)
    >>> evaluate(clf.fit(X, y), X, y).n_rows
    150
    """
    leaf = clf.apply(X)
    given = np.asarray(y, dtype=object)  # else a text among numbers makes all text
    if given.shape != leaf.shape:
        raise ValueError(
            f"y must hold one label for each of the {len(leaf)} rows of X, got shape "
            f"{given.shape}."
        )
    labels, codes = label_codes(clf.classes_, given)
    confusion = np.zeros((len(labels), len(clf.classes_)), dtype=np.intp)
    np.add.at(confusion, (codes, clf.tree_.label[leaf]), 1)
    in_leaf = np.zeros((clf.tree_.n_nodes, len(labels)), dtype=np.intp)
    np.add.at(in_leaf, (leaf, codes), 1)
    return Evaluation(
        labels, confusion, clf.tree_.ancestors.T.astype(np.intp) @ in_leaf
    )


def label_codes(classes: AnyArray, y: AnyArray) -> tuple[AnyArray, IntArray]:
    """The classes and, after them, the labels that are none; the index of each in y."""
    index = {label: k for k, label in enumerate(classes.tolist())}
    codes = [index.setdefault(label, len(index)) for label in y.tolist()]
    labels = np.empty(len(index), dtype=object)
    labels[:] = list(index)
    return labels, np.array(codes, dtype=np.intp)
