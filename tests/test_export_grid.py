"""Exports of trees over a grid: the cut that decides, limits, model files."""

import copy
import json
import sqlite3

import numpy as np
import pytest

from _models import corner_rows, grid_model, strict, with_tree
from _sealed import sealed
from miptree import export_c, export_python, export_sql, load_json, save_json
from miptree.data import GridColumn, Table
from miptree.data.limits import Limits
from miptree.data.schema import Schema
from miptree.export import json_reader
from miptree.export._json_values import MalformedError
from miptree.export.readable import Bound, readable_tree
from miptree.tree import HeapTree, ObliqueTree

pytestmark = pytest.mark.filterwarnings("ignore:Column .* missing values")

AGE = GridColumn("age", (30.0, 35.0, 40.0), 5.0, 36.0, False, Limits(18, 70, 0))
INCOME = GridColumn("income", (0.2, 0.4, 0.6), 0.2, 0.3, True, Limits(0, 1, 1))


def one_split(coef, threshold, *columns):
    """A model with a single split over some columns."""
    clf = copy.copy(grid_model())
    names = np.array([column.name for column in columns], dtype=object)
    clf.adopt(Schema(Table(columns), clf.classes_, names), clf.fitted_)
    split = np.array([coef], dtype=float), np.array([float(threshold)])
    tree = ObliqueTree.from_heap(HeapTree(*split, np.array([0, 1])))
    return with_tree(clf, tree, np.random.default_rng(0))


# ------------------------------------------------------------ the cut that decides


@pytest.mark.parametrize(
    ("coef", "threshold", "expected"),
    [
        (1, 1, Bound(0, 35.0, True, False)),
        (1, 2, Bound(0, 40.0, True, True)),
        (2, 3, Bound(0, 35.0, True, False)),
        (-1, -2, Bound(0, 35.0, False, True)),
        (-1, -3, Bound(0, 40.0, False, False)),
        (1, 3, None),
        (1, -1, None),
    ],
)
def test_one_column_is_compared_with_one_cut(coef, threshold, expected):
    assert readable_tree(one_split([coef], threshold, AGE)).root.bound == expected


def test_twins_send_missing_to_their_ends():
    low = readable_tree(one_split([1, 0], 0, INCOME)).root.bound
    high = readable_tree(one_split([0, 1], 0, INCOME)).root.bound
    assert low == Bound(0, 0.2, True, True)
    assert high == Bound(0, 0.2, True, False)


def test_readers_see_the_comparison():
    clf = one_split([1], 1, AGE)
    assert 'CAST("age" AS DOUBLE PRECISION) < 35e0' in export_sql(clf)
    assert "if (row->x0 < 35.0) {" in export_c(clf)
    assert "if x0 is not None and x0 < 35.0:" in export_python(clf)
    assert "if x0 < 35.0:" in export_python(strict(clf))
    other = one_split([0, -1], -3, INCOME)
    assert "(CAST(6 AS DOUBLE PRECISION) / 10e0)" in export_sql(other)
    assert 'OR "income" IS NULL' in export_sql(other)
    assert "if (isnan(row->x0) || row->x0 >= 0.6) {" in export_c(other)
    assert "if x0 is None or x0 >= 0.6:" in export_python(other)


def test_models_of_the_tests_try_everything():
    for seed in (0, 1):
        clf = grid_model(seed)
        reached = np.unique(clf.apply(corner_rows(clf)))
        assert len(reached) >= 10
        bounds = [branch.bound for branch in readable_tree(clf).branches]
        assert 2 <= sum(bound is not None for bound in bounds) <= 10


def test_sqlite_counts_a_thousand_cuts():
    cuts = tuple(k / 1000 for k in range(1, 1001))
    clf = one_split([2, 1], 1500, GridColumn("a", cuts, 0.001, 0.5, False), AGE)
    rows = np.array([[cut, age] for cut in cuts for age in (33.0, 35.0, 60.0)])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a REAL, age REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows.tolist())
    found = connection.execute(f"SELECT {export_sql(clf)} FROM t ORDER BY rowid")
    expected = clf.classes_[clf.tree_.predict(clf.table_.transform(rows))]
    assert [row[0] for row in found] == expected.tolist()
    assert len(set(expected)) == 2


# ----------------------------------------------------------------------- model files


def test_model_files_keep_every_cut(tmp_path):
    clf = grid_model()
    save_json(clf, tmp_path / "model.json")
    loaded = load_json(tmp_path / "model.json")
    assert loaded.table_ == clf.table_
    rows = corner_rows(clf)
    assert np.array_equal(loaded.predict_proba(rows), clf.predict_proba(rows))
    assert export_sql(loaded) == export_sql(clf)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("cuts", [35.0, 30.0, 40.0], "not one multiple"),
        ("cuts", [30.0, 30.0, 35.0], "not one multiple"),
        ("cuts", [30.0, 40.0, 45.0], "not one multiple"),
        ("cuts", [30.0, 35.0, 40.000000000000007], "not one multiple"),
        ("cuts", [30.0, 35.0, "40"], '"cuts" is not a number'),
        ("cuts", [30.0, 35.0, 1e999], "not a finite number"),
        ("cuts", [5.0 * k for k in range(1002)], "1002 cuts"),
        ("cuts", 30.0, '"cuts" is not a list'),
        ("unit", -5.0, "not one multiple"),
        ("unit", 0.0, "not one multiple"),
        ("unit", 1e-300, "not one multiple"),
        ("unit", 10.0, "not one multiple"),
        ("fill", None, '"fill" is not a number'),
        ("has_gaps", 1, '"has_gaps" is not true or false'),
        ("kind", "numbers", "unknown entry|has no"),
    ],
)
def test_malformed_grids_are_refused(tmp_path, entry, value, message):
    save_json(one_split([1], 1, AGE), tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    plain["table"]["columns"][0][entry] = value
    with pytest.raises(MalformedError, match=message):
        json_reader.model_of(sealed(plain))


def test_columns_on_and_off_a_grid_do_not_mix(tmp_path):
    save_json(one_split([1, 1], 1, AGE, AGE), tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    limits = plain["table"]["columns"][1]["limits"]
    number = {"kind": "numbers", "name": "x", "fill": 0.0, "marks_missing": False}
    number["limits"] = limits
    plain["table"]["columns"][1] = number
    with pytest.raises(MalformedError, match="on a grid, and another is not"):
        json_reader.model_of(sealed(plain))
