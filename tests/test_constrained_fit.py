"""Fits under constraints: no tree breaks one, and what their certificates say."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, count

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from _cli import refused, run
from _data import examples
from _kept import has_split, is_kept, way
from _sealed import sealed
from miptree import (
    OptimalTreeClassifier,
    distill,
    estimator,
    load_json,
    prediction_costs,
    save_json,
    verify,
    verify_model,
)
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    FixedSplit,
    ForbidFeatures,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
    Monotone,
    Signs,
    TruePositiveRateParity,
)
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.rules import Rules
from miptree.control.clock import Clock
from miptree.evaluate import evaluate_rules
from miptree.explain import explain
from miptree.export import export_dot, export_text
from miptree.fit import constrained, guided
from miptree.objective.bounds import COUNTING

PENALTIES = {"slack_penalty": 10.0, "l1_penalty": 0.2, "margin": 0.1}
PARITY = ["--fair", "demographic-parity:0.05"]


def biased(n, seed=0):
    """Two groups of which one has the larger feature, and more of the class 1."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += groups == "m"
    y = (X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n) > 0.3).astype(int)
    return X, y, groups


def classifier(constraints, **parameters):
    given = {"solver": "search", "max_iter": 20, "time_limit": None, "random_state": 0}
    return OptimalTreeClassifier(constraints=constraints, **(given | parameters))


KINDS = [
    MinLeaf(rows=6),
    MaxRate(1, 0.3),
    MinRate(1, 0.8, on="positives"),
    MaxRate(1, 0.2, on="negatives"),
    MaxCost(12),
    DemographicParity(difference_bound=0.05),
    TruePositiveRateParity(difference_bound=0.1, versus="pairs"),
    FalsePositiveRateParity(difference_bound=0.03),
    EqualizedOdds(difference_bound=0.1),
    ErrorRateParity(difference_bound=0.04),
    ForbidFeatures([0]),
    AllowFeatures([1, 2], depth=0),
    AllowFeatures([0, 1]),
    AllowFeatures([0, 2], node=0),
    FixedSplit(0, {1: 1.0, 0: -0.5}, 0.1),
    Monotone({0: -1, 1: +1}, 1),
    Signs({0: -1, 2: +1}, 1),
]


CONTRADICTIONS = (
    "which no split may use",
    "which AllowFeatures does not allow there",
    "no column that splits may use",
)


def check_two(pair, seed, depth):
    """Fit a tree under two constraints; where there is one, it keeps them."""
    X, y, groups = biased(40, seed)
    clf = classifier(list(pair), max_depth=depth, max_iter=6)
    try:
        clf.fit(X, y, sensitive_features=groups)
    except (ImpossibleConstraintsError, NoTreeFoundError):
        return
    except ValueError as error:
        if any(words in str(error) for words in CONTRADICTIONS):
            return
        raise
    for constraint in pair:
        assert is_kept(constraint, clf, X, y, groups), constraint


@given(
    st.sampled_from(list(combinations(KINDS, 2))),
    st.integers(0, 1000),
    st.sampled_from([1, 2]),
)
@examples(18)
def test_no_fitted_tree_breaks_one_of_two_constraints(pair, seed, depth):
    check_two(pair, seed, depth)


@pytest.mark.long
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_fitted_tree_breaks_one_of_any_two_constraints(depth):
    for seed, pair in enumerate(combinations(KINDS, 2)):
        check_two(pair, seed, depth)


def test_prices_find_what_new_labels_alone_do_not(monkeypatch):
    X, y, groups = biased(100)
    constraints = [DemographicParity(difference_bound=0.02)]
    fit = {"sensitive_features": groups}
    given = {"max_iter": 40, "l1_penalty": 1.0}
    guided = classifier(constraints, **given).fit(X, y, **fit)
    monkeypatch.setattr(constrained, "FREE_PART", 1.0)
    labels_only = classifier(constraints, **given).fit(X, y, **fit)
    assert guided.objective_ < 0.95 * labels_only.objective_


def test_where_rules_cost_nothing_the_search_without_them_goes_on():
    X, y, _ = biased(40)
    given = {"solver": "highs", "node_limit": 1, "max_iter": 40, "max_depth": 1}
    clf = classifier([MaxRate(1, 0.99)], **given).fit(X, y)
    assert clf.n_iter_ > constrained.FREE_PART * 40


