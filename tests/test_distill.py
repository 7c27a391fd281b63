"""A tree that stands for a black box."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from miptree import distill, load_json, prediction_costs, save_json, verify
from miptree.estimator import OptimalTreeClassifier

QUICK = {"solver": "search", "max_iter": 30, "random_state": 0, "time_limit": None}


def test_fidelity_is_counted_by_prediction() -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    tree = distill(forest, X[::2], X_test=X[1::2], **QUICK)
    assert isinstance(tree, OptimalTreeClassifier)
    same = tree.predict(X[::2]) == forest.predict(X[::2])
    other = tree.predict(X[1::2]) == forest.predict(X[1::2])
    assert tree.fidelity_.train == pytest.approx(same.mean())
    assert tree.fidelity_.test == pytest.approx(other.mean())
    assert tree.fidelity_.train > 0.95
    assert tree.certificate_.errors == int((~same).sum())
    assert f"{same.mean():.1%}" in str(tree.fidelity_)


def test_a_distilled_certificate_is_verified() -> None:
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    tree = distill(forest, X, max_depth=1, **QUICK)
    assert tree.certificate_.errors > 0
    given = (tree.certificate_, tree.tree_, X, forest.predict(X))
    costs = prediction_costs(forest, X)
    assert verify(*given, row_costs=costs, classes=tree.classes_).ok
    assert not verify(*given, classes=tree.classes_).ok
    costs[0] *= 2
    found = verify(*given, row_costs=costs, classes=tree.classes_)
    assert "data digest" in {check.name for check in found.wrong}
    with pytest.raises(ValueError, match="178 rows and 3 classes, got"):
        verify(*given, row_costs=costs[1:], classes=tree.classes_)
    with pytest.raises(ValueError, match="not both"):
        verify(*given, row_costs=costs, cost_matrix=1 - np.eye(3))


def test_a_linear_model_is_met_exactly() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X @ [1, -2, 0.5] > 0.3).astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=100)).fit(X, y)
    tree = distill(model, X, max_depth=1, **QUICK)
    assert tree.fidelity_.train > 0.99
    assert tree.fidelity_.regret < 1e-3


class Doubtful:
    """Sure of rows 1, 3 and 5, and in doubt about those between."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        yes = np.where(X[:, 0] % 2 == 1, 0.0, 0.55)
        return np.column_stack([1 - yes, yes])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_probabilities_decide_where_a_tree_cannot_follow() -> None:
    X = np.arange(7.0)[:, None]
    tree = distill(Doubtful(), X, max_depth=1, **QUICK)
    # The doubtful rows are more, but to be wrong about them costs a tenth.
    assert set(tree.predict(X[1::2])) == {"no"}
    assert list(tree.classes_) == ["no", "yes"]
    assert tree.fidelity_.regret <= 0.4 / 7 + 1e-12


def test_frames_with_categories_and_json(tmp_path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=80), "colour": rng.choice(["red", "blue"], 80)}
    )
    y = np.where((frame["colour"] == "red") ^ (frame["size"] > 0), "a", "b")
    encode = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    model = make_pipeline(encode, RandomForestClassifier(20, random_state=0))
    model.fit(frame.round({"size": 0}), y)
    tree = distill(model, frame.round({"size": 0}), **QUICK)
    assert tree.fidelity_.train > 0.95
    save_json(tree, tmp_path / "tree.json")
    loaded = load_json(tmp_path / "tree.json")
    assert np.array_equal(loaded.predict(frame), tree.predict(frame))


def test_bad_models() -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="predict_proba"):
        distill(LinearSVC().fit(X, y), X)
    with pytest.raises(ValueError, match="takes no cost_matrix"):
        distill(LogisticRegression(), X, cost_matrix=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="not fitted"):
        distill(LogisticRegression(), X)
    with pytest.raises(ValueError, match="max_depth"):
        distill(RandomForestClassifier(5).fit(X, y), X, max_depth=0)
    one = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="predicts 0 for every row"):
        distill(one, X[y == 0])


def test_a_model_with_a_threshold_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.2).fit(X, y)
    weight = rng.integers(1, 4, 200)
    tree = distill(model, X, max_depth=1, sample_weight=weight, **QUICK)
    same = tree.predict(X) == model.predict(X)
    assert tree.fidelity_.train == pytest.approx(np.average(same, weights=weight))
    assert tree.fidelity_.train > 0.97
