"""Other packages' trees, each imported only when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree.utils.arrays import AnyArray, FloatArray

WIDE = 20
"""Projections that treeple tries per feature; its default of 1 is much weaker."""


class CodedLabels:
    """A peer that wants classes 0, 1, ...; holds the peer and translates."""

    def __init__(self, peer: Any) -> None:
        self.peer = peer

    def fit(self, X: FloatArray, y: ArrayLike) -> CodedLabels:
        """Fit the peer."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.peer.fit(X, codes)
        return self

    def predict(self, X: FloatArray) -> AnyArray:
        """Labels of the peer's classes."""
        return self.classes_[np.asarray(self.peer.predict(X), dtype=np.intp)]


class YdfTree:
    """One oblique CART tree of YDF on unnamed columns of numbers."""

    def __init__(self, max_depth: int, seed: int) -> None:
        self.max_depth, self.seed = max_depth, seed

    def fit(self, X: FloatArray, y: ArrayLike) -> YdfTree:
        """Train without the validation rows that YDF would hold out for pruning."""
        import ydf

        ydf.verbose(0)
        self.classes_, codes = np.unique(y, return_inverse=True)
        learner = ydf.CartLearner(
            label="label",
            max_depth=self.max_depth + 1,  # it counts the root as 1
            split_axis="SPARSE_OBLIQUE",
            validation_ratio=0.0,
            random_seed=self.seed,
            num_threads=1,
        )
        self.model_ = learner.train({**_columns(X), "label": codes.astype(str)})
        return self

    def predict(self, X: FloatArray) -> AnyArray:
        """Most probable class."""
        probability = np.asarray(self.model_.predict(_columns(X)))
        names = np.asarray(self.model_.label_classes()).astype(int)
        if probability.ndim == 1:  # two classes: of the second
            return self.classes_[names[(probability > 0.5).astype(int)]]
        return self.classes_[names[probability.argmax(axis=1)]]


def _columns(X: FloatArray) -> dict[str, FloatArray]:
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}


def streed(depth: int, seconds: float, seed: int) -> CodedLabels:
    """STreeD: optimal univariate tree on 5 quantiles of each feature."""
    from pystreed import STreeDClassifier

    return CodedLabels(
        STreeDClassifier(max_depth=depth, time_limit=seconds, random_seed=seed)
    )


def contree(depth: int, seconds: float, seed: int) -> CodedLabels:
    """ConTree: optimal univariate tree on all thresholds."""
    from pycontree import ConTree

    return CodedLabels(ConTree(max_depth=depth, time_limit=seconds))


def treeple(depth: int, seconds: float, seed: int) -> Any:
    """Greedy oblique tree over many random sparse projections."""
    from treeple.tree import ObliqueDecisionTreeClassifier

    class Wide(ObliqueDecisionTreeClassifier):
        def fit(self, X: FloatArray, y: ArrayLike) -> Any:
            self.max_features = WIDE * X.shape[1]
            return super().fit(X, y)

    return Wide(max_depth=depth, random_state=seed)


def ydf(depth: int, seconds: float, seed: int) -> YdfTree:
    """Greedy sparse oblique tree of Yggdrasil."""
    import_module("ydf")  # missing here, not in the middle of a run
    return YdfTree(depth, seed)
