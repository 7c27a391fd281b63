"""The ladder of styles: the simplest tree that is about as good as the best."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
)
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.preprocessing import StandardScaler

from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    export_text,
    load_json,
    save_json,
    verify_model,
)
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.estimator_cv_winner import TrainedWinner, WinnerTraining
from miptree.tuning import (
    CVResults,
    LogisticTree,
    PointsTree,
    Race,
    TuningSetting,
    chosen,
    ladder,
    why_chosen,
)
from miptree.tuning.candidates import CartTree, ConstantTree, SoftTree, Svm1Tree
from miptree.tuning.evaluate_fold import FOLD_EFFORT
from miptree.tuning.folds import stratified_folds
from miptree.tuning.grow import Grower
from miptree.tuning.ladder import uncompared
from miptree.tuning.scores import FoldScores
from miptree.tuning.scoring import between_rows_and_classes, tree_score
from miptree.tuning.training_part import TrainingPart
from miptree.tuning.tuning_progress import TuningProgress

SETTINGS = (
    TuningSetting(ConstantTree(), 2),
    TuningSetting(PointsTree(), 2),
    TuningSetting(SoftTree(), 2, max_features=4),
    TuningSetting(SoftTree(), 2),
)
QUICK = {"n_repeats": 1, "cv": 3, "time_limit": None, "random_state": 0}


def results_of(*folds):
    """Results of settings with the scores of each fold."""
    found = CVResults(SETTINGS, (0.1,), len(folds), np.ones(4, dtype=bool))
    for number, scores in enumerate(folds):
        column = np.array(scores)[:, None]
        found = found.with_fold(number, FoldScores(column, column * 0, column * 0 + 3))
    return found


def noisy(seed=0, n=120):
    """Two classes that one hyperplane of two features tells apart, mostly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=n) > 0).astype(int)


# ------------------------------------------------------------------------- the rule


def test_the_simplest_style_near_the_best_is_taken():
    # Points trees are behind by 0.02 in the mean, with a standard error of 0.02.
    results = results_of((0.5, 0.90, 0.90, 0.90), (0.5, 0.86, 0.86, 0.90))
    rungs = ladder(results, 1.0)
    assert [rung.style for rung in rungs] == ["constant", "points", "sparse", "oblique"]
    assert [rung.is_near for rung in rungs] == [False, True, True, True]
    assert rungs[1].behind == pytest.approx(0.02)
    assert rungs[1].behind_se == pytest.approx(0.02)
    assert chosen(rungs).style == "points"
    why = why_chosen(rungs, 2)
    assert "the oblique one: it is behind by 2.0 points (standard error 2.0)" in why
    strict = ladder(results, 0.5)
    assert chosen(strict).style == "oblique"
    assert "no simpler style is as good" in why_chosen(strict, 2)


def test_a_long_tree_is_taken_with_a_word_on_the_shorter_one():
    """Who must read 31 terms learns what a tree of 11 would cost."""
    found = CVResults(SETTINGS, (0.1,), 2, np.ones(4, dtype=bool))
    for number, best in enumerate((0.90, 0.92)):
        scores = np.array([[0.5], [0.7], [0.8], [best]])
        terms = np.array([[0.0], [4.0], [11.0], [31.0]])
        found = found.with_fold(number, FoldScores(scores, scores * 0, terms))
    why = why_chosen(ladder(found, 1.0), 2)
    assert why.startswith("The oblique tree was taken: no simpler style is as good")
    assert (
        "It has 31 terms in the mean; style 'sparse' gives a tree of 11, behind by "
        "11.0 points (standard error 1.0)." in why
    )
    same_length = results_of((0.5, 0.7, 0.8, 0.9), (0.5, 0.7, 0.8, 0.92))
    assert "terms" not in why_chosen(ladder(same_length, 1.0), 2)


