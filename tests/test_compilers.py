"""The first fit on a machine: other processes compile, and the time limit holds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    verify_model,
)
from miptree.control.background import SWITCH
from miptree.control.clock import Clock
from miptree.control.compilers import Compilers
from miptree.control.stop import Stop
from miptree.data.problem import Problem
from miptree.fit import points, proofs
from miptree.fit.plan import Plan
from miptree.fit.rounds import train_in_rounds
from miptree.fit.train import train
from miptree.objective import Svm1Objective
from miptree.points.compiling import compile_points_kernels, compilers_for
from miptree.search import compiling, kernels_are_ready_in_time
from miptree.search.starts import cart_tree, greedy_svm_tree
from miptree.tuning import kernels
from miptree.utils.locks import take_lock

FOREVER = "import time; time.sleep(600)"
OBJECTIVE = Svm1Objective(10, 1, 0.1)

Made = Callable[..., Compilers]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """A maker of processes that are ended after the test, and wait for no others."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    all_made: list[Compilers] = []

    def make(*sources: str) -> Compilers:
        all_made.append(Compilers(sources))
        return all_made[-1]

    yield make
    for compilers in all_made:
        compilers.kill()


@pytest.fixture
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_ready", False)
    monkeypatch.setattr(compiling, "searches_are_at_hand", lambda: False)


def test_loaded_kernels_are_not_looked_for_on_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiling, "is_on_disk", lambda _: False)
    monkeypatch.setattr(compiling, "_ready", False)
    assert not compiling.searches_are_at_hand()
    monkeypatch.setattr(compiling, "_ready", True)
    assert compiling.searches_are_at_hand()


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        pytest.param([], "failed", id="of a console script"),
        pytest.param([""], "done", id="of a prompt"),
    ],
)
def test_code_in_the_working_folder_is_run_only_if_it_could_be_anyway(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path, outcome
) -> None:
    (tmp_path / "beside_the_table.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", path + [p for p in sys.path if p])
    compilers = made("import beside_the_table")
    compilers.start()
    assert compilers.wait(Clock(60)) == outcome


def same_imports() -> dict[str, str]:
    """The environment of a Python that imports what this one can import."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def noise(n_rows: int) -> Problem:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, 3)), rng.integers(2, size=n_rows)
    return Problem.from_data(X, y, 2)


def test_processes_are_awaited(made: Made) -> None:
    compilers = made("pass", "import miptree")  # what this one imports they do, too
    compilers.start()
    assert compilers.wait(Clock(200.0)) == "done"
    assert compilers.wait(Clock(0.0)) == "done"


@pytest.mark.parametrize("source", ["raise SystemExit(3)", "import no_such_module"])
def test_one_that_fails_is_told(made: Made, source: str) -> None:
    compilers = made("pass", source)
    compilers.start()
    assert compilers.wait(Clock(200.0)) == "failed"


def test_nothing_is_started_twice_nor_without_a_start(made: Made, tmp_path) -> None:
    compilers = made(f"open({str(tmp_path / 'ran')!r}, 'a').write('once')")
    assert compilers.wait(Clock()) == "failed"
    for _ in range(3):
        compilers.start()
    assert compilers.wait(Clock(200.0)) == "done"
    assert (tmp_path / "ran").read_text() == "once"


def test_no_other_program_is_started(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``sys.executable`` may be one that has Python inside."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    compilers = made("pass")
    compilers.start()
    assert compilers.wait(Clock()) == "failed"


def test_time_and_a_stop_end_the_wait_but_not_the_processes(made: Made) -> None:
    compilers = made(FOREVER)
    compilers.start()
    assert compilers.wait(Clock(0.05)) == "late"
    stop = Stop()
    stop.request()
    assert compilers.wait(Clock(stop=stop)) == "late"
    (process,) = compilers._processes or []
    assert process.poll() is None
    compilers.kill()
    assert process.poll() is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no program forks here")
def test_a_fork_does_not_wait_for_what_its_parent_started(made: Made) -> None:
    """It cannot: it would take them to be done, and compile past its time limit."""
    compilers = made(FOREVER)
    compilers.start()
    (process,) = compilers._processes or []
    pid = os.fork()
    if pid == 0:  # nothing of pytest may go on here
        knows_none = compilers.wait(Clock(2.0)) == "failed"
        closed = process.stdin is not None and process.stdin.closed
        os._exit(0 if knows_none and closed else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert process.poll() is None
    compilers.kill()


# ------------------------------------------------------------------ left behind


def until(happens: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + 200
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_locked(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            take_lock(file)
        except BlockingIOError:
            return True
    return False


AT_WORK = """
import os, time
from pathlib import Path
from miptree.utils.locks import take_lock
file = open("alive", "ab")
take_lock(file)
Path("began").touch()
while not Path("go").exists():
    time.sleep(0.02)