def test_rounds_that_their_time_cuts_short_are_not_taken_for_stalled(monkeypatch):
    X, y, groups = biased(60)
    ticks = count()
    monkeypatch.setattr(
        estimator, "Clock", lambda limit: Clock(limit, time_source=lambda: next(ticks))
    )
    monkeypatch.setattr(guided, "ROUND_SHARE", 0.02)
    monkeypatch.setattr(guided, "MOST_STEPS", 0)
    rule = DemographicParity(difference_bound=0.05)
    clf = classifier([rule], time_limit=600, max_iter=None)
    clf.fit(X, y, sensitive_features=groups)
    assert clf.status_ == "time_limit"


# ----------------------------------------------------------------- proofs and prices


def test_a_bound_of_all_trees_proves_a_tree_that_keeps_rules_optimal():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    clf = classifier([MinLeaf(rows=3)], solver="highs", node_limit=500, max_depth=1)
    clf.fit(X, y)
    assert clf.status_ == "optimal"
    assert "Keeping them costs nothing" in str(clf.certificate_)


def paying(**parameters):
    """A fit whose rule costs something, beside one without it, both by a MIP."""
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], [2, 10])
    given = {"solver": "highs", "node_limit": 500, "max_depth": 1, **PENALTIES}
    free = classifier(None, **given).fit(X, y)
    return free, classifier([MinLeaf(rows=5)], **(given | parameters)).fit(X, y), X, y


def test_a_tree_that_pays_for_its_rules_is_proved_the_best_that_keeps_them():
    free, clf, X, y = paying()
    certificate = clf.certificate_
    assert (free.status_, clf.status_) == ("optimal", "optimal")
    assert clf.objective_ > free.objective_
    assert certificate.free_objective == pytest.approx(free.objective_)
    assert certificate.free_bound == pytest.approx(free.objective_)
    assert certificate.objective_bound == pytest.approx(clf.objective_)
    assert certificate.is_of_ruled_trees
    words = str(certificate)
    assert "no tree of depth 1 that keeps the rules costs less" in words
    assert "claims of the compact MIP with rows for the rules" in words
    price = f"{clf.objective_ - free.objective_:.6g}"
    assert f"keeping them costs at most {price}" in words
    assert f"it costs at least {price}" in words
    assert verify_model(clf, X, y, resolve_with="highs").ok


def test_without_a_proof_a_tree_that_pays_for_its_rules_is_not_called_optimal():
    _, clf, X, y = paying(proof="errors")
    assert clf.status_ != "optimal"
    assert "whether it keeps the rules or not" in str(clf.certificate_)
    assert not clf.certificate_.is_of_ruled_trees
    assert verify_model(clf, X, y).ok


def test_a_bound_by_counting_is_one_of_the_objective():
    X, y, _ = biased(60)
    clf = classifier([MinRate(1, 0.9)], max_iter=4).fit(X, y)
    certificate = clf.certificate_
    assert certificate.objective_bound == certificate.rules_bound > 0
    assert "that keeps the rules costs less than" in str(certificate)
    assert "by counting what the rules leave" in str(certificate)
    assert verify_model(clf, X, y).ok


def test_contradictions_and_failures_are_different_errors():
    X, y, groups = biased(40)
    fit = {"sensitive_features": groups}
    with pytest.raises(ImpossibleConstraintsError, match="Proved: no such tree exists"):
        classifier([MaxRate(1, 0.1), MinRate(1, 0.9)]).fit(X, y, **fit)
    parity = ErrorRateParity(difference_bound=0.0, versus="pairs")
    hopeless = [parity, MinLeaf(rows=15), MinRate(1, 0.9, on="positives"), MaxCost(2)]
    with pytest.raises(NoTreeFoundError, match=r"not proved.*The nearest tree: .*NOT"):
        classifier(hopeless).fit(X, y, **fit)


@pytest.mark.parametrize(
    "kept",
    [
        FixedSplit(0, {0: 0.3, 1: 0.7}, 0.1),
        FixedSplit(2, {0: 0.3, 1: 0.7}, 0.1),
        MinLeaf(rows=40),
    ],
)
def test_the_nearest_tree_is_told_as_a_fit_would_give_it(kept):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    with pytest.raises(NoTreeFoundError) as found:
        classifier([kept, MaxCost(1)], max_iter=5).fit(X, y)
    # its fixed split is there, and an empty leaf is none
    assert "The nearest tree: The cost of the errors is at most 1" in str(found.value)


# ----------------------------------------------------------------- shapes of trees


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


