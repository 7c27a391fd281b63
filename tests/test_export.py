"""Every export predicts as ``predict`` does: in the open, on edges, in the gaps."""

import shutil
import sqlite3
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _exported import frame_of, in_c, in_duckdb, in_sqlite
from _models import (
    HOSTILE,
    array_model,
    corner_rows,
    grid_model,
    iris_model,
    mixed_model,
    strict,
    tied_model,
)
from _points_models import points_model
from miptree import (
    ObliqueTree,
    OptimalTreeClassifier,
    export_c,
    export_dot,
    export_onnx,
    export_python,
    export_sql,
    load_json,
    save_json,
)
from miptree.baselines import GreedySVMTreeClassifier
from miptree.export._sql_numbers import sql_number
from miptree.export.readable import readable_tree
from miptree.tree import HeapTree

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")


def baseline_model():
    """A baseline, whose columns are plain numbers and which refuses gaps."""
    iris = load_iris(as_frame=True)
    clf = GreedySVMTreeClassifier(max_depth=2)
    return clf.fit(iris.data, iris.target_names[iris.target])


MODELS = {
    "baseline": baseline_model,
    "iris": iris_model,
    "array": array_model,
    "mixed": mixed_model,
    "grid": grid_model,
    "grid, another": lambda: grid_model(1),
    "native": lambda: mixed_model(1, categorical_encoding="native"),
    "onehot": lambda: mixed_model(2, categorical_encoding="onehot"),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    """A model, rows, and the classes it predicts for them."""
    clf = MODELS[request.param]()
    rows = corner_rows(clf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of missing values
        return clf, rows, clf.predict(rows), clf.predict_proba(rows)


@pytest.fixture(scope="module", params=[mixed_model, grid_model])
def refusing(request):
    """A model that refuses values, rows, and its answers, None where it refuses."""
    clf = request.param(3)
    rows = corner_rows(clf, 60)
    answers = clf.predict(rows).astype(object)
    for j in readable_tree(clf).used:
        name = clf.feature_names_in_[j]
        answers[rows[name].isna()] = None
        if readable_tree(clf).is_category(j):
            known = readable_tree(clf).known_values(j)
            answers[~rows[name].isin([v for v in known if v is not None])] = None
    assert 0 < (answers == None).sum() < len(rows)  # noqa: E711
    return strict(clf), rows, answers.tolist()


def lone_leaf():
    none = np.zeros((1, 2))
    leaf = np.array([-1])
    return ObliqueTree(leaf, leaf, none, np.zeros(1), np.array([1]))


# --------------------------------------------------------------------------- Python


def python_predict(clf, rows):
    module = {}
    exec(export_python(clf), module)
    if isinstance(rows, np.ndarray):
        return [module["predict"](row) for row in rows.tolist()]
    return [module["predict"](row) for row in frame_of(rows).to_dict("records")]


def test_python(case):
    clf, rows, expected, _ = case
    assert python_predict(clf, rows) == expected.tolist()


def test_python_refuses_as_predict(refusing):
    clf, rows, answers = refusing
    module = {}
    exec(export_python(clf), module)
    for row, answer in zip(frame_of(rows).to_dict("records"), answers, strict=True):
        if answer is None:
            with pytest.raises(ValueError, match=r"missing|unknown"):
                module["predict"](row)
        else:
            assert module["predict"](row) == answer


def numbers_as_categories():
    """A model, its rows as a reader of CSV files gives them, and its answers."""
    rows = pd.DataFrame({"code": [1, 2, 3, 4] * 5, "size": np.arange(20.0)})
    y = np.isin(rows["code"], [1, 3])
    clf = OptimalTreeClassifier(
        max_depth=1, solver="search", max_iter=5, categorical_features=["code"]
    ).fit(rows, y)
    assert readable_tree(clf).is_category(0)
    assert clf.predict(rows).tolist() == y.tolist()
    return clf, rows.astype(str), y.tolist()


def test_python_reads_numbers_from_text():
    clf, rows, answers = numbers_as_categories()
    assert python_predict(clf, rows) == answers
    with pytest.raises(ValueError, match="could not convert"):
        python_predict(clf, rows.assign(code="three"))


def test_python_refuses_a_number_where_training_had_text():
    rows = pd.DataFrame({"colour": ["red", "blue"] * 5})
    clf = OptimalTreeClassifier(max_depth=1, solver="search", max_iter=5)
    clf.fit(rows, rows["colour"] == "red")
    with pytest.raises(ValueError, match="'colour' held text and holds 3"):
        python_predict(clf, rows.assign(colour=3))


def test_python_imports_nothing():
    assert "import" not in export_python(array_model())


# ------------------------------------------------------------------------------ SQL


def sql_predict(clf, rows, database=in_sqlite):
    return [row[0] for row in database(export_sql(clf), rows)]


@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_sql(case, database):
    clf, rows, expected, _ = case
    assert sql_predict(clf, rows, database) == expected.tolist()


@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_sql_is_null_where_predict_refuses(refusing, database):
    clf, rows, answers = refusing
    assert sql_predict(clf, rows, database) == answers


def test_sql_numbers_are_exact():
    """Decimals are not: SQLite 3.40 misreads one in some thousands of them."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=3000) * 10.0 ** rng.integers(-40, 40, 3000)
    numbers = [*numbers.tolist(), 0.0, -0.5, 3.0, 1e300, 1e-300, 5e-324, 2.0**80]
    connection = sqlite3.connect(":memory:")
    for number in numbers:
        found = connection.execute(f"SELECT {sql_number(number)}").fetchone()
        assert found[0] == number
    duckdb = pytest.importorskip("duckdb").connect()
    found = duckdb.execute("SELECT " + ", ".join(map(sql_number, numbers))).fetchone()
    assert list(found) == numbers


def test_sql_refuses_nul():
    with pytest.raises(ValueError, match="NUL"):
        export_sql(lone_leaf(), class_names=["a", "b\0"])


# -------------------------------------------------------------------------------- C


def c_predict(clf, rows, folder):
    prints = 'printf("%d\\n", miptree_predict(&row));'
    return [int(line) for line in in_c(export_c(clf), clf, rows, folder, prints)]


def test_c(case, tmp_path):
    clf, rows, expected, _ = case
    found = c_predict(clf, rows, tmp_path)
    assert clf.classes_[found].tolist() == expected.tolist()


def test_c_says_minus_one_where_predict_refuses(refusing, tmp_path):
    clf, rows, answers = refusing
    classes = [*clf.classes_.tolist(), None]
    assert [classes[k] for k in c_predict(clf, rows, tmp_path)] == answers


def test_c_prefix():
    source = export_c(lone_leaf(), prefix="iris")
    assert "int iris_predict(const struct iris_row *row)" in source
    assert "miptree_" not in source
    with pytest.raises(ValueError, match="C identifier, got 'a;b'"):
        export_c(lone_leaf(), prefix="a;b")


# ----------------------------------------------------------------------------- ONNX


def in_onnx(clf, rows):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    content = export_onnx(clf).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    rules = readable_tree(clf)
    if [entry.name for entry in session.get_inputs()] == ["X"]:
        feed = {"X": np.asarray(rows, dtype=np.float64)}
    else:
        feed = {}
        for j in rules.used:
            column = rows[rules.name(j)]
            if rules.is_text(j):
                cells = column.astype(object).where(column.notna(), "")
                feed[rules.name(j)] = cells.to_numpy(dtype=object)[:, None]
            else:
                cells = column.astype(float).to_numpy()
                feed[rules.name(j)] = cells[:, None]
    return session.run(None, feed)


def test_onnx(case):
    clf, rows, expected, probabilities = case
    label, proba = in_onnx(clf, rows)
    assert label.tolist() == expected.tolist()
    assert np.allclose(proba, probabilities, rtol=1e-9, atol=1e-15)
    assert np.array_equal(proba.argmax(axis=1), probabilities.argmax(axis=1))


def test_onnx_is_nan_where_predict_refuses(refusing):
    clf, rows, answers = refusing
    label, proba = in_onnx(clf, rows)
    refused = np.isnan(proba).all(axis=1)
    assert np.where(refused, None, label).tolist() == answers


def test_onnx_is_nan_for_infinite_numbers():
    clf = array_model()
    (used, *_) = readable_tree(clf).used
    rows = np.zeros((3, clf.n_features_in_))
    rows[1, used], rows[2, used] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity"):
        clf.predict(rows)
    _, proba = in_onnx(clf, rows)
    assert np.isnan(proba).all(axis=1).tolist() == [False, True, True]


def test_onnx_names_that_clash():
    """Columns named as the outputs, or twice the same."""
    tree = HeapTree(np.array([[1.0, 2.0]]), np.zeros(1), np.array([0, 1]))
    runtime = pytest.importorskip("onnxruntime")
    for names in (["label", "probabilities"], ["a", "a"], ["_Add1", ""]):
        model = export_onnx(ObliqueTree.from_heap(tree), names, [False, True])
        session = runtime.InferenceSession(model.SerializeToString())
        X = np.array([[1.0, -1.0], [1.0, 1.0]])
        assert session.run(None, {"X": X})[0].tolist() == [False, True]


# ------------------------------------------------------------- rows on a split


def test_all_agree_on_rows_that_lay_on_a_split(tmp_path):
    clf, iris = tied_model(), load_iris(as_frame=True)
    expected = clf.predict(iris.data).tolist()
    assert clf.certificate_.errors == 5
    save_json(clf, tmp_path / "model.json")
    assert load_json(tmp_path / "model.json").predict(iris.data).tolist() == expected
    assert python_predict(clf, iris.data) == expected
    assert sql_predict(clf, iris.data) == expected
    assert clf.classes_[c_predict(clf, iris.data, tmp_path)].tolist() == expected
    assert in_onnx(clf, iris.data)[0].tolist() == expected


# ------------------------------------------------------------------------ DOT, all


def test_dot_has_every_node_and_no_loose_quote():
    clf = mixed_model()
    text = export_dot(clf)
    body = [line.strip() for line in text.splitlines()[3:-1]]
    tree = clf.tree_
    for node in range(tree.n_nodes):
        (line,) = [line for line in body if line.startswith(f"{node} [label=")]
        plain = line.replace("\\\\", "").replace('\\"', "")
        assert plain.count('"') == (4 if tree.is_leaf[node] else 2)
        if not tree.is_leaf[node]:
            left, right = tree.children_left[node], tree.children_right[node]
            assert f'{node} -> {left} [label="yes"];' in body
            assert f'{node} -> {right} [label="no"];' in body
    if shutil.which("dot"):
        drawn = subprocess.run(
            ["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True
        )
        assert drawn.stdout.count('class="node"') == tree.n_nodes


def test_a_lone_leaf():
    tree = lone_leaf()
    rows = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert python_predict(tree, rows) == [1, 1]
    assert export_sql(tree, class_names=["a", "b"]) == "'b'"
    assert sql_predict(tree, rows) == [1, 1]
    assert in_onnx(tree, rows)[0].tolist() == [1, 1]
    assert "return 1;" in export_c(tree)
    assert r'label="class 1\nleaf 0"' in export_dot(tree)


def test_hostile_text_stays_text(tmp_path):
    """Names of columns and classes that try to leave comments and strings."""
    tree = ObliqueTree.from_heap(
        HeapTree(np.array([[1.0, 2.0]]), np.zeros(1), np.array([0, 1]))
    )
    names = ["a */ int x; /*\n--\\", '"; import os #\u2028']
    classes = ['");\n/*??/', "' || 1/0 || '"]
    module = {}
    exec(export_python(tree, names, classes), module)
    assert module["predict"](dict.fromkeys(names, 1.0)) == classes[1]
    connection = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    expression = export_sql(tree, names, classes)
    row = f"SELECT -1.0 AS {quoted[0]}, 0 AS {quoted[1]}"
    found = connection.execute(f"SELECT {expression} FROM ({row})").fetchone()
    assert found[0] == classes[0]
    compiler = shutil.which("gcc")
    if compiler is not None:
        (tmp_path / "tree.c").write_text(export_c(tree, names, classes))
        command = [compiler, "-Wall", "-Werror", "-std=c99", "-c", "tree.c"]
        subprocess.run(command, check=True, cwd=tmp_path, timeout=60)


def test_names_are_checked():
    with pytest.raises(ValueError, match="feature_names must have 2 names, got 1"):
        export_sql(lone_leaf(), ["a"])
    with pytest.raises(ValueError, match="at least 2 classes, got 1"):
        export_python(lone_leaf(), class_names=["a"])
    assert HOSTILE in readable_tree(mixed_model()).classes


# ------------------------------------------------------------------------- notebook


def test_notebook_shows_tree_and_certificate():
    clf = mixed_model()
    shown = clf._repr_mimebundle_()["text/html"]
    assert "<img" not in shown
    assert "not proved optimal" in shown
    assert "├─ yes:" in shown
    assert "├─ yes:" not in OptimalTreeClassifier()._repr_html_()


def test_notebook_shows_points_trees_and_baselines():
    assert "STEP 1  age below 35?" in points_model(({"age": 1}, 2))._repr_html_()
    X, y = load_iris(return_X_y=True)
    assert "├─ yes:" in GreedySVMTreeClassifier(max_depth=1).fit(X, y)._repr_html_()
