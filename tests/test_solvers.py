"""One conformance suite, run for every solver that loads."""

import itertools
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from _data import is_installed
from miptree.control.stop import stop_on_interrupt
from miptree.mip.model import Model, ModelBuilder
from miptree.mip.solvers import (
    SOLVERS,
    Limits,
    MissingSolverError,
    Result,
    Solver,
    get_solver,
)
from miptree.mip.solvers.base import SolverLicenceError, keep_better
from miptree.mip.solvers.listener import Listener

LICENSED = ("gurobi", "cplex")
PACKAGES = {
    "highs": "highspy",
    "scip": "pyscipopt",
    "portfolio": "pyscipopt",
    "gurobi": "gurobipy",
    "cplex": "cplex",
}


@pytest.fixture(params=list(SOLVERS))
def solver(request: pytest.FixtureRequest) -> Solver:
    if not is_installed(request.param):
        pytest.skip(f"{PACKAGES[request.param]} is not installed")
    return get_solver(request.param)


def knapsack(seed: int = 0) -> Model:
    """Two capacities, twelve items: small enough to enumerate."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(5, 40, (2, 12)).astype(float)
    b = ModelBuilder()
    x = b.variables("x", (12,), upper=1, cost=-rng.integers(5, 40, 12), integer=True)
    b.rows("capacity", (2,), (x[None, :], weight), upper=weight.sum(axis=1) // 2)
    return b.finish(constant=7.25)


def assignment(cost: np.ndarray) -> Model:
    n = len(cost)
    b = ModelBuilder()
    x = b.variables("x", (n, n), upper=1, cost=cost, integer=True)
    b.rows("row", (n,), (x, np.ones((n, n))), lower=1, upper=1)
    b.rows("column", (n,), (x.T, np.ones((n, n))), lower=1, upper=1)
    return b.finish()


CONSTANT = 10.0


def market_split() -> tuple[Model, np.ndarray, np.ndarray]:
    """Model far out of reach of a thousand nodes, a poor start and its optimum.

    Choose x in {0, 1}^30 so that four weighted sums hit their targets; misses cost.
    The bound stays at the constant until the tree is searched through.
    """
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 100, (4, 30)).astype(float)
    hit = rng.integers(0, 2, 30).astype(float)
    target = weight @ hit
    b = ModelBuilder()
    x = b.variables("x", (30,), upper=1, integer=True)
    below = b.variables("below", (4,), cost=1)
    above = b.variables("above", (4,), cost=1)
    terms = (x[None, :], weight), (below, 1.0), (above, -1.0)
    b.rows("target", (4,), *terms, lower=target, upper=target)
    # A guess no solver would make; all zeros is the first thing some of them try.
    guess = rng.integers(0, 2, 30).astype(float)
    miss = target - weight @ guess
    start = np.concatenate([guess, np.maximum(miss, 0) + 50, np.maximum(-miss, 0) + 50])
    return b.finish(CONSTANT), start, np.concatenate([hit, np.zeros(8)])


HARD, START, OPTIMUM = market_split()


def one_variable(
    cost: float, lower: float, upper: float, integer: bool, coefficient: float = 2.0
) -> Model:
    """One free variable and one row; a second variable keeps presolve honest."""
    b = ModelBuilder()
    x = b.variables("x", (1,), lower=-np.inf, cost=cost, integer=integer)
    y = b.variables("y", (1,), lower=-4, upper=-1, cost=1)
    b.rows("row", (1,), (x, coefficient), lower=lower, upper=upper)
    b.rows("box", (2,), (np.append(x, y), 1.0), lower=-50, upper=50)
    return b.finish()


# Right answers


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_knapsack_equals_brute_force(solver: Solver, seed: int) -> None:
    model = knapsack(seed)
    points = np.array(list(itertools.product([0.0, 1.0], repeat=12)))
    fits = (points @ model.matrix.toarray().T <= model.row_upper).all(axis=1)
    best = (points[fits] @ model.cost).min() + 7.25
    result = solver.solve(model)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, abs=1e-7)
    assert result.bound == pytest.approx(best, abs=1e-7)
    assert max(model.violation(result.x).values()) <= 1e-6
    assert result.objective == model.objective(result.x)


def test_assignment_equals_brute_force(solver: Solver) -> None:
    cost = np.random.default_rng(0).normal(size=(5, 5))
    orders = itertools.permutations(range(5))
    best = min(cost[range(5), order].sum() for order in orders)
    result = solver.solve(assignment(cost))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, abs=1e-7)


def test_lp_has_an_exact_bound(solver: Solver) -> None:
    b = ModelBuilder()
    x = b.variables("x", (2,), cost=[-1, -2])
    coefficients = np.array([[1.0, 1.0], [1.0, 3.0]])
    b.rows("row", (2,), (x[None, :], coefficients), upper=[4, 6])
    result = solver.solve(b.finish(constant=100))
    assert result.status == "optimal"
    assert result.x == pytest.approx([3, 1], abs=1e-7)
    assert result.objective == pytest.approx(95, abs=1e-7)
    assert result.bound == pytest.approx(95, abs=1e-7)
    assert result.bound <= result.objective


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize(
    ("cost", "lower", "upper", "expected"),
    [
        (1, -6, -6, -3),
        (1, -6, 8, -3),
        (-1, -6, 8, 4),
        (1, -6, np.inf, -3),
        (-1, -np.inf, 8, 4),
        (1, -np.inf, np.inf, -50),
    ],
    ids=["equal", "ranged-low", "ranged-high", "above", "below", "free"],
)
def test_every_kind_of_row(
    solver: Solver,
    cost: float,
    lower: float,
    upper: float,
    expected: float,
    integer: bool,
) -> None:
    result = solver.solve(one_variable(cost, lower, upper, integer))
    assert result.status == "optimal"
    assert result.x == pytest.approx([expected, -4], abs=1e-7)


def test_negative_integers_are_rounded_the_right_way(solver: Solver) -> None:
    result = solver.solve(one_variable(1, -7, np.inf, integer=True))
    assert result.x[0] == pytest.approx(-3, abs=1e-7)


def test_row_without_coefficients(solver: Solver) -> None:
    result = solver.solve(one_variable(1, -1, np.inf, True, coefficient=0.0))
    assert result.x == pytest.approx([-50, -4], abs=1e-7)


@pytest.mark.parametrize("integer", [False, True])
def test_infeasible_model(solver: Solver, integer: bool) -> None:
    result = solver.solve(one_variable(1, 200, 300, integer))
    assert result.status == "infeasible"
    assert result.x is None
    assert result.objective == np.inf


def test_names_solver_and_version(solver: Solver) -> None:
    members = {"portfolio": ["highs", "scip"]}.get(solver.name, [solver.name])
    named = solver.solve(knapsack()).solver.split(" and ")
    assert [one.split(" ")[0].lower() for one in named] == members
    for one in named:
        assert all(part.isdigit() for part in one.split(" ")[1].split("."))


# Starts


@pytest.mark.parametrize("nodes", [0, 1])
def test_result_is_never_worse_than_the_start(solver: Solver, nodes: int) -> None:
    near = OPTIMUM.copy()
    near[-1] = near[-5] = 1.0  # one unit above and below the fourth target
    result = solver.solve(HARD, near, Limits(nodes=nodes))
    assert result.objective <= CONSTANT + 2 + 1e-6
    assert result.bound <= result.objective


@pytest.mark.parametrize("off", [0.0, 2e-7], ids=["exact", "within-tolerance"])
def test_start_is_the_first_incumbent(solver: Solver, off: float) -> None:
    start, seen = START.copy(), []
    start[30] += off
    solver.solve(HARD, start, Limits(nodes=1), on_incumbent=seen.append)
    assert HARD.objective(seen[0]) == pytest.approx(HARD.objective(START), abs=1e-6)
    values = [HARD.objective(x) for x in seen]
    assert values == sorted(values, reverse=True)
    assert all(max(HARD.violation(x).values()) <= 1e-6 for x in seen)


def test_kept_start_is_not_below_the_bound() -> None:
    """A start may be feasible to 1e-6 and a solver's bound hold to 1e-9."""
    model = knapsack()
    start = np.zeros(12)
    start[0] = 5e-7
    strict = Result("optimal", np.zeros(12), 7.25, 7.25, 0, 0.0, "strict")
    kept = keep_better(model, strict, start)
    assert kept.x is start
    assert kept.bound <= kept.objective < 7.25