Path("ended").write_text(str(os.nice(0)))
"""
"""Work that is not done before it is told to go on."""


def start_and_end(folder: Path, keeps_compiling: str) -> None:
    """Run a program that ends while another process compiles for it."""
    source = (
        "import time\nfrom pathlib import Path\n"
        "from miptree.control.compilers import Compilers\n"
        f"Compilers([{f'exec({AT_WORK!r})'!r}]).start()\n"
        "while not Path('began').exists(): time.sleep(0.02)\n"
    )
    subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", source],
        check=True, timeout=200, cwd=folder, capture_output=True,
        env={**same_imports(), SWITCH: keeps_compiling, "NUMBA_CACHE_DIR": str(folder)},
    )  # fmt: skip


def test_compiling_goes_on_to_its_end_after_the_program(tmp_path: Path) -> None:
    """Or runs that are shorter than the longest kernel would never have it."""
    start_and_end(tmp_path, keeps_compiling="1")
    assert is_locked(tmp_path / "alive")
    time.sleep(0.5)  # it hears the end of the program, and goes on
    (tmp_path / "go").touch()
    until((tmp_path / "ended").exists)
    until(lambda: not is_locked(tmp_path / "alive"))
    assert (tmp_path / "ended").read_text() == str(os.nice(0) + 5)


def test_a_switch_ends_it_with_the_program(tmp_path: Path) -> None:
    start_and_end(tmp_path, keeps_compiling="0")
    until(lambda: not is_locked(tmp_path / "alive"))
    assert not (tmp_path / "ended").exists()


def test_the_same_is_compiled_by_one_process_at_a_time(
    made: Made, tmp_path: Path
) -> None:
    note = f"open({str(tmp_path / 'notes')!r}, 'a').write"
    source = f"import time; {note}('in '); time.sleep(0.5); {note}('out ')"
    both = [made(source), made(source)]
    for compilers in both:
        compilers.start()
    assert [compilers.wait(Clock(200.0)) for compilers in both] == ["done", "done"]
    assert (tmp_path / "notes").read_text() == "in out in out "


def in_background(folder: Path, source: str) -> subprocess.Popen[str]:
    """Start a program of this test as :class:`Compilers` would."""
    begin = "from miptree.control import background; background.MOST_SECONDS = 100"
    return subprocess.Popen(
        [sys.executable, "-c", f"{begin}; {source}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**same_imports(), SWITCH: "1", "NUMBA_CACHE_DIR": str(folder)},
    )  # fmt: skip


def test_who_waits_for_another_that_compiles_ends_with_its_program(
    tmp_path: Path,
) -> None:
    first = "background.begin('x'); print('begins', flush=True); input()"
    with in_background(tmp_path, first) as at_work:
        assert at_work.stdout is not None
        assert at_work.stdout.readline() == "begins\n"
        with in_background(tmp_path, "background.begin('x')") as waiting:
            waiting.communicate(timeout=200)
            assert waiting.returncode == 1
        assert at_work.poll() is None
        at_work.kill()


def test_who_has_just_been_started_goes_on_after_the_program(tmp_path: Path) -> None:
    """On a busy machine a short fit is over before others have begun."""
    source = "import sys; sys.stdin.read(); background.begin('x'); print('begins')"
    with in_background(tmp_path, source) as late:
        assert late.communicate(timeout=200) == ("begins\n", None)


def test_compiling_has_an_end(tmp_path: Path) -> None:
    source = "background.MOST_SECONDS = 0.1; background.begin('x'); " + FOREVER
    with in_background(tmp_path, source) as endless:
        assert endless.wait(timeout=200) == 1


@pytest.mark.usefixtures("nothing_is_compiled")
def test_the_first_fit_keeps_its_time_and_is_no_worse_than_greedy_trees(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the compilers take."""
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(FOREVER))
    problem, plan = noise(80), Plan(OBJECTIVE, 2)
    clock = Clock(1.0)
    with pytest.warns(UserWarning, match="search was left out.*`miptree compile`"):
        found = train(problem, plan, clock)
    assert 1.0 <= clock.elapsed < 20.0
    assert found.status == "time_limit"
    assert found.n_iter == 0
    for grow in (cart_tree, greedy_svm_tree):
        tree = problem.to_user(grow(problem, 2))
        greedy = OBJECTIVE.evaluate(problem, tree)
        assert found.certificate.objective <= greedy.objective