def test_a_small_difference_is_tolerated_however_clear_it_is():
    results = results_of((0.5, 0.895, 0.9, 0.9), (0.5, 0.895, 0.9, 0.9))
    assert chosen(ladder(results, 1.0)).style == "sparse"
    assert chosen(ladder(results, 1.0, tolerance=0.006)).style == "points"


def test_a_style_without_the_time_for_a_tree_is_not_taken():
    nan = float("nan")
    rungs = ladder(results_of((0.5, nan, 0.9, 0.9), (0.5, 0.9, 0.9, 0.9)), 1.0)
    assert np.isnan(rungs[1].winner.score)
    assert rungs[1].winner.setting.style == "points"
    assert chosen(rungs).style == "sparse"


def test_differences_are_paired():
    """Folds differ far more than styles do: only their differences count."""
    results = results_of((0.5, 0.58, 0.6, 0.6), (0.5, 0.88, 0.9, 0.9))
    assert [rung.is_near for rung in ladder(results, 1.0)] == [False, False, True, True]


def test_a_constant_is_taken_only_if_no_split_helps():
    near = results_of((0.80, 0.60, 0.60, 0.82), (0.80, 0.60, 0.60, 0.80))
    assert chosen(ladder(near, 1.0)).style == "oblique"
    best = ladder(results_of((0.8, 0.6, 0.6, 0.8), (0.8, 0.6, 0.6, 0.7)), 1.0)
    assert chosen(best).style == "constant"
    assert "class weights" in why_chosen(best, 2)


def test_without_a_fold_the_most_free_style_is_trained():
    rungs = ladder(results_of(), 1.0)
    assert chosen(rungs).style == "oblique"
    assert "without a comparison" in why_chosen(rungs, 0)


def test_a_style_that_is_clearly_behind_leaves_one_setting_in_the_race():
    results = results_of((0.5, 0.7, 0.9, 0.9), (0.5, 0.7, 0.9, 0.91))
    assert results.without_losers().alive.tolist() == [True] * 4
    rungs = ladder(results.without_losers(), 1.0)
    assert not rungs[1].is_near


# --------------------------------------------------------------------------- classifier


def test_a_points_tree_is_taken_saved_and_proved(tmp_path):
    X = load_iris(as_frame=True).data
    y = np.where(X["petal width (cm)"] > 1.5, "wide", "narrow")
    clf = OptimalTreeClassifierCV(**QUICK).fit(X, y)
    assert clf.style_ == "points"
    assert clf.status_ == "optimal"
    assert isinstance(clf.best_estimator_, PointsTreeClassifier)
    assert (clf.predict(X) == clf.best_estimator_.predict(X)).all()
    assert set(clf.references_) == {"logistic regression", "CART"}
    assert export_text(clf) == export_text(clf.best_estimator_)
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert isinstance(loaded, PointsTreeClassifier)
    assert (loaded.predict_proba(X) == clf.predict_proba(X)).all()


@pytest.mark.parametrize("style", ["points", "sparse", "oblique"])
def test_a_style_can_be_asked_for(style):
    X, y = noisy()
    clf = OptimalTreeClassifierCV(style=style, **QUICK).fit(X, y)
    assert clf.style_ == style
    assert {rung.style for rung in clf.rungs_} == {style}
    assert clf.score(X, y) > 0.85
    kind = PointsTreeClassifier if style == "points" else OptimalTreeClassifier
    assert isinstance(clf.best_estimator_, kind)
    if style == "sparse":
        most = clf.best_estimator_.max_features_per_split
        assert most in (4, 6)  # there are six columns
        assert (np.count_nonzero(clf.tree_.coef, axis=1) <= most).all()


