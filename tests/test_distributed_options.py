"""Options and tables of a distributed fit: carried, or refused with a clear word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from _partitioned import FEATURES, quick_model, rows
from miptree import OptimalTreeClassifier, load_json, save_json
from miptree.certificate.digest import certificate_digest
from miptree.constraints import MinLeaf

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd

from miptree import distributed
from miptree.distributed import _files


def fitted(
    table: pd.DataFrame | str, max_rows: int = 300, **changes: object
) -> OptimalTreeClassifier:
    data = table if isinstance(table, str) else dd.from_pandas(table, npartitions=3)
    return distributed.fit(
        data, "label", classifier=quick_model(**changes), max_rows=max_rows
    )


# ------------------------------------------------------------------------ options


def test_the_certificate_fits_its_digest() -> None:
    found = fitted(rows()).certificate_
    assert certificate_digest(found) == found.digest


def test_costs_reach_every_partition() -> None:
    costs = np.array([[0.0, 0.01, 0.01], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]])
    table = rows()
    clf = fitted(table, cost_matrix=costs)
    y = np.searchsorted(clf.classes_, table["label"].to_numpy(dtype=str))
    predicted = np.searchsorted(clf.classes_, clf.predict(table[FEATURES]))
    cost = costs[y, predicted].sum()
    assert clf.certificate_.cost == pytest.approx(cost)
    plain = np.searchsorted(clf.classes_, fitted(table).predict(table[FEATURES]))
    assert cost < costs[y, plain].sum()


def test_costs_bound_the_classes_without_a_leaf() -> None:
    """Of three classes a stump loses one, at the least at its cheapest error."""
    costs = np.array([[0.0, 0.25, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    table = rows()
    clf = fitted(table, cost_matrix=costs, max_depth=1)
    counts = table["label"].value_counts()
    assert clf.certificate_.any_tree_bound == 0.25 * counts["x"]
    assert clf.certificate_.cost >= clf.certificate_.any_tree_bound


def test_bad_costs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"cost_matrix must have shape \(3, 3\)"):
        fitted(rows(), cost_matrix=[[0, 1], [1, 0]])
    costs = np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match="formulation='paper' counts errors"):
        fitted(
            rows(), cost_matrix=costs, formulation="paper", solver="highs", node_limit=1
        )


def test_features_of_a_split_are_limited() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, size=(600, 3)), columns=list("abc"))
    table["label"] = table.sum(axis=1) > 0
    clf = fitted(table, max_features_per_split=1, max_depth=1, l1_penalty=0.1)
    assert np.count_nonzero(clf.tree_.coef, axis=1).max() == 1
    assert clf.certificate_.max_features == 1


@pytest.mark.parametrize("encoding", ["both", "native", "onehot"])
def test_truth_values_are_categories_as_in_memory(
    encoding: str, tmp_path: Path
) -> None:
    table = rows()
    table["b"] = table["b"] > 1.5
    table["c"] = True  # constant
    clf = fitted(table, categorical_encoding=encoding)
    alone = OptimalTreeClassifier(
        solver="search", time_limit=None, max_iter=1, categorical_encoding=encoding
    ).fit(table[FEATURES], table["label"])
    assert clf.table_.open_names == alone.table_.open_names
    assert clf.table_.value_names == alone.table_.value_names
    predicted = clf.predict(table[FEATURES])
    assert clf.certificate_.errors == (predicted != table["label"]).sum()
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    lazy = distributed.predict(again, dd.from_pandas(table, npartitions=2))
    assert lazy.compute().tolist() == predicted.tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"categorical_features": ["a"]}, "categorical_features is not supported"),
        ({"class_weight": "balanced"}, "class_weight is not supported"),
        ({"constraints": [MinLeaf(rows=5)], "selection": "hull"}, "a stratified sam"),
        ({"solver": "highs"}, "Set a node_limit"),
    ],
)
def test_options_that_need_all_rows_are_refused(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fitted(rows(30), **changes)


@pytest.mark.parametrize("kind", ["category", "Int64", "int8"])
def test_labels_that_are_numbers_stay_numbers(kind: str) -> None:
    table = rows(60)
    label = table["label"].map({"x": 3, "y": 5, "z": 8}).astype(kind)
    clf = fitted(table.assign(label=label))
    assert clf.classes_.tolist() == [3, 5, 8]
    assert clf.classes_.dtype.kind == "i"


def test_rows_that_occur_often_are_drawn_as_often() -> None:
    """Five points in 6000 rows, of which a sample holds some hundred."""
    point = np.repeat([0, 1, 2, 3, 4], [2950, 2950, 60, 30, 10])
    label = np.array(["x", "y", "y", "x", "x"])[point]
    order = np.random.default_rng(0).permutation(len(point))
    table = pd.DataFrame({"a": point[order] * 1.0, "label": label[order]})
    clf = fitted(table, max_rows=100, max_depth=1)
    assert clf.certificate_.errors == 40


def test_categories_are_refused() -> None:
    table = rows(30).assign(a=pd.Categorical(["u", "v", "w"] * 10))
    with pytest.raises(ValueError, match="'a' is of a category type"):
        fitted(table)
    truths = rows(30).assign(a=True)
    with pytest.raises(ValueError, match="'a' holds truth values"):
        fitted(truths, categorical_features=None)


def test_a_hull_of_most_rows() -> None:
    clf = fitted(rows(), max_rows=570, selection="hull", max_iter=3)
    assert clf.certificate_.n_rows == 600


# -------------------------------------------------------------------------- files


def write_two(folder: Path, second: pd.DataFrame, kind: str) -> str:
    for number, part in enumerate((rows(60), second)):
        path = folder / f"{number}.{kind}"
        part.to_csv(path, index=False) if kind == "csv" else part.to_parquet(path)
    return str(folder / f"*.{kind}")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_files_must_agree(kind: str, tmp_path: Path) -> None:
    lacking = write_two(tmp_path, rows(60, 1).drop(columns="b"), kind)
    with pytest.raises(
        ValueError, match=f"1.{kind} lacks column 'b', which .*0.{kind}"
    ):
        fitted(lacking)
    more = write_two(tmp_path, rows(60, 1).assign(e=1.0), kind)
    with pytest.raises(ValueError, match=f"0.{kind} lacks column 'e'"):
        fitted(more)
    clf = fitted(write_two(tmp_path, rows(60, 1), kind))
    assert clf.certificate_.n_rows == 120
    # Prediction reads the features only.
    more = write_two(tmp_path, rows(60, 1).assign(e=1.0), kind)
    assert len(distributed.predict(clf, more).compute()) == 120


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_no_file(kind: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No file matches"):
        fitted(str(tmp_path / f"*.{kind}"))
    with pytest.raises(FileNotFoundError, match="No file matches"):
        fitted(str(tmp_path / f"none.{kind}"))


def test_a_csv_file_is_read_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "CSV_BLOCK", 10_000)
    rows().to_csv(tmp_path / "one.csv", index=False)
    assert _files.open_table(tmp_path / "one.csv").npartitions > 3
    assert fitted(str(tmp_path / "one.csv")).certificate_.n_rows == 600


def test_only_an_empty_field_of_a_csv_is_missing(tmp_path: Path) -> None:
    table = rows(60)
    table["label"] = table["label"].map({"x": "None", "y": "NA", "z": "null"})
    table.to_csv(tmp_path / "one.csv", index=False)
    clf = fitted(str(tmp_path / "one.csv"))
    assert clf.classes_.tolist() == ["NA", "None", "null"]


def test_arrays_are_refused() -> None:
    clf = fitted(rows(60), max_iter=2)
    array = da.from_array(rows(60)[FEATURES].to_numpy(), chunks=(20, 4))
    with pytest.raises(TypeError, match="from_dask_array"):
        distributed.predict(clf, array)
    with pytest.raises(TypeError, match="from_dask_array"):
        distributed.fit(array, "label")
