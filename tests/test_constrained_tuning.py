"""Cross-validation under constraints: what counts, what is told, what comes out."""

from importlib import import_module
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import cross_validate

from _cli import refused, run
from _tuned import QUICK, biased, only_quick, people_in, tuner
from miptree import (
    estimator_cv,
    load_json,
    save_json,
    verify_model,
)
from miptree.constraints import (
    DemographicParity,
    MaxCost,
    MaxRate,
    MinLeaf,
    MinRate,
)
from miptree.constraints.errors import ImpossibleConstraintsError, NoTreeFoundError
from miptree.constraints.proportion import in_proportion
from miptree.fit.repair import RepairedTree
from miptree.objective.bounds import COUNTING
from miptree.report import report_html
from miptree.tuning import (
    CartTree,
    ConstantTree,
    Fold,
    FoldConstraints,
    PointsTree,
    TableRules,
    folded_rows,
)
from miptree.tuning.comparison import make_race
from miptree.tuning.evaluate_fold import score_fold, train_fold

FINAL_FIT = import_module("miptree.tuning.final_fit")  # not the function


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    """Search a little only: what is tested does not depend on how good trees are."""
    monkeypatch.setattr(FINAL_FIT, "_ITERATIONS", 4)


def apart(predicted, groups, weight=None):
    """By how much the rates of label 1 of groups differ from that of all rows."""
    weight = np.ones(len(predicted)) if weight is None else weight
    rate = np.average(predicted == 1, weights=weight)
    return max(
        abs(np.average(predicted[rows] == 1, weights=weight[rows]) - rate)
        for rows in (groups == group for group in np.unique(groups))
    )


@pytest.mark.parametrize("bound", [0.02, 0.1])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_the_tree_keeps_the_rules_on_all_rows(bound, scoring):
    X, y, groups = biased(90)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rules = [DemographicParity(difference_bound=bound), MinLeaf(rows=12)]
    clf = tuner(rules, scoring=scoring)
    clf.fit(X, y, weight, sensitive_features=groups)
    assert apart(clf.predict(X), groups, weight) <= bound + 1e-12
    assert np.bincount(clf.apply(X))[np.unique(clf.apply(X))].min() >= 12
    assert clf.get_n_leaves() > 1
    assert len(clf.certificate_.rules) == len(clf.rules_held_out_) == 2
    assert np.array_equal(clf.best_estimator_.predict(X), clf.predict(X))


def test_without_the_rule_the_tree_would_break_it():
    X, y, groups = biased(120)
    clf = tuner(None).fit(X, y)
    assert apart(clf.predict(X), groups) > 0.1
    assert clf.rules_held_out_ == []
    assert clf.constraints_ == ()


def test_a_saved_tree_is_verified_with_its_rules(tmp_path):
    X, y, groups = biased(90)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(sex=groups)
    clf = tuner([DemographicParity(difference_bound=0.1)])
    clf.fit(frame, y, sensitive_features=frame["sex"])
    assert clf.certificate_.left_out == ("sex",)
    save_json(clf, tmp_path / "model.json")
    read = load_json(tmp_path / "model.json")
    assert read.constraints_ == clf.constraints_
    assert verify_model(read, frame, y, sensitive_features=frame["sex"]).ok
    others = np.where(clf.predict(frame) == 1, "f", "m")
    assert not verify_model(read, frame, y, sensitive_features=others).ok


def test_what_counting_proves_is_in_the_bound_of_the_tree(tmp_path):
    X, y, _ = biased(90)
    clf = tuner([MaxRate(1, 0.2)]).fit(X, y)
    found = clf.certificate_
    assert 0 < found.rules_bound == clf.bound_ <= clf.objective_
    assert found.objective_proved_by == COUNTING
    assert found.free_bound < found.rules_bound  # which is of trees that keep it
    save_json(clf, tmp_path / "model.json")
    assert verify_model(load_json(tmp_path / "model.json"), X, y).ok