def test_sparse_trees_have_a_rung_of_few_features_and_one_of_more():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 12))
    y = (X[:, :7].sum(axis=1) > 0).astype(int)
    clf = OptimalTreeClassifierCV(style="sparse", max_depth=1, **QUICK).fit(X, y)
    few, more = clf.rungs_
    assert (few.name, more.name) == (
        "sparse (4 features a split)",
        "sparse (8 features a split)",
    )
    assert more.winner.score > few.winner.score + 0.03
    assert clf.best_estimator_.max_features_per_split == 8
    assert np.count_nonzero(clf.tree_.coef) in (7, 8)
    both = OptimalTreeClassifierCV(max_depth=1, max_features_per_split=6, **QUICK)
    assert [rung.name for rung in both.fit(X, y).rungs_][-2:] == [few.name, "oblique"]


def test_noise_gives_a_constant_and_says_so():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), (rng.random(60) < 0.15).astype(int)
    with pytest.warns(UserWarning, match="the tree is a constant"):
        clf = OptimalTreeClassifierCV(**QUICK).fit(X, y)
    assert clf.style_ == "constant"
    assert clf.get_n_leaves() == 1


def test_weights_and_costs_reach_all_styles():
    X, y = noisy(2)
    cost = [[0.0, 1.0], [8.0, 0.0]]
    for style in ("points", "sparse", "oblique"):
        clf = OptimalTreeClassifierCV(style=style, cost_matrix=cost, **QUICK)
        clf.fit(X, y, np.where(X[:, 2] > 0, 2.0, 1.0))
        missed = (clf.predict(X) == 0) & (y == 1)
        wrong = (clf.predict(X) == 1) & (y == 0)
        assert missed.sum() <= wrong.sum()


def test_the_winner_of_one_style_does_not_depend_on_the_others():
    X, y = noisy(3)
    both = OptimalTreeClassifierCV(**QUICK).fit(X, y)
    alone = OptimalTreeClassifierCV(style="points", **QUICK).fit(X, y)
    found = {rung.style: rung.winner for rung in both.rungs_}
    assert found["points"].setting == alone.rungs_[0].winner.setting
    assert found["points"].score == pytest.approx(alone.rungs_[0].winner.score)


def test_a_short_clock_has_the_quick_candidates_to_choose_from(monkeypatch):
    """The time is over as soon as the quick ones are done."""
    X, y = noisy(4)
    clf = OptimalTreeClassifierCV(**QUICK | {"time_limit": 1e6})
    waves = []
    scores = Race._scores

    def first_wave_only(self, start, wave, n_jobs, clock, file):
        waves.append(wave)
        if len(waves) > 1:
            clock.stop.request()
        return scores(self, start, wave, n_jobs, clock, file)

    monkeypatch.setattr(Race, "_scores", first_wave_only)
    with pytest.warns(UserWarning, match="too short to compare points trees"):
        clf.fit(X, y)
    assert len(waves) == 2
    assert clf.status_ == "interrupted"
    assert clf.n_splits_ == 3
    assert clf.best_params_["kind"] in ("LogisticTree", "GreedySvmTree", "CartTree")
    assert clf.score(X, y) > 0.85


# ---------------------------------------------------------------------- logistic trees


def part_of(X, y):
    problem = Problem.from_data(X, y, int(y.max()) + 1)
    return TrainingPart(problem, 1.0 - np.eye(problem.n_classes))


def test_one_level_is_logistic_regression():
    X, y = noisy(5)
    part = part_of(X, y)
    grower = Grower(part, 2, FOLD_EFFORT, 0, clock=Clock())
    heap = grower.grow([LogisticTree(C=1.0, n_levels=1)])[0][0]
    scaled = StandardScaler().fit_transform(X) / 2  # by two standard deviations
    model = LogisticRegression(C=1.0, max_iter=300).fit(scaled, y)
    predicted = part.problem.to_user(heap).predict(X)
    assert (predicted == model.predict(scaled)).mean() > 0.99


