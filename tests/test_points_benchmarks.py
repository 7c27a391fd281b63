"""The benchmarks of points trees: what they compare, make and draw."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("without benchmarks, as in a source archive", allow_module_level=True)
sys.path.insert(0, str(FOLDER))
run = import_module("run")
common = import_module("common")
contree = import_module("questions._points_contree")
data = import_module("questions._points_data")
growth = import_module("questions._points_growth")
points = import_module("questions._points")
fasterrisk = import_module("questions._fasterrisk")


@pytest.mark.parametrize("max_features", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_contree_finds_the_same_optimum_on_all_directions(max_features, seed):
    pytest.importorskip("pycontree")
    X, y = growth.table(growth.Shape(rows=80, features=3, classes=3), seed)
    drawn = np.random.default_rng(seed).integers(3, size=len(y))
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["d"] = pd.Categorical(np.array(["x", "y", "z"])[drawn])
    clf = points.points_tree(
        None, max_features_per_split=max_features, max_points=1, feature_penalty=0.0
    ).fit(frame, y)
    found = contree.run(clf, common.Split(frame, frame, y, y), 60.0)
    assert clf.status_ == "optimal"
    assert found["contree_errors"] == clf.certificate_.errors > 0


def test_the_limit_counts_cpu_seconds():
    X, y = growth.table(growth.Shape(rows=300, features=4), 0)
    found = points.measured_fit(X, y, 0.0, max_features_per_split=2, feature_penalty=0)
    record = points.proved_fields(found)
    assert record["status"] == "time_limit"
    assert record["bound"] <= record["errors"]


def test_a_made_table_follows_its_seed():
    shape = growth.Shape(rows=400, features=5, classes=6)
    X, y = growth.table(shape, 3)
    assert X.shape == (400, 5)
    assert set(y) == set(range(6))
    assert np.array_equal(growth.table(shape, 3)[1], y)
    assert not np.array_equal(growth.table(shape, 4)[1], y)


def test_growth_is_run_and_drawn(tmp_path, monkeypatch):
    command = ["run.py", "points", "--part", "growth", "--name", "rows-500"]
    monkeypatch.setattr(sys, "argv", [*command, "--results", str(tmp_path)])
    run.main()
    assert "| rows-500 | 1 |" in (tmp_path / "points.md").read_text()
    assert "CPU seconds" in (tmp_path / growth.FIGURE).read_text()


def test_methods_that_cannot_read_gaps_get_medians_and_a_value():
    train = pd.DataFrame(
        {"a": [1.0, None, 3.0, 8.0], "b": pd.Categorical(["u", None, "v", "u"])}
    )
    test = pd.DataFrame({"a": [None, 2.0], "b": pd.Categorical(["v", None])})
    rows = data.without_gaps(common.Split(train, test, None, None))
    assert rows.X["a"].tolist() == [1.0, 3.0, 3.0, 8.0]
    assert rows.X_test["a"].tolist() == [3.0, 2.0]
    assert rows.X[f"a {data.MISSING}"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert rows.X_test["b"].tolist() == ["v", data.MISSING]
    assert train["a"].isna().sum() == 1


def test_risk_scores_refuse_three_classes():
    with pytest.raises(ValueError, match="takes two classes, got 3"):
        fasterrisk.FasterRiskScores(5, 1.0).fit(np.zeros((3, 1)), np.arange(3))