# -------------------------------------------------------------------------- folds


def rows_of(X, y, groups, constraints):
    """Rows of a fit, and their constraints for any part of them."""
    clf = tuner(constraints, candidates=[ConstantTree()], cv=2)
    with patch.object(estimator_cv, "make_race", wraps=make_race) as seen:
        clf.fit(X, y, sensitive_features=groups)
    return seen.call_args.args[2], FoldConstraints(clf.constraints_, clf.classes_)


def test_groups_are_cut_with_the_rows_of_a_fold():
    X, y, groups = biased(120)
    rows, rules = rows_of(X, y, groups, [DemographicParity(difference_bound=0.05)])
    order = np.random.default_rng(2).permutation(120)
    fold = Fold(order[:80], order[80:], 0)
    given = rows, fold, TableRules(), [CartTree()], 2
    trained = train_fold(*given, constraints=rules)
    tree = trained.judged(trained.grown[0], 0.0, None)[0][0]
    assert apart(tree.predict(X[fold.train]), groups[fold.train]) <= 0.05 + 1e-12
    scores = score_fold(*given, [0.0], constraints=rules)
    found = apart(tree.predict(X[fold.test]), groups[fold.test])
    kept, excess = scores.rules[0, 0, 0]
    assert kept == (found <= 0.05)
    assert excess == pytest.approx(max(0.0, found - 0.05))
    right = tree.predict(X[fold.test]) == y[fold.test]
    assert scores.score[0, 0] == pytest.approx(right.mean())


def test_a_fold_of_one_group_is_left_out():
    X, y, groups = biased(120)
    rows, rules = rows_of(X, y, groups, [DemographicParity(difference_bound=0.05)])
    of_f, of_m = np.flatnonzero(groups == "f"), np.flatnonzero(groups == "m")
    given = TableRules(), [CartTree()], 2, [0.0]
    scores = score_fold(rows, Fold(of_f, of_m, 0), *given, constraints=rules)
    assert np.isnan(scores.score).all()
    mixed = np.concatenate([of_f[:30], of_m[:30]])
    scores = score_fold(rows, Fold(mixed, of_m[30:], 0), *given, constraints=rules)
    assert np.isfinite(scores.score).all()
    assert np.isnan(scores.rules).all()


@pytest.mark.parametrize("n_rows", [30, 10])
def test_a_fault_in_a_rule_is_not_taken_for_a_fold_that_lacks_a_group(
    n_rows, monkeypatch
):
    X, y, groups = biased(40)
    rule = DemographicParity(difference_bound=0.5)
    rows, rules = rows_of(X, y, groups, [rule])
    limits = DemographicParity.limits

    def fail(self, population):
        if len(population.y) == n_rows:  # of the rows trained on, or held out
            raise ValueError("a fault")
        return limits(self, population)

    monkeypatch.setattr(DemographicParity, "limits", fail)
    fold = Fold(np.arange(30), np.arange(30, 40), 0)
    given = TableRules(), [CartTree()], 2, [0.0]
    with pytest.raises(ValueError, match="a fault"):
        score_fold(rows, fold, *given, constraints=rules)


def test_folds_count_the_rows_that_were_given():
    X, y, groups = biased(40)
    X, y, groups = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(groups, 3)
    rows, rules = rows_of(X, y, groups, [MinLeaf(rows=30)])
    problem = rows.problem(rows.learn_table("both", "fill", "majority"))
    folded = folded_rows(rows, problem, X, y, 3, 2, 50, 0)
    assert len(folded.folds) == 6
    for fold in folded.folds:
        assert len(np.intersect1d(fold.train, fold.test)) == 0
        assert len(fold.train) == 50
        trained = train_fold(
            rows, fold, TableRules(), [CartTree()], 2, False, None, rules
        )
        assert trained.rules.population.count.sum() == 50
        assert trained.rules.constraints == (MinLeaf(rows=12),)  # 30 * 50 / 120


