"""Choosing by cross-validation: no leaks, same seeds, weights, tables, stops."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)

from _tuned import tuner
from miptree import (
    OptimalTreeClassifierCV,
    estimator_cv_winner,
    export_text,
    load_json,
    save_json,
)
from miptree.commands._comparison import unproved_sentence
from miptree.control.clock import Clock
from miptree.control.stop import Stop, stop_file
from miptree.data import Cells
from miptree.data.rows import TrainingRows
from miptree.objective.penalties import suited_margin
from miptree.search.soft_trees import SoftRows, gradients
from miptree.tree import ObliqueTree
from miptree.tuning import (
    CartTree,
    Fold,
    GreedySvmTree,
    PointsTree,
    SoftTree,
    Svm1Tree,
    TableRules,
)
from miptree.tuning.evaluate_fold import (
    FOLD_EFFORT,
    score_fold,
    train_fold,
    training_costs,
)
from miptree.tuning.final_fit import final_fit
from miptree.tuning.folds import copied, copies_of, folded_rows, splitter_folds
from miptree.tuning.grow import Grower
from miptree.tuning.soft_batch import SoftBatch, train_soft
from miptree.tuning.training_part import TrainingPart
from miptree.tuning.tuning_progress import TuningProgress
from miptree.tuning.votes import out_of_bag_votes

FEW = (SoftTree(0.4, l1=3e-3), SoftTree(l2=1e-3), CartTree())
ALL_KINDS = (*FEW, GreedySvmTree(), Svm1Tree(0.4))


def fast(**params: object) -> OptimalTreeClassifierCV:
    given = {"candidates": FEW, "cv": 3, "n_repeats": 1, "time_limit": None}
    return OptimalTreeClassifierCV(random_state=0, **(given | params))


def same_tree(one: OptimalTreeClassifierCV, two: OptimalTreeClassifierCV) -> bool:
    a, b = one.tree_, two.tree_
    return np.array_equal(a.coef, b.coef) and np.array_equal(a.threshold, b.threshold)


# ------------------------------------------------------------------------- leaks


def mixed_rows(seed: int = 0, n_rows: int = 60) -> TrainingRows:
    """Numbers with gaps, levels and a category, in two classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2))
    y = (numbers[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(np.intp)
    numbers[rng.integers(n_rows, size=5), 1] = np.nan
    colour = rng.choice(["red", "green", "blue"], n_rows).tolist()
    cells = [
        Cells("a", numbers=numbers[:, 0]),
        Cells("b", numbers=numbers[:, 1]),
        Cells("colour", values=colour),
        Cells("level", numbers=rng.integers(1, 5, n_rows).astype(float)),
    ]
    mask = [False, False, True, False]
    return TrainingRows(cells, mask, y, np.ones(n_rows), 2, np.ones(2))


def scrambled(rows: TrainingRows, held_out: np.ndarray) -> TrainingRows:
    """The same rows, those held out with other cells and labels."""
    a, b, colour, level = (cells for cells in rows.cells)
    numbers = [np.array(cells.numbers) for cells in (a, b, level)]
    for column in numbers:
        column[held_out] = 1000.5 + np.arange(len(held_out))
    values = list(colour.values or [])
    for row in held_out:
        values[row] = "violet"
    y = rows.y.copy()
    y[held_out] = 1 - y[held_out]
    cells = [
        Cells("a", numbers=numbers[0]),
        Cells("b", numbers=numbers[1]),
        Cells("colour", values=values),
        Cells("level", numbers=numbers[2]),
    ]
    return replace(rows, cells=cells, y=y)


def knows_the_rows_held_out(as_levels: bool = False) -> bool:
    """Whether anything learnt for a fold changes with the rows it holds out."""
    rows = mixed_rows()
    fold = Fold(np.arange(0, 40), np.arange(40, 60), seed=3)
    before, after = (
        train_fold(r, fold, TableRules(), ALL_KINDS, 2, as_levels)
        for r in (rows, scrambled(rows, fold.test))
    )
    if before.table != after.table:
        return True
    problem, other = before.part.problem, after.part.problem
    arrays = [(problem.X, other.X), (problem.scaled, other.scaled)]
    for trees, others in zip(before.grown, after.grown, strict=True):
        for tree, twin in zip(trees, others, strict=True):
            arrays += list(zip(tree, twin, strict=True))
    return not all(np.array_equal(one, two) for one, two in arrays)


@pytest.mark.parametrize("as_levels", [False, True])
def test_a_fold_learns_nothing_from_the_rows_it_holds_out(as_levels: bool) -> None:
    assert not knows_the_rows_held_out(as_levels)


@pytest.mark.parametrize("price", [5.0, 2.5])
def test_costs_by_class_neither_copy_nor_weigh_rows_of_folds(price: float) -> None:
    """Costs count with the errors: as weights, too, they would count twice."""
    plain = mixed_rows()
    costly = replace(plain, costs=np.array([[0.0, 1.0], [price, 0.0]]))
    _, problem = TableRules().learn(costly, False)
    found = folded_rows(costly, problem, None, None, 3, 1, 6000, seed=0)
    assert np.allclose(found.rows.weight, 1)
    assert len(found.rows) == len(plain)
    held_out = np.concatenate([fold.test for fold in found.folds])
    assert np.array_equal(np.sort(held_out), np.arange(len(plain)))


def test_a_planted_leak_of_the_table_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    everything: list[TrainingRows] = []
    take = TrainingRows.take

    def leak(self: TrainingRows, rows: np.ndarray) -> TrainingRows:
        everything.append(self)
        return take(self, rows)

    def learn(
        self: TableRules, rows: TrainingRows, as_levels: bool
    ) -> tuple[object, object]:
        table = everything[-1].learn_table(self.encoding, self.missing, "majority")
        return table, rows.problem(table)

    monkeypatch.setattr(TrainingRows, "take", leak)
    monkeypatch.setattr(TableRules, "learn", learn)
    assert knows_the_rows_held_out()


def test_a_planted_leak_of_labels_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    take = TrainingRows.take

    def leak(self: TrainingRows, rows: np.ndarray) -> TrainingRows:
        # The label of a row held out stands in for that of one to train on.
        part = take(self, rows)
        y = part.y.copy()
        y[0] = self.y[-1]
        return replace(part, y=y)

    monkeypatch.setattr(TrainingRows, "take", leak)
    assert knows_the_rows_held_out()


@pytest.mark.parametrize("seed", range(8))
def test_votes_about_a_row_do_not_know_its_label(seed: int) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3)).astype(np.float32)
    y = (points[:, 0] > 0).astype(np.intp)
    flipped = y.copy()
    flipped[7] = 1 - y[7]
    weight = np.ones(40)
    weight[7] = 1e-9  # so that it hardly counts in the frequencies, half a vote
    found = [
        out_of_bag_votes(points, labels, weight, 2, 2, 1, seed)
        for labels in (y, flipped)
    ]
    # One tree: of several, those that see the row would move the others' draws.
    assert np.allclose(found[0][7], found[1][7], atol=1e-6)
    assert np.isclose(found[0][7].sum(), 1)


