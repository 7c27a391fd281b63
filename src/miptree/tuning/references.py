"""Methods that everybody knows, in the same folds, to stand beside our trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from miptree.data import EmptyTableError
from miptree.data.rows import TrainingRows
from miptree.objective.leaf_probabilities import smoothed
from miptree.tuning.evaluate_fold import TableRules
from miptree.tuning.folds import Fold
from miptree.tuning.scoring import held_out_score, needs_probabilities
from miptree.utils.arrays import FloatArray

LOGISTIC, CART = "logistic regression", "CART"


def score_references(
    rows: TrainingRows, fold: Fold, rules: TableRules, depth: int, scoring: str
) -> dict[str, float]:
    """Score logistic regression, and CART of the same depth.

    Both get the numbers that oblique trees get: gaps filled, categories one-hot. With
    costs they predict what is cheapest by their probabilities.
    """
    from sklearn import config_context
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    known, held_out = rows.take(fold.train), rows.take(fold.test)
    try:
        table, _ = rules.learn(known, as_levels=False)
    except EmptyTableError:
        return {}
    if len(np.unique(known.y)) < 2:
        return {}
    X, X_test = (table.transform_cells(part.cells) for part in (known, held_out))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    with config_context(enable_metadata_routing=False):  # which takes no such name
        logistic.fit(X, known.y, logisticregression__sample_weight=known.weight)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0)
    cart.fit(X, known.y, sample_weight=known.weight)
    models = {LOGISTIC: logistic, CART: cart}
    scores = {}
    for name, model in models.items():
        predicted, proba = model.predict(X_test), None
        if needs_probabilities(scoring) or rows.costs is not None:
            proba = _probabilities(model, X, X_test, known)
        if proba is not None and rows.costs is not None:
            predicted = (proba @ rows.costs).argmin(axis=1)
        scores[name] = held_out_score(scoring, held_out, predicted, proba)
    return scores


def _probabilities(
    model: Any, X: FloatArray, X_test: FloatArray, known: TrainingRows
) -> FloatArray:
    """Return the probabilities of all classes; those of CART smoothed as ours are."""
    if hasattr(model, "tree_"):
        weight = np.zeros((model.tree_.node_count, known.n_classes))
        np.add.at(weight, (model.apply(X), known.y), known.weight)
        label = weight.argmax(axis=1)
        return smoothed(weight, label, float(known.weight.mean()))[model.apply(X_test)]
    proba = np.zeros((len(X_test), known.n_classes))
    proba[:, model.classes_] = model.predict_proba(X_test)
    return proba
