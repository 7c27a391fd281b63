"""Proved optima and bounds against the enumeration of every tree on tiny data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _brute_force import BruteForce, fewest_errors, recount
from _data import (
    MIP_SOLVERS,
    cases,
    close,
    examples,
    objectives,
    problems,
    random_heap,
    random_problem,
    solve,
)
from miptree import OptimalTreeClassifier
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.fitted import FittedTree
from miptree.fit.job import Job
from miptree.fit.mips import bound_by_mip
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.formulations import (
    FORMULATIONS,
    CompactFormulation,
    FlowFormulation,
    PaperFormulation,
)
from miptree.objective import Svm1Objective
from miptree.objective.bounds import combinatorial_bound
from miptree.tree import HeapTree

LINE = problems((5, 8), 1)
PLANE = problems((4, 9), 2)
SMALL_PLANE = problems((4, 7), 2)


# ------------------------------------------------------- the enumeration itself


def test_enumeration_of_two_points():
    # x = 0 and 1 at margin .1: h = .2 separates them, at the price of .2 * l1_penalty.
    problem = Problem.from_data(np.array([[3.0], [5.0]]), np.array([0, 1]), 2)
    objective = Svm1Objective(10, 1, 0.1)
    assert BruteForce(problem, objective, True).optimum(1) == pytest.approx(0.2)
    dear = Svm1Objective(10, 7, 0.1)  # a split for 1.4 is dearer than an error
    assert BruteForce(problem, dear, True).optimum(1) == pytest.approx(1.0)


def test_enumeration_of_xor_needs_depth_two():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2)
    assert fewest_errors(problem, 1) == 1
    assert fewest_errors(problem, 2) == 0


def test_enumeration_keeps_identical_points_together():
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    problem = Problem.from_data(X, np.array([0, 1, 1, 1]), 2)
    assert fewest_errors(problem, 2) == 1


# ---------------------------------------------------------- proved optima of MIPs


def assert_proves_the_optimum(problem, objective, depth, solver):
    """Paper and compact prove the optimum of the MIP's class, flow no more."""
    best = BruteForce(problem, objective, strict=False).optimum(depth)
    for formulation in (PaperFormulation, CompactFormulation):
        result = solve(formulation(problem, objective, depth).model, solver)
        assert result.objective == pytest.approx(best, abs=close(best))
    flow = solve(FlowFormulation(problem, objective, depth).model, solver)
    assert flow.objective <= best + close(best)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@examples(20)
@given(problem=PLANE, objective=objectives)
def test_proved_optimum_of_depth_one(solver, problem, objective):
    assert_proves_the_optimum(problem, objective, 1, solver)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@examples(8)
@given(problem=LINE, objective=objectives)
def test_proved_optimum_of_depth_two_on_a_line(solver, problem, objective):
    assert_proves_the_optimum(problem, objective, 2, solver)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@examples(8)
@given(problem=SMALL_PLANE, objective=objectives)
def test_proved_optimum_of_depth_two_in_the_plane(solver, problem, objective):
    assert_proves_the_optimum(problem, objective, 2, solver)


def test_proved_optimum_of_depth_three():
    # Six intervals of alternating class need six leaves.
    X = np.array([0.0, 1.0, 2.5, 3.0, 5.0, 6.0])[:, None]
    problem = Problem.from_data(X, np.array([0, 1, 0, 1, 0, 1]), 2)
    objective = Svm1Objective(100, 0.5, 0.01)
    best = BruteForce(problem, objective, strict=False).optimum(3)
    assert best < BruteForce(problem, objective, strict=False).optimum(2) - 0.1
    result = solve(CompactFormulation(problem, objective, 3).model)
    assert result.objective == pytest.approx(best, abs=close(best))


@pytest.mark.parametrize("solver", MIP_SOLVERS)
def test_light_points_cannot_buy_their_way_out_of_the_box(solver):
    # Scores of +-1 at the ends leave the heavy points .05 short of the margin.
    X = np.array([[0.0], [0.275], [0.725], [1.0]])
    weight = np.array([1.0, 100.0, 100.0, 1.0])
    problem = Problem.from_data(X, np.array([0, 0, 1, 1]), 2, weight)
    objective = Svm1Objective(2, 0.01, 0.5)
    best = BruteForce(problem, objective, strict=True).optimum(1)
    assert best == pytest.approx(2 * 200 * 0.05 + 0.01 * 2)
    assert_proves_the_optimum(problem, objective, 1, solver)
    flow = solve(FlowFormulation(problem, objective, 1).model, solver)
    assert flow.objective == pytest.approx(best, abs=1e-5)