# -------------------------------------------------------------------- soft trees


def test_gradients_by_tree_agree_with_differences() -> None:
    rng = np.random.default_rng(2)
    n_trees, n_rows, depth, n_classes = 3, 11, 2, 3
    X = np.column_stack([rng.normal(size=(n_rows, 2)), np.ones(n_rows)])
    reward = rng.random((n_trees, n_classes, n_rows))
    weight = rng.random((n_trees, n_rows))
    rows = SoftRows(X, reward, weight)
    planes = rng.normal(size=(n_trees, 3, 3))
    theta = rng.normal(size=(n_trees, 2**depth, n_classes))

    def loss(planes: np.ndarray, theta: np.ndarray) -> float:
        value, _, _ = gradients(rows, planes, theta, 2.0, 1.5, lambda v: v)
        return float(-(weight * np.log(value + 0.1)).sum())

    _, by_planes, by_theta = gradients(
        rows, planes, theta, 2.0, 1.5, lambda value: -weight / (value + 0.1)
    )
    step = 1e-6
    for array, gradient in ((planes, by_planes), (theta, by_theta)):
        for index in np.ndindex(array.shape):
            moved = array[index]
            array[index] = moved + step
            up = loss(planes, theta)
            array[index] = moved - step
            down = loss(planes, theta)
            array[index] = moved
            assert np.isclose(gradient[index], (up - down) / (2 * step), atol=1e-6)


