"""The search as a whole: contract, budgets, determinism, quality on small data."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from _brute_force import BruteForce
from _data import examples, random_heap, random_problem
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import tree_value
from miptree.search import (
    SearchResult,
    engine,
    improve,
    iterated,
    search,
)
from miptree.search.elite import Pool
from miptree.search.starts import cart_tree, greedy_svm_tree, start_trees
from miptree.tree import HeapTree

SVM1 = Svm1Objective(slack_penalty=100, l1_penalty=10, margin=0.01)
both_objectives = pytest.mark.parametrize("objective", [None, SVM1])


def blobs(n_rows: int = 150, n_classes: int = 3, seed: int = 0) -> Problem:
    """Overlapping clouds, so that no tree is perfect."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 4)) + 1.2 * rng.normal(size=(n_classes, 4))[y]
    return Problem.from_data(X, y, n_classes)


def same_trees(one: SearchResult, two: SearchResult) -> bool:
    pairs = zip(one.trees, two.trees, strict=True)
    return one.values == two.values and all(
        np.array_equal(a, b) for s, t in pairs for a, b in zip(s, t, strict=True)
    )


@both_objectives
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_result_keeps_the_contract(objective: Svm1Objective | None, depth: int) -> None:
    problem = blobs()
    result = search(problem, objective, depth, clock=Clock(max_iter=30))
    assert result.stopped == "max_iter"
    assert result.n_iter == 30
    assert result.values == sorted(result.values)
    for tree, value in zip(result.trees, result.values, strict=True):
        assert tree.depth == depth
        assert np.abs(problem.scaled @ tree.coef.T - tree.threshold).max() <= 1 + 1e-9
        assert value == pytest.approx(tree_value(problem, objective, tree), rel=1e-12)
    unused = ~result.tree.coef.any(axis=1)
    assert (result.tree.threshold[unused] == 1).all()


@both_objectives
def test_never_worse_than_any_start(objective: Svm1Objective | None) -> None:
    problem = blobs()
    starts = [random_heap(problem, 2, np.random.default_rng(s)) for s in range(5)]
    known = [tree_value(problem, objective, tree) for tree in starts]
    known += [tree_value(problem, objective, t) for t in start_trees(problem, 2)]
    for budget in (Clock(max_iter=0), Clock(max_iter=3)):
        result = search(problem, objective, 2, clock=budget, starts=starts)
        assert result.value <= min(known)


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Clock(0), "time_limit"),
        (Clock(max_iter=0), "max_iter"),
        (Clock(stall=0), "stalled"),
    ],
)
def test_budget_of_zero_returns_the_best_start(budget: Clock, reason: str) -> None:
    problem = blobs()
    result = search(problem, None, 2, clock=budget)
    best = min(tree_value(problem, None, tree) for tree in start_trees(problem, 2))
    assert (result.value, result.n_iter, result.stopped) == (best, 0, reason)


def test_more_iterations_help() -> None:
    problem = blobs()
    values = [search(problem, None, 2, clock=Clock(max_iter=n)).value for n in (0, 200)]
    assert values[1] < 0.8 * values[0]


def test_every_candidate_has_the_value_of_its_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, seen = blobs(), []
    unit = problem.weight.mean()

    class WatchedPool(Pool):
        def add(self, candidate: iterated.ValuedTree) -> bool:
            # The search on (1a) begins with a search on the errors alone.
            measured = SVM1 if self.nearness else None
            seen.append((candidate.value * unit, candidate.tree.copy(), measured))
            return super().add(candidate)

    monkeypatch.setattr(iterated, "Pool", WatchedPool)
    for objective in (None, SVM1):
        seen.clear()
        search(problem, objective, 2, clock=Clock(max_iter=60))
        assert sum(measured is objective for *_, measured in seen) >= 50
        for value, tree, measured in seen:
            counted = tree_value(problem, measured, tree)
            assert value == pytest.approx(counted, rel=1e-9)


