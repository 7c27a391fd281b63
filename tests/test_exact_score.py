"""Objectives to the last digits: columns far from 0, and costs next to nothing."""

import hashlib
import json
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from miptree import OptimalTreeClassifier, verify, verify_model
from miptree.certificate import exact_score as exact
from miptree.certificate.exact_score import exact_score
from miptree.certificate.given_data import GivenData
from miptree.certificate.recount import Recount
from miptree.checker import check_proof
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.utils.exact import less_products


def recounted(clf, X, y):
    """The objective of a fitted tree in fractions."""
    data = GivenData.of(X, y, None, None)
    return Recount(clf.tree_, data, clf.certificate_).objective


@pytest.mark.parametrize("far", [0, 10**6, 10**9, 10**10, 10**12, 10**13])
def test_a_proof_about_a_column_far_from_0_holds(far, tmp_path):
    number = np.arange(60) + far
    frame, y = (
        pd.DataFrame({"i": number.astype(float)}),
        (number > far + 30).astype(int),
    )
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, random_state=0)
    clf.fit(frame, y, proof_log=tmp_path / "p.proof")
    frame.assign(target=y).to_csv(tmp_path / "d.csv", index=False)
    outcome = check_proof(tmp_path / "p.proof", tmp_path / "d.csv", "target")
    assert outcome.exit_code == 0, outcome.sentence
    found = clf.certificate_
    assert found.objective == pytest.approx(float(outcome.cost), rel=1e-12)
    assert found.objective_bound > 0.999 * found.objective
    proof = {"proof": tmp_path / "p.proof", "data": tmp_path / "d.csv"}
    assert verify_model(clf, frame, y, **proof).ok
    if far <= 10**12:
        assert clf.status_ == "optimal"


def test_costs_next_to_nothing_are_counted():
    """Where norms cost 1e-9, rounding of scores would be all of the objective."""
    X = np.array([[1e6 + 0.123], [1e6 + 0.456], [1e6 + 0.789]])
    y = np.array([0, 1, 1])
    clf = OptimalTreeClassifier(
        max_depth=1, slack_penalty=1e4, l1_penalty=1e-9, margin=1e-4, max_iter=20,
        solver="search", time_limit=None, random_state=0,
    ).fit(X, y)  # fmt: skip
    exact = recounted(clf, X, y)
    assert clf.certificate_.objective == pytest.approx(float(exact), rel=1e-12)


def test_verify_forgives_an_objective_no_more_than_a_sum_of_weights():
    X = np.arange(60.0)[:, None] + 1e9
    y = (np.arange(60) > 30).astype(int)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=20, time_limit=None, random_state=0
    ).fit(X, y)
    known = clf.certificate_
    assert verify(known, clf.tree_, X, y).ok
    changed = replace(known, objective=known.objective * (1 - 1e-8)).signed()
    wrong = verify(changed, clf.tree_, X, y).wrong
    assert "objective" in {check.name for check in wrong}


def test_scores_of_random_rows_are_exact_to_the_last_digits():
    rng = np.random.default_rng(0)
    for far in 10.0 ** np.arange(0, 13, 2):
        X = rng.normal(size=(30, 3)) + far
        y = rng.integers(0, 2, 30)
        problem = Problem.from_data(X, y, 2)
        coef = rng.normal(size=(2, 3))
        threshold = coef @ X[0]
        scores = problem.scores(coef, threshold)
        for row, found in zip(problem.X, scores, strict=True):
            for b in range(2):
                terms = zip(coef[b], row, strict=True)
                exact = sum(Fraction(c) * Fraction(x) for c, x in terms)
                exact -= Fraction(threshold[b])
                assert found[b] == pytest.approx(float(exact), rel=0, abs=1e-13)