# ------------------------------------------------------------------------- interface


def test_groups_travel_with_the_rows_in_cross_validation():
    X, y, groups = biased(90)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = classifier([DemographicParity(difference_bound=0.1)], max_iter=4)
        clf.set_fit_request(sensitive_features=True)
        given = {"sensitive_features": groups}
        found = cross_validate(
            clf, X, y, cv=3, params=given, return_estimator=True, return_indices=True
        )
    for fitted, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        rule = fitted.constraints_[0]
        assert is_kept(rule, fitted, X[rows], y[rows], groups[rows])


def test_a_sensitive_column_of_x_stays_out_of_the_splits():
    X, y, groups = biased(60)
    groups = groups.astype(object)
    groups[:3] = None
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(sex=groups)
    clf = classifier([DemographicParity(difference_bound=0.3)], max_iter=4)
    clf.fit(frame, y, sensitive_features=frame["sex"])
    assert clf.constraints_[1:] == (ForbidFeatures(["sex"]),)
    assert clf.certificate_.left_out == ("sex",)
    assert "'(missing)'" in clf.certificate_.rules[0]
    assert "that does not use 'sex'" in str(clf.certificate_)
    assert "that need not keep them and may use 'sex'" in str(clf.certificate_)
    other = frame.assign(sex="m")
    assert np.array_equal(clf.predict(other), clf.predict(frame))


def test_rates_do_not_count_the_weights_of_classes():
    X, y, _ = biased(80)
    clf = classifier([MaxRate(1, 0.25)], class_weight={0: 1.0, 1: 7.0}, max_iter=8)
    clf.fit(X, y)
    assert (clf.predict(X) == 1).mean() <= 0.25
    with pytest.raises(ValueError, match="class_weight gives class 1 the weight 0"):
        classifier([MaxRate(1, 0.25)], class_weight={0: 1.0, 1: 0.0}).fit(X, y)


def test_what_does_not_go_with_constraints_is_refused(tmp_path):
    X, y, _ = biased(40)
    with pytest.raises(ValueError, match="do not go with selection"):
        classifier([MinLeaf(rows=5)], selection="hull").fit(X, y)
    with pytest.raises(ValueError, match="proof_log does not go with constraints"):
        classifier([MinLeaf(rows=5)]).fit(X, y, proof_log=tmp_path / "p.jsonl")
    with pytest.raises(TypeError, match=r"objects of miptree\.constraints"):
        classifier(["fair"]).fit(X, y)
    with pytest.raises(ValueError, match="is no column"):
        classifier([ForbidFeatures("age")]).fit(X, y)


@pytest.mark.parametrize(
    ("constraints", "by"),
    [
        ([ForbidFeatures(["a", "b", "sex"])], "ForbidFeatures"),
        ([AllowFeatures("a"), ForbidFeatures("a")], "AllowFeatures and ForbidFeatures"),
        ([AllowFeatures("a"), AllowFeatures("b")], "AllowFeatures"),
        ([ForbidFeatures(["a", "b"])], "ForbidFeatures and sensitive_features"),
    ],
)
def test_rules_that_leave_no_column_are_named(constraints, by):
    X, y, groups = biased(40)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "sex": groups})
    given = {"sensitive_features": frame["sex"]} if "sensitive" in by else {}
    with pytest.raises(ValueError, match=rf"No column .*all are left out by {by}\."):
        classifier(constraints).fit(frame, y, **given)


def test_a_clone_keeps_the_constraints_and_a_fit_without_them_forgets():
    X, y, _ = biased(40)
    clf = clone(classifier([MinLeaf(rows=15)], max_iter=4)).fit(X, y)
    assert np.unique(clf.apply(X), return_counts=True)[1].min() >= 15
    assert clf.constraints_ == (MinLeaf(rows=15),)
    clf.set_params(constraints=None).fit(X, y)
    assert clf.constraints_ == ()
    assert clf.certificate_.rules is None


def test_rules_are_counted_on_other_rows_as_well():
    X, y, groups = biased(80)
    half = np.arange(80) % 2 == 0
    clf = classifier([DemographicParity(difference_bound=0.0)], max_iter=8)
    clf.set_params(l1_penalty=0.5).fit(
        X[half], y[half], sensitive_features=groups[half]
    )
    given = {"sensitive_features": groups[half]}
    assert evaluate_rules(clf, X[half], y[half], **given)[0].kept
    given = {"sensitive_features": groups[~half]}
    (finding,) = evaluate_rules(clf, X[~half], y[~half], **given)
    rule = clf.constraints_[0]
    kept = is_kept(rule, clf, X[~half], y[~half], groups[~half])
    assert finding.kept == kept


