"""What it costs that rules leave columns out: a bracket around the truth."""

import re
from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _cli import run
from _data import examples
from _ruled_brute_force import RuledBruteForce
from miptree import (
    OptimalTreeClassifier,
    estimator,
    load_json,
    save_json,
    verify_model,
)
from miptree.certificate.checks import objective_of
from miptree.constraints import (
    AllowFeatures,
    DemographicParity,
    ForbidFeatures,
    MaxRate,
    MinLeaf,
    Monotone,
)
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit import constrained
from miptree.fit.all_columns import AllColumns
from miptree.trade_off import trade_off
from miptree.tree import HeapTree, ObliqueTree

PENALTIES = {"slack_penalty": 10.0, "l1_penalty": 0.2, "margin": 0.1}
UNKNOWN = "what leaving out such columns costs is not known"


def classifier(constraints, **parameters):
    given = {"solver": "search", "max_iter": 20, "time_limit": None, "random_state": 0}
    given |= {"constraints": constraints, **PENALTIES}
    return OptimalTreeClassifier(**(given | parameters))


def unfair(n=40, seed=0):
    """A table in which the class is told by a group, and by a number a little."""
    rng = np.random.default_rng(seed)
    sex, a, b = rng.choice(["f", "m"], n), rng.normal(size=n), rng.normal(size=n)
    y = (a + 2 * (sex == "m") + 0.3 * rng.normal(size=n) > 1).astype(int)
    return pd.DataFrame({"a": a, "sex": sex, "b": b}), y


# ---------------------------------------------------------------------- brute force

BESIDE = [
    [],
    [MinLeaf(rows=3)],
    [MaxRate(1, 0.34)],
    [DemographicParity(difference_bound=0.2)],
    [Monotone({1: +1}, 1)],
]
"""Rules beside the one that leaves columns out."""


def true_costs(clf, X, y, groups, weight, depth, beside):
    """Return the least cost of trees without rules, without columns, and with all."""
    problem = Problem.from_data(X, y, 2, weight)
    rules = {
        "free": [],
        "columns": [AllowFeatures([1, 2])],
        "ruled": [AllowFeatures([1, 2]), *beside],
    }
    given = problem, objective_of(clf.certificate_)
    return {
        name: RuledBruteForce(*given, found, groups[problem.source]).optimum(depth)
        for name, found in rules.items()
    }


def check_bracket(seed, depth, solver="highs"):
    """What a certificate says of prices is true, of rows that rules count by number."""
    rng = np.random.default_rng(seed)
    n = 6 if depth == 1 else 4 + seed % 2
    X, y = rng.normal(size=(n, 3)), rng.permutation(np.arange(n) % 2)
    groups = np.array(["a", "b"])[rng.permutation(n) % 2]
    beside = BESIDE[seed % len(BESIDE)]
    has_weights = seed % 3 == 0 and not beside
    weight = rng.choice([0.5, 1.0, 2.0], n) if has_weights else np.ones(n)
    out = AllowFeatures([1, 2]) if seed % 2 else ForbidFeatures([0])
    given = {"solver": solver, "max_depth": depth, "node_limit": 2000}
    if seed % 4 == 0:
        given |= dict.fromkeys(PENALTIES, "auto")
    clf = classifier([out, *beside], **given)
    clf.fit(X, y, weight if has_weights else None, sensitive_features=groups)
    found = clf.certificate_
    true = true_costs(clf, X, y, groups, weight, depth, beside)
    slip = 1e-6 * max(1.0, true["ruled"])
    assert found.free_bound - slip <= true["free"] <= found.free_objective + slip
    assert found.columns_bound - slip <= true["columns"]
    assert true["columns"] <= found.columns_objective + slip
    assert found.objective_bound - slip <= true["ruled"] <= found.objective + slip
    check_sentence(str(found), true["ruled"] - true["free"])
    return clf


def check_sentence(words, price):
    """The numbers in a certificate's sentence are on the right side of the price."""
    assert UNKNOWN not in words
    most = re.search(r"keeping them costs at most (\S+?)[;.]?( |$)", words)
    least = re.search(r"it costs at least (\S+?)\.?( |$)", words)
    slip = 1e-5 * max(1.0, price)
    assert most is None or price <= float(most[1].rstrip(".;")) + slip
    assert least is None or float(least[1].rstrip(".;")) <= price + slip


