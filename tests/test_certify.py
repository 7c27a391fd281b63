"""What certificates claim, against enumeration on tiny data."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import HardMarginEnumeration
from _data import MIP_SOLVERS, cases, close, examples, objectives, problems, solve
from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    load_json,
    save_json,
    verify_model,
)
from miptree.baselines import BinOCTClassifier
from miptree.certificate.certificate import certify
from miptree.certificate.digest import data_digest, tree_digest
from miptree.certificate.reasons import RECOMPUTED, is_claim, reason
from miptree.data.problem import Problem
from miptree.export.text import certificate_facts
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.formulations import CountFormulation
from miptree.objective import Svm1Objective
from miptree.objective.bounds import ROUTES, Bound
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@examples(60)
@given(problem=problems((3, 6)), objective=objectives)
def test_count_is_the_enumerated_minimum_at_depth_one(solver, problem, objective):
    optimum = HardMarginEnumeration(problem, objective.margin).fewest(1)
    model = CountFormulation(problem, objective, 1).model
    assert solve(model, solver).objective == pytest.approx(optimum, abs=1e-6)


@examples(40)
@given(problem=problems((3, 5)), objective=objectives)
def test_count_is_the_enumerated_minimum_at_depth_two(problem, objective):
    optimum = HardMarginEnumeration(problem, objective.margin).fewest(2)
    model = CountFormulation(problem, objective, 2).model
    assert solve(model).objective == pytest.approx(optimum, abs=1e-6)


@examples(100)
@given(case=cases())
def test_a_tree_is_a_solution_of_the_count_model(case):
    count = CountFormulation(case.problem, case.objective, case.depth)
    x = count.encode(case.heap)
    assert max(count.model.violation(x).values()) <= 1e-8
    score = case.objective.evaluate(case.problem, case.problem.to_user(case.heap))
    # Siblings of one class are merged by the symmetry rules, which can only help.
    assert count.model.objective(x) <= score.cost_at_margin + close(score.cost)


@examples(80)
@given(
    problem=problems((3, 5)),
    objective=objectives,
    nodes=st.sampled_from([0, 1, 1000]),
    depth=st.sampled_from([1, 2]),
)
def test_certified_bounds_never_exceed_the_truth(problem, objective, nodes, depth):
    plan = Plan(objective, depth, max_iter=3, node_limit=nodes)
    trained = train(problem, plan)
    certificate = score = trained.certificate
    truth = HardMarginEnumeration(problem, objective.margin).fewest(depth)
    assert certificate.errors_bound <= truth + 1e-6
    assert certificate.any_tree_bound <= score.cost + 1e-9
    assert certificate.any_tree_bound <= truth + 1e-6
    if certificate.errors_optimal:
        assert score.cost <= truth + 1e-6
    if nodes == 1000 and score.cost_at_margin <= truth + 1e-9:
        assert certificate.errors_optimal


def test_whole_weights_round_a_bound_up_and_others_do_not():
    X = np.array([[0.0], [1.0], [2.0]])
    objective = Svm1Objective(100, 1, 0.01)

    def count(weight):
        problem = Problem.from_data(X, np.array([0, 1, 0]), 2, np.array(weight))
        return CountFormulation(problem, objective, 1)

    assert count([1.0, 1.0, 2.0]).round_up(2.3) == 3.0
    assert count([0.5, 0.5, 1.5]).round_up(0.6) == 1.0
    assert count([1.0, 1.0, 2.0]).round_up(3.0000001) == 3.0
    assert count([1.0, 1.3, 2.0]).round_up(2.1) == 2.1
    # What is below a solver's tolerance must not become the weight of a light row.
    assert count([1.0, 1e-4, 1.0]).round_up(1.0 + 1e-7) == pytest.approx(1.0, abs=1e-12)
    assert count([1.0, 1e-4, 1.0]).round_up(1.00005) == pytest.approx(1.0001, abs=1e-12)
    assert count([1.0, 1e-6, 1.0]).round_up(1.0 + 1e-7) == 1.0 + 1e-7


def test_cost_at_margin_counts_points_near_the_split():
    X = np.array([[0.0], [0.495], [0.505], [1.0]])
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    clf = OptimalTreeClassifier(
        max_depth=1, margin=0.02, slack_penalty=50, l1_penalty=1, time_limit=None
    ).fit(X, [0, 0, 1, 1])
    score = Svm1Objective(50, 1, 0.02).evaluate(problem, clf.tree_)
    size = np.abs(problem.X @ clf.tree_.coef[0] - clf.tree_.threshold[0])
    near = (size < 0.02 - 1e-9) | (clf.predict(problem.X) != problem.y)
    assert score.cost_at_margin == near.sum() == clf.certificate_.cost_at_margin


def test_certificate_is_frozen_and_reads_like_sentences():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    certificate = clf.fit(X, [0, 1, 0, 1]).certificate_
    with pytest.raises(FrozenInstanceError):
        certificate.errors = 0
    text = str(certificate)
    assert text.startswith("The tree misclassifies 1 of 4 training rows")
    assert "rows and has no close calls, rows that are right but next to a" in text
    assert "No tree of depth 1 has fewer errors and close calls, by exhaustive" in text
    assert (
        "optimal: no tree of depth 1 costs less by more than a millionth, by a proof"
        in text
    )
    assert "20 * slack + 0.1 * 1-norms" in text
    assert certificate.errors_bound == 1.0
    assert certificate.errors_optimal
    doubtful = replace(certificate, errors_bound=0.0, objective_bound=0.0)
    assert not doubtful.errors_optimal
    assert "whether another tree of depth 1 misclassifies fewer is not" in str(doubtful)
    assert "not proved optimal: how much less the best tree of depth 1" in str(doubtful)
    heavier = replace(certificate, cost=2.5, cost_at_margin=4.5, has_costs=True)
    assert "rows at a cost of 2.5, and 4.5 with close calls, rows that" in str(heavier)
    assert "No tree of depth 1 has a lower cost than 1 by that count" in str(heavier)
    assert "total cost is cost of errors + 20 * slack" in str(heavier)
    unknown = replace(heavier, errors_bound=0.0)
    assert "whether another tree of depth 1 has errors that cost less is not" in str(
        unknown
    )


def test_the_summary_claims_no_more_than_is_proved():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    known = clf.fit(X, [0, 1, 0, 1]).certificate_
    start = "Proved: no tree of depth 1 has "
    assert known.summary.startswith(f"{start}fewer errors and close calls (rows")
    best = replace(known, any_tree_bound=1.0)
    assert best.summary == "Proved: no tree of depth 1 makes fewer errors."
    assert replace(best, has_costs=True).summary == f"{start}errors that cost less."
    total = replace(known, errors_bound=0.0)
    assert total.summary == f"{start}a total cost lower by more than a millionth."
    total = replace(total, objective_bound=total.objective)
    assert total.summary == f"{start}a lower total cost."
    claim = replace(total, objective_proved_by="HiGHS 1.15.1 on the flow MIP")
    told = "Not checked, but HiGHS 1.15.1 says: no tree of depth 1 has a lower total"
    assert claim.summary == f"{told} cost."
    near = replace(total, objective=1.0, objective_bound=0.7619)
    assert near.summary == (
        "Not proved to be the best: the total cost of another tree of depth 1 may be "
        "up to 23.9 % lower."
    )
    unknown = "Nothing useful is proved: another tree of depth 1 may be far better."
    assert replace(near, objective_bound=0.0).summary == unknown
    assert replace(near, objective_bound=0.09).summary == unknown
    few = replace(near, max_features=2, left_out=("sex",))
    assert (
        "another tree of depth 1 with at most 2 features in a split that does not use "
        "'sex' may be" in few.summary
    )
    assert "at most 1 feature in a split " in replace(few, max_features=1).summary


def test_the_summary_of_a_points_tree_and_of_a_sample():
    X, y = np.arange(20.0)[:, None], np.arange(20) < 3
    clf = PointsTreeClassifier(feature_penalty=5, time_limit=None).fit(X, y)
    found = clf.certificate_
    kind = "no points tree of depth 2 and of its kind"
    assert found.summary == f"Proved: {kind} has a lower total cost."
    rounded = replace(found, cost_rounding=0.01, cost_unit=0.1)
    assert rounded.summary.endswith("has a total cost lower by more than 0.02.")
    assert "a lower" not in replace(found, n_sampled=10, n_rows=200).summary


COSTS = [
    {"class_weight": {"A": 1, "B": 5}},
    {"cost_matrix": [[0, 1], [5, 0]]},
    {"sample_weight": True},
]


@pytest.mark.parametrize("given", COSTS)
@pytest.mark.parametrize("kind", [OptimalTreeClassifier, PointsTreeClassifier])
def test_a_cost_that_equals_the_number_of_errors_is_called_a_cost(
    kind, given, tmp_path
):
    """The cheapest tree makes 12 errors at a cost of 12, another one 10 errors."""
    X = np.repeat(np.arange(4.0), 10)[:, None]
    mixed = ["A"] * 6 + ["B"] * 4
    y = np.array(["A"] * 10 + mixed + ["B"] * 10 + mixed)
    weight = np.where(y == "B", 5.0, 1.0) if "sample_weight" in given else None
    limits = {"solver": "search", "max_iter": 50, "l1_penalty": 0.1}
    if kind is PointsTreeClassifier:
        limits = {"feature_penalty": 0}
    params = {name: value for name, value in given.items() if value is not True}
    clf = kind(time_limit=None, random_state=0, **limits, **params)
    found = clf.fit(X, y, sample_weight=weight).certificate_
    assert found.errors == found.cost == 12
    text = str(found)
    assert "misclassifies fewer" not in text
    assert "rows at a cost of 12, and no tree of depth 2 has errors that" in text or (
        "rows, which cost 12, and no points tree of its kind costs less" in text
    )
    assert "total cost is errors" not in text
    facts = certificate_facts(clf)
    assert facts["what they cost"] == "12"
    assert "no tree that keeps the margin has fewer than" not in facts
    save_json(clf, tmp_path / "model.json")
    assert str(load_json(tmp_path / "model.json").certificate_) == text
    assert verify_model(clf, X, y, weight).ok
    clf.certificate_ = replace(found, has_costs=False).signed()
    assert not verify_model(clf, X, y, weight).ok


def test_facts_say_no_more_of_a_bound_than_is_proved():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3 == 0
    clf = OptimalTreeClassifier(max_depth=1, solver="search", max_iter=2).fit(X, y)
    facts = {"objective": 13.23, "objective_bound": 8.338399, "errors_bound": 2.9}
    clf.certificate_ = replace(clf.certificate_, **facts)
    assert not clf.certificate_.objective_optimal
    said = certificate_facts(clf)
    assert said["objective, recounted by prediction"] == "13.23"
    assert said["no tree is below"] == "8.33839"
    clf.certificate_ = replace(clf.certificate_, objective=8.3384)
    said = certificate_facts(clf)
    assert said["proved optimal"] == "yes"
    assert said["objective, recounted by prediction"] == "8.3384"
    assert said["no tree is below"] == "8.338399"
    assert said["gap"] == "0.00002 %"


def test_weights_of_a_baseline_are_told():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    clf = BinOCTClassifier(max_depth=1).fit(X, y, np.array([1.0, 1.0, 3.0, 3.0]))
    assert clf.certificate_.errors == clf.certificate_.cost == 1
    assert "1 of 4 training rows at a cost of 1" in str(clf.certificate_)
    assert "(errors; errors count by their weight) is 1" in str(clf.certificate_)
    assert "by their weight" not in str(clf.fit(X, y).certificate_)


@pytest.mark.parametrize("kind", [OptimalTreeClassifier, PointsTreeClassifier])
def test_rows_of_weight_zero_are_told(kind):
    X, y = np.arange(30.0)[:, None] % 7, np.arange(30) < 17
    clf = kind(class_weight={True: 0, False: 1}, time_limit=None).fit(X, y)
    rows = "0 of those 13 of 30 training rows that have a weight"
    assert f"The tree misclassifies {rows}" in str(clf.certificate_)
    facts = certificate_facts(clf)
    assert facts["errors on the training rows"] == "0 of those 13 of 30 with a weight"
    assert verify_model(clf, X, y).ok
    clf.certificate_ = replace(clf.certificate_, n_unweighted=0).signed()
    wrong = {check.name for check in verify_model(clf, X, y).wrong}
    assert wrong == {"rows of weight zero"}


def test_a_points_tree_that_avoids_penalties_may_make_more_errors_than_others():
    X, y = np.arange(20.0)[:, None], np.arange(20) < 3
    clf = PointsTreeClassifier(feature_penalty=5, time_limit=None).fit(X, y)
    assert clf.certificate_.objective == clf.certificate_.errors == 3
    assert (
        "3 of 20 training rows. Its cost (errors + 5 for each feature in a split) is "
        "3, and no points tree of its kind costs less"
    ) in str(clf.certificate_)


def test_close_calls_are_counted_beside_the_errors():
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    known = clf.fit(np.arange(4.0)[:, None], [0, 1, 0, 1]).certificate_
    three = replace(known, cost_at_margin=4.0, errors_bound=4.0)
    assert (
        "rows, and 3 more are close calls: right, but next to a split. No tree of "
        "depth 1 has fewer than these 4 errors and close calls, by exhaustive search."
    ) in str(three)
    one = replace(known, cost_at_margin=2.0, errors_bound=1.0)
    assert (
        "rows, and 1 more is a close call: right, but next to a split. Every tree of "
        "depth 1 has at least 1 error or close call, by exhaustive search."
    ) in str(one)


def test_a_gap_is_the_same_number_wherever_it_is_said():
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    known = clf.fit(np.arange(4.0)[:, None], [0, 1, 0, 1]).certificate_
    text = str(replace(known, objective=1.0, objective_bound=0.7619))
    assert "so the best is at most 23.9 % cheaper" in text
    assert "gap 23.9 %" in text


def test_certificate_says_what_was_recomputed_and_what_is_a_claim():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    claimed = clf.fit(X, [0, 1, 0, 1]).certificate_
    proved = replace(claimed, objective_proved_by=ROUTES)
    less = "no tree of depth 1 costs less by more than a millionth"
    assert f"proved optimal: {less}, {RECOMPUTED}." in str(proved)
    near = replace(proved, objective=1.0, objective_bound=0.9)
    assert f"costs less than 0.9, {RECOMPUTED}, so the best is at most 10 %" in str(
        near
    )
    groups = f"{ROUTES}, in 4 disjoint groups of the rows, whose bounds add up"
    assert reason(groups) == RECOMPUTED
    assert "over routes of 4 groups of the rows, whose costs add up.)" in str(
        replace(near, objective_proved_by=groups)
    )
    assert reason("scip on the count MIP, on 9 of 12 distinct rows") == (
        "as SCIP claims of the count MIP, proved on 9 of 12 distinct rows"
    )
    assert is_claim("HiGHS 1.15.1 on the MIP of OCT")
    right = replace(claimed, errors=0, cost=0.0)
    assert str(right).startswith("The tree misclassifies 0 of 4 training rows. Its")
    assert not any(map(is_claim, (ROUTES, groups, "exhaustive search")))


def test_a_bound_above_the_tree_by_rounding_is_met():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    problem, objective = Problem.from_data(X, y, 2), Svm1Objective(100, 1, 0.01)
    tree = problem.to_user(constant_tree(problem, 1))
    score = objective.evaluate(problem, tree)
    rounded = Bound(score.cost + 1e-9, "fine")
    bounds = Bounds(Bound(0.0, "nothing"), rounded, rounded)
    met = certify(problem, objective, 1, tree, score, bounds, 0.0)
    assert met.objective_optimal
    assert met.objective_bound == score.objective


def test_no_tolerance_hides_an_error():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    clf = OptimalTreeClassifier(max_depth=1, time_limit=None, l1_penalty=0.1)
    known = clf.fit(X, [0, 1, 0, 1]).certificate_
    bounds = {"any_tree_bound": 3e6, "errors_bound": 3e6}
    costs = {"cost": 3000003.0, "cost_at_margin": 3000003.0, "has_costs": True}
    heavy = replace(known, errors=4, **costs, **bounds)
    assert not heavy.errors_optimal
    assert "No tree of depth 1 has a lower cost than 3000000 by" in str(heavy)
    light = replace(known, errors=100, cost=1e-6, objective=1e-6, objective_bound=0.0)
    assert not light.objective_optimal
    assert light.gap == 1
    tiny = replace(known, errors=0, cost=0.0, objective=4e-7, objective_bound=0.0)
    assert not tiny.objective_optimal
    assert replace(tiny, objective_bound=4e-7 - 1e-12).objective_optimal
    with pytest.raises(ValueError, match="largest weight of a row is 1e-08, below"):
        clf.fit(X, [0, 1, 0, 1], sample_weight=np.full(4, 1e-8))


def test_digest_of_copies_does_not_depend_on_their_order():
    X, y = np.zeros((3, 1)), np.zeros(3, dtype=int)
    weight = np.array([0.1, 0.2, 0.3])
    one, two = (
        data_digest(Problem.from_data(X, y, 2, w)) for w in (weight, weight[::-1])
    )
    assert one == two


def test_digests_know_the_tree_and_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.integers(2, size=20)
    order = rng.permutation(20)
    one, two = (
        data_digest(Problem.from_data(X, y, 2)),
        data_digest(Problem.from_data(X[order], y[order], 2)),
    )
    assert one == two
    other = X.copy()
    other[3, 1] = np.nextafter(other[3, 1], 9)
    assert data_digest(Problem.from_data(other, y, 2)) != one
    tree = (
        OptimalTreeClassifier(
            solver="search", max_iter=5, time_limit=None, l1_penalty=0.01
        )
        .fit(X, y)
        .tree_
    )
    for name in ("coef", "threshold", "label"):
        changed = getattr(tree, name).copy()
        changed.flat[0] += 1
        assert tree_digest(replace(tree, **{name: changed})) != tree_digest(tree)