def test_a_distilled_tree_keeps_rules():
    X, y, groups = biased(80)
    model = LogisticRegression().fit(X, y)
    tree = distill(
        model,
        X,
        constraints=[DemographicParity(difference_bound=0.05), MinLeaf(rows=10)],
        sensitive_features=groups,
        solver="search",
        max_iter=8,
        random_state=0,
    )
    predicted = model.predict(X)
    for constraint in tree.constraints_:
        assert is_kept(constraint, tree, X, predicted, groups)
    costs = prediction_costs(model, X)
    given = {"row_costs": costs, "sensitive_features": groups}
    assert verify_model(tree, X, predicted, **given).ok


# ------------------------------------------------------------------------- verifying


@pytest.fixture(scope="module")
def weighted():
    X, y, groups = biased(70)
    weight = np.random.default_rng(1).choice([0.1, 1.0, 2.5], 70)
    constraints = [DemographicParity(difference_bound=0.1), MinLeaf(weight=5.0)]
    clf = classifier(constraints, class_weight="balanced", max_iter=10)
    clf.fit(X, y, weight, sensitive_features=groups)
    return clf, X, y, weight, groups


def test_every_rule_is_counted_again(weighted):
    clf, X, y, weight, groups = weighted
    found = verify_model(clf, X, y, weight, sensitive_features=groups)
    assert found.ok, found
    assert {"rule 1", "rule 2", "rules"} <= {check.name for check in found.checks}


def test_other_groups_and_forgotten_rules_are_noticed(weighted):
    clf, X, y, weight, groups = weighted
    other = np.roll(groups, 1)
    wrong = verify_model(clf, X, y, weight, sensitive_features=other).wrong
    assert {"rules", "data digest"} <= {check.name for check in wrong}
    without = verify_model(clf, X, y, weight)
    assert not without.ok
    assert "no sensitive_features" in str(without)
    X, y, _ = biased(40)
    free = classifier([MinLeaf(rows=5)], max_iter=4).fit(X, y)
    assert not verify(free.certificate_, free.tree_, X, y).ok
    assert verify(free.certificate_, free.tree_, X, y, constraints=free.constraints_).ok


def test_a_bound_that_counting_does_not_prove_is_noticed():
    X, y, _ = biased(40)
    clf = classifier([MaxRate(1, 0.3)], max_iter=4).fit(X, y)
    found = clf.certificate_
    bound = {"objective_bound": found.objective, "objective_proved_by": COUNTING}
    forged = replace(found, **bound).signed()
    wrong = verify(forged, clf.tree_, X, y, constraints=clf.constraints_).wrong
    assert [check.name for check in wrong] == ["bound by counting"]


# ------------------------------------------------------------------------ model files


ALL_KINDS = [
    MinLeaf(rows=2),
    MinLeaf(weight=1.5),
    MaxRate(1, 0.9),
    MinRate(np.int64(1), 0.01, on="positives"),
    MaxCost(1000, costs=[[0, 1], [2, 0]]),
    *(
        kind(difference_bound=1.0, versus="pairs", positive_label=0)
        for kind in (DemographicParity, TruePositiveRateParity, EqualizedOdds)
    ),
    FalsePositiveRateParity(difference_bound=1.0),
    ErrorRateParity(difference_bound=1.0),
    ForbidFeatures([2]),
    AllowFeatures([0, 1], depth=0),
    AllowFeatures([0, 1], node=2),
    FixedSplit(0, {1: 1.5}, 0.25),
    Monotone({0: 1}, 1),
    Signs({1: -1}, 0),
]


def test_constraints_of_every_kind_come_back_from_a_file(tmp_path):
    X, y, groups = biased(40)
    clf = classifier(ALL_KINDS, max_iter=2, l1_penalty=1.0)
    clf.fit(X, y, sensitive_features=groups)
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    assert again.constraints_ == clf.constraints_
    assert again.certificate_ == clf.certificate_
    path = tmp_path / "model.json"
    assert verify_model(path, X, y, sensitive_features=groups).ok
    refitted = again.set_params(random_state=0).fit(X, y, sensitive_features=groups)
    assert refitted.constraints_ == clf.constraints_


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "OptimalTreeClassifier"}, '"kind" is no constraint of miptree'),
        ({"rows": -3}, "rows of MinLeaf must be a whole number"),
        ({"column": 1}, 'has an unknown entry "column"'),
    ],
)
def test_files_with_senseless_constraints_are_refused(change, words, tmp_path):
    X, y, _ = biased(40)
    clf, path = classifier([MinLeaf(rows=5)], max_iter=2).fit(X, y), tmp_path / "m.json"
    save_json(clf, path)
    plain = json.loads(path.read_text())
    plain["constraints"][0] |= change
    path.write_text(sealed(plain))
    with pytest.raises(ValueError, match=words):
        load_json(path)