@pytest.mark.parametrize(
    "wrong",
    [
        Result("infeasible", None, np.inf, np.inf, 0, 0.0, "liar"),
        Result("optimal", np.ones(12), 9.0, 9.0, 0, 0.0, "liar"),
    ],
)
def test_a_start_refutes_the_bound_of_a_solver_that_lost_it(wrong: Result) -> None:
    """Lowered to the start's value, the false bound would prove it optimal."""
    model, start = knapsack(), np.zeros(12)
    kept = keep_better(model, wrong, start)
    assert kept.x is start
    assert (kept.status, kept.bound) == ("gap_tol", -np.inf)


def test_a_bound_far_above_the_solution_proves_nothing() -> None:
    model = knapsack()
    listener = Listener(model)
    x, value = np.zeros(12), model.objective(np.zeros(12))
    wrong = listener.finish("optimal", x, value + 0.1, 0, "liar")
    assert (wrong.status, wrong.objective, wrong.bound) == ("gap_tol", value, -np.inf)
    right = listener.finish("optimal", x, value + 1e-7, 0, "strict")
    assert (right.status, right.bound) == ("optimal", value)


def test_infeasible_start_is_not_believed(solver: Solver) -> None:
    model = knapsack()
    result = solver.solve(model, np.ones(12))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(solver.solve(model).objective)
    assert max(model.violation(result.x).values()) <= 1e-6


