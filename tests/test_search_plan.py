"""The plan of a search: heats for (1a), samples of large data, stops and notices."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from _data import examples, noise, random_heap, random_problem
from miptree.control.clock import Clock
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.progress import FitProgress, ProgressLine, listeners_of
from miptree.fit.train import train
from miptree.mip import size
from miptree.mip.solvers import Result
from miptree.objective import Svm1Objective
from miptree.objective.leaf_labels import tree_value
from miptree.proof import (
    compile_proof_kernels,
    seconds_to_compile_proofs,
)
from miptree.proof.branching import advance
from miptree.search import (
    compile_kernels,
    compile_kernels_within,
    compiling,
    schedule,
    search,
)
from miptree.search.compiling import announced
from miptree.search.data import SearchData
from miptree.search.iterated import IteratedSearch
from miptree.search.measure import LONG, Measure, Svm1, ZeroOne
from miptree.search.rng import random_state
from miptree.search.starts import constant_tree, start_trees
from miptree.search.warm_starts import warm_starts
from miptree.tree import ObliqueTree
from miptree.utils.kernel_cache import is_on_disk

SMALL_NORMS = Svm1Objective(slack_penalty=1000, l1_penalty=0.1, margin=0.01)
LARGE_NORMS = Svm1Objective(slack_penalty=100, l1_penalty=10, margin=0.01)


def clouds(n_rows: int) -> Problem:
    """Two classes in four overlapping clouds, an exclusive or."""
    rng = np.random.default_rng(0)
    corner = rng.integers(2, size=(n_rows, 2))
    X = np.hstack([corner, np.zeros((n_rows, 2))]) + rng.normal(0, 0.2, (n_rows, 4))
    return Problem.from_data(X, corner[:, 0] ^ corner[:, 1], 2)


def new_search(problem: Problem, objective: Svm1Objective) -> IteratedSearch:
    measure = Svm1(SearchData.from_problem(problem), objective, problem)
    clock = Clock(max_iter=400)
    return IteratedSearch(measure, 2, np.random.default_rng(0), clock)


def test_heats_follow_the_way_that_wins() -> None:
    problem = clouds(200)
    ways = []
    for objective in (SMALL_NORMS, LARGE_NORMS):
        one = new_search(problem, objective)
        assert isinstance(one.measure, Svm1)
        trees = warm_starts(one, one.measure, start_trees(problem, 2))
        found = min(one.measure.value(tree).value for tree in trees)
        starts = start_trees(problem, 2)
        assert found < min(one.measure.value(tree).value for tree in starts)
        ways.append(one.p_errors_first)
    assert ways[0] > 0.5 > ways[1] > 0


def test_keeping_the_routing_makes_the_margins_good() -> None:
    """A tree without errors, all of whose value is the price of its margins."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(80, 2))
    X = X[np.abs(X[:, 0] - 0.5) > 0.1]
    problem = Problem.from_data(X, (X[:, 0] > 0.5).astype(np.intp), 2)
    one = new_search(problem, SMALL_NORMS)
    tree = start_trees(problem, 2)[0].copy()
    middle = (0.5 - problem.offset[0]) / problem.scale[0]
    tree.coef[0], tree.threshold[0] = [0.001, 0.0], 0.001 * middle
    tree.label[:] = [0, 0, 1, 1]
    before = one.measure.value(tree)
    after = one.keep_routing(tree)
    assert before.value > 100 > 1 > after.value
    assert one.errors.value(after.tree).value == 0
    assert one.clock.n_iter == 1
    assert one.pool.best.value == after.value


@examples(20)
@given(seed=st.integers(0, 999))
def test_a_stopped_descent_keeps_the_tree(seed: int) -> None:
    problem = random_problem(seed, 12, 3, 3)
    data = SearchData.from_problem(problem)
    heap = problem.into_box(random_heap(problem, 2, np.random.default_rng(seed)))
    measures: list[Measure] = [ZeroOne(data), Svm1(data, LARGE_NORMS)]
    for measure in measures:
        state = random_state(np.random.default_rng(seed))
        stop = np.ones(1, dtype=np.uint8)
        found = measure.descend(heap, LONG, state, stop)
        assert found.value == measure.value(heap).value
        assert np.array_equal(found.tree.coef, measure.value(heap).tree.coef)


def test_the_watch_raises_its_flag() -> None:
    asked = []
    clock = Clock(max_iter=1).heeding(lambda: len(asked) > 0)
    with clock.flag() as flag:
        time.sleep(0.1)
        assert flag[0] == 0
        asked.append(1)
        waited = 0
        while not flag[0] and waited < 1000:
            time.sleep(0.01)
            waited += 1
        assert flag[0] == 1
    assert clock.ended == "interrupted"


@pytest.mark.parametrize("objective", [None, LARGE_NORMS])
def test_samples_of_large_data(
    monkeypatch: pytest.MonkeyPatch, objective: Svm1Objective | None
) -> None:
    monkeypatch.setattr(schedule, "FIRST_SAMPLE", 60)
    problem = clouds(3000)
    first, again = (
        search(problem, objective, 2, clock=Clock(max_iter=60), n_jobs=jobs)
        for jobs in (1, 2)
    )
    starts = [tree_value(problem, objective, t) for t in start_trees(problem, 2)]
    assert first.value < min(starts)
    assert first.values == again.values
    assert first.value == tree_value(problem, objective, first.tree)


