"""Folds: own ones, copies of rows, and what a fold may lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from _tuned import fast, mixed_rows
from miptree.objective.penalties import suited_margin
from miptree.tuning import CartTree, SoftTree, Svm1Tree, TableRules
from miptree.tuning.evaluate_fold import FOLD_EFFORT, training_costs
from miptree.tuning.folds import copied, copies_of, splitter_folds
from miptree.tuning.grow import Grower
from miptree.tuning.training_part import TrainingPart


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