# Limits


def test_node_limit(solver: Solver) -> None:
    result = solver.solve(HARD, START, Limits(nodes=200))
    assert result.status == "node_limit"
    assert 100 <= result.nodes <= 210
    assert result.bound <= result.objective < HARD.objective(START)


def test_time_limit_keeps_the_start(solver: Solver) -> None:
    result = solver.solve(HARD, START, Limits(seconds=0))
    assert result.status == "time_limit"
    assert result.objective <= HARD.objective(START)
    assert result.seconds < 5


def test_gap_counts_the_constant(solver: Solver) -> None:
    """Of a solution of cost c it is c / (c + 1000); without the constant it is 1."""
    model = replace(HARD, constant=1000.0)
    result = solver.solve(model, START, Limits(gap=0.05, nodes=5000))
    assert result.status == "gap_tol"
    assert result.bound >= 1000 - 1e-6
    assert 0 < result.objective - result.bound <= 0.05 * result.objective


def test_seed_and_node_limit_fix_the_result(solver: Solver) -> None:
    if solver.name == "portfolio":
        pytest.skip("two solvers race")
    limits = Limits(nodes=100, seed=3)
    first, second = (solver.solve(HARD, START, limits) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert (first.bound, first.nodes) == (second.bound, second.nodes)


def test_seed_reaches_the_solver(solver: Solver) -> None:
    model = replace(HARD, cost=HARD.cost + np.arange(38) / 1000)
    seeds = (Limits(nodes=100, seed=seed) for seed in range(4))
    found = [solver.solve(model, None, limits) for limits in seeds]
    assert len({(result.objective, result.bound) for result in found}) > 1


def test_priority_reaches_the_solver(solver: Solver) -> None:
    """Opposite priorities search opposite trees."""
    if solver.name in ("highs", "portfolio"):
        pytest.skip("HiGHS has no branching priorities")
    upwards = np.append(np.arange(1, 31), np.zeros(8, dtype=int))
    downwards = np.append(np.arange(30, 0, -1), np.zeros(8, dtype=int))
    models = (replace(HARD, priority=priority) for priority in (upwards, downwards))
    ends = [solver.solve(model, START, Limits(nodes=200)) for model in models]
    assert ends[0].objective != ends[1].objective


def test_two_threads(solver: Solver) -> None:
    result = solver.solve(knapsack(), limits=Limits(threads=2))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(solver.solve(knapsack()).objective)


# Callbacks


def test_progress_is_consistent(solver: Solver) -> None:
    seen = []
    result = solver.solve(HARD, START, Limits(nodes=500), on_progress=seen.append)
    assert seen
    for state in seen:
        assert state.bound <= state.objective
        assert state.objective >= result.objective - 1e-6
        assert state.bound <= result.bound + 1e-6
    seconds = [state.seconds for state in seen]
    assert (np.diff(seconds) > 0.04).all()
    assert 0 <= seconds[0] <= seconds[-1] <= result.seconds
    nodes = [state.nodes for state in seen]
    assert nodes == sorted(nodes)


def test_true_answer_stops_and_keeps_the_incumbent(solver: Solver) -> None:
    calls = []

    def stop_at_second(state: object) -> bool:
        calls.append(state)
        return len(calls) == 2

    result = solver.solve(HARD, START, Limits(seconds=30), stop_at_second)
    assert result.status == "interrupted"
    assert len(calls) == 2
    assert result.objective <= calls[-1].objective + 1e-6
    assert max(HARD.violation(result.x).values()) <= 1e-6


@pytest.mark.parametrize("callback", ["on_progress", "on_incumbent"])
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_exception_in_a_callback_propagates(
    solver: Solver, callback: str, kind: type[BaseException]
) -> None:
    calls = []

    def fail(_: object) -> None:
        calls.append(1)
        raise kind("from the callback")

    with pytest.raises(kind, match="from the callback"):
        solver.solve(HARD, START, Limits(seconds=30), **{callback: fail})
    assert len(calls) == 1
    assert solver.solve(knapsack()).status == "optimal"


def test_better_suggestion_is_used(solver: Solver) -> None:
    """Only a solver that took the suggestion in can call it optimal."""
    result = solver.solve(
        HARD, START, Limits(nodes=500), on_incumbent=lambda x: OPTIMUM
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(CONSTANT, abs=1e-6)


def test_suggestion_survives_a_stop(solver: Solver) -> None:
    """Whether or not the solver came round to taking it in."""
    made = []

    def suggest(_: np.ndarray) -> np.ndarray:
        made.append(True)
        return OPTIMUM

    result = solver.solve(HARD, START, Limits(seconds=30), lambda _: made, suggest)
    assert result.objective == pytest.approx(CONSTANT, abs=1e-6)
    assert result.bound <= result.objective


def test_infeasible_suggestion_is_not_believed(solver: Solver) -> None:
    wrong = np.zeros(HARD.n_variables)
    result = solver.solve(HARD, START, Limits(nodes=50), on_incumbent=lambda x: wrong)
    assert result.objective > CONSTANT
    assert max(HARD.violation(result.x).values()) <= 1e-6


def test_callback_may_solve_another_model(solver: Solver) -> None:
    inner = []

    def solve_inside(_: np.ndarray) -> None:
        for name in {"highs", solver.name}:
            inner.append(get_solver(name).solve(knapsack()).objective)

    solver.solve(HARD, START, Limits(nodes=1), on_incumbent=solve_inside)
    assert inner
    assert inner == pytest.approx([inner[0]] * len(inner))


def test_polite_interrupt(solver: Solver) -> None:
    """The first Ctrl-C inside a guard stops the solve and keeps the incumbent."""

    def press_once(_: object) -> bool:
        if not guard.requested:
            signal.raise_signal(signal.SIGINT)
        return guard.requested

    with stop_on_interrupt() as guard:
        result = solver.solve(HARD, START, Limits(seconds=30), press_once)
    assert guard.requested
    assert result.status == "interrupted"
    assert result.objective <= HARD.objective(START)


def test_impolite_interrupt(solver: Solver) -> None:
    """Without a guard it is an exception, and the solve does not run on."""
    calls = []

    def press_once(state: object) -> None:
        calls.append(state)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solver.solve(HARD, START, Limits(seconds=30), press_once)
    assert len(calls) < 40


@pytest.mark.parametrize("bound", [np.inf, np.nan, CONSTANT + 1e4])
def test_a_bound_under_way_that_the_start_refutes_is_not_told(bound: float) -> None:
    told = []
    listener = Listener(HARD, START, on_progress=told.append)
    listener.report(np.nan, bound, 1)
    assert (told[0].objective, told[0].bound) == (np.inf, -np.inf)


# Manners


def test_nothing_is_printed(solver: Solver, capfd: pytest.CaptureFixture) -> None:
    solver.solve(knapsack(), np.ones(12))
    solver.solve(one_variable(1, 200, 300, True))
    solver.solve(one_variable(1, -7, np.inf, False))
    wrong = np.zeros(HARD.n_variables)
    solver.solve(HARD, START, Limits(nodes=5), on_incumbent=lambda x: wrong)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", LICENSED)
def test_licence_error_says_what_to_do(name: str) -> None:
    if not is_installed(name):
        pytest.skip(f"{PACKAGES[name]} is not installed")
    b = ModelBuilder()
    x = b.variables("x", (2100,), upper=1, cost=-1, integer=True)
    b.rows("pair", (2101,), (np.append(x, 0), 1.0), (np.append(0, x), 1.0), upper=1)
    message = ""
    try:
        get_solver(name).solve(b.finish(), limits=Limits(seconds=1))
    except SolverLicenceError as refusal:
        message = str(refusal)
    if not message:
        pytest.skip(f"a full licence of {name} is installed")
    assert "2101 rows x 2100 columns" in message
    assert 'licence, or use solver="highs"' in message


@pytest.mark.parametrize("name", list(SOLVERS))
def test_missing_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in SOLVERS:
        monkeypatch.delitem(sys.modules, f"miptree.mip.solvers.{module}", raising=False)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingSolverError, match=r"pip install 'miptree"):
        get_solver(name)
    assert not is_installed(name)


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"must be one of .*'lp_solve'"):
        get_solver("lp_solve")


def test_scip_may_be_asked_to_stop_in_any_stage() -> None:
    """It raises where it is asked between two stages, as the other of a race may do."""
    pyscipopt = pytest.importorskip("pyscipopt")
    from miptree.mip.solvers.scip import interrupt

    stages = []

    class Asks(pyscipopt.Eventhdlr):
        def eventinitsol(self) -> None:
            stages.append(self.model.getStage())
            interrupt(self.model)

    scip = pyscipopt.Model()
    scip.hideOutput()
    interrupt(scip)
    x = [scip.addVar(vtype="I", ub=9) for _ in range(3)]
    scip.addCons(2 * x[0] + 3 * x[1] + 5 * x[2] >= 8)
    scip.setObjective(3 * x[0] + 4 * x[1] + 7 * x[2])
    scip.setPresolve(pyscipopt.SCIP_PARAMSETTING.OFF)
    scip.includeEventhdlr(Asks(), "asks", "asks SCIP to stop as it begins")
    scip.optimize()
    assert stages == [pyscipopt.SCIP_STAGE.INITSOLVE]
    assert scip.getStatus() == "optimal"
