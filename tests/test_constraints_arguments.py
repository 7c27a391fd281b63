"""Odd arguments of rules and fits: each is told in a sentence, or taken as meant."""

import json

import numpy as np
import pandas as pd
import pytest

from _partitioned import quick_model
from _sealed import sealed
from miptree import OptimalTreeClassifier, distributed, load_json, save_json
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    Monotone,
)
from miptree.evaluate import evaluate_rules


def fitted(rule, weight=None):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 2)), rng.choice(["f", "m"], 60)
    y = (X[:, 0] + (groups == "m") > 0).astype(int)
    clf = OptimalTreeClassifier(
        constraints=[rule], solver="search", max_iter=5, random_state=0, max_depth=1
    )
    return clf.fit(X, y, weight, sensitive_features=groups), X, y, groups


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MaxRate(np.array([1, 2]), 0.5), "MaxRate takes one label, one of the"),
        (lambda: MaxRate(["yes"], 0.5), r"one of the classes, got \['yes'\]"),
        (lambda: Monotone([1], "yes"), "takes a dict of columns and signs"),
        (lambda: ForbidFeatures(None), "takes columns by name or position"),
        (lambda: FixedSplit(0, ["a"], 1), "takes a dict of columns and coefficients"),
        (lambda: MaxCost(1, [[0, 1e308], [1e308, 0]]), "costs of MaxCost must hold"),
        (lambda: MaxCost(1e308), "bound of MaxCost must be a finite number >= 0, at"),
    ],
)
def test_odd_arguments_are_told_in_a_sentence(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_numbers_of_numpy_are_positions_and_labels():
    assert AllowFeatures(np.int64(0)) == AllowFeatures(0)
    assert MaxRate(np.array(1), 0.5) == MaxRate(1, 0.5)


def test_a_file_of_costs_that_are_too_large_is_refused(tmp_path):
    path = tmp_path / "model.json"
    save_json(fitted(MaxCost(60, costs=[[0, 1], [1, 0]]))[0], path)
    plain = json.loads(path.read_text())
    plain["constraints"][0]["costs"] = [[0, 1e308], [1e308, 0]]
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match="costs of MaxCost must hold finite numbers"):
        load_json(path)


@pytest.mark.parametrize(
    "rule", [DemographicParity(difference_bound=0.05), MinLeaf(weight=1.0)]
)
def test_weights_are_refused_that_are_too_far_apart_to_be_counted(rule):
    powers = np.random.default_rng(1).integers(-160, 160, 60)
    with pytest.raises(ValueError, match="so far apart that rules cannot count them"):
        fitted(rule, 10.0**powers)
    clf, X, _, groups = fitted(
        DemographicParity(difference_bound=0.05), 10.0 ** (powers / 2).round()
    )
    weight = 10.0 ** (powers / 2).round()
    ones = clf.predict(X) == 1
    overall = (weight * ones).sum() / weight.sum()
    for group in ("f", "m"):
        there = groups == group
        rate = (weight * ones)[there].sum() / weight[there].sum()
        assert abs(rate - overall) <= 0.05 + 1e-12


def test_a_budget_of_nothing_costs_nothing():
    clf, X, y, _ = fitted(MaxCost(1e9, costs=[[0, 0], [0, 0]]))
    assert (clf.predict(X) == y).mean() > 0.6


def test_rules_are_not_counted_on_no_rows():
    clf, X, y, groups = fitted(DemographicParity(difference_bound=0.05))
    clf.fit(pd.DataFrame(X), y, sensitive_features=groups)
    X = pd.DataFrame(X)
    with pytest.raises(ValueError, match="X has no rows"):
        evaluate_rules(clf, X[:0], y[:0], sensitive_features=groups[:0])


def test_no_sensitive_columns_may_be_none():
    dd = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) > 12})
    clf = distributed.fit(
        dd.from_pandas(table, npartitions=2),
        "y",
        classifier=quick_model(constraints=[MinLeaf(rows=5)]),
        sensitive=None,
        control=None,
    )
    assert clf.score(table[["a"]], table["y"]) == 1