def test_a_file_with_a_looser_rule_is_not_verified(tmp_path):
    X, y, _ = biased(40)
    clf, path = classifier([MinLeaf(rows=9)], max_iter=2).fit(X, y), tmp_path / "m.json"
    save_json(clf, path)
    plain = json.loads(path.read_text())
    plain["constraints"][0]["rows"] = 5
    path.write_text(sealed(plain))
    assert [check.name for check in verify_model(path, X, y).wrong] == ["rules"]
    plain["constraints"] = []
    path.write_text(sealed(plain))
    assert "rules" in [check.name for check in verify_model(path, X, y).wrong]


# ----------------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    X, y, groups = biased(60)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(sex=groups)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    table.assign(paid=np.where(y == 1, "yes", "no")).to_csv(path, index=False)
    return path


def test_the_command_line_keeps_rules_and_verifies_them(people, tmp_path):
    out = tmp_path / "model.json"
    result = run(
        *("fit", people, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--sensitive", "sex", "--fair", "demographic-parity:0.05:pairs"),
        *("--min-leaf", 10),
        *("--max-rate", "yes:0.9:negatives", "--min-rate", "no:0.1", "--forbid", "c"),
        *("--monotone", "a:+1", "--out", out),
    )
    assert result.exit_code == 0, result.output
    assert "keeps 7 rules" in " ".join(result.output.split())
    assert load_json(out).constraints_ == (
        DemographicParity(difference_bound=0.05, versus="pairs"),
        MinLeaf(rows=10),
        MaxRate("yes", 0.9, on="negatives"),
        MinRate("no", 0.1),
        ForbidFeatures(["c"]),
        Monotone({"a": 1}, "yes"),
        ForbidFeatures(["sex"]),
    )
    assert run("verify", out, people).exit_code == 0
    told = " ".join(run("evaluate", out, people).output.split())
    assert "Rule 2 in training: Every leaf holds" in told
    assert "Rule 1 on these rows: The rates of" in told
    assert "Rule 7 in training: No split uses 'sex': kept." in told
    assert "Rule 2 on these rows" not in told  # it is about training rows
    assert "Rule 7 on these rows" not in told  # it is about the tree
    table = pd.read_csv(people)
    table[table["sex"] == "f"].to_csv(tmp_path / "women.csv", index=False)
    done = run("evaluate", out, tmp_path / "women.csv")
    assert done.exit_code == 0
    assert "not counted on these rows: DemographicParity compares gr" in done.output
    assert "Rule 7 in training" in done.output
    page = tmp_path / "page.html"
    done = run("report", out, people, "--test", people, "--out", page)
    assert done.exit_code == 0, done.output
    found = re.search(r'"rules": (\{.*?"tested": true\})', page.read_text())
    rates = json.loads(found.group(1))["rules"][0]["rates"]
    assert [line[0] for line in rates] == ["'f'", "'m'", "all", "largest difference"]
    assert all(here == there for _, here, there in rates)


def test_rules_count_the_weights_of_new_rows_as_well(people, tmp_path):
    out, page, path = (tmp_path / name for name in ("m.json", "p.html", "heavy.csv"))
    table = pd.read_csv(people)
    table.assign(heavy=1.0 + (table["a"] > 0)).to_csv(path, index=False)
    done = run(
        *("fit", path, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--weights", "heavy", "--max-rate", "yes:0.4", "--out", out),
    )
    assert done.exit_code == 0, done.output
    told = run("evaluate", out, path).output.splitlines()
    here = next(line for line in told if "Rule 1 on these rows" in line)
    assert here.replace("on these rows", "in training") in told
    done = run("report", out, path, "--test", path, "--out", page)
    assert done.exit_code == 0, done.output
    found = re.search(r'"rules": (\{.*?"tested": true\})', page.read_text())
    ((_, of_fit, of_test),) = json.loads(found.group(1))["rules"][0]["rates"]
    assert of_fit == of_test
    unweighted = " ".join(run("evaluate", out, people).output.split())
    assert "no column 'heavy' of weights: each of these rows counts 1" in unweighted


def test_weights_of_new_rows_are_read_only_where_rules_count_them(people, tmp_path):
    out, page, path = (tmp_path / name for name in ("m.json", "p.html", "heavy.csv"))
    table = pd.read_csv(people)
    table.assign(heavy=1.0 + (table["a"] > 0)).to_csv(path, index=False)
    gaps = tmp_path / "gaps.csv"
    table.assign(heavy="").to_csv(gaps, index=False)
    fit = ("fit", path, "--target", "paid", "--solver", "search", "--time-limit", 1)
    done = run(*fit, "--weights", "heavy", "--out", out)
    assert done.exit_code == 0, done.output
    done = run("report", out, path, "--test", gaps, "--out", page)
    assert done.exit_code == 0, done.output
    done = run(*fit, "--weights", "heavy", "--min-leaf", 10, "--out", out, "--force")
    assert done.exit_code == 0, done.output
    told = " ".join(run("evaluate", out, people).output.split())
    assert "Rule 1 in training: Every leaf holds" in told
    assert "of weights" not in told


def test_rules_on_splits_are_written_on_the_command_line(people, tmp_path):
    out = tmp_path / "model.json"
    result = run(
        *("fit", people, "--target", "paid", "--solver", "search", "--time-limit", 1),
        *("--allow", "a", "--allow", "b", "--allow-at", "node=2:a", "--drop", "sex"),
        *("--fixed-split", "0:b - 0.5 * a <= -0.25", "--out", out),
    )
    assert result.exit_code == 0, result.output
    assert load_json(out).constraints_[:3] == (
        AllowFeatures(["a", "b"]),
        AllowFeatures(["a"], node=2),
        FixedSplit(0, {"b": 1, "a": -0.5}, -0.25),
    )
    assert run("verify", out, people).exit_code == 0


def test_what_a_rule_costs_is_shown_and_drawn(people, tmp_path):
    given = "trade-off", people, "--target", "paid", "--sensitive", "sex"
    given += "--bounds", "0.2,0.02", "--time-limit", 0.3, "--test", people
    result = run(*given, "--out", tmp_path / "curve.csv")
    assert result.exit_code == 0, result.output
    table = pd.read_csv(tmp_path / "curve.csv")
    assert table["bound"].tolist() == [0.02, 0.2]
    assert (table["value"] <= table["bound"]).all()
    assert (table["value"] == table["test_value"]).all()
    assert "What DemographicParity costs" in result.output
    done = run(*given, "--out", tmp_path / "curve.png")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert "--bounds must be numbers" in refused(*given, "--bounds", "low")
    assert "names the target 'paid'" in refused(*given, "--sensitive", "paid")
    assert "must end in .png" in refused(*given, "--out", tmp_path / "curve.txt")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow-at", "root:a"], "--allow-at must be depth= or node="),
        (["--fixed-split", "0:a < 3"], "--fixed-split must be a node, a colon"),
        (["--fixed-split", "0:two * a <= 3"], "such as '0:bmi <= 27'"),
        (PARITY, "name their column with --sensitive"),
        (["--sensitive", "sex", "--fair", "parity:1"], "--fair must be one of"),
        (["--sensitive", "sex", "--fair", "equalized-odds:1:all"], "with :pairs after"),
        (["--control", "sex", "--min-leaf", 5], "--control names groups within which"),
        (["--max-rate", "yes"], "--max-rate must be a label, a colon and a rate"),
        (["--min-rate", "yes:many"], "has 'many' in place of a number"),
        (["--max-rate", "perhaps:0.5"], "names the label 'perhaps'"),
        (["--monotone", "a:up"], "--monotone must be a column, a colon and +1"),
        (["--monotone", "a:+1", "--monotone", "a:-1"], "contradict each other"),
        (["--sensitive", "paid", *PARITY], "--sensitive names the target 'paid'"),
        (["--forbid", "a", "--engine", "dask"], "works without --engine dask"),
        (["--min-leaf", 5, "--style", "points"], "works without --min-leaf"),
        (["--min-leaf", 500], "Proved: no such tree exists"),
    ],
)
def test_wrong_rules_are_one_plain_line(options, words, people):
    assert words in refused("fit", people, "--target", "paid", *options)