def test_a_batch_of_soft_trees_separates_an_exclusive_or() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, size=(200, 2)).astype(np.float32)
    y = (points[:, 0] * points[:, 1] > 0).astype(np.intp)
    reward = np.stack([y == 0, y == 1]).astype(np.float32)
    weight = np.ones((10, 200))
    batch = SoftBatch.begin(points, y, reward, weight, (0.0, 1e-3), 2, rng)
    trees = train_soft(points, batch, seed=0)
    best = trees.best_first(slice(None))[0]
    found = trees.probabilities(points)[best].argmax(axis=1)
    assert (found == y).mean() > 0.93


def test_a_limit_of_features_holds_for_soft_trees() -> None:
    X, y = load_wine(return_X_y=True)
    points = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    reward = (np.arange(3)[:, None] == y).astype(np.float32)
    rng, weight = np.random.default_rng(0), np.ones((4, len(y)))
    batch = SoftBatch.begin(points, y, reward, weight, (0.0, 0.0), 2, rng)
    trees = train_soft(points, batch, seed=0, max_features=2)
    assert np.count_nonzero(trees.planes[:, :, :-1], axis=2).max() <= 2


# --------------------------------------------------------------------- estimator


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


def test_no_time_takes_the_first_candidate() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="time limit left no fold finished"):
        clf = fast(time_limit=0.0).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.n_splits_ == 0
    assert clf.best_params_["kind"] == "SoftTree"
    assert np.isnan(clf.best_score_)
    assert clf.score(X, y) > 0.8


def test_a_callback_can_end_the_comparison() -> None:
    X, y = load_iris(return_X_y=True)
    seen: list[str] = []

    def enough(state: object) -> bool:
        seen.append(str(state))
        return len(seen) == 2

    clf = fast(cv=5, callback=enough).fit(X, y)
    assert clf.n_splits_ == 2
    assert ["1/5" in seen[0], "2/5" in seen[1], "done" in seen[2]] == [True] * 3
    assert len(seen) == 3


