"""Explanations on the command line."""

import json

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from _cli import refused, run
from _explained import frame_of, hand_made
from _models import iris_model
from miptree import explain, save_json
from miptree.data import NumericalColumn


@pytest.fixture
def files(tmp_path):
    """A points model with the table of its columns, and an oblique one."""
    iris = load_iris(as_frame=True)
    save_json(iris_model(), tmp_path / "iris.json")
    iris.data.to_csv(tmp_path / "iris.csv", index=False)
    iris.data.iloc[[0, 60, 140]].to_csv(tmp_path / "few.csv", index=False)
    return tmp_path


def test_the_command_says_what_the_function_says(files):
    iris = load_iris(as_frame=True)
    shown = run(
        *("explain", files / "iris.json", files / "few.csv", "--row", 3, "--row", 1),
        *("--background", files / "iris.csv", "--fixed", "petal width (cm)"),
    )
    expected = explain(
        iris_model(),
        iris.data.iloc[[0, 60, 140]],
        rows=[2, 0],
        background=iris.data,
        fixed=["petal width (cm)"],
    )
    assert shown.exit_code == 0
    assert shown.stdout == f"{expected}\n"


def test_the_command_shows_ten_rows_unless_asked(files):
    shown = run("explain", files / "iris.json", files / "iris.csv").stdout
    assert shown.count("Row ") == 10
    assert "140 more rows are not shown" in shown


def test_the_command_writes_tables_and_json(files):
    table, plain = files / "reasons.csv", files / "reasons.json"
    start = ("explain", files / "iris.json", files / "few.csv", "--target", "virginica")
    more = ("--background", files / "iris.csv", "--out")
    assert run(*start, *more, table).stdout == f"3 rows in {table}.\n"
    assert run(*start, *more, plain).exit_code == 0
    found = pd.read_csv(table)
    assert found["row"].tolist() == [1, 2, 3]
    assert found["change_to"].tolist()[:2] == ["virginica", "virginica"]
    rows = json.loads(plain.read_text())["rows"]
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert [row["leaf"] for row in rows] == found["leaf"].tolist()
    assert [row["reason"] for row in rows] == found["reason"].tolist()
    assert "exists" in refused(*start, *more, plain)


def test_the_command_refuses_what_it_cannot_do(files):
    start = ("explain", files / "iris.json", files / "few.csv")
    assert "--row 4 is not there" in refused(*start, "--row", 4)
    message = refused(*start, "--target", "rose")
    assert "--target rose is no class of the model; the classes are setosa," in message
    assert "There is no column 'age'" in refused(*start, "--fixed", "age")
    assert "ends in .csv" in refused(*start, "--out", files / "reasons.pdf")
    (files / "other.csv").write_text("a,b\n1,2\n")
    other = refused(*start, "--background", files / "other.csv")
    assert "There is no column 'sepal width (cm)'" in other


def test_predictions_with_leaf_and_reason(files):
    iris = load_iris(as_frame=True)
    clf, out = iris_model(), files / "out.csv"
    run("predict", files / "iris.json", files / "iris.csv", "--explain", "--out", out)
    found = pd.read_csv(out)
    assert found["leaf"].tolist() == clf.apply(iris.data).tolist()
    expected = [item.reason for item in explain(clf, iris.data, changes=False)]
    assert found["reason"].tolist() == expected
    assert found["reason"].str.contains(" because ").all()


def test_zeros_at_the_end_are_digits_of_many_numbers():
    columns = (NumericalColumn("u", 0.0, False),)
    clf = hand_made(columns, [[1.0]], [333.0], [0, 1])
    row = frame_of([[0.0]], ["u"])
    tens = frame_of([[10.0 * k] for k in range(100)], ["u"])
    assert explain(clf, row, background=tens)[0].change.changes[0].after == 340
    few = frame_of([[0.0], [500.0], [1000.0]], ["u"])
    assert explain(clf, row, background=few)[0].change.changes[0].after == 334
    odd = explain(clf, frame_of([[5.0]], ["u"]), background=tens)[0]
    assert odd.change.changes[0].after == 334
