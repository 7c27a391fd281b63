"""Tables larger than memory: the same tree on threads and on workers, dying or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from _partitioned import quick_model, rows
from miptree import OptimalTreeClassifier, evaluate, load_json, save_json
from miptree.data.problem import Problem
from miptree.objective import Svm1Objective
from miptree.objective.penalties import suited_margin
from miptree.selection import CoverSelection

pytest.importorskip("distributed")
import dask
import dask.dataframe as dd
from distributed import Client, LocalCluster

from miptree import distributed
from miptree.distributed import _partition


def same(one: OptimalTreeClassifier, two: OptimalTreeClassifier) -> bool:
    arrays = ("children_left", "children_right", "coef", "threshold", "label")
    trees = all(
        np.array_equal(getattr(one.tree_, name), getattr(two.tree_, name))
        for name in arrays
    )
    return trees and one.certificate_.errors == two.certificate_.errors


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def parts(tmp_path: Path) -> str:
    """Files of unequal size; one is empty, one lacks a class."""
    table = rows(3000)
    lacking = table[table["label"] != "z"]
    cuts = [table[:900], table[:0], lacking[900:1500], table[2000:]]
    for number, part in enumerate(cuts):
        part.to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    return str(tmp_path / "*.parquet")


def test_counts_are_those_of_all_rows(parts: str) -> None:
    clf = distributed.fit(parts, "label", classifier=quick_model(), max_rows=400)
    table = pd.concat([part.compute() for part in dd.read_parquet(parts).partitions])
    X, y = table[list("abcd")], table["label"]
    wrong = (clf.predict(X) != y).sum()
    assert clf.certificate_.errors == wrong < 0.15 * len(y)
    assert clf.certificate_.n_rows == len(y)
    codes = np.searchsorted(clf.classes_, y.to_numpy(dtype=str))
    problem = Problem.from_data(X.to_numpy(), codes, 3)
    found = clf.certificate_
    objective = Svm1Objective(found.slack_penalty, found.l1_penalty, found.margin)
    assert found.margin == pytest.approx(suited_margin(problem), rel=0.1)
    score = objective.evaluate(problem, clf.tree_)
    assert clf.objective_ == pytest.approx(score.objective)
    assert clf.certificate_.cost_at_margin == pytest.approx(score.cost_at_margin)
    proba = clf.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(np.ones(len(X)))
    count = evaluate(clf, X, y).node_counts
    assert np.array_equal(clf.fitted_.node_count, count)


def test_workers_and_threads_agree(parts: str, client: Client) -> None:
    alone = distributed.fit(parts, "label", classifier=quick_model(), max_rows=400)
    many = distributed.fit(
        parts, "label", client, classifier=quick_model(), max_rows=400
    )
    assert same(alone, many)


class _Deadly:
    """A selector that kills its worker once."""

    def __init__(self, marker: str) -> None:
        self.marker = marker

    def select(self, problem, tree, clusters=None):
        if not os.path.exists(self.marker):
            Path(self.marker).touch()
            os._exit(1)
        return CoverSelection().select(problem, tree, clusters)


def test_a_killed_worker_changes_nothing(
    parts: str, client: Client, tmp_path: Path
) -> None:
    marker = str(tmp_path / "killed")
    deadly = quick_model(selection=_Deadly(marker), max_rounds=1)
    struck = distributed.fit(parts, "label", client, classifier=deadly, max_rows=400)
    assert os.path.exists(marker)
    calm = quick_model(selection=CoverSelection(), max_rounds=1)
    assert same(struck, distributed.fit(parts, "label", classifier=calm, max_rows=400))


@pytest.mark.parametrize("selection", ["hull", "cover", "stratified", "auto", None])
def test_selections(parts: str, selection: str | None) -> None:
    clf = distributed.fit(
        parts, "label", classifier=quick_model(selection=selection), max_rows=300
    )
    assert clf.certificate_.errors < 0.15 * clf.certificate_.n_rows


def test_small_tables_are_used_whole() -> None:
    table = dd.from_pandas(rows(200), npartitions=3)
    clf = distributed.fit(table, "label", classifier=quick_model())
    assert clf.certificate_.errors < 20


def test_weights_and_dropped_columns() -> None:
    table = rows(600)
    table["w"] = np.where(table["label"] == "z", 0.0, 2.0)
    table["text"] = "word"
    clf = distributed.fit(
        dd.from_pandas(table, npartitions=2),
        "label",
        classifier=quick_model(),
        weights="w",
        drop=["text"],
    )
    assert clf.classes_.tolist() == ["x", "y"]
    assert clf.feature_names_in_.tolist() == list("abcd")
    assert clf.certificate_.cost == 2 * clf.certificate_.errors
    assert clf.certificate_.has_costs
    assert clf.certificate_.n_unweighted == (table["label"] == "z").sum()


def test_predict_is_lazy_and_agrees(parts: str, tmp_path: Path) -> None:
    clf = distributed.fit(parts, "label", classifier=quick_model(), max_rows=300)
    found = distributed.predict(clf, parts)
    assert hasattr(found, "compute")
    table = dd.read_parquet(parts).compute()
    assert found.compute().tolist() == clf.predict(table[list("abcd")]).tolist()
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    assert distributed.predict(again, parts).compute().tolist() == (
        found.compute().tolist()
    )
    with pytest.raises(ValueError, match="no column 'a'"):
        distributed.predict(clf, dd.read_parquet(parts).drop(columns="a"))


def test_command_line(parts: str, tmp_path: Path) -> None:
    from miptree.commands import app

    out = tmp_path / "model.json"
    arguments = ["fit", parts, "--target", "label", "--engine", "dask"]
    arguments += ["--solver", "search", "--time-limit", "3", "--out", str(out)]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    assert load_json(out).certificate_.n_rows == 2500
    answer = CliRunner().invoke(app, [*arguments[:5], "spark"])
    assert answer.exit_code == 2


def test_the_command_leaves_out_what_identifies_rows(tmp_path: Path) -> None:
    from miptree.commands import app

    for number in range(2):
        table = rows(300, number)
        table.insert(0, "loan_id", 300 * number + np.arange(300))
        table["iban"] = [f"DE{number}{k:03d}" for k in range(300)]
        table["week_no"] = np.arange(300)  # the second file has the same
        table.to_csv(tmp_path / f"{number}.csv", index=False)
    out = tmp_path / "model.json"
    arguments = ["fit", str(tmp_path / "*.csv"), "--target", "label", "--engine"]
    arguments += ["dask", "--solver", "search", "--time-limit", "3", "--out", str(out)]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    told = "'loan_id' (named like an id, 600 different values in 600 rows), 'iban'"
    assert told in answer.stderr
    assert "Its first 600 rows were looked at." in answer.stderr
    assert "week_no" not in answer.stderr
    assert "Warning" not in answer.stderr
    assert "loan_id" not in out.read_text()
    assert "iban" not in out.read_text()
    more = [*arguments, "--drop", "iban", "--use", "loan_id", "--force"]
    answer = CliRunner().invoke(app, more)
    assert answer.exit_code == 0, answer.output
    assert "loan_id" in load_json(out).feature_names_in_
    answer = CliRunner().invoke(app, [*arguments, "--drop", "none", "--force"])
    assert answer.exit_code == 2
    assert "There is no column 'none'" in answer.stderr


def test_csv_files(tmp_path: Path) -> None:
    for number in range(2):
        rows(300, number).to_csv(tmp_path / f"{number}.csv", index=False)
    pattern = str(tmp_path / "*.csv")
    clf = distributed.fit(pattern, "label", classifier=quick_model(max_rounds=1))
    assert clf.certificate_.n_rows == 600


# ---------------------------------------------------------------------- bad input


def refused(table: object, message: str, **changes: object) -> None:
    if isinstance(table, pd.DataFrame):
        table = dd.from_pandas(table, npartitions=2)
    given = {"target": "label", "classifier": quick_model()} | changes
    with pytest.raises(ValueError, match=message):
        distributed.fit(table, **given)


def test_bad_tables_are_refused() -> None:
    table = rows(60)
    refused(table, "There is no column 'y'", target="y")
    refused(table, "max_rows", max_rows=0)
    refused(table[["label"]], "No column is left")
    refused(table.assign(label="x"), "at least 2 classes")
    refused(table.assign(a="word"), "Column 'a' is of type .*must hold numbers or")
    refused(table.assign(a="01"), "Column 'a' is of type")  # predict would refuse it
    dates = pd.date_range("2020-01-01", periods=60)
    refused(table.assign(a=dates), "Column 'a' is of type datetime")
    refused(table.assign(label=table["a"]), "Unknown label type: continuous")
    refused(table.assign(b=[np.nan] + [0.0] * 59), "infinite values in column 'b'")
    missing = table.assign(label=[*table["label"][:59], None])
    refused(missing, "Partition 1 has missing labels")
    refused(table.assign(w=-1.0), "negative", weights="w")
    refused(table.assign(w=0.0), "no rows", weights="w")
    refused(table, "class_weight", classifier=quick_model(class_weight="balanced"))
    refused(table, "must be 'hull'", classifier=quick_model(selection="balanced"))
    with pytest.raises(TypeError, match="from_pandas"):
        distributed.fit(table, "label")


def test_columns_that_differ_are_named() -> None:
    columns = _partition.Columns(("a", "b"), "label")
    table = pd.DataFrame({"a": [1.0], "label": ["x"]})
    assert "Partition 3 lacks column 'b'" in _partition.summarise(table, 3, columns)
    table = table.assign(b=1.0, c=2.0)
    assert "another column 'c'" in _partition.summarise(table, 3, columns)
