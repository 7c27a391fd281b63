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
    """A peer that wants the classes 0, 1, ..., with labels translated."""

    def __init__(self, peer: Any) -> None:
        self.peer = peer

    def fit(self, X: FloatArray, y: ArrayLike) -> CodedLabels:
        """Fit the peer."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.peer.fit(X, codes)
        return self

    def predict(self, X: FloatArray) -> AnyArray:
        """Return the labels of the peer's classes."""
        return self.classes_[np.asarray(self.peer.predict(X), dtype=np.intp)]


class YdfTree:
    """One oblique CART tree of YDF on unnamed columns of numbers, classes 0, 1, ..."""

    def __init__(self, max_depth: int, seed: int) -> None:
        self.max_depth, self.seed = max_depth, seed

    def fit(self, X: FloatArray, codes: AnyArray) -> YdfTree:
        """Train without the validation rows that YDF would hold out for pruning."""
        import ydf

        ydf.verbose(0)
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
        """Return the most probable class."""
        probability = np.asarray(self.model_.predict(_columns(X)))
        if probability.ndim == 1:  # two classes: of the second
            probability = np.column_stack([1 - probability, probability])
        return np.asarray(self.model_.label_classes())[probability.argmax(axis=1)]


def _columns(X: FloatArray) -> dict[str, FloatArray]:
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}


def streed(depth: int, seconds: float | None, seed: int) -> CodedLabels:
    """Return STreeD: an optimal univariate tree on 5 quantiles of each feature."""
    from pystreed import STreeDClassifier

    return CodedLabels(
        STreeDClassifier(max_depth=depth, time_limit=seconds, random_seed=seed)
    )


def contree(depth: int, seconds: float | None, seed: int) -> CodedLabels:
    """Return ConTree: an optimal univariate tree on all thresholds."""
    from pycontree import ConTree

    return CodedLabels(ConTree(max_depth=depth, time_limit=seconds))


def treeple(depth: int, seconds: float | None, seed: int) -> Any:
    """Return a greedy oblique tree over many random sparse projections."""
    from treeple.tree import ObliqueDecisionTreeClassifier

    class Wide(ObliqueDecisionTreeClassifier):
        def fit(self, X: FloatArray, y: ArrayLike) -> Any:
            self.max_features = WIDE * X.shape[1]
            return super().fit(X, y)

    return Wide(max_depth=depth, random_state=seed)


def ydf(depth: int, seconds: float | None, seed: int) -> CodedLabels:
    """Return a greedy sparse oblique tree of Yggdrasil."""
    import_module("ydf")  # missing here, not in the middle of a run
    return CodedLabels(YdfTree(depth, seed))
