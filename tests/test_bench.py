"""The parts of the bench: paper, suites, encoding, methods, statistics, tables."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

from _journal import IRIS, WINE, line, small_journal
from miptree.bench import (
    METHODS,
    SUITES,
    Fit,
    Pair,
    environment,
    get_method,
    plan,
    run_fit,
)
from miptree.bench.encoding import Encoder
from miptree.bench.methods import Method, MissingMethodError
from miptree.bench.page import page_data
from miptree.bench.paper import paper_results, printed
from miptree.bench.results import elapsed, journal_of, sections
from miptree.bench.s1o import S1OClassifier
from miptree.bench.stats import compare, critical_difference, mean_ranks
from miptree.bench.tables import results_page
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.search.starts import cart_tree

# ---------------------------------------------------------------------- the paper


def test_spot_values_of_every_table():
    """Read off the paper by eye, first and last columns above all."""
    image = printed("image-segmentation", 3)
    assert (image.table, image.test["S1O"], image.test["Fair"]) == (1, 85.7, 63.3)
    assert image.test_bertsimas_dunn == {"CART": 52.5, "OCT-H": 57.4}
    hayes = printed("hayes-roth", 2)
    assert hayes.test == {"S1O": 71.9, "CART": 55.8, "OCT-H": 61.2, "Fair": 72.2}
    assert hayes.train == {"S1O": 76.8, "CART": 60.0, "OCT-H": 77.4, "Fair": 82.8}
    assert printed("breast-cancer-wisconsin", 2).seconds["Fair"] == 803.5
    liver = printed("indian-liver", 2)
    assert (liver.table, liver.n, liver.d, liver.Y) == (3, 579, 10, 2)
    assert liver.seconds == {"S1O": 900, "OCT-H": 900, "Fair": 600}
    relax = printed("planning-relax", 2)
    assert (relax.table, relax.train["Fair"], relax.test["S1O"]) == (4, 90.5, 73.6)
    monks = printed("monks-2", 2)
    assert (monks.test["OCT-H"], monks.test_bertsimas_dunn["OCT-H"]) == (72.2, 75.8)
    assert (monks.table, monks.train["BinOCT"], monks.seconds) == (5, 69.8, {})
    robot = printed("wall-following-robot-2", 2)
    assert robot.parameters == {
        "margin": 0.0008,
        "slack_penalty": 30,
        "l1_penalty": 0.01,
        "eps": 0.0,
        "beta1": 0.4,
        "beta2": 1.0,
    }
    assert (robot.table, robot.selected, robot.seconds["S1O-DS"]) == (6, 1.0, 2.08)
    skin = printed("skin-segmentation", 2)
    assert (skin.table, skin.n, skin.selected) == (7, 245057, 0.42)
    assert (skin.test["S1O-DS"], skin.test["OCT-H"]) == (86.3, None)
    htru = printed("htru2", 3)
    assert (htru.table, htru.parameters["slack_penalty"]) == (8, 100000)
    assert (htru.test["CART"], htru.train["S1O-DS"], htru.selected) == (98.1, 97.4, 1.8)
    assert printed("iris", 3) is None


def test_all_numbers_of_the_tables_are_there():
    """698 is what a count of the numbers in the source of the tables gives."""
    groups = ("test", "train", "seconds", "test_bertsimas_dunn", "parameters")
    count = sum(
        3 + (result.selected is not None) + sum(len(getattr(result, g)) for g in groups)
        for result in paper_results()
    )
    assert count == 698
    assert [sum(r.table == k for r in paper_results()) for k in range(1, 9)] == [
        *(3, 7, 6, 4, 6, 5, 6, 6)
    ]
    s1o = [printed(*pair).test["S1O"] for pair in SUITES["small"]]
    assert np.mean(s1o) == pytest.approx(85.677, abs=1e-3)  # "85.7"


def test_suites_are_the_papers_pairs():
    assert len(SUITES["small"]) == len(set(SUITES["small"])) == 26
    assert len(SUITES["medium"]) == 5
    large = SUITES["large"]
    assert len(large) == len(set(large)) == 22
    assert len({pair.set for pair in large}) == 11


# ----------------------------------------------------------------------- encoding


def test_categories_are_learnt_from_the_training_rows_only():
    train = pd.DataFrame({"x": [0.5, 1.5, 2.5], "c": ["b", "a", "c"], "n": [1, 4, 1]})
    test = pd.DataFrame({"x": [9.0, 8.0], "c": ["c", "zz"], "n": [4, 7]})
    for frame in (train, test):
        frame[["c", "n"]] = frame[["c", "n"]].astype("category")
    codes = Encoder("codes").fit(train)
    assert codes.transform(train).tolist() == [[0.5, 1, 1], [1.5, 0, 4], [2.5, 2, 1]]
    assert codes.transform(test).tolist() == [[9, 2, 4], [8, -1, 7]]
    nominal = Encoder("nominal").fit(train)
    # Three values: code and one-hot. Two values: the code says it all.
    assert nominal.transform(test).tolist() == [[9, 2, 0, 0, 1, 4], [8, -1, 0, 0, 0, 7]]
    assert Encoder("frame").fit(train).transform(test) is test
    with pytest.raises(ValueError, match="encoding must be"):
        Encoder("hash")


# ------------------------------------------------------------------------ methods


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_loads_learns_iris(name):
    try:
        get_method(name).check()
    except MissingMethodError as error:
        pytest.skip(str(error))
    record = run_fit(Fit("iris", 2, name, 3, 0.5))
    assert record["status"] == "ok", record
    assert record["n_train"] + record["n_test"] == 150
    assert record["train"] == round(100 * record["train_correct"] / 112, 4)
    assert record["train_correct"] >= 75  # two classes right: one split, well placed
    assert record["encoding"] == METHODS[name].encoding
    assert "scikit-learn" in record["versions"]


def test_only_the_fit_is_timed(monkeypatch):
    class Slow(DummyClassifier):
        def fit(self, X, y):
            time.sleep(0.1)  # wall time, no CPU time
            return super().fit(X, y)

        def predict(self, X):
            time.sleep(0.2)
            return super().predict(X)

    method = Method("slow", "slow", lambda setting: Slow(), "codes")
    monkeypatch.setitem(METHODS, "slow", method)
    began = time.perf_counter()
    record = run_fit(Fit("iris", 2, "slow", 0, 1.0))
    assert record["status"] == "ok", record
    assert 0.1 <= record["wall"] <= time.perf_counter() - began - 0.4
    assert record["cpu"] < record["wall"]


def test_a_method_that_does_not_load_says_what_it_needs():
    def make(setting):
        raise ImportError("no module of that name")

    method = Method("gone", "gone", make, needs="gone==1.0")
    with pytest.raises(MissingMethodError, match=r"'gone' .*\(no mod.* gone==1\.0"):
        method.check()


def test_a_peer_that_is_not_installed_is_missing(monkeypatch):
    for name in ("ydf", "pystreed", "pycontree", "treeple"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingMethodError, match=f"It needs: {name}"):
            get_method(name).check()


def test_a_failing_fit_is_a_record(monkeypatch):
    def make(setting):
        raise MemoryError("too much of it")

    monkeypatch.setitem(METHODS, "broken", Method("broken", "broken", make))
    record = run_fit(Fit("iris", 2, "broken", 0, 1.0))
    assert record["status"] == "failed"
    assert record["error"] == "MemoryError: too much of it"
    assert "make" in record["traceback"]


def test_a_plan_is_balanced_and_checked():
    fits = plan([IRIS, WINE], ["cart", "logistic"], [10, 11], 5)
    assert [fit.split for fit in fits] == [10] * 4 + [11] * 4
    assert len({fit.key for fit in fits}) == 8
    monks = plan([IRIS, Pair("monks-1", 2)], ["cart"], [10], 5, official=True)
    assert [(f.set, f.part) for f in monks][2:] == [("monks-1", "official")]
    with pytest.raises(ValueError, match="no method 'carts'; there are miptree"):
        plan([IRIS], ["carts"], [10], 5)


def test_s1o_is_never_worse_than_cart_and_does_without_the_search(monkeypatch):
    import miptree.fit.searches

    monkeypatch.setattr(miptree.fit.searches, "search", None)
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    clf = S1OClassifier(time_limit=None, node_limit=2, random_state=0).fit(X, y)
    problem = Problem.from_data(X, y, 3)
    start = problem.to_user(cart_tree(problem, 2)).prune(problem.X)
    objective = Svm1Objective(1000, 0.1, 0.01)
    assert clf.objective_ <= objective.evaluate(problem, start).objective
    counted = objective.evaluate(problem, clf.tree_).objective
    assert clf.objective_ == pytest.approx(counted, rel=1e-9)


def test_a_mip_that_cannot_be_built_in_time_leaves_cart():
    X, y = load_iris(return_X_y=True)
    clf = S1OClassifier(time_limit=1e-3).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.score(X, y) > 0.9


def test_changed_code_shows_in_the_commit(tmp_path, monkeypatch):
    package = tmp_path / "src" / "miptree"
    (package / "bench").mkdir(parents=True)
    (package / "tree.py").write_text("one = 1")

    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    monkeypatch.setattr(environment, "__file__", str(package / "bench" / "x.py"))
    clean = environment.environment()["commit"]
    assert len(clean) == 12
    (package / "tree.py").write_text("one = 2")
    assert environment.environment()["commit"] == f"{clean}+"


# --------------------------------------------------------------------- statistics


def test_comparison_of_two_methods():
    first = np.array([90.0, 80.0, 70.0, np.nan, 60.0])
    second = np.array([88.0, 80.04, 71.0, 50.0, 57.0])
    found = compare(first, second)
    assert (found.n, found.wins, found.ties, found.losses) == (4, 2, 1, 1)
    difference = np.array([2, -0.04, -1, 3])
    assert found.mean == pytest.approx(difference.mean())
    assert found.error == pytest.approx(difference.std(ddof=1) / 2)
    assert np.isnan(compare(first[:1], second[:1]).error)
    assert compare(first[3:4], second[3:4]).n == 0


def test_ranks_and_critical_difference():
    ranks = mean_ranks(np.array([[90.0, 80, 80], [70, 75, 60]]))
    assert ranks.tolist() == [1.5, 1.75, 2.75]
    # Demsar (2006), table 5 and section 3.2.2: 4 classifiers, 14 sets, 5 %.
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


# ------------------------------------------------------------------------- tables


@pytest.fixture
def journal(tmp_path):
    return small_journal(tmp_path)


def test_cells_are_means_with_their_lines(journal):
    short, found = sorted(
        sections(journal.path.parent, ["small"], [10, 11]), key=lambda s: s.limit
    )
    assert (short.limit, short.test(IRIS, "cart")) == (5.0, 91.0)
    assert found.pairs == (IRIS, WINE)
    assert found.methods == ("miptree", "cart")
    assert found.test(IRIS, "miptree") == 97.5
    cell = found.cell(IRIS, "miptree")
    assert [k.number for k in cell.lines] == [3, 4]
    assert found.test(WINE, "cart") == 89.0
    assert np.isnan(found.test(WINE, "miptree"))  # one split failed: no mean
    assert (found.cell(WINE, "miptree").failed, found.cell(WINE, "s1o").lines) == (
        1,
        (),
    )


def test_page_shows_only_what_is_complete_as_a_mean(journal):
    found = sections(journal.path.parent, ["small"], [10, 11])
    text = results_page(found)
    miptree = '<span title="bench-small.jsonl:3,4">97.5 (99.0)</span>'
    assert f"| iris* | 2 | {miptree} |" in text
    assert ">96.0 (99.0) (1/2)<" in text
    assert "| CART | codes | 99.0 | 94.5 | 2 | 91.8 | 3.0 | 2.0 |" in text
    assert "| CART | 1 | +3.00 | 1 / 0 / 0 |" in text
    assert "| *paper: S1O* | 1 | -1.10 | 0 / 0 / 1 |" in text
    assert "8 fits, 1 failed" in text
    assert "duplicates: 2 % of the test rows" in text
    assert "differs from scikit-learn's in two rows" in text
    assert "not for publication" not in text
    dev = results_page(sections(journal.path.parent, ["small"], [3]))
    assert "Development splits, not for publication: [3]" in dev


def test_probabilities_and_terms_have_a_table_where_they_are_known(tmp_path):
    journal = journal_of(tmp_path, "small")
    for pair, loss in ((IRIS, 0.1), (WINE, 0.3)):
        known = {"log_loss": loss, "brier": 2 * loss, "nonzeros": 6}
        journal.append(line(pair, "miptree-auto", 10, 95.0) | known)
        del known["nonzeros"]
        journal.append(line(pair, "logistic", 10, 94.0) | known)
        journal.append(line(pair, "svm-tree", 10, 93.0))
    text = results_page(sections(tmp_path, ["small"], [10]))
    assert "`miptree-auto` minus the other" in text
    assert "| miptree, auto | 0.2000 | 0.4000 | 6.0 | 6.0 |" in text
    assert "| logistic regression | 0.2000 | 0.4000 |  |  |" in text
    assert "| greedy SVM tree | 0" not in text


def test_time_by_the_clock_counts_fits_side_by_side_once_and_no_pause():
    fits = [("10:00:00", 40.0), ("10:00:20", 30.0), ("10:01:10", 10.0)]
    late = ("12:00:00", 5.0)
    records = [
        {"when": f"2026-11-15T{when}+00:00", "wall": wall}
        for when, wall in [late, *fits]
    ]
    assert elapsed(records) == 80 + 5
    assert elapsed([]) == 0


def test_too_many_classes_are_noted_only_where_a_tree_has_too_few_leaves(tmp_path):
    journal = journal_of(tmp_path, "small")
    for depth in (2, 3):
        journal.append(line(Pair("image-segmentation", depth), "cart", 10, 50.0))
    (found,) = sections(tmp_path, ["small"], [10])
    text = results_page([found])
    assert "| image-segmentation* | 2 |" in text
    assert "| image-segmentation | 3 |" in text
    assert text.count("7 classes: a tree of depth 2 cannot predict them all") == 1


def test_figures_are_written_whole_or_not_at_all(journal, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from miptree.bench import figures

    (found,) = sections(journal.path.parent, ["small"], [11])
    (png, *_) = figures.write_figures(found, tmp_path / "figures")
    before = png.read_bytes()

    def fail(figure, target, **options):
        with open(target, "wb") if isinstance(target, Path) else target as file:
            file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        figures.write_figures(found, tmp_path / "figures")
    assert png.read_bytes() == before


def test_page_data_has_every_split(journal):
    found = sections(journal.path.parent, ["small"], [10, 11])
    data = page_data(next(s for s in found if s.limit == 20))
    assert data["test"]["miptree"] == [97.5, None]
    assert data["test"]["paper: S1O"] == [98.6, 95.3]
    assert data["cells"]["miptree"][1][1]["error"] == "boom"
    assert data["cells"]["cart"][0][0]["at"] == "bench-small.jsonl:2"
