"""Stops during a row selection: whoever asks, every clock of the selection hears."""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace

import numpy as np
import pytest

from miptree import OptimalTreeClassifier
from miptree.control.clock import Clock
from miptree.control.stop import Stop, stop_on_interrupt, when
from miptree.data.problem import Problem
from miptree.fit import incumbent
from miptree.fit.plan import Plan
from miptree.fit.train import train_incumbent
from miptree.fit.working_set import WorkingSets
from miptree.mip.solvers import SOLVERS, get_solver
from miptree.objective import Svm1Objective
from miptree.objective.proved import Bounds
from miptree.search.starts import constant_tree

SELECTIONS = ("auto", "hull", "balanced", "cover")


class Looks:
    """The looks at clocks during a selection; one of them presses the button."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, press) -> None:
        self.press, self.is_selecting, self.after = press, False, []
        self.n_looks, self.is_pressed, self.lock = 0, False, threading.RLock()
        is_over, choose = Clock.is_over.fget, WorkingSets.choose

        def look(clock: Clock) -> bool:
            was_pressed = self.is_pressed
            if self.is_selecting:
                with self.lock:
                    self.n_looks += 1
                    if self.n_looks == 3:
                        self.press()
                        was_pressed = self.is_pressed = True
            answer = is_over(clock)
            if self.is_selecting and was_pressed:
                self.after.append(answer)
            return answer

        def watched(*args):
            self.is_selecting = True
            try:
                return choose(*args)
            finally:
                self.is_selecting = False

        monkeypatch.setattr(Clock, "is_over", property(look))
        monkeypatch.setattr(WorkingSets, "choose", watched)


def fit(selection: str, time_limit: float | None, **options: object):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.integers(2, size=600)
    clf = OptimalTreeClassifier(
        solver="search",
        max_iter=20,
        selection=selection,
        time_limit=time_limit,
        random_state=0,
        **options,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The fit was interrupted")
        return clf.fit(X, y)


@pytest.mark.parametrize("time_limit", [None, 3600.0])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_ctrl_c_during_a_selection_is_heard(monkeypatch, selection, time_limit):
    stops: list[Stop] = []

    def press() -> None:
        signal.raise_signal(signal.SIGINT)
        while not stops[-1].requested:  # Python hears it in the main thread
            time.sleep(0.001)

    @contextmanager
    def noted():
        with stop_on_interrupt() as stop:
            stops.append(stop)
            yield stop

    monkeypatch.setattr("miptree.control.clock.stop_on_interrupt", noted)
    looks = Looks(monkeypatch, press)
    clf = fit(selection, time_limit)
    assert clf.status_ == "interrupted"
    assert looks.is_pressed
    assert all(looks.after)
    assert clf.rounds_ == []  # nothing was trained on the rows chosen so far


@pytest.mark.parametrize("time_limit", [None, 3600.0])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_callback_stops_a_selection(monkeypatch, selection, time_limit):
    monkeypatch.setattr(incumbent, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(incumbent, "POLL_FACTOR", 0)
    pressed = threading.Event()
    looks = Looks(monkeypatch, pressed.set)
    clf = fit(selection, time_limit, callback=lambda state: pressed.is_set())
    assert clf.status_ == "interrupted"
    assert looks.is_pressed
    assert all(looks.after)
    assert clf.rounds_ == []


@pytest.mark.parametrize("selection", [None, "hull"])
def test_what_a_callback_raises_ends_the_fit(monkeypatch, selection):
    """Also where a thread that nobody waits for looks at the clock."""
    monkeypatch.setattr(incumbent, "POLL_SECONDS", 0.0)
    calls = []

    def callback(state: object) -> None:
        calls.append(state)
        if len(calls) == 20:
            raise RuntimeError("the callback failed")

    with pytest.raises(RuntimeError, match="the callback failed"):
        fit(selection, None, callback=callback)


def test_a_slow_callback_is_called_less_often():
    """Not before nine times as long has gone by as it took."""
    now, calls = [0.0], []

    def callback(state: object) -> None:
        calls.append(now[0])
        now[0] += 5.0

    problem = Problem.from_data(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    tree = problem.to_user(constant_tree(problem, 1))
    score = Svm1Objective(100, 1, 0.01).evaluate(problem, tree)
    bounds, clock = Bounds.without_solver(problem, 1), Clock(time_source=lambda: now[0])
    best = incumbent.Incumbent(tree, score, bounds, clock, [callback])
    assert not best.clock.is_over
    assert calls == []  # not before there is something to tell
    best.tell()
    for _ in range(200):
        assert not best.clock.is_over
        now[0] += 1.0
    assert calls == [0.0, 50.0, 100.0, 150.0, 200.0]
    best.end(problem, Svm1Objective(100, 1, 0.01), 1)
    n_calls = len(calls)
    now[0] += 1000.0
    assert not best.clock.is_over
    assert len(calls) == n_calls  # nor after the end


def test_a_training_inside_of_another_takes_nothing_after_its_end():
    """A solver that was left behind may still come with a tree."""
    problem = Problem.from_data(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    told = []
    plan = Plan(Svm1Objective(100, 1, 0.01), 1, solver="search", max_iter=3)
    best = train_incumbent(problem, plan, Clock(), [told.append])
    n_told = len(told)
    assert not best.offer(best.tree, replace(best.score, objective=-1.0))
    assert len(told) == n_told > 0


def test_a_start_tree_is_never_lost():
    """Not even where no time is left to begin."""
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    start = OptimalTreeClassifier(max_depth=1, solver="search", max_iter=20).fit(X, y)
    clf = OptimalTreeClassifier(max_depth=1, init=start.tree_, time_limit=0.0)
    assert clf.fit(X, y).objective_ <= start.objective_ + 1e-9


def test_without_a_stop_the_selection_goes_on(monkeypatch):
    looks = Looks(monkeypatch, lambda: None)
    clf = fit("hull", None)
    assert len(clf.rounds_) > 0
    assert not all(looks.after)


def press_twice(swallowed: type[BaseException]) -> None:
    with stop_on_interrupt() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.requested
        with suppress(swallowed):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("swallowed", [ZeroDivisionError, KeyboardInterrupt])
def test_the_second_ctrl_c_raises_even_where_it_is_swallowed(swallowed):
    with pytest.raises(KeyboardInterrupt):
        press_twice(swallowed)


def test_a_callbacks_stop_leaves_the_first_ctrl_c_polite():
    with stop_on_interrupt() as stop:
        stop.request()
        signal.raise_signal(signal.SIGINT)
    assert stop.requested


def test_ctrl_c_does_not_cut_the_import_of_a_solver_in_two(monkeypatch, tmp_path):
    """HiGHS could not be imported again in that process, and was called missing."""
    lines = ["import signal", "signal.raise_signal(signal.SIGINT)", "Made = object"]
    (tmp_path / "slow_solver.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SOLVERS, "highs", ("slow_solver", "Made", "nothing"))
    with pytest.raises(KeyboardInterrupt):
        get_solver("highs")
    assert sys.modules.pop("slow_solver").Made is object
    with stop_on_interrupt() as stop:
        assert get_solver("highs") is not None
    assert stop.requested
    del sys.modules["slow_solver"]


def test_a_condition_acts_once():
    acted, stop = threading.Event(), Stop()
    with when(lambda: stop.requested, acted.set):
        assert not acted.is_set()
        stop.request()
        assert acted.wait(10)