def test_an_interrupt_keeps_the_best_so_far() -> None:
    X, y = load_iris(return_X_y=True)

    def interrupt(state: TuningProgress) -> None:
        if state.stage == "folds":
            os.kill(os.getpid(), signal.SIGINT)

    clf = fast(cv=5, callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted after 1 of 5 folds"):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert clf.score(X, y) > 0.9


def test_a_points_tree_after_an_interrupt_says_so() -> None:
    """It said "max_iter", as the short search had, that follows an interrupt."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.integers(2, size=200)

    def interrupt(state: TuningProgress) -> None:
        if state.stage == "folds":
            os.kill(os.getpid(), signal.SIGINT)

    clf = fast(candidates=[PointsTree()], cv=2, callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted after 1 of 2 folds"):
        clf.fit(X, y)
    assert clf.style_ == "points"
    assert clf.status_ == "interrupted"


def test_an_interrupt_of_the_last_training_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_iris(return_X_y=True)
    clocks = []

    def interrupted(*args: Any, clock: Clock, **rest: Any) -> ObliqueTree:
        os.kill(os.getpid(), signal.SIGINT)
        clocks.append(clock)
        return final_fit(*args, clock=clock, **rest)

    monkeypatch.setattr(estimator_cv_winner, "final_fit", interrupted)
    clf = fast(candidates=[GreedySvmTree()])
    with pytest.warns(UserWarning, match="interrupted after 3 of 3 folds"):
        clf.fit(X, y)
    assert clocks[0].is_over
    assert clf.status_ == "interrupted"
    assert clf.score(X, y) > 0.9


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


# -------------------------------------------------------- folds, and what may go wrong


@pytest.mark.parametrize("kind", ["splitter", "pairs", "generator", "masks"])
def test_own_folds(kind: str) -> None:
    frame = pd.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20})
    y = np.where(np.arange(40) < 20, "low", "high")
    splitter = StratifiedKFold(4)
    pairs = list(splitter.split(frame, y))
    masks = [
        (np.isin(np.arange(40), train), np.isin(np.arange(40), test))
        for train, test in pairs
    ]
    cv = {
        "splitter": splitter,
        "pairs": pairs,
        "generator": (pair for pair in pairs),
        "masks": masks,
    }[kind]
    clf = fast(cv=cv).fit(frame, y)
    assert clf.n_splits_ == 4
    assert clf.score(frame, y) > 0.9


def test_repetitions_of_a_splitter_are_known() -> None:
    rows = mixed_rows()
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    twice = splitter_folds(rows, np.zeros((60, 1)), rows.y, repeated, 1000, seed=0)
    assert (len(twice.folds), twice.n_splits) == (6, 3)
    once = splitter_folds(
        rows, np.zeros((60, 1)), rows.y, StratifiedKFold(4), 1000, seed=0
    )
    assert (len(once.folds), once.n_splits) == (4, 4)


def test_scores_where_few_points_occur_often() -> None:
    """Three 0/1 columns and noisy labels: each point has rows of both classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(1000, 3)).astype(float)
    noise = rng.random(1000) < 0.1
    y = (X.sum(axis=1) >= 2).astype(int) ^ noise
    clf = fast(candidates=[SoftTree(l2=1e-3), CartTree()], cv=5).fit(X, y)
    plain = fast(candidates=[SoftTree(l2=1e-3), CartTree()], cv=StratifiedKFold(5))
    assert clf.best_score_ == pytest.approx(0.9, abs=0.05)
    assert clf.best_score_ == pytest.approx(plain.fit(X, y).best_score_, abs=0.05)


def test_weights_that_are_no_counts_are_not_copied() -> None:
    rows = replace(mixed_rows(), weight=np.linspace(0.3, 7.7, 60))
    assert (copies_of(rows, 5) == 1).all()
    counts = replace(rows, weight=np.tile([1.0, 3.0, 40.0], 20))
    copies = copied(counts, copies_of(counts, 5))
    assert len(copies) == 20 * (1 + 3 + 5)
    assert copies.weight.sum() == counts.weight.sum()


@pytest.mark.parametrize("unit", [1e-12, 1e-200, 1e200])
def test_units_do_not_matter(unit: float) -> None:
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    one, other = fast().fit(X, y), fast().fit(X * unit, y)
    # Rounding may decide between two settings that are equally good.
    assert one.best_score_ == pytest.approx(other.best_score_, abs=0.03)
    assert other.score(X * unit, y) > 0.95


def test_a_category_met_once_does_not_stop_a_fold() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "c": ["x", "y"] * 20})
    frame.loc[7, "c"] = "once"
    y = (frame["a"] > 0).to_numpy()
    clf = fast(unknown="error").fit(frame, y)
    with pytest.raises(ValueError, match="did not meet"):
        clf.predict(pd.DataFrame({"a": [0.0], "c": ["new"]}))


def test_a_fold_without_a_cell_is_left_out() -> None:
    frame = pd.DataFrame({"a": np.full(30, np.nan)})
    frame.loc[[0, 1], "a"] = [1.0, 2.0]
    y = np.arange(30) % 2
    clf = fast(
        cv=[(np.arange(5, 20), np.arange(5)), (np.arange(20), np.arange(20, 30))]
    )
    assert clf.fit(frame, y).n_splits_ == 1


def test_a_fold_of_rows_that_are_not_there_is_refused() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="cv names row 20 of X"):
        fast(cv=[(np.arange(10), np.arange(10, 21))]).fit(X, y)


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


def test_a_callback_is_told_of_an_interrupt_by_its_status() -> None:
    X, y = load_iris(return_X_y=True)
    assert fast(cv=5, callback=lambda state: True).fit(X, y).status_ == "interrupted"


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


