"""Comparisons that end early: by the clock, a callback or Ctrl-C."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from _tuned import ALL_KINDS, fast, mixed_rows
from miptree import estimator_cv_winner
from miptree.control.clock import Clock
from miptree.control.stop import Stop, stop_file
from miptree.tree import ObliqueTree
from miptree.tuning import Fold, GreedySvmTree, PointsTree, Svm1Tree, TableRules
from miptree.tuning.evaluate_fold import FOLD_EFFORT, score_fold, training_costs
from miptree.tuning.final_fit import final_fit
from miptree.tuning.grow import Grower
from miptree.tuning.training_part import TrainingPart
from miptree.tuning.tuning_progress import TuningProgress


def test_no_time_takes_the_first_candidate() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="time limit left no fold finished"):
        clf = fast(time_limit=0.0).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.n_splits_ == 0
    assert clf.best_params_["kind"] == "SoftTree"
    assert np.isnan(clf.best_score_)
    assert clf.score(X, y) > 0.8


def test_a_callback_can_end_the_comparison() -> None:
    X, y = load_iris(return_X_y=True)
    seen: list[str] = []

    def enough(state: object) -> bool:
        seen.append(str(state))
        return len(seen) == 2

    clf = fast(cv=5, callback=enough).fit(X, y)
    assert clf.n_splits_ == 2
    assert ["1/5" in seen[0], "2/5" in seen[1], "done" in seen[2]] == [True] * 3
    assert len(seen) == 3


def test_an_interrupt_keeps_the_best_so_far() -> None:
    X, y = load_iris(return_X_y=True)

    def interrupt(state: TuningProgress) -> None:
        if state.stage == "folds":
            os.kill(os.getpid(), signal.SIGINT)

    clf = fast(cv=5, callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted after 1 of 5 folds"):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert clf.score(X, y) > 0.9


def test_a_points_tree_after_an_interrupt_says_so() -> None:
    """It said "max_iter", as the short search had, that follows an interrupt."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.integers(2, size=200)

    def interrupt(state: TuningProgress) -> None:
        if state.stage == "folds":
            os.kill(os.getpid(), signal.SIGINT)

    clf = fast(candidates=[PointsTree()], cv=2, callback=interrupt)
    with pytest.warns(UserWarning, match="interrupted after 1 of 2 folds"):
        clf.fit(X, y)
    assert clf.style_ == "points"
    assert clf.status_ == "interrupted"


def test_an_interrupt_of_the_last_training_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_iris(return_X_y=True)
    clocks = []

    def interrupted(*args: Any, clock: Clock, **rest: Any) -> ObliqueTree:
        os.kill(os.getpid(), signal.SIGINT)
        clocks.append(clock)
        return final_fit(*args, clock=clock, **rest)

    monkeypatch.setattr(estimator_cv_winner, "final_fit", interrupted)
    clf = fast(candidates=[GreedySvmTree()])
    with pytest.warns(UserWarning, match="interrupted after 3 of 3 folds"):
        clf.fit(X, y)
    assert clocks[0].is_over
    assert clf.status_ == "interrupted"
    assert clf.score(X, y) > 0.9


def test_a_callback_is_told_of_an_interrupt_by_its_status() -> None:
    X, y = load_iris(return_X_y=True)
    assert fast(cv=5, callback=lambda state: True).fit(X, y).status_ == "interrupted"


def test_an_error_in_a_callback_leaves_nothing_behind() -> None:
    X, y = load_iris(return_X_y=True)
    before = list(warnings.filters)

    def fails(state: object) -> bool:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fast(candidates=ALL_KINDS, n_jobs=2, callback=fails).fit(X, y)
    assert list(warnings.filters) == before


def test_the_time_limit_is_kept_within_a_fold() -> None:
    """By a clock that is over at once: no fold is done, and none is waited for."""
    rows = mixed_rows()
    fold = Fold(np.arange(0, 40), np.arange(40, 60), seed=3)
    asked = []

    def is_over() -> bool:
        asked.append(True)
        return True

    args = (rows, fold, TableRules(), ALL_KINDS, 2, (0.1,))
    assert np.isnan(score_fold(*args, clock=Clock().heeding(is_over)).score).all()
    assert asked


def test_a_stop_is_heard_between_the_lps_of_a_candidate(
    node_lps: list[object],
) -> None:
    rows = mixed_rows()
    part = TrainingPart(TableRules().learn(rows, False)[1], training_costs(rows))
    clock = Clock().heeding(lambda: bool(node_lps))
    grown = Grower(part, 2, FOLD_EFFORT, 0, clock=clock).grow([Svm1Tree()])
    assert len(node_lps) == 1
    assert grown[0]


_FIT = """
import warnings
from sklearn.datasets import load_iris
from miptree import OptimalTreeClassifierCV
from miptree.tuning import SoftTree

def tell(state):
    print("fold", flush=True)

warnings.simplefilter("ignore")
clf = OptimalTreeClassifierCV(
    candidates=[SoftTree(l2=1e-3), SoftTree(l2=1e-2)], n_repeats=1000, n_jobs=2,
    time_limit=None, callback=tell,
)
X, y = load_iris(return_X_y=True)
print(clf.fit(X, y).status_, clf.n_splits_ < 5000, hasattr(clf, "tree_"))
"""


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are POSIX")
def test_ctrl_c_goes_to_all_processes_and_keeps_the_best_so_far() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _FIT],
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read().split("\n")
    assert said[-2] == "interrupted True True"
    assert process.returncode == 0


def test_work_elsewhere_hears_the_stop() -> None:
    stop = Stop()
    with stop_file(stop) as file, file.heard() as here:
        sent = replace(pickle.loads(pickle.dumps(file)), maker=0)
        with sent.heard() as elsewhere:
            assert not here.requested
            assert not elsewhere.requested
            stop.request()
            assert here.requested
            for _ in range(1000):
                if elsewhere.requested:
                    break
                time.sleep(0.01)
            assert elsewhere.requested
    assert not file.path.parent.exists()


def test_no_folder_for_temporary_files_is_needed(monkeypatch, tmp_path) -> None:
    """A container may have none that can be written to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    X, y = load_iris(return_X_y=True)
    assert fast(cv=2).fit(X, y).score(X, y) > 0.9
    clf = fast(cv=2, callback=lambda _: True).fit(X, y)
    assert clf.n_splits_ == 1
    stop = Stop()
    with stop_file(stop) as file, replace(file, maker=0).heard() as elsewhere:
        stop.request()
        file.make()
        assert not elsewhere.requested