@pytest.mark.usefixtures("nothing_is_compiled")
@pytest.mark.parametrize("init", ["auto", "cart"])
def test_the_first_fit_on_selected_rows_keeps_its_time(
    made: Made, monkeypatch: pytest.MonkeyPatch, init: str
) -> None:
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(FOREVER))
    problem, plan, clock = noise(80), Plan(OBJECTIVE, 2, init=init), Clock(1.0)
    with pytest.warns(UserWarning, match="search was left out"):
        found, rounds = train_in_rounds(problem, plan, "stratified", clock=clock)
    assert clock.elapsed < 20.0
    assert (found.status, rounds) == ("time_limit", [])
    cart = OBJECTIVE.evaluate(problem, problem.to_user(cart_tree(problem, 2)))
    assert found.certificate.objective <= cart.objective


@pytest.mark.usefixtures("nothing_is_compiled")
@pytest.mark.parametrize("source", ["pass", "raise SystemExit(1)"])
def test_a_fit_searches_once_the_compilers_have_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Well or not: then it compiles by itself."""
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(source))
    stages: list[str] = []
    plan = Plan(OBJECTIVE, 2, solver="search", max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = train(
            noise(80), plan, Clock(1e6), [lambda state: stages.append(state.stage)]
        )
    assert found.status == "max_iter"
    assert found.n_iter == 5
    # A quick stage may be over before anybody is told of it.
    known = [stage for stage in ("compile", "start", "search") if stage in stages]
    assert known[0] == "compile"
    assert [stages.index(stage) for stage in known] == sorted(map(stages.index, known))


@pytest.mark.usefixtures("nothing_is_compiled")
def test_without_a_time_limit_the_result_does_not_depend_on_the_cache(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(FOREVER))
    plan = Plan(OBJECTIVE, 2, solver="search", max_iter=20)
    first = train(noise(80), plan)
    second = train(noise(80), plan)
    assert first.certificate.objective == second.certificate.objective
    assert compiling.SEARCH_COMPILERS._processes is None


@pytest.mark.usefixtures("nothing_is_compiled")
def test_nobody_waits_for_kernels_where_a_greedy_tree_is_optimal(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(FOREVER))
    X = np.array([[0.0], [0.0], [0.0], [0.0]])  # no split is possible
    began = time.perf_counter()
    clf = OptimalTreeClassifier(max_depth=1, time_limit=500.0)
    clf.fit(X, [0, 1, 1, 1])
    assert clf.status_ == "optimal"
    assert time.perf_counter() - began < 200


@pytest.mark.usefixtures("nothing_is_compiled")
def test_nobody_else_compiles_what_cannot_be_kept(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "SEARCH_COMPILERS", made(FOREVER))
    monkeypatch.setattr(compiling, "can_keep_kernels", lambda: False)
    monkeypatch.setattr(compiling, "compile_kernels", lambda told: told() or 9.0)
    with pytest.warns(UserWarning, match="took 9 s.*set NUMBA_CACHE_DIR"):
        assert kernels_are_ready_in_time(Clock(10.0), lambda: None, lambda: False)
    assert compiling.SEARCH_COMPILERS._processes is None


# ------------------------------------------------------------------- points trees


def no_points_on_disk(monkeypatch: pytest.MonkeyPatch, compilers: Compilers) -> None:
    for module in (points, kernels):
        monkeypatch.setattr(module, "points_are_on_disk", lambda *_: False)
        monkeypatch.setattr(module, "compilers_for", lambda *_: compilers)


def two_features() -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes that a sum separates, and a single feature does not."""
    X = np.random.default_rng(1).integers(0, 8, (60, 3)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] > 7, "high", "low")


