"""Fits under constraints: no tree breaks one, and what their certificates say."""

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

from _data import examples
from _kept import is_kept
from _ruled import PENALTIES, biased, classifier
from miptree import distill, estimator, prediction_costs, verify_model
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
from miptree.control.clock import Clock
from miptree.evaluate import evaluate_rules
from miptree.fit import constrained, guided
from miptree.objective.tolerance import rounded_down

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
    least = certificate.objective_bound - free.objective_
    assert float(price) * (1 - 1e-5) < least <= float(price)
    assert f"it costs at least {rounded_down(least)}" in words
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