def test_an_error_in_a_callback_leaves_nothing_behind() -> None:
    X, y = load_iris(return_X_y=True)
    before = list(warnings.filters)

    def fails(state: object) -> bool:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fast(candidates=ALL_KINDS, n_jobs=2, callback=fails).fit(X, y)
    assert list(warnings.filters) == before


def test_the_time_limit_is_kept_within_a_fold() -> None:
    """By a clock that is over at once: no fold is done, and none is waited for."""
    rows = mixed_rows()
    fold = Fold(np.arange(0, 40), np.arange(40, 60), seed=3)
    asked = []

    def is_over() -> bool:
        asked.append(True)
        return True

    args = (rows, fold, TableRules(), ALL_KINDS, 2, (0.1,))
    assert np.isnan(score_fold(*args, clock=Clock().heeding(is_over)).score).all()
    assert asked


def test_a_stop_is_heard_between_the_lps_of_a_candidate(
    node_lps: list[object],
) -> None:
    rows = mixed_rows()
    part = TrainingPart(TableRules().learn(rows, False)[1], training_costs(rows))
    clock = Clock().heeding(lambda: bool(node_lps))
    grown = Grower(part, 2, FOLD_EFFORT, 0, clock=clock).grow([Svm1Tree()])
    assert len(node_lps) == 1
    assert grown[0]


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


def test_the_margin_of_a_fold_is_that_of_all_rows() -> None:
    rows = mixed_rows(n_rows=500)
    share, problem = 0.8, TableRules().learn(rows.take(np.arange(400)), False)[1]
    grower = Grower(
        TrainingPart(problem, training_costs(rows)), 2, FOLD_EFFORT, 0, share
    )
    found = grower._objective(problem, Svm1Tree())
    assert found.margin == suited_margin(problem, 500.0) < suited_margin(problem)
    assert found.slack_penalty == pytest.approx(1 / found.margin)
    assert found.l1_penalty == pytest.approx(share * 8)
    assert grower._objective(problem, Svm1Tree(0, 20.0, 10.0, 0.05)).margin == 0.05


_FIT = """
import warnings
from sklearn.datasets import load_iris
from miptree import OptimalTreeClassifierCV
from miptree.tuning import SoftTree

def tell(state):
    print("fold", flush=True)

warnings.simplefilter("ignore")
clf = OptimalTreeClassifierCV(
    candidates=[SoftTree(l2=1e-3), SoftTree(l2=1e-2)], n_repeats=1000, n_jobs=2,
    time_limit=None, callback=tell,
)
X, y = load_iris(return_X_y=True)
print(clf.fit(X, y).status_, clf.n_splits_ < 5000, hasattr(clf, "tree_"))
"""


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are POSIX")
def test_ctrl_c_goes_to_all_processes_and_keeps_the_best_so_far() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _FIT],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read().split("\n")
    assert said[-2] == "interrupted True True"
    assert process.returncode == 0


def test_work_elsewhere_hears_the_stop() -> None:
    stop = Stop()
    with stop_file(stop) as file, file.heard() as here:
        sent = replace(pickle.loads(pickle.dumps(file)), maker=0)
        with sent.heard() as elsewhere:
            assert not here.requested
            assert not elsewhere.requested
            stop.request()
            assert here.requested
            for _ in range(1000):
                if elsewhere.requested:
                    break
                time.sleep(0.01)
            assert elsewhere.requested
    assert not file.path.parent.exists()


def test_no_folder_for_temporary_files_is_needed(monkeypatch, tmp_path) -> None:
    """A container may have none that can be written to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    X, y = load_iris(return_X_y=True)
    assert fast(cv=2).fit(X, y).score(X, y) > 0.9
    clf = fast(cv=2, callback=lambda _: True).fit(X, y)
    assert clf.n_splits_ == 1
    stop = Stop()
    with stop_file(stop) as file, replace(file, maker=0).heard() as elsewhere:
        stop.request()
        file.make()
        assert not elsewhere.requested


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