@pytest.mark.parametrize("penalty", [1.0, "auto"])
@pytest.mark.parametrize("min_leaf", [1, 12])
def test_the_first_points_tree_keeps_its_time_and_is_carts(
    made: Made, monkeypatch: pytest.MonkeyPatch, penalty: float | str, min_leaf: int
) -> None:
    no_points_on_disk(monkeypatch, made(FOREVER))
    X, y = two_features()
    began = time.perf_counter()
    with pytest.warns(UserWarning, match="points tree was left out.*`miptree compile`"):
        clf = PointsTreeClassifier(
            time_limit=1.0, feature_penalty=penalty, min_samples_leaf=min_leaf
        ).fit(X, y)
    assert time.perf_counter() - began < 20.0
    assert clf.status_ == "time_limit"
    assert (clf.bound_, clf.trace_[-1].stage) == (0.0, "start")
    assert clf.get_n_leaves() > 1
    assert (np.count_nonzero(clf.tree_.coef, axis=1) <= 1).all()
    assert np.bincount(clf.apply(X)).max() < 60
    assert min(np.unique(clf.apply(X), return_counts=True)[1]) >= min_leaf
    assert verify_model(clf, X, y).ok


def test_a_points_tree_is_proved_once_the_compilers_have_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_points_on_disk(monkeypatch, made("pass"))
    clf = PointsTreeClassifier(time_limit=1e6, feature_penalty=1.0).fit(*two_features())
    assert (clf.status_, clf.certificate_.errors) == ("optimal", 0)


@pytest.mark.parametrize("depth", [2, 3])
def test_what_another_process_compiles_is_what_points_trees_need(
    depth: int,
) -> None:
    """So that nothing is left to be compiled when it has ended."""
    source = (
        "from miptree import PointsTreeClassifier\n"
        "from numba.core import event\n"
        "class Never(event.Listener):\n"
        "    def on_start(self, event): raise SystemExit(3)\n"
        "    def on_end(self, event): pass\n"
        f"{compilers_source(depth)}\n"
        "with event.install_listener('numba:compile', Never()):\n"
        f"    clf = PointsTreeClassifier(max_depth={depth}, feature_penalty=0.3)\n"
        "    clf.fit([[0, 1], [1, 0], [2, 2], [2, 0]] * 3, [0, 1, 0, 2] * 3)\n"
        "assert clf.status_ == 'optimal'\n"
    )
    subprocess.run(
        [sys.executable, "-c", source], check=True, timeout=300, env=same_imports()
    )


def compilers_source(depth: int) -> str:
    """The program of the process that compiles for a points tree."""
    X, y = two_features()
    clf = PointsTreeClassifier(max_depth=depth, feature_penalty=1.0, max_iter=1)
    clf.fit(X, y)
    (source,) = compilers_for(clf._training.points, depth).sources
    assert compile_points_kernels.__name__ in source
    return source


