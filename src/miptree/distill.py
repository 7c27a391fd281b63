"""Explaining a black box: a small tree that predicts as it does, where it can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree._clock import Clock
from miptree._typing import AnyArray, FloatArray
from miptree.estimator import OptimalTreeClassifier
from miptree.problem import Problem

_PENALTIES = {"slack_penalty": 1000.0, "l1_penalty": 0.1, "margin": 0.001}


@dataclass(frozen=True)
class Fidelity:
    """How well a tree stands for a model.

    Attributes
    ----------
    train : float
        Share of the rows it was fitted to for which it predicts as the model does.
    test : float or None
        The same for other rows, if there were any.
    regret : float
        Mean probability, by the model, that is lost on the rows it was fitted to by
        predicting the tree's class and not the model's.
    """

    train: float
    test: float | None
    regret: float

    def __str__(self) -> str:
        text = f"The tree predicts as the model does for {self.train:.1%} of the rows"
        if self.test is not None:
            text += f" it was fitted to, and for {self.test:.1%} of other rows"
        return (
            f"{text}; by the model's own probabilities it is right "
            f"{self.regret:.1%} less often."
        )


def distill(
    model: Any,
    X: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> OptimalTreeClassifier:
    """Fit a small tree to the predictions of a fitted classifier.

    The tree minimises (1a) with the costs that the model's probabilities suggest: to
    predict class k where the model prefers another costs the difference of their
    probabilities. Labels are not needed, so X may hold any rows that the model should
    be explained for, the more the better.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` and ``classes_``; it may be a pipeline.
    X : data frame or array-like of shape (n_samples, n_features)
        Rows that the model and the tree read.
    X_test : data frame or array-like, optional
        Other rows, to measure how faithful the tree is.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0 of the rows.
    **params
        Parameters of :class:`~miptree.OptimalTreeClassifier`, such as ``max_depth``;
        not ``class_weight`` nor ``cost_matrix``. By default slack_penalty is 1000,
        l1_penalty 0.1 and margin 0.001: a model's predictions have no noise to guard
        against.

    Returns
    -------
    OptimalTreeClassifier
        Fitted, with a ``fidelity_`` of type :class:`Fidelity`. Errors in its
        certificate are rows for which it does not predict as the model does.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from miptree import distill
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> tree = distill(forest, X, solver="search", max_iter=50, random_state=0)
    >>> bool(tree.fidelity_.train > 0.95)
    True
    """
    refused = sorted({"class_weight", "cost_matrix"} & set(params))
    if refused:
        raise ValueError(
            f"distill takes no {refused[0]}: what an error costs is for the model's "
            "probabilities to say. Give sample_weight to weigh rows."
        )
    proba = _probabilities(model, X)
    clf = OptimalTreeClassifier(**(_PENALTIES | params))
    clf._validate_params()
    clock, plan = Clock(clf.time_limit), clf._plan()
    problem = _problem(clf, model, X, proba, sample_weight)
    clf._fit_problem(problem, plan, clock)
    clf.fidelity_ = _fidelity(clf, model, X, proba, X_test)
    return clf


def _probabilities(model: Any, X: Any) -> FloatArray:
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{type(model).__name__} has no predict_proba, whose probabilities the "
            "tree is fitted to. Give a classifier that has it; for a support vector "
            "machine see sklearn.calibration.CalibratedClassifierCV."
        )
    if not hasattr(model, "classes_"):
        raise ValueError(f"{type(model).__name__} is not fitted: call its fit first.")
    proba = np.asarray(model.predict_proba(X), dtype=np.float64)
    if proba.shape[1:] != (len(model.classes_),) or not np.isfinite(proba).all():
        raise ValueError(
            "predict_proba of the model must give a finite number for each row and "
            f"each of its {len(model.classes_)} classes, got shape {proba.shape}."
        )
    return proba


def _problem(
    clf: OptimalTreeClassifier,
    model: Any,
    X: ArrayLike,
    proba: FloatArray,
    sample_weight: ArrayLike | None,
) -> Problem:
    """Rows with the model's predictions as labels, and its probabilities as costs."""
    preferred = proba.argmax(axis=1)
    rows = clf._rows(X, np.asarray(model.classes_)[preferred], sample_weight)
    # All classes of the model, also those that it prefers for none of the rows.
    clf.classes_ = np.asarray(model.classes_)
    rows = replace(rows, y=preferred, n_classes=len(clf.classes_))
    regret = proba.max(axis=1, keepdims=True) - proba
    return clf._problem_of(replace(rows, row_costs=regret))


def _fidelity(
    clf: OptimalTreeClassifier,
    model: Any,
    X: Any,
    proba: FloatArray,
    X_test: Any,
) -> Fidelity:
    codes = _codes(clf, X)
    own = proba[np.arange(len(proba)), codes]
    test = None
    if X_test is not None:
        preferred = _probabilities(model, X_test).argmax(axis=1)
        test = float((_codes(clf, X_test) == preferred).mean())
    return Fidelity(
        train=float((codes == proba.argmax(axis=1)).mean()),
        test=test,
        regret=float((proba.max(axis=1) - own).mean()),
    )


def _codes(clf: OptimalTreeClassifier, X: Any) -> AnyArray:
    leaf = clf.apply(X)
    return clf.tree_.label[leaf]
