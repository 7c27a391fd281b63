"""verify_model on honest models, other rows, and what the command line makes of it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier

from _attacked import MODELS, model, shop, written
from _cli import refused, run
from _models import QUICK
from _sealed import sealed
from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    distill,
    load_json,
    prediction_costs,
    save_json,
    verify_model,
)
from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
    OCTHClassifier,
)
from miptree.export.json import ChangedFileError
from miptree.fit import points_family


def names_of_wrong(found):
    return {check.name for check in found.wrong}


# ------------------------------------------------------------------ honest models


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_holds_before_and_after_it_was_saved(kind, tmp_path):
    clf, *given = model(kind)
    before = verify_model(clf, *given)
    assert before.ok, str(before)
    written(kind, tmp_path / "model.json")
    after = verify_model(tmp_path / "model.json", *given)
    assert after.ok, str(after)
    assert after.checks[0].name == "model file"
    assert verify_model(load_json(tmp_path / "model.json"), *given).ok


def test_rows_may_come_in_any_order():
    for kind in ("oblique", "points", "tuned"):
        clf, X, y, weight = model(kind)
        order = np.random.default_rng(0).permutation(len(y))
        weight = None if weight is None else weight[order]
        assert verify_model(clf, X.iloc[order], y[order], weight).ok


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "category"])
def test_labels_are_read_as_in_a_fit(dtype):
    X = pd.DataFrame({"a": np.arange(20.0)})
    y = (X["a"] > 9).astype(int).astype(dtype)
    clf = OptimalTreeClassifier(max_depth=1, **QUICK).fit(X, y)
    assert verify_model(clf, X, y).ok
    assert verify_model(clf, X, np.asarray(y, dtype=clf.classes_.dtype)[:, None]).ok
    assert names_of_wrong(verify_model(clf, X, 1 - y.astype(float))) != set()


def test_rows_of_weight_zero_and_float_weights():
    rng = np.random.default_rng(1)
    for estimator in (
        OptimalTreeClassifier(**QUICK),
        PointsTreeClassifier(feature_penalty=0.5, time_limit=None),
    ):
        frame, y, _ = shop(50, 7)
        weight = rng.random(50).round(2) * (rng.random(50) < 0.8)
        clf = estimator.fit(frame, y, weight)
        found = verify_model(clf, frame, y, weight)
        assert found.ok, str(found)
        assert not verify_model(clf, frame, y).ok


@pytest.mark.parametrize(
    "clf",
    [
        OCTHClassifier(time_limit=1),
        BinOCTClassifier(max_depth=1),
        FlowOCTClassifier(max_depth=1, complexity=0.01),
        AghaeiTreeClassifier(
            max_depth=1, sensitive_features=["a"], fairness_penalty=0.1, node_limit=5
        ),
    ],
)
def test_baselines_hold(clf, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 2, 40), "b": rng.normal(size=40).round(1)})
    y = (X["b"] + 0.3 * rng.normal(size=40) > 0).to_numpy()
    save_json(clf.fit(X, y), tmp_path / "model.json")
    found = verify_model(tmp_path / "model.json", X, y)
    assert found.ok, str(found)
    assert not verify_model(clf, X, np.append(y[1:], ~y[:1])).ok
    with pytest.raises(ValueError, match="repeated by fitting it again"):
        verify_model(clf, X, y, resolve_with="highs")


@pytest.mark.parametrize("selection", ["auto", "hull"])
def test_selected_rows_hold(selection):
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = OptimalTreeClassifier(**QUICK, selection=selection, max_rounds=2)
    found = verify_model(clf.fit(X, y), X, y)
    assert found.ok, str(found)


def test_arrays_and_odd_names():
    X, y = load_iris(return_X_y=True)
    clf = OptimalTreeClassifier(**QUICK).fit(X, y)
    assert verify_model(clf, X.tolist(), y.tolist()).ok
    numbered = pd.DataFrame(X)
    clf = OptimalTreeClassifier(**QUICK).fit(numbered, y)
    assert verify_model(clf, numbered, y).ok
    assert "column names" in names_of_wrong(verify_model(clf, X, y))
    named = load_iris(as_frame=True).data
    clf = OptimalTreeClassifier(**QUICK).fit(named, y)
    found = verify_model(clf, X, y)
    assert found.ok
    assert "those of the model are not compared" in str(found)
    text = np.array([["a", "1"], ["b", "2"], ["a", "3"], ["b", "4"]] * 3, dtype=object)
    clf = OptimalTreeClassifier(**QUICK).fit(text, [0, 1, 0, 1] * 3)
    assert verify_model(clf, text.tolist(), [0, 1, 0, 1] * 3).ok


def test_a_distilled_tree_holds_with_the_costs_of_its_model():
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    tree = distill(forest, X, **QUICK)
    predicted, costs = forest.predict(X), prediction_costs(forest, X)
    found = verify_model(tree, X, predicted, row_costs=costs)
    assert found.ok, str(found)
    assert not verify_model(tree, X, predicted).ok


def test_levels_of_a_tuned_tree_are_known():
    clf, X, y, _ = model("tuned")
    assert isinstance(clf, OptimalTreeClassifierCV)
    assert type(clf.table_.columns[-1]).__name__ == "CategoricalColumn"
    assert verify_model(clf, X, y).ok


def test_screened_columns_and_signs_are_proved_again(monkeypatch, tmp_path):
    """What a certificate alone does not hold is in the model."""
    monkeypatch.setattr(points_family, "MOST_COUNTS", 400)
    frame, y, weight = shop()
    clf = PointsTreeClassifier(
        time_limit=None, feature_penalty=0.5, signs={"price": 1}, max_depth=1
    )
    with pytest.warns(UserWarning, match="grid columns"):
        clf.fit(frame, y, weight)
    assert "the signs that were given, on" in clf.certificate_.trees
    save_json(clf, tmp_path / "model.json")
    given = frame, y, weight
    found = verify_model(tmp_path / "model.json", *given, resolve_with="points")
    assert found.ok, str(found)
    assert found.checks[-1].name == "history"
    assert "the engine proves" in str(found)


def test_units_signs_and_penalties_are_kept(tmp_path):
    written("points", tmp_path / "model.json")
    clf = load_json(tmp_path / "model.json")
    assert clf.units == {"price": 3}
    assert clf.signs == {"price": 1, "size": "+"}
    assert clf.feature_penalty == {"price": 0.5, "size": 0.25, "kind": 1}
    _, X, y, weight = model("points")
    again = clf.necessity(["price"], X=X, y=y, sample_weight=weight, time_limit=None)
    assert len(again) == 1
    written("costs", tmp_path / "other.json")
    assert load_json(tmp_path / "other.json").categorical_features == ["kind", "new"]


# --------------------------------------------------------------------- other rows


def test_other_rows_are_found():
    clf, X, y, weight = model("oblique")
    other = np.where(np.arange(len(y)) == 3, "bad", y)
    assert y[3] == "good"
    assert "data digest" in names_of_wrong(verify_model(clf, X, other, weight))
    moved = X.assign(price=X["price"] + 1)
    assert {"columns", "data digest"} <= names_of_wrong(
        verify_model(clf, moved, y, weight)
    )
    renamed = X.rename(columns={"price": "cost"})
    found = verify_model(clf, renamed, y, weight)
    assert names_of_wrong(found) == {"column names"}
    assert "a column is 'cost', in the model 'price'" in str(found)
    fewer = verify_model(clf, X.drop(columns="price"), y, weight)
    assert "reads 4 columns, but there are 3" in str(fewer)
    strange = np.where(np.arange(len(y)) == 0, "new", y)
    found = verify_model(clf, X, strange, weight)
    assert "'new' in row 1 (row 1 is the first data row) is no class" in str(found)
    one = verify_model(clf, X[y == "bad"], y[y == "bad"], weight[y == "bad"])
    assert "no row is of class 'good'" in str(one)
    typed = X.assign(price=X["price"].astype(str) + " euro")
    assert names_of_wrong(verify_model(clf, typed, y, weight)) == {"rows"}


def test_changes_of_a_fitted_model_are_found():
    clf, X, y, weight = model("points")
    fitted = clf.fitted_
    for change, name in (
        ({"node_proba": fitted.node_proba + 1e-6}, "probabilities"),
        ({"blur": fitted.blur + 0.1}, "blur"),
        ({"spread": 1.1 * fitted.spread}, "spread"),
        ({"node_count": fitted.node_count + 1}, "counts"),
        ({"digits": fitted.digits - 1}, "digits"),
        ({"status": "time_limit"}, "status"),
        ({"trace": fitted.trace[:1]}, "history"),
    ):
        clf.fitted_ = replace(fitted, **change)
        try:
            assert names_of_wrong(verify_model(clf, X, y, weight)) == {name}
        finally:
            clf.fitted_ = fitted


def test_what_is_no_table_is_a_plain_error():
    clf, X, y, weight = model("oblique")
    with pytest.raises(ValueError, match="same number of rows, got 36 and 35"):
        verify_model(clf, X, y[1:], weight)
    with pytest.raises(ValueError, match="must be a table"):
        verify_model(clf, np.ones(36), y, weight)
    with pytest.raises(ValueError, match="sample_weight has 35 values"):
        verify_model(clf, X, y, weight[1:])


# -------------------------------------------------------------------- command line


@pytest.fixture
def files(tmp_path):
    """A points tree and its rows in files."""
    frame, y, weight = shop()
    frame.assign(y=y, w=weight).to_csv(tmp_path / "shop.csv", index=False)
    clf = model("points")[0]
    notes = {"target": "y", "weights": "w"}
    save_json(clf, tmp_path / "model.json", metadata=notes)
    return tmp_path / "model.json", tmp_path / "shop.csv"


def test_the_command_says_what_it_recomputed(files):
    result = run("verify", *files)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "Recomputed from the data: columns, their spread and ranges, " in text
    digest = json.loads(files[0].read_text())["digest"]
    assert digest in text
    assert run("verify", *files, "--digest", digest).exit_code == 0
    assert run("verify", *files, "--digest", "0" * 64).exit_code == 1
    again = run("verify", *files, "--resolve-with", "points")
    assert "the engine proves" in again.stdout


@pytest.mark.parametrize("entry", ["digest", "trace"])
def test_a_file_without_one_of_its_entries_was_changed(files, entry):
    plain = json.loads(files[0].read_text())
    del plain[entry]
    files[0].write_text(json.dumps(plain))
    result = run("verify", *files)
    assert result.exit_code == 1
    why = {"digest": "its digest is missing", "trace": "its content does not fit"}
    found = " ".join(result.stdout.split())
    assert f"was changed or damaged: {why[entry]}" in found


def test_a_file_of_an_old_version_is_said_to_say_less(files):
    plain = json.loads(files[0].read_text()) | {"version": 5}
    del plain["digest"]
    files[0].write_text(json.dumps(plain))
    assert "does not say all that is said now" in refused("verify", *files)


@pytest.mark.parametrize("entry", ["node_proba", "status", "digits"])
def test_the_command_finds_what_was_changed(files, entry):
    """A file without a new digest is refused, one with it is found out."""
    plain = json.loads(files[0].read_text())
    leaf = int(np.flatnonzero(np.array(plain["tree"]["children_left"]) < 0)[0])
    if entry == "status":
        plain[entry] = "time_limit"
    else:
        plain[entry][leaf] = plain[entry][leaf][::-1] if entry[0] == "n" else [3, 3]
    files[0].write_text(json.dumps(plain))
    result = run("verify", *files)
    assert result.exit_code == 1
    assert "NOT verified" in result.stdout
    assert "was changed or damaged" in result.stdout
    assert "was changed or damaged" in refused("predict", *files)
    with pytest.raises(ChangedFileError, match="does not fit the digest"):
        load_json(files[0])
    files[0].write_text(sealed(plain))
    result = run("verify", *files)
    assert result.exit_code == 1, result.output
    name = {"node_proba": "probabilities"}.get(entry, entry)
    assert f"WRONG {name}:" in result.stdout


def test_another_target_in_the_notes_is_found(files):
    plain = json.loads(files[0].read_text())
    plain["metadata"]["target"] = "kind"
    files[0].write_text(sealed(plain))
    assert "has 4 missing values" in refused("verify", *files)
    plain["metadata"] = {"target": "new", "weights": None}
    files[0].write_text(sealed(plain))
    assert run("verify", *files).exit_code != 0


def test_bytes_are_not_written_to_a_terminal(files, monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.setattr("miptree.commands.export._is_terminal", lambda: True)
    assert "give --out" in refused("export", files[0], "--to", "onnx")
    assert run("export", files[0], "--to", "text").exit_code == 0
