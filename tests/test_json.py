import functools
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from _data import examples
from _sealed import sealed
from miptree import OptimalTreeClassifier, load_json, save_json, verify
from miptree.baselines import GreedySVMTreeClassifier
from miptree.certificate.digest import certificate_digest, tree_digest
from miptree.export import json_reader
from miptree.export._json_values import MalformedError


def fit(y=None, X=None, **parameters):
    rows, codes = load_iris(return_X_y=True)
    parameters = {"solver": "search", "max_iter": 2, "random_state": 0, **parameters}
    clf = OptimalTreeClassifier(**parameters)
    return clf.fit(rows if X is None else X, codes if y is None else y)


@pytest.fixture(scope="module")
def fitted():
    return fit()


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "model.json"
    save_json(fitted, path)
    return path


# ---------------------------------------------------------------------- round trips

CODES = load_iris().target
LABELS = {
    "str": np.array(["setosa", "versicolor", "virginica é\n\"'"])[CODES],
    "wide str": np.array(["a", "b", "c"], dtype="U20")[CODES],
    "object": np.array(["a", "b", "c"], dtype=object)[CODES],
    "int64": np.array([-(2**63), 5, 2**63 - 1])[CODES],
    "int8": CODES.astype(np.int8),
    "uint64": np.array([0, 1, 2**64 - 1], dtype=np.uint64)[CODES],
    "big-endian": CODES.astype(">i4"),
    "float64": np.array([-1.0, 0.0, 2.0])[CODES],
    "float32": CODES.astype(np.float32),
    "bool": CODES > 0,
}


@pytest.mark.parametrize("kind", LABELS)
def test_round_trip_is_exact(kind, tmp_path):
    clf = fit(LABELS[kind])
    save_json(clf, tmp_path / "model.json")
    assert_same(clf, load_json(tmp_path / "model.json"))


def assert_same(clf, loaded):
    X = np.vstack([load_iris().data, np.random.default_rng(0).normal(3, 3, (500, 4))])
    if hasattr(clf, "feature_names_in_"):
        assert loaded.feature_names_in_.tolist() == clf.feature_names_in_.tolist()
        assert loaded.feature_names_in_.dtype == object
        X = pd.DataFrame(X, columns=clf.feature_names_in_)
    else:
        assert not hasattr(loaded, "feature_names_in_")
    for method in ("predict", "predict_proba", "apply"):
        expected, found = getattr(clf, method)(X), getattr(loaded, method)(X)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes() or found.dtype == object
        assert np.array_equal(found, expected)
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert np.array_equal(loaded.classes_, clf.classes_)
    assert loaded.certificate_ == clf.certificate_
    assert loaded.get_params() == clf.get_params()
    for name in ("coef", "threshold", "label", "children_left", "children_right"):
        array, expected = getattr(loaded.tree_, name), getattr(clf.tree_, name)
        assert (array.dtype, array.tobytes()) == (expected.dtype, expected.tobytes())
    for name in vars(clf):
        if name.endswith("_") and name not in ("tree_", "classes_", "fitted_"):
            assert np.array_equal(getattr(loaded, name), getattr(clf, name)), name
    kept = "node_proba blur node_count digits spread trace n_iter seconds"
    for name in kept.split():
        found, expected = getattr(loaded.fitted_, name), getattr(clf.fitted_, name)
        assert np.array_equal(found, expected), name
    assert set(vars(loaded)) == set(vars(clf))


def test_feature_names_and_parameters(tmp_path):
    frame = load_iris(as_frame=True).data
    frame.columns = ["a", "</script>", "naïve 🌳", " "]
    clf = fit(X=frame, max_depth=1, time_limit=None, class_weight="balanced")
    save_json(clf, tmp_path / "model.json")
    assert_same(clf, load_json(tmp_path / "model.json"))


def test_parameters_that_are_no_plain_value_are_left_out(tmp_path, fitted):
    clf = fit(
        init=fitted.tree_,
        callback=lambda state: False,
        class_weight={0: 1.0, 1: 2.0, 2: 1.0},
        random_state=np.random.RandomState(0),
        time_limit=np.float32(9.5),
        margin=np.float32(0.25),
        max_depth=np.int64(2),
    )
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert loaded.init == "auto"
    assert loaded.callback is loaded.random_state is None
    assert loaded.class_weight == clf.class_weight
    assert (loaded.time_limit, loaded.margin, loaded.max_depth) == (9.5, 0.25, 2)
    assert loaded.certificate_ == clf.certificate_
    assert certificate_digest(loaded.certificate_) == clf.certificate_.digest
    assert np.array_equal(
        loaded.predict(load_iris().data), clf.predict(load_iris().data)
    )


