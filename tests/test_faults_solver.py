"""Solvers that raise, lie, return NaN or hang, and memory that runs out.

No tree is ever believed to be better than it is, and no bound that a tree refutes.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from faults.solvers import FAULTS, FailedError, Faulty, Hanging, out_of_memory, raising
from miptree import OptimalTreeClassifier, OptimalTreeClassifierCV, PointsTreeClassifier
from miptree.baselines import OCTClassifier
from miptree.constraints import MinLeaf
from miptree.mip.solvers import SOLVERS

PENALTIES = {"slack_penalty": 50.0, "l1_penalty": 0.1, "margin": 0.02}
BUDGET = {"node_limit": 1, "max_iter": 10, "time_limit": None, "random_state": 0}
SLOT = "scip"
"""Name of the solver in whose place the faulty ones stand."""
CLOSE = 1e-5


def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2)).round(1)
    return X, (X[:, 0] + 0.7 * rng.normal(size=14) > 0).astype(int)


def oblique(**options):
    return OptimalTreeClassifier(solver=SLOT, **PENALTIES, **BUDGET, **options)


STYLES = {
    "errors": lambda: oblique(max_depth=1, proof="errors"),
    "objective": lambda: oblique(max_depth=1, proof="objective", formulation="paper"),
    "rules": lambda: oblique(max_depth=1, constraints=[MinLeaf(rows=3)]),
    "baseline": lambda: OCTClassifier(max_depth=1, solver=SLOT, time_limit=None),
}
"""Every way from a fit to a solver."""
SAMPLE = [
    pytest.param(style, marks=() if style == "rules" else pytest.mark.long)
    for style in STYLES
]


@pytest.fixture
def install(monkeypatch):
    """Put a solver in the place of a real one."""

    def put(solver, name=SLOT):
        module = SimpleNamespace(made=lambda: solver)
        monkeypatch.setitem(sys.modules, "faulty_solver", module)
        monkeypatch.setitem(SOLVERS, name, ("faulty_solver", "made", "nothing"))
        return solver

    return put


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def fitted(clf, X, y):
    """Fit without a word: what a solver answers must not reach NumPy's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return clf.fit(X, y)


def check_lie(install, fault, style, seed):
    """Fit with a solver that lies; return how often it was asked."""
    X, y = data(seed)
    truth = STYLES[style]().set_params(solver="highs", node_limit=None).fit(X, y)
    solver = install(Faulty(FAULTS[fault]))
    clf = fitted(STYLES[style](), X, y)
    certificate, best = clf.certificate_, truth.certificate_
    assert certificate.objective_bound <= best.objective + CLOSE
    assert certificate.errors_bound <= best.cost_at_margin + CLOSE
    assert certificate.objective >= best.objective_bound - CLOSE
    assert certificate.errors == (clf.predict(X) != y).sum()
    if certificate.objective_optimal:
        assert certificate.objective <= best.objective + CLOSE
    assert np.isfinite(clf.tree_.coef).all()
    return solver.calls


@pytest.mark.parametrize(
    ("fault", "style"), [(f, list(STYLES)[k % 4]) for k, f in enumerate(FAULTS)]
)
def test_nothing_false_is_believed(install, fault, style):
    assert check_lie(install, fault, style, seed=0)


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_false_is_believed_of_many_problems(install, fault, style):
    calls = [check_lie(install, fault, style, seed) for seed in range(1, 21)]
    assert sum(map(bool, calls)) >= 5  # others are proved without a solver


@pytest.mark.parametrize("fault", ["NaN", "random numbers"])
def test_lps_that_lie_make_no_tree_worse(install, fault):
    """Those of nodes are solved within searches, too, by HiGHS alone."""
    X, y = data(0)
    solver = install(Faulty(FAULTS[fault]), "highs")
    clf = fitted(oblique(max_depth=1).set_params(solver="search", init="cart"), X, y)
    assert solver.calls > 0
    assert clf.certificate_.errors == (clf.predict(X) != y).sum() <= 4


@pytest.mark.parametrize("style", SAMPLE)
@pytest.mark.parametrize(
    ("fault", "error"), [(raising, FailedError), (out_of_memory, MemoryError)]
)
def test_what_a_solver_raises_is_raised(install, style, fault, error):
    X, y = data(0)
    install(Faulty(fault))
    clf = STYLES[style]()
    with pytest.raises(error, match=r"out of order|std::bad_alloc"):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.set_params(solver="highs").fit(X, y)  # and the next fit is as good as ever
    assert len(clf.predict(X)) == len(y)


@pytest.mark.parametrize("style", SAMPLE)
def test_a_solver_that_hangs_does_not_hold_a_fit_up(install, style):
    X, y = data(0)
    solver = install(Hanging())
    clf = STYLES[style]()
    clf.set_params(time_limit=1.0)
    began = time.perf_counter()
    fitted(clf, X, y)
    seconds = time.perf_counter() - began
    is_asked = solver.is_asked
    solver.let_go.set()
    solver.is_over.wait(5)
    assert is_asked
    assert seconds < 6  # a second of its own, one of grace, and a busy machine
    assert clf.certificate_.errors == (clf.predict(X) != y).sum()


# ----------------------------------------------------------------- memory


MODELS = {
    "oblique": lambda **o: OptimalTreeClassifier(max_depth=1, **BUDGET, **o),
    "rows": lambda **o: OptimalTreeClassifier(
        solver="search", selection="hull", max_rounds=1, **BUDGET, **o
    ),
    "points": lambda **o: PointsTreeClassifier(time_limit=None, max_iter=5, **o),
    "tuned": lambda **o: OptimalTreeClassifierCV(cv=2, n_repeats=1, time_limit=3, **o),
}


@pytest.mark.parametrize("style", MODELS)
def test_a_fit_without_memory_fails_and_leaves_nothing(style):
    """The callback is where it runs out: it is called throughout a fit."""
    X, y = data(0)
    clf = MODELS[style]().fit(X, y)
    states = []

    def run_out(state):
        states.append(state)
        if len(states) == 2:
            raise MemoryError("Unable to allocate 8.0 GiB")

    clf.set_params(callback=run_out)
    with pytest.raises(MemoryError, match=r"8\.0 GiB"):
        clf.fit(np.c_[X, X], y)
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.set_params(callback=None).fit(X, y)
    assert len(clf.predict(X)) == len(y)


def test_a_command_without_memory_says_so(monkeypatch, tmp_path):
    pytest.importorskip("typer")
    from _cli import refused

    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")

    def run_out(*_, **__):
        raise MemoryError("Unable to allocate 8.0 GiB")

    monkeypatch.setattr(OptimalTreeClassifier, "_fit", run_out)
    told = refused("fit", tmp_path / "a.csv", "--target", "y", "--style", "oblique")
    assert "not enough memory (Unable to allocate 8.0 GiB). Use fewer rows" in told