@both_objectives
def test_improvements_are_reported_in_order(objective: Svm1Objective | None) -> None:
    problem, reported = blobs(), []
    result = search(
        problem,
        objective,
        2,
        clock=Clock(max_iter=60),
        on_improvement=lambda tree, value: reported.append((tree, value)),
    )
    values = [value for _, value in reported]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    for tree, value in reported:
        assert value == pytest.approx(tree_value(problem, objective, tree), rel=1e-9)
    assert result.value <= values[-1] * (1 + 1e-9)


@pytest.fixture
def _three_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_ITERATIONS_PER_STREAM", 20)


@both_objectives
@pytest.mark.usefixtures("_three_streams")
def test_same_result_whatever_the_jobs(objective: Svm1Objective | None) -> None:
    problem, budget = blobs(60), Clock(max_iter=60)
    one = search(problem, objective, 2, clock=budget, n_jobs=1)
    two = search(problem, objective, 2, clock=budget, n_jobs=2)
    assert one.n_iter == two.n_iter == 60
    assert same_trees(one, two)


@pytest.mark.parametrize("wish", [{"backend": "loky"}, {"prefer": "processes"}])
@pytest.mark.usefixtures("_three_streams")
def test_other_joblib_backends(wish: dict[str, str]) -> None:
    problem, budget = blobs(60), Clock(max_iter=60)
    here = search(problem, None, 2, clock=budget)
    heard: list[float] = []
    lock = threading.Lock()  # such as a fit's callbacks hold: it cannot be pickled

    def hear(_: HeapTree, value: float) -> None:
        with lock:
            heard.append(value)

    with parallel_config(**wish):
        there = search(problem, None, 2, clock=budget, n_jobs=2, on_improvement=hear)
    assert same_trees(here, there)
    assert heard[-1] == there.value


def test_jobs_under_the_clock_search_on_their_own() -> None:
    assert engine.n_streams(Clock(1), 2) == 2
    assert engine.n_streams(Clock(stall=10), 2) == 1
    assert engine.n_streams(Clock(1, max_iter=10), 2) == 1
    assert engine.n_streams(Clock(max_iter=1000), None) == 2


def test_seed_matters() -> None:
    problem, budget = blobs(), Clock(max_iter=20)
    results = [search(problem, None, 2, clock=budget, seed=s) for s in (0, 0, 1)]
    assert same_trees(results[0], results[1])
    assert not same_trees(results[0], results[2])


@both_objectives
def test_weights_equal_repeated_rows(objective: Svm1Objective | None) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    times = rng.integers(1, 4, 40)
    weighted = Problem.from_data(X, y, 3, times.astype(float))
    repeated = Problem.from_data(np.repeat(X, times, axis=0), np.repeat(y, times), 3)
    budget = Clock(max_iter=40)
    assert same_trees(
        search(weighted, objective, 2, clock=budget),
        search(repeated, objective, 2, clock=budget),
    )


@both_objectives
def test_unit_of_weight_does_not_matter(objective: Svm1Objective | None) -> None:
    problem = blobs(60)
    scaled = replace(problem, weight=1024 * problem.weight)
    if objective is not None:
        scaled_objective = replace(objective, l1_penalty=1024 * objective.l1_penalty)
    else:
        scaled_objective = None
    budget = Clock(max_iter=40)
    one = search(problem, objective, 2, clock=budget)
    two = search(scaled, scaled_objective, 2, clock=budget)
    assert np.array_equal(one.tree.coef, two.tree.coef)
    assert two.value == pytest.approx(1024 * one.value)


def test_class_costs_are_obeyed() -> None:
    """Where class 2 costs nothing, the best tree predicts it everywhere."""
    problem = blobs(60)
    costs = np.full((60, 3), 1.0)
    costs[:, 2] = 0.0
    result = search(
        replace(problem, class_cost=costs), None, 2, clock=Clock(max_iter=5)
    )
    assert result.value == 0
    assert result.stopped == "bound"
    assert not result.tree.coef.any()


def test_class_costs_change_the_tree() -> None:
    problem = blobs(150)
    rng = np.random.default_rng(0)
    costs = rng.uniform(0, 4, (150, 3))
    costs[np.arange(150), problem.y] = 0.0
    costly = replace(problem, class_cost=costs)
    budget = Clock(max_iter=150)
    plain_tree = search(problem, None, 2, clock=budget).tree
    result = search(costly, None, 2, clock=budget)
    assert result.value < tree_value(costly, None, plain_tree)