def test_extreme_floats(tmp_path):
    clf = fit()
    coef = clf.tree_.coef.copy()
    coef[0] = [5e-324, -0.0, 1.7976931348623157e308, 0.1 + 0.2]
    clf.tree_ = replace(clf.tree_, coef=coef)
    digest = tree_digest(clf.tree_)
    clf.certificate_ = replace(clf.certificate_, tree_digest=digest).signed()
    save_json(clf, tmp_path / "model.json")
    assert load_json(tmp_path / "model.json").tree_.coef.tobytes() == coef.tobytes()


def test_a_loaded_model_is_verified_with_its_digest(saved, fitted):
    X, y = load_iris(return_X_y=True)
    clf, digest = load_json(saved), fitted.certificate_.digest
    assert clf.certificate_.digest == digest
    assert verify(clf.certificate_, clf.tree_, X, y, digest=digest).ok


def test_a_loaded_model_can_be_saved_and_fitted_again(saved, tmp_path):
    clf = load_json(saved)
    save_json(clf, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()
    clf.fit(*load_iris(return_X_y=True))


def test_loading_imports_no_pickle_machinery_from_the_file(saved):
    """A fresh process that may not unpickle or evaluate still loads and predicts."""
    program = (
        "import sys, pickle, builtins\n"
        "from miptree import load_json\n"
        "def refuse(*args, **kwargs): raise SystemExit('code was run')\n"
        "pickle.load = pickle.loads = pickle.Unpickler = refuse\n"
        "builtins.eval = refuse\n"
        f"print(load_json({str(saved)!r}).predict([[5, 3, 1, 0.2]]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.stdout == "[0]\n", run.stderr


# ------------------------------------------------------------------------- writing


def test_a_file_is_overwritten_only_with_force(saved, fitted):
    before = saved.read_bytes()
    other = fit(max_depth=1)
    with pytest.raises(FileExistsError, match="force=True"):
        save_json(other, saved)
    assert saved.read_bytes() == before
    save_json(other, saved, force=True)
    assert load_json(saved).max_depth == 1
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(saved, fitted, monkeypatch, step):
    before = saved.read_bytes()

    def fail(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk is full"):
        save_json(fitted, saved, force=True)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, fitted, monkeypatch):
    path = tmp_path / "model.json"
    really = os.fsync

    def slow(handle):
        really(handle)
        path.write_text("mine")

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(FileExistsError):
        save_json(fitted, path)
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["model.json"]


def test_file_systems_without_hard_links(tmp_path, fitted, monkeypatch):
    def fail(*args):
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", fail)
    save_json(fitted, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    np.testing.assert_array_equal(again.tree_.coef, fitted.tree_.coef)
    np.testing.assert_array_equal(again.tree_.label, fitted.tree_.label)


def test_bad_targets_and_unfitted_models(tmp_path, fitted):
    with pytest.raises(FileNotFoundError, match="no folder"):
        save_json(fitted, tmp_path / "nowhere" / "model.json")
    with pytest.raises(IsADirectoryError):
        save_json(fitted, tmp_path, force=True)
    with pytest.raises(NotFittedError):
        save_json(OptimalTreeClassifier(), tmp_path / "model.json")
    long = fit(np.array(["a", "b", "c" * 20_000])[CODES])
    with pytest.raises(ValueError, match="cannot be saved as JSON"):
        save_json(long, tmp_path / "model.json")
    long.classes_ = np.array(["2001", "2002", "2003"], dtype="datetime64[Y]")
    with pytest.raises(ValueError, match="dtype datetime64"):
        save_json(long, tmp_path / "model.json")
    assert os.listdir(tmp_path) == []


# ------------------------------------------------------------------- hostile files


def put(*keys, value):
    """A change of a parsed file: set one entry."""

    def change(plain):
        place = plain
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def drop(*keys):
    def change(plain):
        place = plain
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]

    return change


HUGE = 10**19
HOSTILE = [
    (put("format", value="pickle"), '"format" is not'),
    (drop("format"), '"format" is not'),
    (put("version", value=13), '"version" is 13, known: 12; a newer miptree'),
    (put("version", value=11), '"version" is 11, known: 12; it was written before'),
    (put("estimator", value="BaseEstimator"), "no classifier of miptree"),
    (put("estimator", value="BaselineClassifier"), "no classifier of miptree"),
    (put("estimator", value="GreedySVMTreeClassifier"), 'has no "C"'),
    (put("version", value=0), '"version" is 0'),
    (put("version", value=True), '"version" is not an integer'),
    (put("version", value="1"), '"version" is not an integer'),
    (put("version", value=1.0), '"version" is not an integer'),
    (put("surprise", value=1), 'unknown entry "surprise"'),
    (drop("tree"), 'has no "tree"'),
    (put("tree", value=[]), "tree is not an object"),
    (drop("tree", "coef"), 'has no "coef"'),
    (put("tree", "__reduce__", value="os.system"), 'unknown entry "__reduce__"'),
    (put("tree", "threshold", value=[]), '"threshold" has 0 entries'),
    (put("tree", "threshold", 0, value="1"), '"threshold" is not a number'),
    (put("tree", "threshold", 0, value=True), '"threshold" is not a number'),
    (put("tree", "threshold", 0, value=None), '"threshold" is not a number'),
    (put("tree", "coef", 0, value=[0.0]), '"coef" has 1 entries'),
    (put("tree", "coef", 0, 0, value=[0.0]), '"coef" is not a number'),
    (put("tree", "children_left", 0, value=0), "exactly one node"),
    (put("tree", "children_left", 0, value=2), "exactly one node"),
    (put("tree", "children_left", 0, value=-1), "one child only"),
    (put("tree", "children_left", 0, value=-2), "outside -1 to"),
    (put("tree", "children_left", 0, value=99), "outside -1 to"),
    (put("tree", "children_left", 0, value=1.0), "not an integer"),
    (put("tree", "children_left", 0, value=HUGE), "outside -1 to"),
    (put("tree", "label", 0, value=3), '"label" has an integer outside 0 to 2'),
    (put("tree", "label", 0, value=-1), '"label" has an integer outside'),
    (put("tree", "label", value=[0]), '"label" has 1 entries'),
    (put("tree", "threshold", 0, value=0.123), "not the one of the certificate"),
    (put("table", "columns", value=[]), '"columns" has 0 entries'),
    (put("n_features", value=4), 'unknown entry "n_features"'),
    (put("table", value=None), "table is not an object"),
    (put("digits", value=[[4, 4]]), '"digits" has 1 entries'),
    (put("digits", 0, 0, value=0), '"digits" leaves none of a coefficient'),
    (put("digits", 0, 1, value=-1), '"digits" has an integer outside 0 to 17'),
    (put("table", "missing", value="guess"), 'neither "fill" nor "error"'),
    (put("table", "unknown", value=0), 'neither "majority" nor "error"'),
    (put("table", "columns", 0, "kind", value="os.system"), 'no known "kind"'),
    (put("table", "columns", 0, "fill", value="0"), '"fill" is not a number'),
    (put("table", "columns", 0, "marks_missing", value=0), "not true or false"),
    (put("table", "columns", 0, "surprise", value=0), 'unknown entry "surprise"'),
    (drop("table", "columns", 0, "name"), 'has no "name"'),
    (put("feature_names", value=["a"]), '"feature_names" has 1 entries'),
    (put("feature_names", value=["a", "b", "c", 4]), "is not a string"),
    (put("feature_names", value=["a", "b", "c", "\ud800"]), "half a character"),
    (put("feature_names", value=["a", "b", "c", "d" * 10_001]), "10001 characters"),
    (put("classes", value=[0, 1, 2]), "classes is not an object"),
    (put("classes", "values", value=[0, 1]), "label"),
    (put("classes", "values", value=[0, 0, 1]), "occurs twice"),
    (put("classes", "values", value=[2, 1, 0]), "not sorted"),
    (put("classes", "values", value=[0, 1, "2"]), "not of dtype"),
    (put("classes", "values", value=[0, 1, None]), "not of dtype"),
    (put("classes", "values", value=[False, True, 2]), "not of dtype"),
    (put("classes", "values", value=[0, 1, [2]]), "not of dtype"),
    (put("classes", "values", value=[0, 1, HUGE]), "does not fit into dtype"),
    (put("classes", "dtype", value="|i1"), None),
    (put("classes", "dtype", value="|O"), "not of dtype"),
    (put("classes", "dtype", value="<M8[D]"), "not a dtype of labels"),
    (put("classes", "dtype", value="<U999999999"), "not a dtype of labels"),
    (put("classes", "dtype", value="<U\u00b2"), "not a dtype of labels"),
    (put("classes", "dtype", value="i8,f8"), "not a dtype of labels"),
    (put("classes", "dtype", value="V100000"), "not a dtype of labels"),
    (put("classes", "dtype", value=8), '"dtype" is not a string'),
    (put("node_proba", 0, 0, value=-0.1), r"outside \[0, 1\]"),
    (put("node_proba", 0, value=[1.0]), '"node_proba" has 1 entries'),
    (drop("node_proba", 0), '"node_proba" has'),
    (put("blur", 0, value=-0.1), '"blur" has a number below 0'),
    (put("blur", -1, value=0.1), "one at a leaf"),
    (drop("blur", 0), '"blur" has'),
    (put("spread", 0, value=-0.1), '"spread" has a number below 0'),
    (drop("spread", 0), '"spread" has'),
    (drop("table", "columns", 0, "limits"), 'has no "limits"'),
    (put("table", "columns", 0, "limits", value=None), "column of numbers are null"),
    (put("table", "columns", 0, "limits", value=[0, 1, 2]), "is not an object"),
    (put("table", "columns", 0, "limits", "low", value=1e9), '"low" above its "high"'),
    (put("table", "columns", 0, "limits", "high", value="9"), "is not a number"),
    (put("table", "columns", 0, "limits", "places", value=0.5), "not an integer"),
    (put("table", "columns", 0, "limits", "places", value=301), "301 decimal places"),
    (put("table", "columns", 0, "limits", "places", value=-3), "wider than its range"),
    (put("table", "columns", 0, "limits", "most", value=1), 'unknown entry "most"'),
    (put("node_count", 0, 0, value=0.5), '"node_count" is not an integer'),
    (put("node_count", 0, 0, value=-1), '"node_count" has an integer outside'),
    (put("node_count", 0, 0, value=7), "is not that of its children"),
    (drop("node_count", 0), '"node_count" has'),
    (put("certificate", value=None), "certificate is not an object"),
    (drop("certificate", "errors"), 'has no "errors"'),
    (put("certificate", "errors", value=1.5), '"errors" is not an integer'),
    (put("certificate", "objective", value="0"), '"objective" is not a number'),
    (put("certificate", "scaling", value=0), '"scaling" is not a string'),
    (put("certificate", "extra", value=0), 'unknown entry "extra"'),
    (put("certificate", "digest", value=None), "is not a string"),
    (put("parameters", "max_depth", value=-1), "max_depth"),
    (put("parameters", "solver", value="os.system"), "solver"),
    (put("parameters", "callback", value="os.system"), "callback"),
    (put("parameters", "class_weight", value={"0": 1}), "not a plain value"),
    (put("parameters", "magic", value=1), 'unknown entry "magic"'),
    (drop("parameters", "max_depth"), 'has no "max_depth"'),
    (put("parameters", "categorical_features", value=["z"]), "column that is not"),
    (put("parameters", "categorical_features", value=["x[0]"] * 2), "twice"),
    (put("restriction", value={}), 'has no "first"'),
    (put("tree", "label", 0, value=1), "a split of the tree has a label"),
    (put("tree", "threshold", -1, value=1.0), "a leaf of the tree has a coefficient"),
    (put("tree", "coef", -1, 0, value=1.0), "a leaf of the tree has a coefficient"),
    (put("table", "columns", 0, "name", value="x[9]"), None),
    (drop("certificate", "scaling"), 'has no "scaling"'),
    (put("status", value="perfect"), "not a status"),
    (put("status", value=["optimal"]), "not a status"),
    (put("n_iter", value=-1), '"n_iter" is -1'),
    (put("fit_time", value="x"), '"fit_time" is not a number'),
    (put("trace", value={}), '"trace" is not a list'),
    (put("trace", value=[["done", 1.0]]), '"trace" has 2 entries'),
    (put("trace", value=[["done", 1.0, 1.0, 0.5, 0.0]]), "not an integer"),
    (put("metadata", value={"target": 5}), '"target" is not a string'),
]


@pytest.mark.parametrize(("change", "problem"), HOSTILE)
def test_malformed_files_are_refused(saved, change, problem):
    plain = json.loads(saved.read_text())
    change(plain)
    saved.write_text(sealed(plain))
    if problem is None:
        load_json(saved)
        return
    with pytest.raises(ValueError, match=problem) as error:
        load_json(saved)
    assert str(saved) in str(error.value)
    assert "save_json" in str(error.value)


def chain(length):
    """Tree in which every left child is a leaf."""

    def change(plain):
        n = 2 * length + 1
        inner = [k if k % 2 == 0 and k < n - 1 else None for k in range(n)]
        plain["tree"] = {
            "children_left": [-1 if k is None else k + 1 for k in inner],
            "children_right": [-1 if k is None else k + 2 for k in inner],
            "coef": [[0.0] * 4] * n,
            "threshold": [0.0] * n,
            "label": [0] * n,
        }
        plain["node_proba"] = [[1.0, 0.0, 0.0]] * n
        plain["blur"] = [0.0] * n
        plain["node_count"] = [[0, 0, 0]] * n
        plain["digits"] = [[4, 4]] * n

    return change


@pytest.mark.parametrize(
    ("length", "problem"),
    [(5, "not the one of the cert"), (21, "depth 21"), (5000, "10001 entries")],
)
def test_very_deep_trees_are_refused(saved, length, problem):
    plain = json.loads(saved.read_text())
    chain(length)(plain)
    saved.write_text(sealed(plain))
    with pytest.raises(ValueError, match=problem):
        load_json(saved)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[]", "the file is not an object"),
        ("null", "the file is not an object"),
        ("{", "not JSON"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ('{"format": "a", "format": "miptree-model"}', "occurs twice"),
        ('{"format": NaN}', "NaN is not a finite number"),
        ('{"format": -Infinity}', "-Infinity is not a finite number"),
        ('{"format": ' + "9" * 5000 + "}", "5000 digits"),
        ("\ufeff{}", "not JSON"),
        ("cos\nsystem\n(S'echo'\ntR.", "not JSON"),
    ],
)
def test_hostile_texts_are_refused(tmp_path, text, problem):
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        load_json(path)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "1" * 400])
def test_numbers_that_are_none_are_refused(saved, number):
    text = saved.read_text()
    start = text.index('"threshold": [') + len('"threshold": [')
    end = text.index(",", start)
    saved.write_text(text[:start] + number + text[end:])
    with pytest.raises(ValueError, match=r"finite number|400 digits"):
        load_json(saved)


