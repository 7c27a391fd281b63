"""Choosing by cross-validation: same seeds, weights, tables, the tree chosen."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score

from _tuned import ALL_KINDS, FEW, fast, mixed_rows, same_tree, tuner
from miptree import export_text, load_json, save_json
from miptree.commands._comparison import unproved_sentence
from miptree.tuning import CartTree, Fold, GreedySvmTree, SoftTree, Svm1Tree, TableRules
from miptree.tuning.evaluate_fold import train_fold


def test_same_seed_same_tree_whatever_the_jobs() -> None:
    X, y = load_iris(return_X_y=True)
    one, two = fast(candidates=ALL_KINDS), fast(candidates=ALL_KINDS, n_jobs=2)
    assert same_tree(one.fit(X, y), two.fit(X, y))
    assert np.array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


def test_weights_equal_repeated_rows() -> None:
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    times = rng.integers(0, 4, len(y))
    order = rng.permutation(np.repeat(np.arange(len(y)), times))
    weighted = fast(candidates=ALL_KINDS).fit(X, y, sample_weight=times)
    repeated = fast(candidates=ALL_KINDS).fit(X[order], y[order])
    assert same_tree(weighted, repeated)
    assert weighted.best_score_ == pytest.approx(repeated.best_score_)


def test_the_table_of_scores_is_complete() -> None:
    X, y = load_iris(return_X_y=True)
    clf = fast(n_repeats=2).fit(X, y)
    table = clf.cv_results_
    assert clf.n_splits_ == 6
    assert len(table["params"]) == len(FEW)
    splits = np.array([table[f"split{f}_test_score"] for f in range(6)])
    assert np.allclose(np.nanmean(splits, axis=0), table["mean_test_score"])
    assert np.array_equal(np.isfinite(splits).sum(axis=0), table["n_splits"])
    assert sorted(table["rank_test_score"]) == [1, 2, 3]
    assert table["n_splits"][clf.best_index_] == 6
    params = dict(clf.best_params_)
    assert 0 <= params.pop("threshold") < 1
    assert params == table["params"][clf.best_index_]
    assert clf.status_ == "unproved"  # all folds were compared
    assert 0.9 < clf.best_score_ <= 1
    assert 0 <= clf.best_score_se_ < 0.1


def test_scores_are_those_of_rows_held_out() -> None:
    """Labels without any pattern cannot be predicted on rows held out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 6)), rng.integers(2, size=120)
    clf = fast(candidates=[SoftTree(), GreedySvmTree()], cv=5).fit(X, y)
    assert clf.score(X, y) > 0.7
    assert clf.best_score_ < 0.65


def test_categories_gaps_costs_and_class_weights() -> None:
    rng = np.random.default_rng(1)
    n_rows = 120
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
        }
    )
    y = np.where((frame["colour"] == "red") | (frame["size"] > 1), "yes", "no")
    frame.loc[3:8, "size"] = np.nan
    frame.loc[9:12, "colour"] = np.nan
    clf = fast(class_weight="balanced", cost_matrix=[[0, 1], [3, 0]])
    clf.fit(frame, y)
    assert clf.score(frame, y) > 0.9
    assert re.search(r"colour ?(!=|=|not in \{|in \{) ?red", export_text(clf))
    with pytest.raises(ValueError, match="shape"):
        fast(cost_matrix=[[0, 1, 2]]).fit(frame, y)


def test_only_categories() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "z", "w"] * 10})
    y = (frame["a"] == "x").to_numpy()
    clf = fast(categorical_encoding="native").fit(frame, y)
    assert clf.best_params_["kind"] == "CartTree"
    assert clf.score(frame, y) == 1


def test_levels_are_read_as_categories_where_that_is_better() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 6, 300), rng.normal(size=300)])
    y = np.isin(X[:, 0], (2, 4)).astype(int)
    params = {"candidates": [SoftTree(l1=2e-3)], "max_depth": 1, "cv": 5}
    clf = fast(**params).fit(X, y)
    assert clf.best_params_["levels"]
    assert clf.score(X, y) == 1
    assert not fast(**params, levels=False).fit(X, y).best_params_["levels"]
    steps = (X[:, 0] > 2).astype(int)
    assert not fast(**params).fit(X, steps).best_params_["levels"]


def test_sparsity() -> None:
    X, y = load_wine(return_X_y=True)
    dense, sparse = (fast(sparsity=s).fit(X, y) for s in (None, 0.5))
    assert np.count_nonzero(sparse.tree_.coef) < np.count_nonzero(dense.tree_.coef)
    assert sparse.best_params_["threshold"] == 0.5
    limited = fast(max_features_per_split=2, candidates=ALL_KINDS).fit(X, y)
    assert np.count_nonzero(limited.tree_.coef, axis=1).max() <= 2


def test_the_depth_can_be_chosen() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    clf = fast(max_depth="cv", candidates=[SoftTree()])
    clf.fit(X, (X.prod(axis=1) > 0).astype(int))
    assert len(clf.cv_results_["params"]) == 4
    assert clf.get_depth() >= 2


def test_scikit_learn_tools() -> None:
    X, y = load_iris(return_X_y=True)
    clf = fast(candidates=[CartTree(), SoftTree()])
    assert clone(clf).get_params()["n_repeats"] == 1
    assert cross_val_score(clf, X, y, cv=3).mean() > 0.9
    grid = GridSearchCV(clf, {"max_depth": [1, 2]}, cv=2).fit(X, y)
    assert grid.best_params_ == {"max_depth": 2}
    assert fast(cv=None).fit(X, y).n_splits_ == 5