def test_many_classes_are_told_apart_level_by_level():
    rng = np.random.default_rng(6)
    y = np.arange(400) % 8
    bits = (y[:, None] >> np.arange(3)) & 1
    X = bits + 0.1 * rng.normal(size=(400, 3))
    grower = Grower(part_of(X, y), 3, FOLD_EFFORT, 0, clock=Clock())
    heap = grower.grow([LogisticTree(C=30.0)])[0][0]
    predicted = grower.part.problem.to_user(heap).predict(X)
    assert (predicted == y).mean() > 0.97


def test_settings_of_logistic_trees_are_checked():
    with pytest.raises(ValueError, match="C of LogisticTree"):
        LogisticTree(0.0)
    with pytest.raises(ValueError, match="whole number"):
        LogisticTree(1.0, 1.5)
    with pytest.raises(ValueError, match="n_levels of LogisticTree"):
        LogisticTree(1.0, 0)
    with pytest.raises(ValueError, match="penalty of PointsTree"):
        PointsTree(-1.0)


# ------------------------------------------------------------------------ rare classes


def rare(n=240):
    """One row in eight belongs to a class that overlaps with the other."""
    rng = np.random.default_rng(7)
    y = (np.arange(n) % 8 == 0).astype(int)
    return rng.normal(size=(n, 4)) + 0.9 * y[:, None] * [1, 1, 0, 0], y


@pytest.mark.parametrize("style", ["points", "sparse", "oblique"])
def test_balanced_accuracy_is_trained_for_and_compared_by(style):
    X, y = rare()
    plain = OptimalTreeClassifierCV(style=style, **QUICK).fit(X, y)
    clf = OptimalTreeClassifierCV(style=style, scoring="balanced_accuracy", **QUICK)
    clf.fit(X, y)
    found = balanced_accuracy_score(y, clf.predict(X))
    assert found > balanced_accuracy_score(y, plain.predict(X)) + 0.03
    assert clf.best_estimator_.class_weight == "balanced"
    assert abs(clf.best_score_ - found) < 0.15  # it is not the accuracy
    assert verify_model(clf, X, y).ok


@pytest.mark.parametrize("style", ["points", "sparse", "oblique"])
def test_f1_is_trained_for_between_rows_and_classes(style):
    X, y = rare()
    plain = OptimalTreeClassifierCV(style=style, **QUICK).fit(X, y)
    clf = OptimalTreeClassifierCV(style=style, scoring="f1_macro", **QUICK).fit(X, y)
    assert clf.predict(X).sum() > plain.predict(X).sum()  # more rows of the rare class
    assert clf.best_estimator_.class_weight == {0: 1.0, 1: 2.6}  # 7 to 1, sqrt 2.646
    assert 0.5 < clf.best_score_ < 0.8  # the accuracy of a constant is higher
    assert verify_model(clf, X, y).ok


