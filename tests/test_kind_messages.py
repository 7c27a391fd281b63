"""What is wrong with a call or a table is said in plain words, and once."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from _cli import refused, run
from _models import iris_model
from miptree import OptimalTreeClassifier, PointsTreeClassifier, explain, save_json
from miptree.baselines import OCTClassifier

ROWS = np.ones((3, 4))
QUICK = {"max_iter": 5, "solver": "search", "time_limit": None, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


@cache
def sums_model():
    rows = pd.DataFrame({"x": np.arange(40.0), "z": np.arange(40.0) % 7})
    clf = OptimalTreeClassifier(max_depth=1, **QUICK)
    return clf.fit(rows, 3 * rows["x"] + 2 * rows["z"] > 60)


@pytest.mark.parametrize("kind", [OptimalTreeClassifier, OCTClassifier])
def test_labels_that_are_amounts(kind):
    X = np.arange(8.0).reshape(4, 2)
    message = (
        "label type: continuous. y holds numbers such as 2.5, which are no classes"
    )
    with pytest.raises(ValueError, match=message):
        kind().fit(X, [1.0, 2.5, 1.0, 2.5])


def test_a_target_of_amounts_is_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,cls\n1,1.5\n2,2.5\n3,1.5\n4,2.5\n")
    said = refused("fit", path, "--target", "cls")
    assert "The target 'cls' holds numbers such as 1.5, which are no classes" in said


@pytest.mark.parametrize("kind", [OptimalTreeClassifier, PointsTreeClassifier])
def test_a_range_that_overflows_names_its_column(kind):
    rows = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1e308, -1e308, np.nan, 1]})
    message = r"Column 'b' ranges from -1e\+308 to 1e\+308, and the difference"
    with pytest.raises(ValueError, match=message):
        kind().fit(rows, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": [1.5]}, r"rows must list places, .* got 1\.5"),
        ({"rows": [True]}, "rows must list places, .* got True"),
        ({"rows": ["a"]}, "rows must list places, .* got 'a'"),
        ({"rows": 5}, r"rows must be a list, such as \[0, 2\], got 5"),
        ({"rows": "12"}, "rows must be a list, .* got '12'"),
        ({"fixed": 3.5}, r"fixed must be a list, such as \[0, 2\], got 3\.5"),
        ({"target": np.array(["setosa", "x"])}, "target is .* no class of the model"),
    ],
)
def test_wrong_calls_of_explain(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        explain(iris_model(), ROWS, **given)


def test_a_place_of_a_column_may_be_a_number_of_numpy():
    found = explain(iris_model(), ROWS, fixed=np.int64(2), rows=np.arange(2))
    assert [item.row for item in found] == [0, 1]


def test_gaps_are_told_once(tmp_path):
    path, model = tmp_path / "rows.csv", tmp_path / "model.json"
    save_json(sums_model(), model)
    path.write_text("x,z\n,3\n4,5\n")
    for options in (["explain"], ["predict"], ["predict", "--explain"]):
        found = run(*options[:1], model, path, *options[1:])
        assert found.output.count("has 1 missing value") == 1


def test_a_share_of_much_more_than_the_range_is_told_in_times():
    clf = sums_model()
    far = pd.DataFrame({"x": [1e9, 30.0], "z": [5.0, 4.0]})
    one, two = (str(item) for item in explain(clf, far, changes=False))
    assert " times what it can vary by)" in one
    assert "e+" not in one.split("(")[-1]
    assert " % of what it can vary by)" in two


def test_one_row_and_one_column(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    assert run("table", path).stdout.startswith("1 row, 1 column\n")