@examples(12)
@given(seed=st.integers(0, 2**20), weights=st.sampled_from(["one", "random"]))
def test_finds_the_optimum_on_tiny_data(seed: int, weights: str) -> None:
    problem = random_problem(seed, 6, 2, 2, kind="distinct", weights=weights)
    optimum = BruteForce(problem, SVM1, strict=True).optimum(1)
    result = search(problem, SVM1, 1, clock=Clock(max_iter=150))
    assert optimum * (1 - 1e-6) <= result.value <= optimum * (1 + 1e-3)


def test_interrupt_returns_the_best_so_far() -> None:
    problem, asked = blobs(), []

    def should_stop() -> bool:
        asked.append(1)
        return len(asked) > 20

    result = search(problem, None, 2, clock=Clock(max_iter=10_000).heeding(should_stop))
    assert result.stopped == "interrupted"
    assert 0 < result.n_iter < 30
    best = min(tree_value(problem, None, tree) for tree in start_trees(problem, 2))
    assert result.value < best


def test_keyboard_interrupt_returns_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(iterated, "random_move", pressed)
    result = search(blobs(), None, 2, clock=Clock(max_iter=10_000))
    assert result.stopped == "interrupted"
    assert result.n_iter > 0


def test_stops_at_the_bound() -> None:
    problem = blobs()
    found = search(problem, None, 2, clock=Clock(max_iter=100))
    again = search(
        problem, None, 2, clock=Clock(max_iter=1000), lower_bound=found.value
    )
    assert again.stopped == "bound"
    assert again.n_iter < 1000


def test_stall_counts_iterations_without_improvement() -> None:
    result = search(blobs(), None, 2, clock=Clock(stall=25))
    assert result.stopped == "stalled"
    assert result.n_iter >= 25


