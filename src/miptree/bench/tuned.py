"""Penalties chosen by cross-validation on the training rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from miptree._clock import Clock
from miptree._typing import AnyArray
from miptree.estimator import OptimalTreeClassifier

GRID = [
    {"slack_penalty": slack, "l1_penalty": l1, "margin": margin}
    for slack, l1, margin in (
        (100.0, 10.0, 0.01),  # the default comes first and so wins ties
        (100.0, 3.0, 0.01),
        (100.0, 30.0, 0.01),
        (1000.0, 0.1, 0.01),
        (1000.0, 1.0, 0.001),
        (20.0, 3.0, 0.05),
    )
]
"""Few settings from sparse and wide to dense and narrow, fixed before any test."""
FOLDS = 4
TUNING_SHARE = 0.5
"""Part of the time for the cross-validation; the final fit has the rest."""


class TunedTreeClassifier(ClassifierMixin, BaseEstimator):
    """``OptimalTreeClassifier`` with penalties from :data:`GRID` by inner CV.

    Parameters
    ----------
    max_depth : int, default=2
        Depth of the tree.
    time_limit : float or None, default=60
        Seconds for the cross-validation and the final fit together.
    max_iter : int or None, default=None
        Iterations of every search, a budget that does not depend on speed.
    solver : str, default="highs"
        Of the final fit; the folds are searched without a MIP.
    random_state : int, default=0
        Seed of folds, searches and solver.
    """

    def __init__(
        self,
        *,
        max_depth: int = 2,
        time_limit: float | None = 60.0,
        max_iter: int | None = None,
        solver: str = "highs",
        random_state: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> TunedTreeClassifier:
        """Choose the penalties, then fit on all rows."""
        clock = Clock(self.time_limit)
        y = np.asarray(y)
        self.fold_scores_ = self._fold_scores(X, y, clock.share(TUNING_SHARE))
        # No fold done in time: the default. The first of equals: the default, if it is.
        mean = np.mean(self.fold_scores_, axis=0) if self.fold_scores_ else [0.0]
        self.best_params_ = GRID[int(np.argmax(mean))]
        final = self._tree(self.solver, clock.remaining).set_params(**self.best_params_)
        self.best_estimator_ = final.fit(X, y)
        self.classes_ = final.classes_
        self.tree_, self.status_ = final.tree_, final.status_
        self.objective_, self.bound_ = final.objective_, final.bound_
        return self

    def _fold_scores(self, X: Any, y: AnyArray, clock: Clock) -> list[list[float]]:
        """Accuracy of every setting on every fold that was finished in time."""
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.random_state)
        scores: list[list[float]] = []
        with warnings.catch_warnings():
            # A class may have fewer rows than there are folds.
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = list(folds.split(X, y))
        for k, (train, test) in enumerate(parts):
            row: list[float] = []
            for i, params in enumerate(GRID):
                if clock.is_over:
                    return scores
                left = (FOLDS - k) * len(GRID) - i
                tree = self._tree("search", clock.share(1 / left).limit)
                tree.set_params(**params).fit(_safe_indexing(X, train), y[train])
                row.append(float(tree.score(_safe_indexing(X, test), y[test])))
            scores.append(row)
        return scores

    def predict(self, X: Any) -> AnyArray:
        """Class labels."""
        return self.best_estimator_.predict(X)

    def _tree(self, solver: str, seconds: float | None) -> OptimalTreeClassifier:
        return OptimalTreeClassifier(
            max_depth=self.max_depth,
            solver=solver,
            time_limit=seconds,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