# ------------------------------------------------------------- trained real trees


def train_small(
    problem, objective, depth, formulation="compact", **options
) -> FittedTree:
    options = {"max_iter": 10, **options}
    plan = Plan(objective, depth, formulation, **options)
    return train(problem, plan)


def assert_is_honest(problem, objective, depth, trained):
    """The bound holds for real trees, and "optimal" means the best of them."""
    best = BruteForce(problem, objective, strict=True).optimum(depth)
    by_hand = recount(problem.X, problem.y, problem.weight, objective, trained.tree)
    tolerance = 1e-6 * max(1.0, best)
    assert trained.certificate.objective == pytest.approx(by_hand, abs=1e-9)
    assert trained.certificate.objective_bound <= best + tolerance
    assert by_hand >= best - tolerance
    if trained.status == "optimal":
        assert by_hand == pytest.approx(best, abs=tolerance)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@examples(10)
@given(problem=PLANE, objective=objectives, init=st.sampled_from(["auto", "cart"]))
def test_trained_stump_is_honest(formulation, problem, objective, init):
    trained = train_small(problem, objective, 1, formulation, init=init)
    assert_is_honest(problem, objective, 1, trained)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@examples(6)
@given(
    problem=SMALL_PLANE, objective=objectives, init=st.sampled_from(["auto", "cart"])
)
def test_trained_tree_is_honest(formulation, problem, objective, init):
    trained = train_small(problem, objective, 2, formulation, init=init)
    assert_is_honest(problem, objective, 2, trained)


@examples(10)
@given(problem=SMALL_PLANE, objective=objectives, nodes=st.integers(0, 3))
def test_cut_short_tree_is_honest(problem, objective, nodes):
    trained = train_small(problem, objective, 2, init="cart", node_limit=nodes)
    assert_is_honest(problem, objective, 2, trained)


@pytest.mark.parametrize("seed", range(6))
def test_tree_is_proved_optimal_without_ties(seed):
    problem = random_problem(seed, 8, 2, 3, "distinct", "random")
    objective = Svm1Objective(1000, 0.1, 0.01)
    trained = train_small(problem, objective, 2)
    assert trained.status == "optimal"
    assert_is_honest(problem, objective, 2, trained)


@examples(60)
@given(case=cases(), factor=st.sampled_from([0.3, 1.0, 20.0]))
def test_objective_of_any_tree_is_recounted(case, factor):
    """In the user's units, inside the box and outside it."""
    problem, heap = case.problem, case.heap
    grown = HeapTree(heap.coef * factor, heap.threshold * factor, heap.label)
    tree = problem.to_user(grown)
    by_hand = recount(problem.X, problem.y, problem.weight, case.objective, tree)
    counted = case.objective.evaluate(problem, tree).objective
    assert counted == pytest.approx(by_hand, abs=1e-9)
    if factor == 20:
        inside = problem.to_user(problem.into_box(grown))
        value = case.objective.evaluate(problem, inside).objective
        assert counted == pytest.approx(value, rel=1e-6)


@examples(30)
@given(problem=problems((3, 8), 2, classes=5), depth=st.sampled_from([1, 2]))
def test_bound_without_a_solver_holds_for_every_tree(problem, depth):
    bound, _ = combinatorial_bound(problem, depth)
    assert bound <= fewest_errors(problem, depth) + 1e-9


def test_bound_without_a_solver_is_met():
    spread = Problem.from_data(np.arange(4.0)[:, None], np.arange(4), 4)
    assert combinatorial_bound(spread, 1)[0] == fewest_errors(spread, 1) == 2
    X = np.array([[0.0], [0.0], [1.0]])
    conflict = Problem.from_data(X, np.array([0, 1, 0]), 2, np.array([3.0, 2.0, 1.0]))
    assert combinatorial_bound(conflict, 1)[0] == fewest_errors(conflict, 1) == 2


# ------------------------------------------------------------------------ honesty