class Ticker:
    """A time source that goes on with every look."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_clock_of_seconds() -> None:
    result = search(blobs(), None, 2, clock=Clock(1.0, time_source=Ticker(0.01)))
    assert result.stopped == "time_limit"
    assert 0 < result.n_iter < 100


@pytest.mark.parametrize("max_iter", [None, 10_000])
def test_streams_in_a_row_share_one_limit(max_iter: int | None) -> None:
    """Of which the heats of each have no more than is left."""
    ticker = Ticker(0.002)
    clock = Clock(1.0, max_iter=max_iter, time_source=ticker)
    search(blobs(60), SVM1, 2, clock=clock)
    assert 1.0 <= ticker.now < 2.0  # 6 where each of them had its share of all


def test_a_share_of_no_time_is_no_time() -> None:
    clock = Clock(8, time_source=iter([0.0, *[9.0] * 9]).__next__)
    assert clock.is_over
    assert clock.share(0.5).is_over
    assert clock.phase(0.5).is_over


def test_clocks_of_the_steps() -> None:
    clock = Clock(8, max_iter=100, time_source=iter([0.0, *[5.0] * 99]).__next__)
    assert clock.share(0.5).limit == pytest.approx(1.5)
    assert clock.phase(0.1).limit == pytest.approx(0.8)  # of all, not of what is left
    assert clock.phase(0.1).max_iter == 10
    assert clock.phase(0.9).limit == pytest.approx(3.0)
    assert clock.counting(7, limit=1.0).limit == 1.0
    assert clock.counting(7).limit == pytest.approx(3.0)
    assert [part.max_iter for part in clock.dealt(3)] == [34, 33, 33]
    assert Clock(stall=1).phase(0.1).limit is None
    step = clock.share(0.5)
    assert not step.is_over
    clock.stop.request()
    assert step.is_over
    assert step.ended == "interrupted"


def test_a_stop_of_its_own_does_not_stop_the_rest() -> None:
    clock = Clock()
    folds = clock.heeding()
    folds.stop.request()
    assert folds.is_over
    assert not clock.is_over
    clock.stop.request()
    assert clock.heeding().is_over


def test_a_clock_goes_to_another_process_with_the_time_left() -> None:
    clock = Clock(8, max_iter=3, time_source=iter([0.0, *[5.0] * 9]).__next__)
    clock.stop.request()
    there = pickle.loads(pickle.dumps(clock))
    assert there.limit == pytest.approx(3.0)
    assert there.max_iter == 3
    assert not there.is_over


def test_a_stop_ends_the_search_between_two_node_lps(node_lps: list[object]) -> None:
    result = search(
        blobs(), SVM1, 3, clock=Clock(stall=10).heeding(lambda: len(node_lps) >= 2)
    )
    assert result.stopped == "interrupted"
    assert len(node_lps) == 2


@pytest.mark.parametrize("name", ["seconds", "max_iter", "stall"])
def test_negative_budgets_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= 0"):
        Clock(**{{"seconds": "limit"}.get(name, name): -1})
    with pytest.raises(ValueError, match="never end"):
        search(blobs(), None, 2, clock=Clock())
    with pytest.raises(ValueError, match="seconds"):
        Clock(float("nan"))


@both_objectives
def test_improve_is_never_worse(objective: Svm1Objective | None) -> None:
    problem = blobs()
    given_tree = random_heap(problem, 2, np.random.default_rng(0))
    before = given_tree.copy()
    tree, value = improve(
        problem, objective, given_tree, seed=1, clock=Clock(max_iter=30)
    )
    assert value == tree_value(problem, objective, tree)
    assert value < tree_value(problem, objective, given_tree)
    assert np.array_equal(before.coef, given_tree.coef)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_starts(depth: int) -> None:
    problem = blobs()
    for tree in (cart_tree(problem, depth), greedy_svm_tree(problem, depth)):
        assert tree.depth == depth
        assert np.abs(problem.scaled @ tree.coef.T - tree.threshold).max() <= 1 + 1e-9
        constant = problem.class_weight.sum() - problem.class_weight.max()
        assert tree_value(problem, None, tree) < 0.8 * constant


def test_cart_start_is_scikit_learns_tree() -> None:
    from sklearn.tree import DecisionTreeClassifier

    problem = blobs()
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    model.fit(problem.scaled, problem.y, sample_weight=problem.weight)
    errors = (model.predict(problem.scaled) != problem.y).sum()
    assert tree_value(problem, None, cart_tree(problem, 3)) == errors


@pytest.mark.parametrize("n_classes", [1, 2])
def test_trivial_data(n_classes: int) -> None:
    """One class, a constant feature, fewer points than leaves."""
    X = np.array([[1.0, 3.0], [1.0, 3.0], [1.0, 4.0]])
    y = np.array([0, 0, 0]) if n_classes == 1 else np.array([0, 0, 1])
    problem = Problem.from_data(X, y, n_classes)
    for objective in (None, SVM1):
        result = search(problem, objective, 3, clock=Clock(max_iter=20))
        assert np.isfinite(result.value)
        if objective is None:
            assert result.value == 0


def test_pool_keeps_the_best_and_stays_diverse() -> None:
    heap = random_heap(blobs(), 1, np.random.default_rng(0))
    pool = Pool(size=4, same_value=2)
    values = [3.0, 1.0, 1.0, 1.0, 2.0, 5.0, 4.0]
    improved = [pool.add(iterated.ValuedTree(value, heap)) for value in values]
    assert improved == [True, True, False, False, False, False, False]
    assert [candidate.value for candidate in pool] == [1.0, 1.0, 2.0, 3.0]


def test_start_trees_use_one_blas_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others would wait for a core that another process has."""
    threads = []

    def watched(problem: Problem, depth: int) -> HeapTree:
        blas = (lib for lib in threadpool_info() if lib["user_api"] == "blas")
        threads.extend(lib["num_threads"] for lib in blas)
        return cart_tree(problem, depth)

    monkeypatch.setattr("miptree.search.starts.cart_tree", watched)
    with threadpool_limits(2, user_api="blas"):
        start_trees(blobs(), 1)
    assert set(threads) == {1}


def test_import_is_light() -> None:
    """What takes long to import is imported by what needs it."""
    heavy = "numba", "highspy", "sklearn.linear_model", "sklearn.model_selection"
    heavy += ("miptree.checker",)
    code = f"import sys, miptree; print(*set({heavy}) & set(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
