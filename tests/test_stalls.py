"""A training ends when it is done: when neither its tree nor its bound moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from _data import noise
from miptree.control.clock import Clock, End
from miptree.control.patience import Movement, Patience
from miptree.fit.job import Job
from miptree.fit.mips import bound_by_mip
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.mip.solvers import Progress, Result
from miptree.objective import Svm1Objective
from miptree.objective.bounds import Bound

OBJECTIVE = Svm1Objective(slack_penalty=1000, l1_penalty=0.1, margin=0.01)


class Hand:
    """The hand of a clock, which a test moves, or which moves with every look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_patience_grows_with_what_was_spent() -> None:
    patience = Patience(2.0, 0.5)
    assert patience.after(10.0) == 7.0
    assert not patience.is_over(1.9, 0.0)
    assert patience.is_over(2.0, 0.0)
    assert not patience.is_over(16.9, 10.0)
    assert patience.is_over(17.0, 10.0)


def test_small_steps_are_no_move_until_they_add_up() -> None:
    hand = Hand()
    movement = Movement(100.0, Clock(time_source=hand))
    moves = []
    for left in (99.9, 99.5, 99.1, 98.9, 98.5, 50.0):
        hand.now += 1.0
        movement.note(left)
        moves.append((movement.n_moves, movement.last))
    assert moves == [(0, 0), (0, 0), (0, 0), (1, 4), (1, 4), (2, 6)]


def test_all_clocks_of_a_step_hear_that_it_stalled() -> None:
    hand = Hand()
    clock = Clock(100.0, time_source=hand)
    movement = Movement(1.0, clock)
    hand.now = 10.0
    step = movement.awaited(Patience(1.0, 0.5), clock)
    clocks = [step, step.share(0.5), step.counting(5), step.phase(0.5)]
    clocks += [step.restarted(), *step.dealt(2), step.sample(0.5, 3)]
    hand.now = 15.9
    assert not any(one.is_over for one in clocks)
    movement.note(0.5)
    hand.now = 24.0
    assert not any(one.is_over for one in clocks)
    hand.now = 24.9
    assert all(one.is_over for one in clocks)
    assert {one.ended for one in clocks} == {"stalled"}
    assert not clock.is_over


def test_a_bound_that_creeps_up_is_no_move() -> None:
    best = Job.begin(noise(40), Plan(OBJECTIVE, 2), Clock()).best
    left = best.score.objective + best.score.cost_at_margin
    best.raise_objective_bound(Bound(0.001 * left, "a test"))
    assert best.movement.n_moves == 0
    best.raise_objective_bound(Bound(0.02 * left, "a test"))
    assert best.movement.n_moves == 1
    best.raise_errors_bound(Bound(0.04 * left, "a test"))
    assert best.movement.n_moves == 2


@pytest.mark.parametrize(("proof", "seconds"), [("auto", 45.0), ("errors", 45.0)])
def test_proofs_that_are_not_compiled_are_told(
    monkeypatch: pytest.MonkeyPatch, proof: str, seconds: float
) -> None:
    for name in ("seconds_to_compile_proofs", "seconds_to_compile_routes"):
        monkeypatch.setattr(f"miptree.fit.proofs.{name}", lambda: seconds)
    plan = Plan(OBJECTIVE, 1, proof=proof, max_iter=5, node_limit=1)
    with pytest.warns(UserWarning, match="miptree compile") as told:
        train(noise(30), plan, Clock(30.0, time_source=Hand()))
    assert len(told) == 1


@pytest.mark.filterwarnings("error")
def test_proofs_on_disk_are_no_reason_to_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("seconds_to_compile_proofs", "seconds_to_compile_routes"):
        monkeypatch.setattr(f"miptree.fit.proofs.{name}", lambda: 1.0)
    plan = Plan(OBJECTIVE, 1, max_iter=5, node_limit=1)
    train(noise(10), plan, Clock(0.9, time_source=Hand()))


SEARCH = Plan(OBJECTIVE, 1, solver="search")


@pytest.fixture
def is_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few iterations decide that a search has stalled."""
    monkeypatch.setattr("miptree.fit.searches.ITERATIONS", Patience(5, 0.5))


@pytest.mark.usefixtures("is_impatient")
@pytest.mark.parametrize(
    ("plan", "limit", "status"),
    [
        (SEARCH, 1e9, "stalled"),
        (SEARCH, None, "stalled"),  # in iterations
        (SEARCH, 0.1, "time_limit"),
        (replace(SEARCH, max_iter=4), 1e9, "max_iter"),
        (replace(SEARCH, max_iter=490), None, "stalled"),
        (replace(SEARCH, max_iter=50, proof="objective"), None, "max_iter"),
        (replace(SEARCH, proof="objective"), 5.0, "time_limit"),
    ],
)
def test_a_search_ends_when_it_stalls(
    plan: Plan, limit: float | None, status: End
) -> None:
    """A look at the clock takes a hundredth of a second here."""
    found = train(noise(30), plan, Clock(limit, time_source=Hand(0.01)))
    assert found.status == status
    if plan.max_iter is not None:
        assert (found.n_iter == plan.max_iter) is (status == "max_iter")


@pytest.mark.usefixtures("is_impatient")
def test_iterations_decide_alike_whatever_the_speed() -> None:
    plan = replace(SEARCH, max_iter=490)
    slow, fast = (
        train(noise(30), plan, Clock(1e9, time_source=Hand(step)))
        for step in (5.0, 1e-9)
    )
    assert slow.status == fast.status == "stalled"
    assert slow.n_iter == fast.n_iter
    assert slow.certificate.objective == fast.certificate.objective


class Crawls:
    """Solver whose bound does not rise: it works on until it is told to stop."""

    name = "crawls"

    def __init__(self, hand: Hand) -> None:
        self.hand, self.n_told = hand, 0

    def solve(self, *args: Any) -> Result:
        hear: Callable[[Progress], bool] = args[3]
        while not hear(Progress(0.0, np.inf, 0.0, self.n_told)):
            self.hand.now += 0.1
            self.n_told += 1
        return Result("interrupted", None, np.inf, 0.0, self.n_told, 0.0, self.name)


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({}, "stalled"),
        ({"init": "cart"}, "stalled"),
        ({"proof": "objective"}, "time_limit"),  # the user wants the bound
        ({"max_iter": 5}, "time_limit"),  # no seconds decide here
    ],
)
def test_only_a_proof_nobody_asked_for_is_given_up(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], end: End
) -> None:
    hand = Hand()
    solver = Crawls(hand)
    monkeypatch.setattr("miptree.fit.mips.get_solver", lambda name: solver)
    plan = replace(Plan(OBJECTIVE, 2), **changed)
    job = Job.begin(noise(40), plan, Clock(300.0, time_source=hand))
    bound_by_mip(job, "flow", job.step_clock())
    assert job.best.ended == end
    assert (hand.now < 10) is (end == "stalled")
