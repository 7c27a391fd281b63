"""Weights and costs of errors: formulations, cuts, bounds, certificate, estimator."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from _brute_force import BruteForce
from _data import close, examples, objectives, random_heap, random_problem, solve
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    save_json,
    verify,
    verify_model,
)
from miptree.checker import check_proof
from miptree.data.labels import price_by_class
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.formulations import (
    CompactFormulation,
    CountFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.objective import Svm1Objective
from miptree.objective.bounds import combinatorial_bound
from miptree.objective.leaf_labels import tree_value
from miptree.objective.tolerance import Leeway

QUICK = {"max_iter": 20, "time_limit": None, "random_state": 0}
CLASS_INDICATORS = [CompactFormulation, FlowFormulation, CountFormulation]


def costly_problem(seed, n_rows=6, n_classes=3, kind="distinct", soft=False):
    """Problem with random costs: by a matrix, or row by row and never zero."""
    rng = np.random.default_rng(seed)
    plain = random_problem(seed, n_rows, 2, n_classes, kind, "random")
    matrix = rng.choice([0.0, 0.3, 0.7, 1.0], (n_classes, n_classes))
    np.fill_diagonal(matrix, 0.0)
    cost = rng.random((plain.n_rows, n_classes)) if soft else matrix[plain.y]
    return Problem.from_data(plain.X, plain.y, n_classes, plain.weight, cost)


costly = st.builds(
    costly_problem,
    seed=st.integers(0, 2**20),
    n_rows=st.integers(4, 6),
    n_classes=st.integers(2, 4),
    soft=st.booleans(),
)
objective = Svm1Objective(100, 1, 0.01)


@examples(10)
@given(problem=costly, objective=objectives, depth=st.sampled_from([1, 2]))
def test_proved_optimum_with_costs(problem, objective, depth):
    best = BruteForce(problem, objective, strict=False).optimum(depth)
    compact = solve(CompactFormulation(problem, objective, depth).model)
    assert compact.objective == pytest.approx(best, abs=close(best))
    for formulation in (FlowFormulation, CountFormulation):
        result = solve(formulation(problem, objective, depth).model)
        assert result.objective <= best + close(best)


@examples(30)
@given(
    problem=st.builds(
        costly_problem,
        seed=st.integers(0, 2**20),
        n_rows=st.integers(4, 12),
        n_classes=st.integers(2, 5),
        kind=st.sampled_from(["grid", "distinct"]),
        soft=st.booleans(),
    ),
    depth=st.sampled_from([1, 2]),
    seed=st.integers(0, 999),
)
def test_no_cut_or_bound_excludes_a_tree(problem, depth, seed):
    heap = random_heap(problem, depth, np.random.default_rng(seed))
    value = tree_value(problem, objective, heap)
    score = objective.evaluate(problem, problem.to_user(heap))
    assert combinatorial_bound(problem, depth).value <= score.cost + 1e-9
    for formulation in CLASS_INDICATORS:
        made = formulation(problem, objective, depth)
        x = made.encode(heap)
        assert max(made.model.violation(x).values()) < 1e-7
        least = score.cost_at_margin if formulation is CountFormulation else value
        assert made.model.objective(x) <= least + 1e-7


def test_costs_of_one_are_the_plain_problem():
    plain = random_problem(3, 9, 2, 3, "grid", "random")
    cost = 1.0 - np.eye(3)[plain.y]
    costly = Problem.from_data(plain.X, plain.y, 3, plain.weight, cost)
    for formulation in (PaperFormulation, *CLASS_INDICATORS):
        one, two = (solve(formulation(p, objective, 1).model) for p in (plain, costly))
        assert one.objective == pytest.approx(two.objective, abs=1e-6)


def test_paper_formulation_refuses_costs_it_cannot_count():
    problem = costly_problem(5, n_classes=3, soft=True)
    with pytest.raises(ValueError, match="Use formulation='compact'"):
        PaperFormulation(problem, objective, 1).build()
    two = random_problem(0, 8, 2, 2, "distinct")
    cost = np.array([[0.0, 3.0], [0.5, 0.0]])[two.y]
    costly = Problem.from_data(two.X, two.y, 2, two.weight, cost)
    dear = Svm1Objective(1000, 1, 0.01)
    values = [
        solve(f(costly, dear, 1).model).objective
        for f in (PaperFormulation, CompactFormulation)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


@examples(6)
@given(problem=costly)
def test_trained_tree_is_honest(problem):
    trained = train(problem, Plan(objective, 2, max_iter=10))
    best = BruteForce(problem, objective, strict=True).optimum(2)
    found = trained.certificate
    assert found.objective_bound <= best + 1e-6
    assert found.objective >= best - 1e-6
    if trained.status == "optimal":
        assert Leeway().meets(found.objective, best)


# ----------------------------------------------------------------------- estimator

MATRIX = np.array([[0, 1, 0.2], [1, 0, 0.4], [0.1, 0.6, 0]])


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.normal(size=(60, 2)) + 1.2 * np.eye(3)[y][:, :2], y


def test_cost_matrix_steers_the_tree(blobs):
    X, y = blobs
    options = {"solver": "search", "l1_penalty": 0.01, **QUICK}
    plain = OptimalTreeClassifier(**options).fit(X, y)
    clf = OptimalTreeClassifier(cost_matrix=MATRIX, **options).fit(X, y)
    costs = [MATRIX[y, m.predict(X)].sum() for m in (plain, clf)]
    assert costs[1] < costs[0]
    assert clf.certificate_.cost == pytest.approx(costs[1])
    assert clf.certificate_.errors == (clf.predict(X) != y).sum()
    args = clf.certificate_, clf.tree_, X, y
    assert verify(*args, cost_matrix=MATRIX).ok
    assert not verify(*args).ok
    assert not verify(*args, cost_matrix=MATRIX * 2).ok


def test_costs_are_proved(blobs):
    X, y = blobs[0][:15], blobs[1][:15]
    clf = OptimalTreeClassifier(
        max_depth=1, cost_matrix=MATRIX, l1_penalty=0.1, **QUICK
    ).fit(X, y)
    assert clf.status_ == "optimal"
    resolved = verify(
        clf.certificate_, clf.tree_, X, y, cost_matrix=MATRIX, resolve_with="highs"
    )
    assert resolved.ok, str(resolved)


def test_class_weight_is_a_weight_and_a_cost(blobs):
    X, y = blobs
    by_class = {0: 0.5, 1: 1.0, 2: 0.25}
    weight = np.array([by_class[k] for k in y])
    one = OptimalTreeClassifier(class_weight=by_class, node_limit=0, **QUICK)
    two = OptimalTreeClassifier(node_limit=0, **QUICK)
    assert one.fit(X, y).objective_ == two.fit(X, y, weight).objective_
    balanced = OptimalTreeClassifier(class_weight="balanced", node_limit=0, **QUICK)
    skew = np.array([1.0, 2.0, 5.0])[y]
    balanced.fit(X, y, skew)
    proba = balanced.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert balanced.certificate_.n_rows == len(y)


def test_probabilities_are_weighted_and_smoothed():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array(["b", "a", "a", "a"])
    weight = np.array([3.0, 1.0, 2.0, 2.0])
    clf = OptimalTreeClassifier(max_depth=1, l1_penalty=0.1, **QUICK).fit(X, y, weight)
    assert clf.classes_.tolist() == ["a", "b"]
    usual = np.array([5, 3]) / 8  # rows of weight 1, less than their mean, are added
    left, right = (np.array(leaf) + 3 * usual + 0.5 for leaf in ([1, 3], [4, 0]))
    expected = [left / left.sum(), right / right.sum()]
    assert clf.predict_proba([[0.0], [1.0]]) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost_matrix": np.ones((2, 2))}, r"shape \(3, 3\).*got \(2, 2\)"),
        ({"cost_matrix": np.ones((3, 3))}, r"cost_matrix\[0, 0\] is 1"),
        ({"cost_matrix": -MATRIX}, "finite numbers >= 0"),
        ({"cost_matrix": np.full((3, 3), np.nan)}, "finite numbers >= 0"),
        ({"cost_matrix": np.zeros((3, 3))}, "0 throughout"),
        (
            {"cost_matrix": 9 * MATRIX, "slack_penalty": 100.0},
            "at least the largest cost of an error, 9",
        ),
        ({"cost_matrix": MATRIX, "formulation": "paper"}, "formulation='compact'"),
        ({"class_weight": {7: 1.0}}, "names 7, which is not a class"),
        ({"class_weight": {0: -1.0}}, "must be a finite number >= 0"),
        ({"class_weight": {0: 0, 1: 0, 2: 0}}, "weight zero by class_weight"),
    ],
)
def test_bad_costs_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**parameters, **QUICK).fit(*blobs)


def test_a_class_that_a_fold_lacks_may_have_a_weight(blobs):
    X, y = blobs
    weights = {0: 1.0, 1: 2.0, 2: 1.0}
    options = {"solver": "search", "max_iter": 5, "time_limit": None, "random_state": 0}
    same = OptimalTreeClassifier(class_weight=weights, **options).fit(X, y)
    more = OptimalTreeClassifier(class_weight={**weights, 9: 5.0}, **options).fit(X, y)
    assert more.certificate_.cost == same.certificate_.cost
    assert more.certificate_.tree_digest == same.certificate_.tree_digest


# ------------------------------------------------------- one cost given in three ways


def mixed_rows(n=90):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n) ** 3,
            "c": rng.choice(list("xyz"), n),
        }
    )
    X.loc[::9, "b"] = np.nan
    score = X["a"] + 0.5 * X["b"].fillna(0) + (X["c"] == "x") + rng.normal(size=n)
    return X, np.select([score > 1, score > 0], ["high", "mid"], "low")


PRICE = {"high": 5.0, "low": 0.25, "mid": 2.0}
"""What an error costs, by the true class."""


@pytest.mark.filterwarnings("ignore:Column .* missing values")
@pytest.mark.parametrize(
    "clf",
    [
        OptimalTreeClassifier(solver="search", **QUICK),
        OptimalTreeClassifier(max_depth=1, solver="highs", **QUICK),
        PointsTreeClassifier(max_depth=1, time_limit=None, random_state=0),
    ],
)
def test_a_cost_is_the_same_however_it_is_given(clf, tmp_path):
    X, y = mixed_rows()
    weight = np.array([PRICE[label] for label in y])
    matrix = np.repeat(np.array(list(PRICE.values()))[:, None], 3, axis=1)
    np.fill_diagonal(matrix, 0.0)
    by_class = clone(clf).set_params(class_weight=PRICE).fit(X, y)
    by_row = clone(clf).fit(X, y, sample_weight=weight)
    by_matrix = clone(clf).set_params(cost_matrix=matrix).fit(X, y)
    wanted = replace(by_class.certificate_, seconds=0.0).signed()
    assert wanted.cost != wanted.errors
    for other in (by_row, by_matrix):
        assert replace(other.certificate_, seconds=0.0).signed() == wanted
        assert other.table_ == by_class.table_
        assert np.array_equal(other.tree_.coef, by_class.tree_.coef)
        assert np.array_equal(other.tree_.threshold, by_class.tree_.threshold)
    # Costs are no frequencies: probabilities are those of the rows as they are.
    proba, node = by_matrix.predict_proba(X).mean(axis=0), by_matrix.fitted_
    share = [np.mean(y == label) for label in by_matrix.classes_]
    assert proba == pytest.approx(share, abs=0.05)
    assert by_class.predict_proba(X).mean(axis=0) != pytest.approx(share, abs=0.05)
    assert node.node_count.sum() == by_class.fitted_.node_count.sum()
    assert verify_model(by_matrix, X, y).ok
    assert verify(
        by_matrix.certificate_,
        by_matrix.tree_,
        X,
        y,
        cost_matrix=matrix,
        table=by_matrix.table_,
    ).ok
    save_json(by_matrix, tmp_path / "model.json")
    assert verify_model(tmp_path / "model.json", X, y).ok


def test_costs_by_class_are_proved_in_a_file(tmp_path):
    X, y = mixed_rows(40)
    X = X[["a"]]
    clf = PointsTreeClassifier(
        max_depth=1, cost_matrix=[[0, 5, 5], [0.3, 0, 0.3], [2, 2, 0]], time_limit=None
    )
    clf.fit(X, y, proof_log=tmp_path / "proof")
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    outcome = check_proof(tmp_path / "proof", tmp_path / "rows.csv", target="label")
    assert outcome.exit_code == 0, outcome.sentence


def test_what_depends_on_the_prediction_is_no_weight():
    assert price_by_class(np.array([[0, 1, 2], [1, 0, 1], [1, 1, 0.0]])) is None
    assert price_by_class(np.array([[0, 0], [3, 0.0]])) is None  # rows stay
    assert price_by_class(np.array([[0, 2], [3, 0.0]])).tolist() == [2, 3]