@pytest.mark.parametrize("seed", range(20))
def test_the_bracket_holds_the_true_price(seed):
    check_bracket(seed, depth=1, solver="search" if seed % 5 == 4 else "highs")


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_the_bracket_holds_the_true_price_at_depth_two(seed):
    check_bracket(seed, depth=2)


@pytest.mark.long
@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("depth", [1, 2])
def test_the_bracket_holds_the_true_price_of_many(depth, block):
    size = 40 if depth == 1 else 6
    for seed in range(1000 + size * block, 1000 + size * (block + 1)):
        check_bracket(seed, depth)


def test_a_proof_closes_the_bracket():
    clf = check_bracket(1006, depth=1)
    found = clf.certificate_
    assert found.free_bound == pytest.approx(found.free_objective, rel=1e-5)
    assert found.objective_bound == pytest.approx(found.objective, rel=1e-5)
    assert found.objective > 1.05 * found.free_objective
    words = str(found)
    assert "keeping them costs at most" in words
    assert "it costs at least" in words


# ------------------------------------------------------- any table, by another fit


def check_against_a_fit_without_rules(seed, depth):
    """Bounds of trees with all columns are below, trees above, those of a plain fit."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(12, 30)), 2 + seed % 2
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(1), columns=["a", "b"])
    X["kind"], X["sex"] = rng.choice(list("uvw"), n), rng.choice(["f", "m"], n)
    X["c"] = np.where(rng.uniform(size=n) < 0.2, np.nan, rng.integers(0, 9, n))
    y = rng.permutation(np.arange(n) % n_classes)
    weight = rng.choice([0.3, 1.0, 2.0], n) if seed % 3 else None
    out = rng.permutation(X.columns)[: 1 + seed % 3].tolist()
    given = {"max_depth": depth, "solver": "highs", "node_limit": 300}
    given |= {"margin": 0.05, "slack_penalty": 80.0}
    if seed % 4 == 0:
        given["max_features_per_split"] = 1
    if seed % 5 == 0:
        costs = rng.integers(1, 4, (n_classes, n_classes)) * (1.0 - np.eye(n_classes))
        given["cost_matrix"] = costs
    ruled = classifier([ForbidFeatures(out), MinLeaf(rows=2)], **given)
    ruled.fit(X, y, weight)
    plain = classifier(None, **given).fit(X, y, weight)
    found, other = ruled.certificate_, plain.certificate_
    slip = 1e-6 * max(1.0, other.objective)
    assert found.free_bound <= other.objective + slip
    assert other.objective_bound <= found.free_objective + slip
    assert found.free_objective <= found.columns_objective <= found.objective
    assert found.free_bound <= found.columns_bound <= found.objective_bound
    without = classifier(None, **given).fit(X.drop(columns=out), y, weight)
    assert found.columns_bound <= without.objective_ + slip
    assert without.certificate_.objective_bound <= found.columns_objective + slip
    assert verify_model(ruled, X, y, weight).ok


@given(st.integers(0, 5000))
@examples(5)
def test_free_trees_are_those_of_a_fit_without_rules(seed):
    check_against_a_fit_without_rules(seed, depth=1)


@pytest.mark.long
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("block", range(2))
def test_free_trees_are_those_of_many_fits_without_rules(block, depth):
    for seed in range(10 * block, 10 * (block + 1)):
        check_against_a_fit_without_rules(seed, depth)


def test_rows_that_only_a_column_left_out_tells_apart():
    """Without it every tree errs; the bound of trees that use it must not say so."""
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0] * 3, "s": [0.0, 1.0] * 6})
    y = (X["s"] > 0).astype(int)
    clf = classifier([ForbidFeatures("s")], max_depth=1).fit(X, y)
    found = clf.certificate_
    assert found.any_tree_bound == found.objective_bound == 6.0
    assert found.columns_bound == 6.0
    assert found.free_bound == 0.0
    assert found.free_objective < 1.0
    assert not found.is_of_ruled_trees
    assert "no tree of depth 1 that does not use 's', whether it keeps" in str(found)
    assert verify_model(clf, X, y).ok


# ---------------------------------------------------------------------- what is said


def test_what_leaving_out_a_column_costs_is_told_from_other_rules():
    X, y = unfair()
    rules = [DemographicParity(difference_bound=0.01)]
    clf = classifier(rules, max_iter=40).fit(X, y, sensitive_features=X["sex"])
    found, words = clf.certificate_, str(clf.certificate_)
    assert found.free_objective < found.columns_objective < found.objective
    assert "need not keep them and may use 'sex' has a total cost of" in words
    told = "With 'sex' left out, but no other rule, the best tree known has one of "
    assert f"{told}{found.columns_objective:.6g}." in words
    alone = classifier([ForbidFeatures("sex")], max_iter=40).fit(X, y)
    assert "no other rule" not in str(alone.certificate_)
    rules.append(ForbidFeatures("b"))
    both = classifier(rules, max_iter=40).fit(X, y, sensitive_features=X["sex"])
    assert "With 'b' and 'sex' left out, but no other" in str(both.certificate_)


def test_where_a_column_is_of_no_use_leaving_it_out_costs_nothing():
    X, _ = unfair()
    X["a"] += np.sign(X["a"])
    y = (X["a"] > 0).astype(int)
    clf = classifier([ForbidFeatures("b")], max_depth=1).fit(X, y)
    nothing = "costs nothing against the best tree known that need not keep them and "
    assert f"{nothing}may use 'b'." in str(clf.certificate_)


def test_a_price_is_not_nothing_where_errors_cost_next_to_nothing():
    """A column tells two light rows apart: leaving it out costs one of them."""
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0], "s": [0.0, 1.0, 0.5, 0.5]})
    y, weight = [0, 1, 1, 1], [1e-8, 1e-8, 1e-5, 1e-5]
    given = {"l1_penalty": 0.0, "margin": 0.05, "slack_penalty": 20.0}
    clf = classifier([ForbidFeatures("s")], **given).fit(X, y, weight)
    assert clf.objective_ == pytest.approx(1e-8)
    assert "has a total cost of 0, 1e-08 less" in str(clf.certificate_)


def test_without_a_search_the_price_is_not_known(monkeypatch):
    X, y = unfair()
    stopped = []

    def stop(state):
        stopped.append(state.stage)
        return True

    with pytest.warns(UserWarning, match="interrupted"):
        clf = classifier([ForbidFeatures("sex")], callback=stop).fit(X, y)
    assert not clf.certificate_.prices_columns
    assert UNKNOWN in str(clf.certificate_)
    train, begun = AllColumns.train, []

    def begin(self, *given):
        begun.append(self)
        return train(self, *given)

    monkeypatch.setattr(AllColumns, "train", begin)
    clf = classifier([ForbidFeatures("sex")], callback=lambda state: bool(begun))
    with pytest.warns(UserWarning, match="interrupted"):
        clf.fit(X, y)
    assert UNKNOWN in str(clf.certificate_)
    refusing = X.assign(sex=np.where(np.arange(len(X)) < 3, None, X["sex"]))
    clf = classifier([ForbidFeatures("sex")], missing="error").fit(refusing, y)
    assert UNKNOWN in str(clf.certificate_)
    endless = X.assign(sex=np.resize([-1e308, 1e308], len(X)))
    clf = classifier([ForbidFeatures("sex")]).fit(endless, y)
    assert UNKNOWN in str(clf.certificate_)
    clf = classifier([ForbidFeatures("sex")]).fit(refusing, y)  # a value of its own
    assert clf.certificate_.prices_columns


def test_no_column_left_out_is_no_price_of_columns():
    X, y = unfair()
    clf = classifier([MinLeaf(rows=4), AllowFeatures(["a"], depth=0)]).fit(X, y)
    found = clf.certificate_
    assert found.left_out == ()
    assert (found.columns_objective, found.columns_bound) == (None, None)
    assert "may use" not in str(found)


def test_warnings_about_columns_left_out_are_not_shown(recwarn):
    X, y = unfair()
    X = X.assign(name=[f"n{k}" for k in range(len(X))], gone=np.nan)
    classifier([ForbidFeatures(["name", "gone"])]).fit(X, y)
    told = [str(w.message) for w in recwarn]
    assert not [words for words in told if "'name'" in words or "'gone'" in words]


# ------------------------------------------------------------------- budgets and files


def test_iterations_and_time_are_those_of_the_whole_fit(monkeypatch):
    X, y = unfair()
    clf = classifier([ForbidFeatures("sex")], max_iter=20).fit(X, y)
    assert clf.n_iter_ <= 20
    again = classifier([ForbidFeatures("sex")], max_iter=20).fit(X, y)
    assert again.certificate_.free_objective == clf.certificate_.free_objective
    ticks, parts = count(), []
    monkeypatch.setattr(
        estimator, "Clock", lambda limit: Clock(limit, time_source=lambda: next(ticks))
    )
    train = AllColumns.train

    def timed(self, plan, known, clock, *given):
        parts.append(clock.limit)
        return train(self, plan, known, clock, *given)

    monkeypatch.setattr(AllColumns, "train", timed)
    classifier([ForbidFeatures("sex")], max_iter=None, time_limit=5000).fit(X, y)
    assert parts[0] >= constrained.PRICE_SHARE * 5000 - 100
    assert next(ticks) <= 5000 + 100


@given(st.integers(0, 1000))
@examples(20)
def test_a_widened_tree_predicts_as_the_narrow_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    is_shared = np.array([True, False, True, False])
    heap = HeapTree(rng.normal(size=(3, 2)), rng.normal(size=3), np.arange(4))
    tree = ObliqueTree.from_heap(heap)
    wide = AllColumns(Problem.from_data(X, np.arange(30) % 2, 2), is_shared)
    found = wide.widened(tree).predict(X)
    assert np.array_equal(found, tree.predict(X[:, is_shared]))


def test_forged_prices_of_columns_are_found(tmp_path):
    X, y = unfair()
    rules = [DemographicParity(difference_bound=0.01)]
    clf = classifier(rules).fit(X, y, sensitive_features=X["sex"])
    save_json(clf, tmp_path / "model.json")
    read = load_json(tmp_path / "model.json")
    assert read.certificate_ == clf.certificate_
    given = {"sensitive_features": X["sex"]}
    result = verify_model(read, X, y, **given)
    assert result.ok
    assert "does not hold that tree, so that this rests on the digest" in str(result)
    found = clf.certificate_
    for change in (
        {"columns_objective": found.objective * 1.1},
        {"columns_objective": found.free_objective * 0.9},
        {"columns_objective": None},
        {"columns_bound": None},
        {"columns_bound": found.objective_bound + 1.0},
        {"columns_bound": found.any_tree_bound - 1.0},
        {"free_bound": found.columns_bound + 0.1},
        {"free_objective": found.columns_objective * 1.1},
        {"left_out": ()},
    ):
        read.certificate_ = replace(found, **change).signed()
        wrong = {check.name for check in verify_model(read, X, y, **given).wrong}
        assert wrong & {"price of the rules", "columns left out"}, change


def test_a_trade_off_is_priced_against_trees_of_all_columns():
    X, y = unfair()
    clf = classifier([DemographicParity(difference_bound=0.1)])
    found = trade_off(clf, X, y, bounds=[0.05, 0.5], sensitive_features=X["sex"])
    free = min(p.model.certificate_.free_objective for p in found.points)
    for point in found.points:
        assert point.price == pytest.approx(point.model.objective_ - free)
        assert point.model.certificate_.prices_columns


def test_the_command_line_tells_the_price_of_a_sensitive_column(tmp_path):
    X, y = unfair()
    people, out = tmp_path / "people.csv", tmp_path / "model.json"
    table = X.assign(id=np.arange(len(X)) + 7000, paid=np.where(y == 1, "yes", "no"))
    table.to_csv(people, index=False)
    fit = ["fit", people, "--target", "paid", "--sensitive", "sex", "--min-leaf", 3]
    result = run(
        *fit, "--solver", "search", "--time-limit", 4, "--out", out, "--details"
    )
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "need not keep them and may use 'sex' has a total cost of" in told
    assert "'id'" not in told.partition("It keeps")[2]  # left out, but not by a rule
    assert run("verify", out, people).exit_code == 0
