"""Sizes of training data whose last columns are the values of categorical features."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from miptree.tree import HeapTree
from miptree.utils.arrays import FloatArray, IntArray


class DataShape:
    """Base of the classes that hold rows, with numbers read from their arrays.

    The first columns of X are open to hyperplanes. The others are 0/1 columns of the
    values of categorical features; of each feature exactly one is 1 in a row. Their
    feature is in ``value_feature``. A hyperplane has up to ``max_features`` non-zero
    coefficients.
    """

    X: FloatArray
    y: IntArray
    value_feature: IntArray
    max_features: int | None

    @property
    def n_rows(self) -> int:
        """Number n of rows."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return self.X.shape[1]

    @property
    def n_open(self) -> int:
        """Number of features open to hyperplanes: the first ones."""
        return self.n_features - len(self.value_feature)

    @property
    def is_limited(self) -> bool:
        """Whether a hyperplane may not use all the open features."""
        return self.max_features is not None and self.max_features < self.n_open

    @property
    def n_categorical(self) -> int:
        """Number of categorical features that have subset splits."""
        return int(self.value_feature.max(initial=-1)) + 1

    @cached_property
    def value_codes(self) -> IntArray:
        """(n_categorical, n): place of each row's value among the value columns."""
        values = self.X[:, self.n_open :]
        found = np.empty((self.n_categorical, self.n_rows), dtype=np.intp)
        for feature in range(self.n_categorical):
            place = np.flatnonzero(self.value_feature == feature)
            found[feature] = place[values[:, place].argmax(axis=1)]
        return found

    def limited(self, tree: HeapTree) -> HeapTree:
        """Keep only the ``max_features`` largest coefficients of each hyperplane."""
        if not self.is_limited:
            return tree
        coef = tree.coef.copy()
        opened = coef[:, : self.n_open]
        order = np.argsort(-np.abs(opened), axis=1, kind="stable")
        np.put_along_axis(opened, order[:, self.max_features :], 0.0, axis=1)
        return tree._replace(coef=coef)
