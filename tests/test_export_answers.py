"""Leaf, probability and reason in exports: those of ``explain``, for 1,000 rows."""

import math
import re
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from _exported import frame_of, in_c, in_duckdb, in_sqlite
from _models import (
    array_model,
    corner_rows,
    grid_model,
    iris_model,
    mixed_model,
    strict,
)
from _points_models import points_model, random_rows
from miptree import (
    explain,
    export_c,
    export_python,
    export_sql,
    export_text,
    save_json,
)
from miptree.export.answers import OUTPUTS
from miptree.tree import HeapTree, ObliqueTree

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")

CARD = {"age": -1, "housing=rent": 3, "income (missing highest)": 2}
QUESTION, LIMIT = ({"town=any rare value": 1}, 0), ({"rooms (missing lowest)": 1}, 1)
MODELS = {
    "iris": iris_model,
    "array": array_model,  # three classes, blurred splits
    "mixed": mixed_model,
    "onehot": lambda: mixed_model(2, categorical_encoding="onehot"),
    "grid": grid_model,
    "points": lambda: points_model((CARD, 4), QUESTION, LIMIT),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    """A model, rows, and what ``explain`` says of them."""
    clf = MODELS[request.param]()
    rows = random_rows(np.random.default_rng(0), 1000)
    rows = rows if request.param == "points" else corner_rows(clf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of missing values
        return clf, rows, explain(clf, rows, changes=False)


def agree(found, explained):
    """Compare (class, leaf, probability, reason) of each row."""
    expected = [(x.label, x.leaf, x.probability, x.reason) for x in explained]
    assert len(expected) == 1000
    for k in (0, 1, 3):
        assert [row[k] for row in found] == [row[k] for row in expected]
    shares = [float(row[2]) for row in found]
    assert np.allclose(shares, [row[2] for row in expected], rtol=1e-9, atol=0)


@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_sql(case, database):
    clf, rows, explained = case
    agree(database(export_sql(clf, output=OUTPUTS), rows), explained)


def test_python(case):
    clf, rows, explained = case
    module = {}
    exec(export_python(clf, output=OUTPUTS), module)
    by_name = hasattr(clf, "feature_names_in_")
    cells = frame_of(rows).to_dict("records") if by_name else rows.tolist()
    functions = [module[n] for n in ("predict", "leaf", "probability", "reason")]
    agree([[f(row) for f in functions] for row in cells], explained)


def test_c(case, tmp_path):
    clf, rows, explained = case
    prints = (
        'printf("%d\\t%d\\t%.17g\\t%s\\n", miptree_predict(&row), miptree_leaf(&row),'
        "miptree_probability(&row), miptree_reason(&row));"
    )
    lines = in_c(export_c(clf, output=OUTPUTS), clf, rows, tmp_path, prints)
    found = [line.split("\t") for line in lines]
    classes = clf.classes_.tolist()
    agree([(classes[int(k)], int(n), p, why) for k, n, p, why in found], explained)


def test_refused_rows_have_no_answer(tmp_path):
    clf = strict(mixed_model(3))
    assert clf.fitted_.blur.any()
    rows = corner_rows(mixed_model(3), 60)
    expected = [row[0] for row in in_sqlite(export_sql(clf), rows)]
    assert 0 < expected.count(None) < len(rows)
    for row, label in zip(
        in_sqlite(export_sql(clf, output=OUTPUTS), rows), expected, strict=True
    ):
        assert [entry is None for entry in row] == [label is None] * 4
    prints = (
        'printf("%d %d %d\\n", miptree_leaf(&row), isnan(miptree_probability(&row)),'
        "miptree_reason(&row) == NULL);"
    )
    outputs = ("leaf", "probability", "reason")
    lines = in_c(export_c(clf, output=outputs), clf, rows, tmp_path, prints)
    for line, label in zip(lines, expected, strict=True):
        assert (line == "-1 1 1") == (label is None)
    module = {}
    exec(export_python(clf, output=outputs), module)
    assert "predict" not in module
    for row, label in zip(frame_of(rows).to_dict("records"), expected, strict=True):
        if label is None:
            with pytest.raises(ValueError, match=r"missing|unknown"):
                module["probability"](row)


@pytest.mark.parametrize("write", [export_sql, export_python, export_c])
def test_comments_say_what_texts_say(write):
    found = re.findall(
        r"(?:--|#|/\*) node (\d+): (.*?)(?: \*/)?\n", write(iris_model())
    )
    text = export_text(iris_model())
    assert len(found) == len(re.findall(r"\(node \d+, ", text)) > 0
    for node, words in found:
        assert f"{words} (node {node}, " in text


def test_comments_say_what_is_asked():
    asked = 0
    for seed in range(4):
        sql = export_sql(mixed_model(seed))
        for words in re.findall(r"-- node \d+: (.*)\n *WHEN \(?\"\w+\" IN", sql):
            asked += 1
            assert " not in " not in words
            assert "!=" not in words
    assert asked


def test_bare_trees_and_own_names():
    heap = HeapTree(np.array([[1.5, -1.0]]), np.array([3.0]), np.array([0, 1]))
    tree, names = ObliqueTree.from_heap(heap), (["width", "height"], ["low", "high"])
    row = 'SELECT 1.0 AS "width", -2.0 AS "height"'
    found = in_sqlite_row(export_sql(tree, *names, output=OUTPUTS), row)
    assert found == ("high", 2, 1.0, "Class high because 1.5 width - height > 3.")
    module = {}
    exec(export_python(tree, *names, output="reason"), module)
    assert module["reason"]({"width": 1.0, "height": -2.0}) == found[3]
    none = np.array([-1])
    lone = ObliqueTree(none, none, np.zeros((1, 2)), np.zeros(1), np.array([0]))
    said = export_sql(lone, *names, output="reason")
    assert in_sqlite_row(said, row) == ("Class low, as every row.",)


def in_sqlite_row(selection, row):
    connection = sqlite3.connect(":memory:")
    return connection.execute(f"SELECT {selection} FROM ({row})").fetchone()


@pytest.mark.parametrize("output", ["classes", (), ("leaf", "leaf"), ["class", "node"]])
def test_outputs_are_checked(output):
    for export in (export_sql, export_python, export_c):
        with pytest.raises(ValueError, match="one or several of class, leaf"):
            export(array_model(), output=output)


def test_command_line(tmp_path):
    model = tmp_path / "model.json"
    save_json(iris_model(), model)
    for to in ("sql", "python", "c"):
        shown = run("export", model, "--to", to).output
        assert shown.strip() == PLAIN[to]().strip()
        shown = run("export", model, "--to", to, "--explain").output
        assert "Class setosa because" in shown
    assert "--explain" in refused("export", model, "--to", "dot", "--explain")


PLAIN = {
    "sql": lambda: export_sql(iris_model()),
    "python": lambda: export_python(iris_model()),
    "c": lambda: export_c(iris_model()),
}


def test_far_from_every_split_nothing_overflows():
    """Rows so far away that an exponential alone would overflow."""
    clf = array_model()
    rows = np.array([[1e9, 1e9, 1e30], [-1e9, 1e9, -1e30], [0.0, -1e12, 1e3]])
    expected = explain(clf, rows, changes=False)
    found = in_sqlite(export_sql(clf, output="probability"), rows)
    module = {}
    exec(export_python(clf, output="probability"), module)
    for item, row, (share,) in zip(expected, rows.tolist(), found, strict=True):
        assert math.isclose(module["probability"](row), item.probability, rel_tol=1e-9)
        assert math.isclose(share, item.probability, rel_tol=1e-9)


@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_columns_named_as_parts_of_the_selection(database):
    clf, rows = array_model(), corner_rows(array_model(), 50)
    names = ["leaf", "_far0", "share1"]
    selection = export_sql(clf, names, output="probability")
    found = database(selection, pd.DataFrame(rows, columns=names))
    expected = [item.probability for item in explain(clf, rows, changes=False)]
    assert np.allclose([row[0] for row in found], expected, rtol=1e-9, atol=0)