def test_a_sweep_over_all_rows_can_be_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The flag is up from the first sweep on: what comes out is still counted."""

    class Watched(Clock):
        @property
        def is_over(self) -> bool:
            self.end("interrupted")
            return True

    monkeypatch.setattr(schedule, "FIRST_SAMPLE", 60)
    problem = clouds(3000)
    measure = ZeroOne(SearchData.from_problem(problem))
    clock = Watched(max_iter=60)
    one = IteratedSearch(measure, 2, np.random.default_rng(0), clock)
    starts = start_trees(problem, 2)
    schedule.run_plan(one, starts)
    known = [measure.value(tree).value for tree in starts]
    assert one.pool.best.value <= min(known)
    assert clock.ended == "interrupted"


def test_the_kernels_read_the_points_of_the_problem() -> None:
    problem = clouds(50)
    data = SearchData.from_problem(problem)
    assert np.shares_memory(data.XT, problem.scaled)
    assert data.XT.flags.c_contiguous
    assert np.array_equal(problem.scaled, (problem.X - problem.offset) / problem.scale)


def test_compiling_is_announced_once() -> None:
    said: list[str] = []
    with announced(lambda: said.append("compiling")):
        assert not said
        for _ in range(2):
            assert njit(lambda x: x + 1)(1) == 2
    assert said == ["compiling"]
    njit(lambda x: x + 2)(1)
    assert said == ["compiling"]


def test_ready_kernels_are_not_announced() -> None:
    compile_kernels()
    said: list[str] = []
    assert compile_kernels(lambda: said.append("compiling")) == 0.0
    assert not said


def test_compiling_that_takes_most_of_the_time_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compile_slowly(on_compile: Callable[[], object]) -> float:
        on_compile()
        return 8.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(compiling, "compile_kernels", lambda on_compile: 8.0)
        compile_kernels_within(Clock(10.0))  # they were only loaded
        monkeypatch.setattr(compiling, "compile_kernels", compile_slowly)
        compile_kernels_within(Clock(None))
        compile_kernels_within(Clock(60.0))
        with pytest.raises(UserWarning, match="took 8 s, most of the time limit"):
            compile_kernels_within(Clock(10.0))


def test_compiled_proofs_are_found_on_disk() -> None:
    compile_proof_kernels()
    assert seconds_to_compile_proofs() == 0
    assert is_on_disk(advance)
    assert not is_on_disk(njit(lambda x: x))
    assert not is_on_disk(len)


def test_a_search_goes_on_from_a_tree_given() -> None:
    """Unless a solver does."""
    problem, start = noise(60), ObliqueTree.from_heap(constant_tree(noise(60), 2))
    plan = Plan(SMALL_NORMS, 2, "compact", "search", start, max_iter=20)
    found = train(problem, plan)
    assert found.n_iter == 20
    assert found.certificate.errors < SMALL_NORMS.evaluate(problem, start).errors


def test_no_time_limit_is_blamed_for_the_end_of_the_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No MIP fits into the limit, which is long all the same."""
    monkeypatch.setattr(size, "NONZEROS_PER_SECOND", 1e-9)
    plan = Plan(SMALL_NORMS, 2, max_iter=2)
    assert train(noise(60), plan, Clock(1e6)).status == "max_iter"
    plan = replace(plan, init="cart")
    assert train(noise(60), plan, Clock(1e6)).status == "time_limit"


def test_the_notice_is_one_line() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(FitProgress("start", 0.0, 5.0, 5, 0.0))
    for seconds in (0.1, 30.0, 60.0):
        line(FitProgress("compile", seconds, 5.0, 5, 0.0))
    line(FitProgress("start", 60.1, 5.0, 5, 0.0))
    line(FitProgress("compile", 60.2, 5.0, 5, 0.0))
    line(FitProgress("search", 60.3, 4.0, 4, 0.0))
    shown = stream.getvalue().splitlines()
    assert ["compiling" in text for text in shown] == [False, True, False]
    line(FitProgress("compile", 60.4, 4.0, 4, 0.0))
    assert "compiling" in stream.getvalue().splitlines()[-1]


def test_a_notice_promises_no_time_that_a_busy_machine_breaks() -> None:
    text = str(FitProgress("compile", 0.1, 5.0, 5, 0.0))
    assert "once on this machine" in text
    assert "a minute" not in text


def test_the_first_line_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    listeners_of(1, None)
    assert stream.getvalue() == "the fit begins\n"
    assert listeners_of(0, None) == []


@pytest.mark.parametrize(
    ("name", "stage"),
    [("compile_proof_kernels", "count"), ("compile_route_kernels", "prove")],
)
def test_a_proof_tells_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, name: str, stage: str
) -> None:
    def compiles() -> None:
        njit(lambda x: x + 1)(1)

    monkeypatch.setattr(f"miptree.fit.proofs.{name}", compiles)
    stages: list[str] = []
    plan = Plan(Svm1Objective(10, 1, 0.1), 1, max_iter=1, node_limit=5)
    train(noise(12), plan, listeners=[lambda state: stages.append(state.stage)])
    at = stages.index("compile")
    assert stages[at - 1] == stage
    assert stage in stages[at + 1 :]


class _GivesUp:
    """Solver whose tolerances take any model for solved, at a value of 0."""

    name = "gives up"

    def solve(self, *args: object) -> Result:
        return Result("optimal", None, np.inf, 0.0, 1, 0.0, self.name)


def test_search_goes_on_where_the_solver_ends_without_a_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_problem(4, 60, 3, 3)
    plan = Plan(
        Svm1Objective(1000, 0.001, 0.001),
        2,
        proof="errors",
        max_iter=900,
        node_limit=0,
    )
    short = train(problem, plan)  # HiGHS, which has no nodes
    assert short.status == "node_limit"
    assert short.n_iter < plan.max_iter
    monkeypatch.setattr("miptree.fit.mips.get_solver", lambda name: _GivesUp())
    trained = train(problem, plan)
    assert not trained.certificate.errors_optimal
    assert trained.n_iter == plan.max_iter
    assert trained.status == "max_iter"
