"""Measurement of one method on one split: accuracies, seconds, and its model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from miptree.bench.encoding import Encoder
from miptree.bench.methods import Method, Setting
from miptree.search import compile_kernels
from miptree.utils.arrays import AnyArray

if TYPE_CHECKING:
    import pandas as pd

Parts = Sequence[Any]
"""Training rows, test rows and their labels: two frames and two series."""


def measure(
    method: Method, setting: Setting, parts: Parts
) -> tuple[Any, dict[str, Any]]:
    """Fit a method to training rows; return the model and the fields of a record."""
    frame, frame_test, y, y_test = parts
    encoder = Encoder(method.encoding).fit(frame)
    X, X_test = encoder.transform(frame), encoder.transform(frame_test)
    compile_kernels()  # once on a machine, and no method's time
    labels, labels_test = y.to_numpy(dtype=str), y_test.to_numpy(dtype=str)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # such as of folds that lack a class
        model = method.make(setting)
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X, labels)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        train = int((model.predict(X) == labels).sum())
        test = int((model.predict(X_test) == labels_test).sum())
    return model, {
        "encoding": method.encoding,
        "n_train": len(y),
        "n_test": len(y_test),
        "n_features": X.shape[1],
        "train_correct": train,
        "test_correct": test,
        "train": round(100 * train / len(y), 4),
        "test": round(100 * test / len(y_test), 4),
        "wall": round(wall, 3),
        "cpu": round(cpu, 3),
        "test_rows_in_training": _overlap(frame, frame_test),
        **_probabilities(model, X_test, labels_test),
        **_details(model),
    }


def _probabilities(model: Any, X: Any, labels: AnyArray) -> dict[str, float]:
    """Return log loss and Brier score on test rows, if the model has probabilities."""
    if not hasattr(model, "predict_proba"):
        return {}
    proba = np.clip(model.predict_proba(X), 1e-15, None)
    proba = proba / proba.sum(axis=1, keepdims=True)
    is_class = labels[:, None] == np.asarray(model.classes_)[None, :]
    loss = -float(np.log(proba[is_class]).mean())
    brier = float(((proba - is_class) ** 2).sum(axis=1).mean())
    return {"log_loss": round(loss, 5), "brier": round(brier, 5)}


def split_rows(X: Any, y: Any, seed: int) -> list[Any]:
    """Return the training and test rows and their labels, 75/25 stratified."""
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)


def _overlap(frame: pd.DataFrame, frame_test: pd.DataFrame) -> float:
    """Return the share of test rows with the same features as a training row."""
    seen = set(frame.astype(object).itertuples(index=False, name=None))
    rows = frame_test.astype(object).itertuples(index=False, name=None)
    return round(float(np.mean([row in seen for row in rows])), 4)


def _details(model: Any) -> dict[str, Any]:
    """Return what a model of this package tells of itself."""
    details: dict[str, Any] = {}
    if hasattr(model, "status_"):
        details["fit_status"] = str(model.status_)
    for name in ("objective_", "bound_"):
        if np.isfinite(value := getattr(model, name, np.nan)):
            details[name.rstrip("_")] = float(value)
    for name in ("best_params_", "n_selected_"):
        if hasattr(model, name):
            details[name.rstrip("_")] = getattr(model, name)
    tree: Any = getattr(model, "tree_", None)
    if hasattr(tree, "coef"):
        details["leaves"] = int(tree.n_leaves)
        details["nonzeros"] = int(np.count_nonzero(tree.coef))
    return details