def test_iris_with_cheap_slack_is_refused():
    from sklearn.datasets import load_iris

    model = OptimalTreeClassifier(slack_penalty=1, l1_penalty=0.1, margin=0.01)
    with pytest.raises(ValueError, match=r"slack_penalty \* margin must be at least 1"):
        model.fit(*load_iris(return_X_y=True))


def test_margin_below_the_tolerances_is_refused():
    with pytest.raises(ValueError, match="margin must lie in"):
        Svm1Objective(1000, 0.1, 1e-5)
    with pytest.raises(ValueError, match="margin must lie in"):
        Svm1Objective(1e6, 0.1, 1e-5)


def cheating_data():
    """Three light points on the only line that keeps heavy points at the margin.

    The MIP leaves them on the line and sends each to its own class, for 3. A real
    tree cannot split class 0, 1, 0 on a line: it pays an error as well.
    """
    light = [[0, 0.5], [0.5, 0.5], [1, 0.5]]
    heavy = [[0, 0.505], [1, 0.505], [0, 0.495], [1, 0.495]]
    X = np.array([*light, *heavy, [0.5, 0], [0.5, 1]])
    y = np.array([0, 1, 0, 0, 0, 1, 1, 1, 0])
    weight = np.array([1, 1, 1, 100, 100, 100, 100, 1, 1.0])
    return X, y, weight


CHEATED = Svm1Objective(100, 0.01, 0.01)


@pytest.mark.parametrize("solver", MIP_SOLVERS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_mip_cheats_with_points_on_a_hyperplane(formulation, solver):
    X, y, weight = cheating_data()
    problem = Problem.from_data(X, y, 2, weight)
    result = solve(FORMULATIONS[formulation](problem, CHEATED, 1).model, solver)
    assert result.objective == pytest.approx(3.02, abs=1e-6)
    assert BruteForce(problem, CHEATED, False).optimum(1) == pytest.approx(3.02)
    assert BruteForce(problem, CHEATED, True).optimum(1) == pytest.approx(4.02)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_cheated_tree_is_not_called_optimal(formulation):
    X, y, weight = cheating_data()
    model = OptimalTreeClassifier(
        max_depth=1,
        slack_penalty=CHEATED.slack_penalty,
        l1_penalty=CHEATED.l1_penalty,
        margin=CHEATED.margin,
        formulation=formulation,
        max_iter=50,
        time_limit=None,
        random_state=0,
    ).fit(X, y, weight)
    assert model.status_ != "optimal"
    assert not model.certificate_.objective_optimal
    assert model.objective_ == pytest.approx(4.02, abs=1e-6)
    assert model.objective_ == pytest.approx(
        recount(X, y, weight, CHEATED, model.tree_)
    )
    assert model.bound_ == pytest.approx(3.02, abs=1e-6)


@examples(15)
@given(
    problem=problems((4, 12), 3),
    objective=objectives,
    depth=st.sampled_from([1, 2, 3]),
    seed=st.integers(0, 999),
)
def test_result_is_never_worse_than_the_start(problem, objective, depth, seed):
    heap = random_heap(problem, depth, np.random.default_rng(seed))
    start = problem.to_user(heap)
    before = recount(problem.X, problem.y, problem.weight, objective, start)
    trained = train_small(problem, objective, depth, init=start, node_limit=0)
    after = recount(problem.X, problem.y, problem.weight, objective, trained.tree)
    assert after <= before + 1e-9
    assert trained.certificate.objective == pytest.approx(after, abs=1e-9)


def test_a_start_that_is_already_best_is_kept():
    """The best tree of the flow relaxation is worse here, even when polished."""
    problem = random_problem(0, 9, 2, 2, "distinct")
    objective = Svm1Objective(100, 10, 0.01)
    best = train_small(problem, objective, 1)
    assert best.status == "optimal"
    job = Job.begin(problem, Plan(objective, 1, "flow"), Clock())
    job.offer(problem.to_scaled(best.tree, 1))
    bound_by_mip(job, "flow", Clock())
    again = job.best.end(problem, objective, 1)
    assert again.certificate.objective == pytest.approx(
        best.certificate.objective, abs=1e-9
    )
    assert again.status != "optimal"
    assert again.certificate.objective_bound < best.certificate.objective - 0.01
