"""Explaining a black box: a small tree that predicts as it does, where it can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from miptree.classifiers.ruled_rows import GivenGroups
from miptree.classifiers.table_classifier import TableClassifier
from miptree.data.rows import TrainingRows
from miptree.estimator import OptimalTreeClassifier
from miptree.estimator_points import PointsTreeClassifier
from miptree.utils.arrays import AnyArray, FloatArray, IntArray

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
        predicting the tree's class and not the most probable one.
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
    style: str = "oblique",
    X_test: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sensitive_features: Any = None,
    control_features: Any = None,
    **params: Any,
) -> OptimalTreeClassifier | PointsTreeClassifier:
    """Fit a small tree to the predictions of a fitted classifier.

    The tree minimises its objective with the costs that the model's probabilities
    suggest: to predict class k where the model predicts another costs the difference of
    their probabilities (1 where the model's prediction is not its most probable class).
    Labels are not needed, so X may hold any rows that the model should be explained
    for, the more the better.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` and ``classes_``; it may be a pipeline.
    X : data frame or array-like of shape (n_samples, n_features)
        Rows that the model and the tree read.
    style : {"oblique", "points"}, default="oblique"
        Kind of tree.
    X_test : data frame or array-like, optional
        Other rows, to measure how faithful the tree is.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0 of the rows.
    sensitive_features, control_features : array-like, optional
        Groups of the rows for ``constraints``, which are then about what the tree
        predicts; classes of rows are the model's predictions.
    **params
        Parameters of :class:`~miptree.OptimalTreeClassifier`, or for points of
        :class:`~miptree.PointsTreeClassifier`, such as ``max_depth``; not
        ``class_weight`` nor ``cost_matrix``. As a model's predictions have no noise to
        guard against, slack_penalty is 1000, l1_penalty 0.1 and margin 0.001 by
        default.

    Returns
    -------
    OptimalTreeClassifier or PointsTreeClassifier
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
    clf = _classifier(style, params)
    clf._validate_params()
    predicted, classes = _predictions(model, X), np.asarray(model.classes_)
    _refuse_one_class(predicted, classes)
    weight: list[FloatArray] = []

    def revise(rows: TrainingRows, _: AnyArray) -> tuple[TrainingRows, AnyArray]:
        """Give the rows the model's probabilities as costs, and all its classes."""
        weight.append(rows.weight)
        costs = _costs(proba, predicted)
        n_classes = len(classes)
        return replace(rows, y=predicted, n_classes=n_classes, row_costs=costs), classes

    groups: dict[str, Any] = {}
    if isinstance(clf, OptimalTreeClassifier):
        groups["groups"] = GivenGroups(sensitive_features, control_features)
    elif sensitive_features is not None or control_features is not None:
        raise ValueError("Points trees have no constraints: leave out the groups.")
    clf._fit(X, classes[predicted], sample_weight, revise=revise, **groups)
    clf._warn_if_interrupted()
    own = _codes(clf, X)
    lost = proba.max(axis=1) - proba[np.arange(len(own)), own]
    clf.fidelity_ = Fidelity(
        train=float(np.average(own == predicted, weights=weight[0])),
        test=None
        if X_test is None
        else float((_codes(clf, X_test) == _predictions(model, X_test)).mean()),
        regret=float(np.average(lost, weights=weight[0])),
    )
    return clf


def prediction_costs(model: Any, X: Any) -> FloatArray:
    """Return what predicting each class costs where :func:`distill` follows a model.

    It takes the same ``model`` and ``X``.

    Returns
    -------
    float array of shape (n_samples, n_classes)
        The ``row_costs`` of :func:`miptree.certificate.verify`.
    """
    return _costs(_probabilities(model, X), _predictions(model, X))


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


def _predictions(model: Any, X: Any) -> IntArray:
    """Return the class indices that the model predicts, not always the likeliest."""
    classes = np.asarray(model.classes_)
    order = np.argsort(classes)
    predicted = np.asarray(model.predict(X))
    found: IntArray = order[np.searchsorted(classes, predicted, sorter=order)]
    return found


def _refuse_one_class(predicted: IntArray, classes: AnyArray) -> None:
    if len(np.unique(predicted)) < 2:
        only = classes.tolist()[predicted[0]]
        raise ValueError(
            f"The model predicts {only!r} for every row of X: "
            "there is nothing to explain. Give rows of which some are predicted "
            "otherwise."
        )


def _costs(proba: FloatArray, predicted: IntArray) -> FloatArray:
    rows = np.arange(len(predicted))
    # Forests add their trees up in any order, and so differ in the last digits.
    costs = np.round(proba[rows, predicted, None] - proba, 12)
    costs[(costs < 0).any(axis=1)] = 1.0
    costs[rows, predicted] = 0.0
    return costs


def _classifier(
    style: str, params: dict[str, Any]
) -> OptimalTreeClassifier | PointsTreeClassifier:
    if style == "oblique":
        return OptimalTreeClassifier(**(_PENALTIES | params))
    if style == "points":
        return PointsTreeClassifier(**params)
    raise ValueError(f'style must be "oblique" or "points", got {style!r}.')


def _codes(clf: TableClassifier, X: Any) -> IntArray:
    """Return the class indices that the tree predicts."""
    leaf = clf.apply(X)
    return clf.tree_.label[leaf]