def test_scores_are_those_of_scikit_learn():
    """On rows with weights, and a class that a tree never predicts."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    weight = rng.integers(1, 4, 90).astype(float)
    clf = OptimalTreeClassifier(max_depth=1, solver="search", max_iter=3)
    clf.fit(X, y, weight)
    predicted, proba, tree = clf.predict(X), clf.predict_proba(X), clf.tree_
    rows, classes = clf._rows(X, y, weight)
    problem, _ = clf._problem_of(rows, classes)
    known = {
        "accuracy": accuracy_score(y, predicted, sample_weight=weight),
        "f1_macro": f1_score(
            y, predicted, average="macro", sample_weight=weight, zero_division=0
        ),
        "neg_log_loss": -log_loss(y, proba, sample_weight=weight),
    }
    for scoring, score in known.items():
        found = tree_score(scoring, rows, X, tree, problem, has_blur=True)
        assert found == pytest.approx(score)
    weighed = between_rows_and_classes(rows)
    found = tree_score("f1_macro", weighed, X, tree, problem, has_blur=True)
    assert found == pytest.approx(known["f1_macro"])


def test_log_loss_prefers_the_trees_with_good_probabilities():
    X, y = rare()
    clf = OptimalTreeClassifierCV(scoring="neg_log_loss", **QUICK).fit(X, y)
    assert -np.log(2) < clf.best_score_ < 0
    constant = clf.rungs_[0].winner.score
    assert constant == pytest.approx(-0.377, abs=0.02)  # entropy of one in eight
    assert clf.best_score_ > constant
    assert clf.references_["logistic regression"] > constant
    near = clf.rungs_[-2]._replace(behind=0.0123, behind_se=0.02, is_near=True)
    best = clf.rungs_[-1]._replace(winner=replace(clf.rungs_[-1].winner, score=-0.1))
    why = why_chosen([near, best], 3, "neg_log_loss")
    assert "it is behind by 0.012 in log loss (standard error 0.020)" in why


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"scoring": "f1_macro", "class_weight": "balanced"}, "leave out class_weight"),
        ({"scoring": "f1_macro", "cost_matrix": [[0, 1], [2, 0]]}, "leave out one"),
        ({"scoring": "neg_log_loss", "cost_matrix": [[0, 1], [2, 0]]}, "leave out one"),
        ({"scoring": "cost"}, "needs a cost_matrix"),
    ],
)
def test_two_aims_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        OptimalTreeClassifierCV(**given).fit(*rare())


def test_cost_is_the_score_where_costs_are_given():
    X, y = rare()
    costs = [[0, 1], [4, 0]]
    one, two = (
        OptimalTreeClassifierCV(scoring=name, cost_matrix=costs, **QUICK).fit(X, y)
        for name in ("cost", "accuracy")
    )
    assert one.best_score_ == two.best_score_
    assert (one.predict(X) == two.predict(X)).all()


def test_balanced_accuracy_takes_no_class_weights():
    X, y = rare()
    clf = OptimalTreeClassifierCV(scoring="balanced_accuracy", class_weight="balanced")
    with pytest.raises(ValueError, match="leave out class_weight"):
        clf.fit(X, y)


# -------------------------------------------------------------------- found by reviews


def few_points(n=3000, seed=2):
    """Rows of eight kinds only: four points, two classes, all of them often."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 2)).astype(float)
    return X, (rng.random(n) < np.where(X[:, 0] == 1, 0.62, 0.45)).astype(int)


def test_rows_that_occur_often_are_in_every_fold():
    """Else the shares of the classes at a point differ from fold to fold."""
    X, y = few_points()
    clf = OptimalTreeClassifierCV(**QUICK).fit(X, y)
    known = cross_val_score(LogisticRegression(), X, y, cv=5).mean()
    assert clf.references_["logistic regression"] == pytest.approx(known, abs=0.02)
    assert clf.references_["CART"] == pytest.approx(known, abs=0.02)
    assert clf.best_score_ == pytest.approx(known, abs=0.02)
    assert clf.get_n_leaves() > 1
    loss = OptimalTreeClassifierCV(scoring="neg_log_loss", **QUICK).fit(X, y)
    known = cross_val_score(LogisticRegression(), X, y, cv=5, scoring="neg_log_loss")
    for score in (*loss.references_.values(), loss.best_score_):
        assert score == pytest.approx(known.mean(), abs=0.01)


def test_some_rows_that_occur_often_among_others_fill_the_folds():
    X, y = few_points(60)
    rng = np.random.default_rng(1)
    X, y = np.vstack([X, rng.random((7, 2))]), np.append(y, rng.integers(0, 2, 7))
    clf = OptimalTreeClassifierCV(**QUICK).fit(X, y)
    rows, classes = clf._scored_rows(X, y, None)
    problem, _ = clf._problem_of(rows, classes)
    folded = stratified_folds(rows, problem, 3, 2, 6000, seed=0)
    assert len(folded.folds) == 6
    for repeat in (folded.folds[:3], folded.folds[3:]):
        tested = np.concatenate([fold.test for fold in repeat])
        assert sorted(tested) == list(range(len(folded.rows)))
        for fold in repeat:
            assert not set(fold.train) & set(fold.test)
            assert folded.rows.weight[fold.test].sum() == pytest.approx(67 / 3, abs=2)