def test_bounds_that_count_rows_are_in_proportion():
    assert in_proportion(MinLeaf(weight=8.0), 0.25) == MinLeaf(weight=2.0)
    assert in_proportion(MaxCost(8.0), 0.25) == MaxCost(2.0)
    assert in_proportion(MaxRate(1, 0.3), 0.25) == MaxRate(1, 0.3)


# -------------------------------------------------------------------------- choice


def test_a_candidate_that_breaks_a_rule_in_a_fold_does_not_count(recwarn):
    X, y, _ = biased(120)
    clf = tuner([MinRate(1, 0.3), MaxRate(1, 0.6)]).fit(X, y)
    scores = dict(zip(QUICK, clf.cv_results_["mean_test_score"], strict=True))
    assert np.isnan(scores[ConstantTree()])
    assert np.isfinite(scores[CartTree()])
    assert 0.3 <= clf.predict(X).mean() <= 0.6
    assert clf.get_n_leaves() > 1
    assert not [w for w in recwarn if "could not be compared" in str(w.message)]


def test_a_constant_stays_where_it_keeps_the_rules():
    X, y, groups = biased(60)
    noise = np.random.default_rng(3).normal(size=X.shape)
    clf = tuner([DemographicParity(difference_bound=0.0), MinLeaf(rows=50)])
    clf.set_params(candidates="default", cv=2, time_limit=6)
    with pytest.warns(UserWarning, match="keeps the constraints and helps"):
        clf.fit(noise[:, :1], y, sensitive_features=groups)
    assert clf.style_ == "constant"
    assert "points" not in {rung.style for rung in clf.rungs_}


def test_a_search_follows_where_no_candidate_keeps_the_rules():
    X, y, _ = biased(60)
    clf = tuner([MinRate(1, 0.4), MaxRate(1, 0.6)], candidates=[ConstantTree()])
    with pytest.warns(UserWarning, match="In no fold a candidate was found"):
        clf.set_params(time_limit=2).fit(X, y)
    assert 0.4 <= clf.predict(X).mean() <= 0.6
    assert clf.style_ == "oblique"
    assert "searched for" in clf.why_
    assert np.isnan(clf.rules_held_out_[0].kept)
    assert verify_model(clf.best_estimator_, X, y).ok


@pytest.mark.filterwarnings("ignore:In no fold")
@pytest.mark.parametrize("candidates", [QUICK, [ConstantTree()]])
def test_an_interrupted_comparison_keeps_the_rules_all_the_same(candidates):
    X, y, _ = biased(60)
    clf = tuner([MinRate(1, 0.4), MaxRate(1, 0.6)], candidates=candidates)
    clf.set_params(callback=lambda state: True).fit(X, y)
    assert clf.n_splits_ < 3
    assert 0.4 <= clf.predict(X).mean() <= 0.6


def test_where_no_tree_is_found_the_error_says_so():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.tile([0, 1], 20)
    clf = tuner([MinRate(1, 0.6), MaxRate(1, 0.9)], time_limit=1)
    with pytest.raises(NoTreeFoundError, match="is not proved"):
        clf.fit(X, y)


def test_what_cannot_be_kept_fails_before_the_folds():
    X, y, groups = biased(60)
    told = []
    clf = tuner([MinRate(1, 0.7), MaxRate(1, 0.5)], callback=told.append)
    with pytest.raises(ImpossibleConstraintsError, match="Proved"):
        clf.fit(X, y)
    with pytest.raises(ValueError, match="got no sensitive_features"):
        clf.set_params(constraints=[DemographicParity(difference_bound=0.1)]).fit(X, y)
    clf.set_params(candidates=[PointsTree(), CartTree()])
    with pytest.raises(ValueError, match="Points trees know no constraints"):
        clf.fit(X, y, sensitive_features=groups)
    assert told == []


