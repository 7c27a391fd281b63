"""Points trees of tables larger than memory: a sample's tree, counted on all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from _partitioned import FEATURES, rows
from miptree import (
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    evaluate,
    export_text,
    load_json,
    save_json,
    verify,
    verify_model,
)
from miptree.certificate.checks import wrong_type

pytest.importorskip("distributed")
import dask.dataframe as dd
from distributed import Client, LocalCluster

from miptree import distributed
from miptree.distributed._sample import allot


def fitted(
    table: pd.DataFrame,
    max_rows: int = 300,
    n_parts: int = 5,
    client: Client | None = None,
    weights: str | None = None,
    **changes: object,
) -> PointsTreeClassifier:
    given = {"time_limit": None, "max_iter": 5, "feature_penalty": 6, "grid_steps": 10}
    data = dd.from_pandas(table, npartitions=n_parts)
    clf = PointsTreeClassifier(**(given | changes))
    found = distributed.fit(
        data, "label", client, classifier=clf, max_rows=max_rows, weights=weights
    )
    assert isinstance(found, PointsTreeClassifier)
    assert not hasattr(clf, "tree_")
    return found


def cost_of(clf: PointsTreeClassifier, table: pd.DataFrame, costs: np.ndarray) -> float:
    """What the predictions for all rows cost, feature penalties included."""
    y = np.searchsorted(clf.classes_, table["label"].to_numpy(dtype=str))
    predicted = np.searchsorted(clf.classes_, clf.predict(table[FEATURES]))
    uses = np.count_nonzero(clf.tree_.coef, axis=0)
    return costs[y, predicted].sum() + uses @ clf.certificate_.feature_penalties


# ---------------------------------------------------------------------- all rows


def test_counts_are_those_of_all_rows(tmp_path: Path) -> None:
    table = rows(2000)
    clf = fitted(table)
    X, y, found = table[FEATURES], table["label"], clf.certificate_
    assert found.n_rows == 2000
    assert found.errors == (clf.predict(X) != y).sum() < 300
    assert clf.objective_ == cost_of(clf, table, 1.0 - np.eye(3))
    assert clf.feature_penalty_ == 6
    assert np.array_equal(clf.fitted_.node_count, evaluate(clf, X, y).node_counts)
    save_json(clf, tmp_path / "model.json")
    again = load_json(tmp_path / "model.json")
    assert export_text(again) == export_text(clf)
    for model in (clf, again):
        lazy = distributed.predict(model, dd.from_pandas(table, npartitions=3))
        assert lazy.compute().tolist() == clf.predict(X).tolist()
        verified = verify_model(model, X, y, resolve_with="points")
        assert verified.ok, str(verified)
        assert "nothing is proved of all rows" in str(verified)


def test_leaves_are_labelled_by_all_rows() -> None:
    """One class is the cheapest of every leaf, in all rows though not in a sample."""
    table = rows(2000)
    for seed in range(3):
        clf = fitted(table, max_rows=20, random_state=seed)
        count, is_leaf = clf.fitted_.node_count, clf.tree_.is_leaf
        label = clf.tree_.label[is_leaf]
        most = count[is_leaf].max(axis=1)
        assert (count[is_leaf][np.arange(len(label)), label] == most).all()


def test_workers_and_threads_agree() -> None:
    table = rows(600)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two,
        Client(two) as client,
    ):
        many = fitted(table, client=client)
    alone = fitted(table)
    assert many.certificate_.tree_digest == alone.certificate_.tree_digest
    assert many.certificate_.errors == alone.certificate_.errors


@pytest.mark.parametrize("given", ["balanced", {"x": 0.0, "y": 2.0, "z": 0.5}])
def test_class_weights_are_those_of_all_rows(given: str | dict[str, float]) -> None:
    table = pd.concat([rows(900), rows(3000, 1).query("label == 'x'")])
    clf = fitted(table, class_weight=given)
    weight = given
    if given == "balanced":
        weight = (len(table) / (3 * table["label"].value_counts())).to_dict()
    by_row = np.array([weight[label] for label in "xyz"])[:, None]
    costs = by_row * (1.0 - np.eye(3))
    assert clf.objective_ == pytest.approx(cost_of(clf, table, costs))
    verified = verify_model(clf, table[FEATURES], table["label"])
    assert verified.ok, str(verified)


def test_weights_and_costs_are_counted() -> None:
    costs = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    table = rows(900).assign(w=np.tile([0.0, 1.5, 3.0], 300))
    clf = fitted(table, weights="w", cost_matrix=costs, max_depth=1)
    y = np.searchsorted(clf.classes_, table["label"].to_numpy(dtype=str))
    predicted = np.searchsorted(clf.classes_, clf.predict(table[FEATURES]))
    found = clf.certificate_
    assert found.cost == pytest.approx((table["w"] * costs[y, predicted]).sum())
    assert (found.n_rows, found.n_unweighted) == (600, 300)
    assert 0 < found.any_tree_bound <= found.cost  # three classes, two leaves
    assert "but that errors cost at least" in str(found)
    given = table[FEATURES], table["label"], table["w"]
    verified = verify_model(clf, *given)
    assert verified.ok, str(verified)


def test_a_truth_value_that_the_sample_lacks_is_known() -> None:
    table = rows(2000).assign(d=False)
    table.loc[1999, "d"] = True
    clf = fitted(table, unknown="error", feature_penalty=0)
    assert clf.certificate_.errors == (
        (clf.predict(table[FEATURES]) != table["label"]).sum()
    )
    verified = verify_model(clf, table[FEATURES], table["label"])
    assert verified.ok, str(verified)


def test_the_penalty_chosen_for_the_sample_is_told_for_all_rows() -> None:
    clf = fitted(rows(2000), max_rows=200, feature_penalty="auto")
    assert "folds" in clf.penalty_chosen_
    assert clf.feature_penalty_ == 0 or 2000 * 0.003 < clf.feature_penalty_ < 60


# ----------------------------------------------------------------- nothing is proved


@pytest.mark.parametrize("max_rows", [200, 900])
def test_no_proof_is_claimed_for_all_rows(max_rows: int) -> None:
    """Not even where the sample is all rows."""
    clf = fitted(rows(900), max_rows, max_iter=None, max_features_per_split=1)
    found, text = clf.certificate_, str(clf.certificate_)
    assert clf.status_ == "unproved"
    assert not found.objective_optimal
    assert found.objective_bound == found.any_tree_bound
    assert found.best_of_sample
    assert found.n_sampled == pytest.approx(max_rows, abs=3)
    assert f"best points tree of its kind for a sample of {found.n_sampled} of" in text
    assert "for all rows nothing is proved" in text


def test_a_tree_without_errors_is_not_called_optimal() -> None:
    table = rows(600)
    table["label"] = np.where(table["a"] > 1, "x", "y")
    clf = fitted(table, feature_penalty=0, units={"a": 1})
    assert clf.objective_ == clf.gap_ == 0
    assert not clf.certificate_.objective_optimal
    assert clf.status_ in ("unproved", "max_iter")


def test_a_search_that_did_not_end_claims_nothing_for_the_sample() -> None:
    clf = fitted(rows(900), max_iter=1)
    assert clf.status_ == "max_iter"
    assert not clf.certificate_.best_of_sample
    assert "not proved to be the best for it" in str(clf.certificate_)
    assert "optimal" not in str(clf.certificate_)


def test_a_forged_proof_is_found() -> None:
    table = rows(600)
    clf = fitted(table)
    found = clf.certificate_
    proved = {"objective_bound": found.objective, "objective_proved_by": "search"}
    for changes in (proved, {"n_sampled": None}, {"n_sampled": 601}):
        forged = replace(found, **changes).signed()
        assert wrong_type(forged) is not None
        given = table[FEATURES], table["label"]
        assert not verify(forged, clf.tree_, *given, table=clf.table_).ok


def test_the_progress_is_that_of_a_sample() -> None:
    told = []
    clf = fitted(rows(600), callback=told.append)
    stages = {state.stage for state in told[:-1]}
    assert stages <= {"compile", "folds", "sample"}
    assert told[-1].stage == "done"
    assert told[-1].objective == clf.objective_
    assert told[-1].bound == clf.bound_ == 0
    stopped = fitted(rows(600), callback=lambda state: True)
    assert stopped.status_ == "interrupted"
    wrong = stopped.predict(rows(600)[FEATURES]) != rows(600)["label"]
    assert stopped.certificate_.errors == wrong.sum()


# ------------------------------------------------------------------------- a sample


def test_a_sample_has_the_shares_of_the_classes() -> None:
    count = np.array([[900, 3, 0], [0, 0, 1], [50, 0, 0], [2000, 7, 0]])
    sizes = [allot(count, 100, seed) for seed in range(200)]
    assert all((size <= count).all() for size in sizes)
    assert all(size.sum(axis=0).tolist() == [100, 1, 1] for size in sizes)
    mean = np.mean(sizes, axis=0)
    assert mean[:, 0] == pytest.approx(100 * count[:, 0] / 2950, abs=0.2)
    assert mean[0, 1] == pytest.approx(0.3, abs=0.1)
    assert np.array_equal(allot(count, 10_000, 0), count)


# ------------------------------------------------------------------------ bad input


def test_bad_input_is_refused() -> None:
    data = dd.from_pandas(rows(60), npartitions=2)
    with pytest.raises(ValueError, match=r"got OptimalTreeClassifierCV\. Give one"):
        distributed.fit(data, "label", classifier=OptimalTreeClassifierCV())
    with pytest.raises(ValueError, match="got str"):
        distributed.fit(data, "label", classifier="points")
    with pytest.raises(ValueError, match="max_depth of PointsTreeClassifier is 1 to 4"):
        fitted(rows(60), max_depth=5)
    with pytest.raises(ValueError, match="categorical_features is not supported"):
        fitted(rows(60), categorical_features=["a"])
    with pytest.raises(ValueError, match="class_weight names 'w'"):
        fitted(rows(60), class_weight={"w": 1.0})
    with pytest.raises(ValueError, match="units names 'e'"):
        fitted(rows(60), units={"e": 1})
    with pytest.raises(ValueError, match="min_samples_leaf is 50, but the sample"):
        fitted(rows(60), max_rows=30, min_samples_leaf=50)
    with pytest.raises(ValueError, match="chosen for a sample of rows in partitions"):
        fitted(rows(60)).alternatives()


def test_command_line(tmp_path: Path) -> None:
    from miptree.commands import app

    table = rows(300)
    for number in range(2):
        part = table[150 * number :][:150]
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
    table.to_csv(tmp_path / "all.csv", index=False)
    out = tmp_path / "model.json"
    arguments = ["fit", str(tmp_path / "*.parquet"), "--target", "label"]
    arguments += ["--engine", "dask", "--style", "points", "--depth", "1"]
    answer = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert answer.exit_code == 0, answer.output
    assert "Nothing is proved about all rows" in " ".join(answer.output.split())
    assert load_json(out).certificate_.n_rows == 300
    answer = CliRunner().invoke(app, ["verify", str(out), str(tmp_path / "all.csv")])
    assert answer.exit_code == 0, answer.output
    answer = CliRunner().invoke(app, [*arguments, "--proof-log", "proof"])
    assert "proves nothing of all rows" in " ".join(answer.output.split())