def test_bytes_and_sizes(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_bytes(b"\x80\x04\x95")
    with pytest.raises(ValueError, match="not UTF-8"):
        load_json(path)
    monkeypatch.setattr("miptree.export.json.MAX_BYTES", 100)
    path.write_bytes(b" " * 101)
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        load_json(path)
    with pytest.raises(FileNotFoundError):
        load_json(tmp_path / "none.json")


WEIRD = [None, True, -1, 0, 10**15, 1e300, "", "x", [], {}, [[]], [None], {"a": 1}]


@functools.cache
def small_file() -> str:
    """Text of a small model file."""
    X = pd.DataFrame({"width": [0.0, 1.0, 5.0, 6.0], "height": [2.0, 3.0, 1.0, 0.0]})
    clf = OptimalTreeClassifier(max_depth=1, solver="search", max_iter=3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_json(clf.fit(X, ["high", "high", "wide", "wide"]), path)
        return path.read_text()


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_a_file_with_one_odd_value_loads_or_is_refused(seed):
    """Never another exception, and what loads still predicts."""
    rng = random.Random(seed)
    plain = json.loads(small_file())
    place, key = plain, rng.choice(list(plain))
    while isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.8:
        place = place[key]
        options = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(options)
    place[key] = rng.choice(WEIRD)
    try:
        clf = json_reader.model_of(sealed(plain)).clf
    except MalformedError:
        return
    rows = pd.DataFrame({"width": [1.0, 2.0], "height": [2.0, 1.0]})
    if hasattr(clf, "feature_names_in_"):
        rows.columns = clf.feature_names_in_
        clf.predict(rows)
    str(clf.certificate_)


@pytest.mark.parametrize("field", ["method", "digest", "objective_bound"])
def test_a_baseline_cannot_be_given_another_certificate(tmp_path, field):
    clf = GreedySVMTreeClassifier().fit(*load_iris(return_X_y=True))
    save_json(clf, tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    changed = {"method": "", "digest": "", "objective_bound": clf.objective_}
    plain["certificate"][field] = changed[field]
    with pytest.raises(MalformedError, match=r"another kind|its digest"):
        json_reader.model_of(sealed(plain))


def test_a_baseline_reads_numbers_only(tmp_path):
    clf = GreedySVMTreeClassifier().fit(*load_iris(return_X_y=True))
    save_json(clf, tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    plain["table"]["columns"][0]["marks_missing"] = True
    with pytest.raises(MalformedError, match="no numbers"):
        json_reader.model_of(sealed(plain))


def test_truncated_files_are_refused(saved):
    text = saved.read_text()
    for length in range(0, len(text) - 2, 37):
        with pytest.raises(MalformedError):
            json_reader.model_of(text[:length])


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ValueError, match=r"not a model .* it is a folder"):
        load_json(tmp_path)