def test_progress_is_shown_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    fast().fit(X, y)
    assert capsys.readouterr() == ("", "")
    fast(verbose=1).fit(X, y)
    assert "folds" in capsys.readouterr().err


def test_few_rows_and_rare_classes() -> None:
    X = np.arange(8.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    clf = fast(cv=5).fit(X, y)
    assert set(clf.predict(X)) <= {0, 1, 2}
    with pytest.warns(UserWarning, match="no folds, such as of too few rows"):
        pair = fast(cv=5).fit([[0.0], [1.0]], [0, 1])
    assert pair.n_splits_ == 0


@pytest.mark.parametrize("wrong", [[], ["cart"], [CartTree]])
def test_wrong_candidates_are_refused(wrong: list[object]) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="candidates must be"):
        fast(candidates=wrong).fit(X, y)


def test_exports_and_certificate(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    clf = fast().fit(X, y)
    assert clf.certificate_.errors == int((clf.predict(X) != y).sum())
    assert not clf.certificate_.objective_optimal
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))


def test_many_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miptree.tuning.comparison.MOST_COMPARED", 100)
    monkeypatch.setattr("miptree.estimator_cv_winner.MOST_ROWS", 200)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y[:2] = 2  # a class so rare that a sample could miss it
    clf = fast(candidates=ALL_KINDS).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.certificate_.n_rows == 500


@pytest.mark.parametrize("unit", [1e-12, 1e-200, 1e200])
def test_units_do_not_matter(unit: float) -> None:
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    one, other = fast().fit(X, y), fast().fit(X * unit, y)
    # Rounding may decide between two settings that are equally good.
    assert one.best_score_ == pytest.approx(other.best_score_, abs=0.03)
    assert other.score(X * unit, y) > 0.95


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SoftTree(3.0), "smoothing of SoftTree must be finite and in"),
        (lambda: SoftTree(l1=-5), "l1 of SoftTree must be finite and >= 0"),
        (lambda: Svm1Tree(margin=0.0), "margin must lie in"),
        (lambda: Svm1Tree(slack_penalty=1.0), "must be at least 1"),
        (lambda: GreedySvmTree(-1), "C of GreedySvmTree must be"),
    ],
)
def test_wrong_parameters_of_candidates(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_levels_are_for_the_user_to_decide() -> None:
    X = np.tile(np.arange(1.0, 6.0), 12)[:, None]
    y = np.isin(X[:, 0], (2, 4)).astype(int)
    params = {"candidates": [SoftTree(l1=2e-3)], "max_depth": 1}
    assert fast(**params).fit(X, y).best_params_["levels"]
    for decided in ({"categorical_features": None}, {"unknown": "error"}):
        assert not fast(**params, **decided).fit(X, y).best_params_["levels"]
    declared = fast(**params, categorical_features=[0]).fit(X, y)
    assert len(declared.cv_results_["params"]) == 1


def test_classes_and_probabilities_agree() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    clf = fast(candidates=[SoftTree(0.8)], max_depth=4).fit(X, y)
    proba = clf.predict_proba(X)
    assert (proba[np.arange(40), clf.predict(X)] == proba.max(axis=1)).all()


def test_what_a_candidate_becomes_does_not_depend_on_the_others() -> None:
    rows = mixed_rows()
    fold = Fold(np.arange(0, 40), np.arange(40, 60), seed=3)
    together = train_fold(rows, fold, TableRules(), ALL_KINDS, 2).grown
    for candidate, trees in zip(ALL_KINDS, together, strict=True):
        alone = train_fold(rows, fold, TableRules(), [candidate], 2).grown[0]
        for tree, twin in zip(alone, trees, strict=True):
            assert np.allclose(tree.coef, twin.coef, atol=1e-5)


def test_few_rows_of_many_features_want_a_strong_penalty() -> None:
    scores = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 50))
        y = (X @ rng.normal(size=50) + 2 * rng.normal(size=100) > 0).astype(int)
        weak_and_strong = (SoftTree(l2=1e-3), SoftTree(l2=0.3))
        found = fast(candidates=weak_and_strong, cv=5, n_repeats=2).fit(X, y)
        scores.append(found.cv_results_["mean_test_score"])
    weak, strong = np.mean(scores, axis=0)
    assert strong > weak + 0.02


def test_candidates_that_can_split_nothing_leave_a_constant() -> None:
    """Values of a category alone, and trees of hyperplanes alone."""
    X = pd.DataFrame({"c": list("abcd") * 10})
    y = np.array([0, 0, 0, 1] * 10)
    clf = fast(candidates=[SoftTree()], categorical_encoding="native").fit(X, y)
    assert clf.predict(X).tolist() == [0] * 40
    assert np.isnan(clf.best_score_)


def test_what_is_said_of_a_tuned_tree_is_what_its_certificate_says():
    X = np.arange(40.0)[:, None]
    clear = X[:, 0] > 19.5
    said = unproved_sentence(tuner(()).fit(X, clear))
    assert said.startswith("Proved: no tree of depth 2 makes fewer errors. The tree")
    assert "nothing else is proved" in said
    mixed = clear ^ np.isin(np.arange(40), (3, 8, 13, 18, 23, 28, 33, 38))
    clf = tuner(()).fit(X, mixed)
    assert clf.certificate_.errors
    assert "and nothing is proved of it" in unproved_sentence(clf)