def test_a_search_takes_part_where_the_rules_cost_something(monkeypatch):
    X, y, groups = biased(80, seed=3)
    clf = tuner([DemographicParity(difference_bound=0.05)], candidates=QUICK[:1])
    monkeypatch.setattr(FINAL_FIT, "_ITERATIONS", 16)
    errors = (clf.fit(X, y, sensitive_features=groups).predict(X) != y).sum()
    monkeypatch.setattr(FINAL_FIT, "_searched", lambda *given: [])
    alone = (clf.fit(X, y, sensitive_features=groups).predict(X) != y).sum()
    assert errors < alone


# -------------------------------------------------------------------------- repair


def test_a_repair_moves_thresholds_where_labels_alone_are_not_enough():
    X, y, groups = biased(120)
    rows, rules = rows_of(X, y, groups, [DemographicParity(difference_bound=0.05)])
    fold = Fold(np.arange(120), np.arange(120), 0)
    trained = train_fold(rows, fold, TableRules(), [CartTree()], 1, constraints=rules)
    problem, ruled, heap = trained.part.problem, trained.rules, trained.grown[0][0]
    only_labels = ruled.labelled(problem, problem.to_user(heap))
    assert only_labels.n_leaves == 1
    found = RepairedTree(problem, ruled, [heap])
    assert found.tree.n_leaves == 2
    assert found.cost == (found.tree.predict(X) != y).sum()
    assert found.cost < (only_labels.predict(X) != y).sum()
    assert apart(found.tree.predict(X), groups) <= 0.05


def test_a_repair_without_a_tree_is_none():
    X, y, groups = biased(40)
    rows, rules = rows_of(X, y, groups, [MinLeaf(rows=1)])
    rates = FoldConstraints((MinRate(1, 0.2), MaxRate(1, 0.8)), rules.classes)
    fold, constant = Fold(np.arange(40), np.arange(40), 0), [ConstantTree()]
    trained = train_fold(rows, fold, TableRules(), constant, 1, constraints=rates)
    found = RepairedTree(trained.part.problem, trained.rules, trained.grown[0])
    assert found.tree is None
    assert found.cost == np.inf


# ------------------------------------------------------------------------- surface


def test_groups_are_routed_as_metadata():
    X, y, groups = biased(90)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = tuner([DemographicParity(difference_bound=0.1)], cv=2)
        clf.set_fit_request(sensitive_features=True)
        given = {"sensitive_features": groups}
        found = cross_validate(
            clf, X, y, cv=2, params=given, return_estimator=True, return_indices=True
        )
    for fitted, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        assert apart(fitted.predict(X[rows]), groups[rows]) <= 0.1 + 1e-12


def test_references_are_fitted_where_metadata_are_routed(monkeypatch):
    only_quick(monkeypatch)
    X, y, groups = biased(60)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = tuner([DemographicParity(difference_bound=0.1)], candidates="default")
        clf.fit(X, y, sensitive_features=groups)
        page = report_html(clf, X, y, sensitive_features=groups)
    assert set(clf.references_) == {"logistic regression", "CART"}
    assert "logistic regression" in page


def test_the_command_line_tunes_under_rules(tmp_path, monkeypatch):
    only_quick(monkeypatch)
    people, table, groups = people_in(tmp_path, ["a", "b"])
    out = tmp_path / "model.json"
    fit = [
        "fit",
        people,
        "--target",
        "paid",
        "--tune",
        "--time-limit",
        90,
        "--out",
        out,
    ]
    fair = ["--sensitive", "sex", "--fair", "demographic-parity:0.1"]
    result = run(*fit, *fair)
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "Rule: The rates of 'yes' of the groups of 'sex' differ" in told
    assert told.count("On rows held out it was kept in") == 1  # no rule on splits
    assert "points" not in told.partition("It was chosen")[0]
    model = load_json(out)
    assert apart((model.predict(table) == "yes").astype(int), groups) <= 0.1 + 1e-12
    assert run("verify", out, people).exit_code == 0
    assert "works without" in refused(*fit, *fair, "--force", "--style", "points")