def test_products_are_taken_off_without_rounding():
    rng = np.random.default_rng(1)
    total, factors = rng.normal(size=4) * 1e8, rng.normal(size=(4, 5))
    values = rng.normal(size=5) * 1e9
    for b, found in enumerate(less_products(total, factors, values)):
        terms = zip(factors[b], values, strict=True)
        exact = Fraction(total[b]) - sum(Fraction(f) * Fraction(v) for f, v in terms)
        assert found == float(exact)
    huge = less_products(np.array([1.0]), np.array([[1e300]]), np.array([2.0]))
    assert huge[0] == 1 - 2e300


def test_an_exact_score_is_that_of_fractions():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 2)) * 1e-3 + 1e5
    y = (X.sum(axis=1) > 2e5).astype(int)
    for penalty in (1e-9, 1e-3, 1.0):
        clf = OptimalTreeClassifier(
            max_depth=2, slack_penalty=100, l1_penalty=penalty, margin=0.01,
            solver="search", max_iter=10, time_limit=None, random_state=0,
        ).fit(X, y)  # fmt: skip
        problem, objective = (
            Problem.from_data(X, y, 2),
            Svm1Objective(100, penalty, 0.01),
        )
        score = objective.evaluate(problem, clf.tree_)
        found = exact_score(problem, objective, clf.tree_, score)
        exact = float(recounted(clf, X, y))
        assert found.objective == pytest.approx(exact, rel=1e-11)
        assert clf.certificate_.objective == found.objective


def test_a_checker_says_whether_the_cost_is_off_or_the_bound(tmp_path):
    X = pd.DataFrame({"a": np.arange(12.0)})
    y = (np.arange(12) > 5).astype(int)
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, random_state=0)
    clf.fit(X, y, proof_log=tmp_path / "p.proof")
    X.assign(target=y).to_csv(tmp_path / "d.csv", index=False)
    header, *others, _ = (tmp_path / "p.proof").read_text().splitlines(keepends=True)
    cost = f'"cost":{clf.certificate_.objective!r}'
    assert cost in header
    changed = [header.replace(cost, '"cost":8.5'), *others]
    (tmp_path / "p.proof").write_text("".join([*changed, signature(changed)]))
    outcome = check_proof(tmp_path / "p.proof", tmp_path / "d.csv", "target")
    assert outcome.exit_code == 1
    assert "its tree has an objective of 8.5, but with these data" in outcome.sentence
    assert "What it claims of all trees holds: no decision tree" in outcome.sentence


def signature(lines):
    """The last line of a proof file."""
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    return json.dumps({"digest": digest}) + "\n"


@pytest.mark.parametrize("far", [1e14, 1.7e15])
def test_a_column_too_far_from_0_is_named(far):
    """One whose splits rounding hides, until a constant is subtracted."""
    frame = pd.DataFrame({"near": np.arange(60.0) % 2, "time": far + np.arange(60.0)})
    y = (np.arange(60) > 30).astype(int)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=10, time_limit=None, random_state=0
    )
    with pytest.warns(UserWarning, match="Column 'time' lies so far from 0") as told:
        clf.fit(frame, y)
    assert len(told) == 1
    frame["time"] -= frame["time"].min()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(frame, y)
        clf.fit(frame.assign(time=frame["time"] + 1e12, near=1e15), y)
    assert clf.certificate_.errors == 0


@pytest.mark.parametrize("most", [10**6, 100])
def test_an_honest_fit_of_many_rows_at_the_margin_is_verified(most, monkeypatch):
    """Fractions count equal rows once; of too many, verify allows what floats leave."""
    monkeypatch.setattr(exact, "_MOST_NUMBERS", most)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    X[:, 0] = rng.integers(0, 2, len(X)) * 0.7 + 0.3
    y = (X[:, 0] > 0.5).astype(int)
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=5, time_limit=None, random_state=0
    ).fit(X, y)
    assert verify(clf.certificate_, clf.tree_, X, y).ok
    if most == 10**6:
        near = float(recounted(clf, X, y))
        assert clf.certificate_.objective == pytest.approx(near, rel=1e-14)
    changed = replace(clf.certificate_, objective=1.001 * clf.objective_).signed()
    wrong = verify(changed, clf.tree_, X, y).wrong
    assert "objective" in {check.name for check in wrong}