def test_rows_that_occur_often_do_not_blur_probabilities():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (10_000, 2)).astype(float)
    y = np.where(rng.random(10_000) < 0.01, 1 - X[:, 0], X[:, 0]).astype(int)
    for clf in (
        PointsTreeClassifier(max_depth=1),
        OptimalTreeClassifier(max_depth=1, solver="search", max_iter=3),
    ):
        assert clf.fit(X, y).predict_proba([[1, 0]])[0, 1] > 0.98


def test_a_tie_in_the_added_rows_goes_to_the_label():
    X, y = [[0.0]] * 12 + [[1.0]], [0] * 7 + [1] * 6
    clf = PointsTreeClassifier(max_depth=1, feature_penalty=0.1).fit(X, y)
    proba = clf.predict_proba([[1.0]])[0]
    assert clf.predict([[1.0]]) == [1]
    assert proba[1] > proba[0]


def test_without_a_fold_nothing_is_said_of_splits():
    X, y = rare()
    with pytest.warns(UserWarning, match="left no fold finished"):
        clf = OptimalTreeClassifierCV(time_limit=0, random_state=0).fit(X, y)
    assert clf.n_splits_ == 0
    assert "No split helps" not in clf.why_


@pytest.mark.parametrize(("most", "limits"), [(3, [3]), (6, [4, 6]), (8, [4, 8])])
def test_sparse_trees_alone_use_all_features_that_a_user_allows(most, limits):
    X = np.random.default_rng(0).normal(size=(60, 12))
    y = (X[:, 0] > 0).astype(int)
    clf = OptimalTreeClassifierCV(
        style="sparse", max_depth=1, max_features_per_split=most, **QUICK
    )
    clf.fit(X, y)
    found = [rung.winner.setting.max_features for rung in clf.rungs_]
    assert found == limits
    named = {p["max_features_per_split"] for p in clf.cv_results_["params"]}
    assert named == set(limits)


def test_other_methods_heed_costs_as_well():
    """By plain predictions they would look worse than they are."""
    X, y = rare()
    costs = np.array([[0, 1], [7, 0]])
    clf = OptimalTreeClassifierCV(style="auto", cost_matrix=costs, **QUICK).fit(X, y)
    plain = cross_val_predict(LogisticRegression(), X, y, cv=5)
    score = 1 - costs[y, plain].mean() / 7
    assert clf.references_["logistic regression"] > score + 0.01
    assert clf.references_["CART"] > 0.8


def test_progress_names_the_score():
    state = TuningProgress("folds", 1.0, 1, 2, -0.338, "neg_log_loss")
    assert str(state).endswith("log loss 0.338")
    state = TuningProgress("folds", 1.0, 1, 2, 0.912)
    assert str(state).endswith("accuracy, % 91.2")


def test_the_price_of_a_candidate_is_a_number():
    with pytest.raises(ValueError, match="l1_penalty of Svm1Tree must be a number"):
        Svm1Tree(l1_penalty="auto")