@pytest.mark.usefixtures("nothing_is_compiled")
def test_the_first_comparison_leaves_out_what_is_not_compiled(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_points_on_disk(monkeypatch, made(FOREVER))
    monkeypatch.setattr(kernels, "searches_are_at_hand", lambda: False)
    monkeypatch.setattr(kernels, "SEARCH_COMPILERS", made(FOREVER))
    monkeypatch.setattr(kernels, "_WAITING_SHARE", 1e-9)
    told: list[str] = []
    clf = OptimalTreeClassifierCV(
        cv=2, n_repeats=2, random_state=0, time_limit=1e6,
        callback=lambda state: told.append(str(state)),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="were not compared: their kernels"):
        clf.fit(*two_features())
    assert "once on this machine" in told[0]
    kinds = np.array([params["kind"] for params in clf.cv_results_["params"]])
    score = np.array(clf.cv_results_["mean_test_score"])
    needs = np.isin(kinds, ["Svm1Tree", "PointsTree"])
    assert np.isnan(score[needs]).all()
    assert not np.isnan(score[kinds == "CartTree"]).any()
    assert clf.get_n_leaves() > 1


def test_a_comparison_of_points_trees_alone_takes_carts(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_points_on_disk(monkeypatch, made(FOREVER))
    clf = OptimalTreeClassifierCV(style="points", time_limit=2.0, random_state=0)
    with pytest.warns(UserWarning, match="were not compared: their kernels"):
        clf.fit(*two_features())
    assert (clf.style_, clf.status_) == ("points", "time_limit")
    assert clf.n_splits_ == 0
    assert (np.count_nonzero(clf.tree_.coef, axis=1) <= 1).all()


@pytest.mark.usefixtures("nothing_is_compiled")
def test_a_comparison_has_all_candidates_once_the_compilers_have_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_points_on_disk(monkeypatch, made("pass"))
    monkeypatch.setattr(kernels, "searches_are_at_hand", lambda: False)
    monkeypatch.setattr(kernels, "SEARCH_COMPILERS", made("pass"))
    clf = OptimalTreeClassifierCV(time_limit=1e6, n_repeats=1, cv=2, random_state=0)
    clf.fit(*two_features())
    assert not np.isnan(clf.cv_results_["mean_test_score"]).any()
    same = OptimalTreeClassifierCV(time_limit=None, n_repeats=1, cv=2, random_state=0)
    same.fit(*two_features())
    assert same.best_params_ == clf.best_params_
    assert same.best_score_ == clf.best_score_


def test_kernels_load_without_a_folder_for_a_cache() -> None:
    """As in a container where nothing can be written: numba raises there."""
    source = (
        "from numba.core import caching\n"
        "def none(*args): raise OSError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = none\n"
        "from miptree.proof import hull_distance, split_enumeration\n"
        "from miptree.proof.routes import search as routes\n"
        "from miptree.search import line01, routing\n"
        "from miptree.selection import _hull_kernel\n"
        "from miptree.utils.kernel_cache import can_keep_kernels\n"
        "import numpy as np\n"
        "assert not can_keep_kernels()\n"
        "X, w = np.ones((2, 3)), np.ones((1, 2))\n"
        "assert routing.score_tree(X, w, np.ones(1)).tolist() == [[1, 1, 1]]\n"
    )
    subprocess.run(
        [sys.executable, "-c", source], check=True, timeout=200, env=same_imports()
    )


def test_a_proof_that_compiles_too_long_is_left_out(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "seconds_to_compile_proofs", lambda: 45.0)
    monkeypatch.setattr(proofs, "COUNT_COMPILERS", made(FOREVER))
    monkeypatch.setattr(Clock, "has_time_for", lambda self, seconds: True)
    clock = Clock(2.0)
    with pytest.warns(UserWarning, match="A proof was left out"):
        found = train(noise(30), Plan(OBJECTIVE, 1, proof="errors", max_iter=2), clock)
    assert found.status == "time_limit"
    assert clock.elapsed < 20.0


def test_greedy_trees_need_no_kernels() -> None:
    """They are what a fit has while others compile."""
    source = (
        "from sklearn.datasets import load_iris\n"
        "from miptree.baselines import GreedySVMTreeClassifier\n"
        "GreedySVMTreeClassifier().fit(*load_iris(return_X_y=True))\n"
        "import sys; assert 'numba' not in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", source], check=True, timeout=200,
        env=same_imports(),
    )  # fmt: skip
