"""Rules about splits and shapes of trees: what fits make of them."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from _kept import has_split, way
from _ruled import PENALTIES, biased, classifier
from miptree import OptimalTreeClassifier, verify_model
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    FixedSplit,
    ForbidFeatures,
    MaxRate,
    MinLeaf,
    Monotone,
    Signs,
)
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.rules import Rules
from miptree.evaluate import evaluate_rules
from miptree.explain import explain
from miptree.export import export_dot, export_text


@pytest.mark.parametrize("rule", [MinLeaf(rows=5), MaxRate(1, 0.4)])
def test_deep_trees_keep_rules(rule):
    X, y, _ = biased(200)
    clf = OptimalTreeClassifier(
        max_depth=7, constraints=[rule], solver="search", max_iter=8, random_state=0
    )
    assert evaluate_rules(clf.fit(X, y), X, y)[0].kept


def test_a_monotone_tree_gives_up_no_more_than_it_must():
    """Label 1 in the middle: one threshold is the best that may follow the feature."""
    X = np.arange(30.0)[:, None]
    y = ((X[:, 0] > 9) & (X[:, 0] < 25)).astype(int)
    given = {**PENALTIES, "max_iter": 40}
    free = classifier(None, **given).fit(X, y)
    clf = classifier([Monotone({0: +1}, 1)], **given).fit(X, y)
    assert free.certificate_.errors == 0
    assert clf.certificate_.errors == 5
    assert clf.predict([[9.0], [10.0], [29.0]]).tolist() == [0, 1, 1]


def test_splits_of_a_depth_use_the_columns_they_may():
    X, y, _ = biased(60)
    given = {**PENALTIES, "max_iter": 30}
    clf = classifier([AllowFeatures([1], depth=0)], **given).fit(X, y)
    assert np.flatnonzero(clf.tree_.coef[0]).tolist() in ([1], [])
    assert clf.tree_.coef[:, 0].any()  # below the root it is allowed
    assert clf.certificate_.errors < 15


@pytest.mark.parametrize("more", [[], [AllowFeatures([1, 2], node=1)]])
def test_a_root_on_columns_that_do_not_help_leaves_the_rows_to_a_split_below(more):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    rules = [AllowFeatures([2], depth=0), *more]
    clf = classifier(rules, **PENALTIES, max_iter=30).fit(X, y)
    # without a root no split is below it, and half of the rows are errors
    assert clf.certificate_.errors <= 8
    assert np.flatnonzero(clf.tree_.coef[0]).tolist() == [2]


def test_a_split_at_a_node_uses_the_columns_it_may():
    X, y, _ = biased(60)
    clf = classifier([AllowFeatures([2], node=2)], **PENALTIES, max_iter=30).fit(X, y)
    tree = clf.tree_
    right = tree.children_right[0]
    assert np.flatnonzero(tree.coef[right]).tolist() in ([2], [])
    assert tree.coef[:, 0].any()
    assert "Splits at node 2 use no other columns than 'x[2]': kept." in str(
        clf.certificate_
    )


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_a_fixed_split_stays_with_its_very_numbers(unit):
    X, y, _ = biased(60)
    fixed = FixedSplit(0, {1: 3.0, 2: -1.0}, 0.3 * unit)
    clf = classifier([fixed], **PENALTIES).fit(X * unit, y)
    coef, threshold = clf.tree_.coef[0], clf.tree_.threshold[0]
    factor = Fraction(coef[1]) / 3
    assert factor > 0
    assert coef[0] == 0
    assert Fraction(coef[2]) == -factor
    assert Fraction(threshold) == factor * Fraction(0.3 * unit)
    score = X * unit @ coef - threshold
    assert 0.5 <= np.abs(score).max() <= 1
    assert verify_model(clf, X * unit, y).ok
    assert "Node 0 sends rows with 3 * 'x[1]' - 1 * 'x[2]' <=" in str(clf.certificate_)


def test_texts_show_the_numbers_of_a_fixed_split_as_they_were_given():
    X, y, _ = biased(60)
    frame = pd.DataFrame(1000 * X, columns=["income", "debt", "age"])
    fixed = FixedSplit(0, {"income": 0.3, "debt": -2}, 15.7)
    clf = classifier([fixed], **PENALTIES).fit(frame, y)
    line = "0.3 income - 2 debt <= 15.7"
    assert export_text(clf).startswith(f"{line} (node 0")
    assert export_text(clf, digits=2).startswith(line.replace("15.7", "16"))
    met = explain(clf, frame[:1])[0].splits[0]
    score = 0.3 * frame["income"][0] - 2 * frame["debt"][0]
    assert met.threshold == pytest.approx(15.7)
    assert met.score == pytest.approx(score)
    assert line.split(" <=")[0] in met.rule
    assert line in export_dot(clf)


def test_below_a_fixed_root_each_side_is_searched_on_its_own():
    """With a senseless root, the best tree of depth 2 has the best split twice."""
    X, y, _ = biased(60)
    fixed = FixedSplit(0, {2: 1.0}, 0.0)
    clf = classifier([fixed], **PENALTIES, max_iter=40).fit(X, y)
    sides = [X[:, 2] <= 0, X[:, 2] > 0]
    alone = [
        classifier(None, **PENALTIES, max_iter=40, max_depth=1).fit(X[side], y[side])
        for side in sides
    ]
    assert clf.certificate_.errors <= sum(a.certificate_.errors for a in alone) + 1


def test_splits_are_made_above_a_fixed_one_that_needs_them(monkeypatch):
    X, _, _ = biased(40)
    y = (X[:, 0] > 0).astype(int)  # one split would do
    fixed = FixedSplit(6, {2: 1.0}, 0.0)
    given = {**PENALTIES, "max_depth": 3, "max_iter": 2}
    clf = classifier([fixed, AllowFeatures([1], node=2)], **given).fit(X, y)
    assert has_split(clf, X, fixed)
    assert np.flatnonzero(clf.tree_.coef[way(clf.tree_, 2)]).tolist() == [1]
    monkeypatch.setattr(Rules, "_with_ways", lambda *given: [])
    with pytest.raises(NoTreeFoundError, match=r"Node 6 .* NOT kept, there"):
        classifier([fixed], **given).fit(X, y)


def test_a_fixed_split_stays_though_both_its_sides_predict_alike():
    X, y = np.arange(40.0)[:, None] % 20, np.repeat([0, 1], 20)
    X = np.column_stack([X, np.repeat([0.0, 1.0], 20)])
    fixed = [FixedSplit(1, {0: 1.0}, 4.0)]
    clf = classifier(fixed, **PENALTIES).fit(X, y)
    tree = clf.tree_
    assert clf.certificate_.errors == 0
    node = way(tree, 1)
    assert tree.coef[node, 0] * 4.0 == tree.threshold[node]
    assert tree.coef[node, 1] == 0.0
    assert tree.label[tree.children_left[node]] == tree.label[tree.children_right[node]]
    assert verify_model(clf, X, y).ok


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([FixedSplit(0, {"a": 1}, 0), ForbidFeatures("a")], "'a', which no split may"),
        ([FixedSplit(0, {"a": 1}, 0), FixedSplit(0, {"b": 1}, 0)], "are for node 0"),
        ([FixedSplit(0, {"c": 1}, 0)], "'c', which is no column"),
        ([FixedSplit(0, {"a": 1, 0: 2}, 0)], "names column 'a' twice"),
        ([FixedSplit(0, {"kind": 1}, 0)], "categories, which have no coefficient"),
        ([FixedSplit(3, {"a": 1}, 0)], "nodes 0 to 2 only"),
        ([AllowFeatures("a", node=7)], "nodes 0 to 2 only"),
        ([AllowFeatures("a", depth=2)], "of depths 0 to 1 only"),
        ([FixedSplit(1, {"a": 1}, 0), AllowFeatures("b", depth=1)], "does not allow"),
        ([FixedSplit(0, {"a": 1}, 1e9)], "sends all rows to one side"),
        ([FixedSplit(2, {"a": 1}, 1e9)], "node 2 sends all rows to one side"),
        ([FixedSplit(0, {"sex": 1}, 0)], "or sensitive and not allowed"),
        ([FixedSplit(0, {"a": 1, "b": 1}, 0)], "a split may use 1 only"),
    ],
)
def test_fixed_splits_that_cannot_be_are_refused(constraints, words):
    X, y, groups = biased(40)
    columns = {"a": X[:, 0], "b": X[:, 1], "kind": groups, "sex": (groups == "m") * 1.0}
    frame = pd.DataFrame(columns)
    clf = classifier(constraints, max_features_per_split=1)
    with pytest.raises(ValueError, match=words):
        clf.fit(frame, y, sensitive_features=frame["sex"])


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([FixedSplit(1, {0: 1}, 5)], "node 1 has rows on one side only, of those"),
        ([MinLeaf(rows=7)], "MinLeaf: .*at least 7 .*split at node 0 has 6 at most"),
        ([FixedSplit(2, {0: 1}, 7.5), MinLeaf(rows=3)], "at node 2 has 2 at most"),
        ([FixedSplit(5, {0: 1}, 5)], "node 5 has rows on one side only, of those"),
        ([FixedSplit(5, {0: 1}, 7.5), MinLeaf(weight=2.5)], "at node 5 has 2 at most"),
        ([Signs({0: -1}, 1)], "Signs: .*NOT kept at node 0"),
    ],
)
def test_rules_that_fixed_splits_break_are_proved_impossible(constraints, words):
    X = np.arange(20.0)[:, None]
    fixed = FixedSplit(0, {0: 1.0}, 5.5)
    proved = "Proved: no such tree exists. FixedSplit"
    with pytest.raises(ImpossibleConstraintsError, match=f"{proved}.*{words}"):
        classifier([fixed, *constraints], max_depth=3).fit(X, (X[:, 0] > 5).astype(int))


@pytest.mark.parametrize("beside", [MinLeaf(rows=6), Signs({0: 1}, 1)])
def test_rules_that_fixed_splits_just_keep_are_not_refused(beside):
    X = np.arange(20.0)[:, None]
    fixed = FixedSplit(0, {0: 1.0}, 5.5)
    clf = classifier([fixed, beside], **PENALTIES, max_iter=5)
    clf.fit(X, (X[:, 0] > 5).astype(int))
    assert clf.certificate_.errors == 0


def test_a_fixed_split_on_which_rounding_decides_is_refused():
    X = np.array([[0.1, 0.7], [1.0, 0.0], [0.0, 0.0], [0.2, 0.5]])
    total = 0.1 + 0.7  # a little less than the exact sum of these floats
    with pytest.raises(ValueError, match="1 rows so near to it that rounding decides"):
        classifier([FixedSplit(0, {0: 1, 1: 1}, total)]).fit(X, [0, 1, 0, 1])


def test_a_sensitive_column_may_be_allowed():
    X, y, groups = biased(40)
    frame = pd.DataFrame({"a": X[:, 0], "sex": (groups == "m") * 1.0, "b": X[:, 1]})
    allowed = [AllowFeatures(["a", "sex"]), DemographicParity(difference_bound=0.5)]
    clf = classifier(allowed, max_iter=4).fit(frame, y, sensitive_features=frame["sex"])
    assert clf.certificate_.left_out == ("b",)


def test_directions_of_columns_that_have_none_are_refused():
    X, y, groups = biased(40)
    frame = pd.DataFrame({"a": X[:, 0], "sex": groups})
    with pytest.raises(TypeError, match="Monotone takes a dict of columns and signs"):
        Monotone("a", 1)
    with pytest.raises(ValueError, match="holds categories, which neither rise nor"):
        classifier([Monotone({"sex": 1}, 1)]).fit(frame, y)
    with pytest.raises(ValueError, match="is no column"):
        classifier([Signs({"income": 1}, 1)]).fit(frame, y)
    with pytest.raises(ValueError, match=r"must give \+1 or -1 for 'a', got 2"):
        Monotone({"a": 2}, 1)