def hard(n=300):
    """A table whose points tree of depth 3 takes minutes to prove."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(int)


def test_a_stop_ends_the_proof_of_a_points_tree_as_well():
    """Without a time limit it would go on for minutes."""
    clf = OptimalTreeClassifierCV(
        style="points", max_depth=3, callback=lambda state: True, **QUICK
    )
    X, y = hard()
    clf.fit(X, y)
    assert clf.status_ != "optimal"
    assert clf.score(X, y) > 0.7


@pytest.mark.parametrize("style", ["auto", "points", "sparse", "oblique"])
def test_the_limit_on_features_holds_in_every_style(style):
    X, y = noisy(8, 60)
    clf = OptimalTreeClassifierCV(style=style, max_features_per_split=1, **QUICK)
    clf.fit(X, y)
    assert (np.count_nonzero(clf.tree_.coef, axis=1) <= 1).all()


def test_points_trees_are_not_deep():
    X, y = noisy()
    with pytest.raises(ValueError, match="max_depth of points trees is 4 at most"):
        OptimalTreeClassifierCV(style="points", max_depth=5).fit(X, y)
    with pytest.raises(ValueError, match="max_depth of a PointsTree is 4 at most"):
        OptimalTreeClassifierCV(candidates=[PointsTree()], max_depth=5).fit(X, y)


def test_what_the_time_did_not_suffice_for_is_said():
    nan = float("nan")
    rungs = ladder(results_of((0.5, nan, 0.8, 0.9), (0.5, nan, 0.8, 0.9)), 1.0)
    assert "too short to compare points trees" in why_chosen(rungs, 2)
    assert uncompared(ladder(results_of((0.5, 0.9, 0.9, 0.9)), 1.0)) == ""


def test_large_errors_of_few_folds_do_not_make_anything_as_good():
    results = results_of((0.5, 0.9, 0.9, 0.9), (0.5, 0.2, 0.9, 0.9))
    assert not ladder(results, 1.0)[1].is_near


def test_the_best_of_given_candidates_is_taken():
    X, y = noisy(9, 80)
    given = [PointsTree(), ConstantTree(), LogisticTree(), CartTree()]
    clf = OptimalTreeClassifierCV(candidates=given, **QUICK).fit(X, y)
    assert clf.best_score_ == max(rung.winner.score for rung in clf.rungs_)
    assert clf.why_ == "The best of 4 candidates was taken."
    assert clf.references_ == {}


def test_a_column_without_values_is_told_of_once():
    X, y = noisy(10, 60)
    frame = pd.DataFrame(X).add_prefix("x").assign(z=np.nan)
    for style in ("points", "oblique"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            OptimalTreeClassifierCV(style=style, **QUICK).fit(frame, y)
        assert sum("Dropped" in str(one.message) for one in told) == 1


def test_a_style_that_finds_no_split_on_all_rows_gives_way_to_the_next(monkeypatch):
    """Only a comparison in which a constant is best makes it the answer."""
    X, y = noisy(11, 80)

    def fit_constant(training, winner):
        X, y, _ = training.given
        constant = OptimalTreeClassifierCV(candidates=[ConstantTree()], **QUICK)
        best, schema = constant.fit(X, y).best_estimator_, training.schema
        schema = replace(schema, table=constant.table_)
        return TrainedWinner(winner, best, schema, constant.fitted_)

    monkeypatch.setattr(WinnerTraining, "_points", fit_constant)
    clf = OptimalTreeClassifierCV(simplest_within=1e9, tolerance=1.0, **QUICK)
    clf.fit(X, y)
    assert clf.rungs_[1].is_near
    assert clf.style_ in ("sparse", "oblique")
    assert "find no split on all rows" in clf.why_
    assert clf.get_n_leaves() > 1
    assert clf.score(X, y) > 0.8


def test_a_deep_points_tree_without_a_clock_ends_by_a_budget(monkeypatch):
    """Its proof may take hours; that of depth 2 is over in seconds and not cut off."""
    monkeypatch.setattr("miptree.estimator_cv_winner._DEEP_EVALUATIONS", 3)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (60, 3)).astype(float)
    y = (X.sum(axis=1) + rng.integers(-3, 4, 60) > 7).astype(int)
    given = {"candidates": [PointsTree()], "style": "points", **QUICK}
    ends = [
        OptimalTreeClassifierCV(max_depth=depth, **given).fit(X, y).best_estimator_
        for depth in (2, 3)
    ]
    assert [clf.max_depth for clf in ends] == [2, 3]
    assert [clf.status_ for clf in ends] == ["optimal", "max_iter"]
