"""The rounds of a distributed fit: how many rows, how long, and what is kept."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from _partitioned import FEATURES, quick_model, rows
from miptree import export_text, verify, verify_model
from miptree.control.clock import Clock
from miptree.fit.plan import Plan
from miptree.objective import Svm1Objective

pytest.importorskip("distributed")
import dask.dataframe as dd
import fsspec

from miptree import OptimalTreeClassifier, distributed
from miptree.data.problem import Problem
from miptree.distributed import _client
from miptree.distributed._frame import Columns
from miptree.fit import searches
from miptree.selection import CoverSelection, HullSelection
from miptree.tree import ObliqueTree


def fitted(
    n_rows: int = 600, n_parts: int = 3, max_rows: int = 300, **changes: object
) -> OptimalTreeClassifier:
    table = dd.from_pandas(rows(n_rows), npartitions=n_parts)
    return distributed.fit(
        table, "label", classifier=quick_model(**changes), max_rows=max_rows
    )


@pytest.mark.parametrize("selection", ["hull", "cover", HullSelection(beta2=0.2)])
def test_selecting_again_keeps_as_many_rows_as_asked(
    selection: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 20 partitions gives a row of every cluster at least."""
    trained_on = []
    train = _client.Fitting._train

    def watched(
        self: _client.Fitting, rows: Problem, clock: Clock
    ) -> list[ObliqueTree]:
        trained_on.append(rows.n_rows)
        return train(self, rows, clock)

    monkeypatch.setattr(_client.Fitting, "_train", watched)
    fitted(2000, 20, max_rows=60, selection=selection, max_rounds=1, max_iter=1)
    assert 30 <= trained_on[0] <= 90


def test_a_solver_goes_on_from_a_start_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def search(*args: object, **options: object) -> None:
        raise AssertionError("searched")

    with monkeypatch.context() as patched:
        patched.setattr(_client, "search", search)
        patched.setattr(searches, "search", search)
        clf = fitted(init="cart", solver="highs", node_limit=1, max_rows=60)
    assert clf.certificate_.errors < 200
    assert clf.n_iter_ == 0
    assert fitted(init="cart").n_iter_ > 0  # unless the solver is the search


def test_an_interrupt_keeps_the_best_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    search = _client.search

    def struck(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return search(*args, **options)

    monkeypatch.setattr(_client, "search", struck)
    clf = fitted(max_rounds=5)
    assert clf.status_ == "interrupted"
    assert (clf.predict(rows(600)[FEATURES]) != rows(600)["label"]).sum() == (
        clf.certificate_.errors
    )


def test_without_time_the_start_is_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_client.Fitting, "_select", lambda self: 1 / 0)
    clf = fitted(time_limit=0.0, max_iter=None)
    assert clf.status_ == "time_limit"
    assert clf.certificate_.errors < 300


def test_partitions_share_the_time_of_a_selection() -> None:
    table = dd.from_pandas(rows(600), npartitions=40)
    partitions = distributed._dask.Partitions(table)
    assert 1 <= partitions.turns <= 40
    hours = 1e6  # so long that the seconds between two looks do not show
    clf = quick_model(selection="cover", time_limit=hours)
    columns = Columns(tuple(FEATURES), "label")
    fitting = _client.Fitting(partitions, columns, clf, 300, Clock(hours))
    fitting.plan = Plan.of(clf, Svm1Objective(1000, 0.1, 0.01))
    one, each = (fitting._selector(0.5, turns) for turns in (1, 40))
    assert isinstance(one, CoverSelection)
    assert isinstance(each, CoverSelection)
    assert one.clock is not None
    assert each.clock is not None
    assert each.clock.limit == pytest.approx(one.clock.limit / 40, rel=0.01)


def test_idle_splits_are_dropped_and_scores_lie_in_the_box() -> None:
    """A table that one split parts leaves nothing to do for the others."""
    table = rows(600)
    table["label"] = np.where(table["a"] > 1, "x", "y")
    data = dd.from_pandas(table, npartitions=3)
    clf = distributed.fit(data, "label", classifier=quick_model(), max_rows=300)
    assert clf.tree_.n_leaves == 2
    text = export_text(clf)
    assert "0 <= 1" not in text
    assert "Numbers are rounded" in text
    tree = clf.tree_
    score = table[FEATURES].to_numpy() @ tree.coef[0] - tree.threshold[0]
    assert np.abs(score).max() <= 1 + 1e-9
    counts = np.bincount(tree.apply(table[FEATURES].to_numpy()), minlength=3)
    assert counts[0] == 0
    found = verify(clf.certificate_, tree, table[FEATURES].to_numpy(), table["label"])
    assert "trained on data in partitions" in str(found)
    assert found.ok, str(found)
    whole = verify_model(clf, table[FEATURES], table["label"])
    assert whole.ok, str(whole)


def test_rows_with_too_many_fields_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b,label\n1,2,0,7\n3,4,1,7\n")
    with pytest.raises(ValueError, match=r"one\.csv has rows with more fields"):
        distributed.fit(str(tmp_path / "*.csv"), "label", classifier=quick_model())


def test_the_command_line_takes_addresses() -> None:
    from typer.testing import CliRunner

    from miptree.commands import app

    with fsspec.open("memory://bucket/one.csv", "w") as file:
        rows(300).to_csv(file, index=False)
    arguments = ["fit", "memory://bucket/*.csv", "--target", "label"]
    arguments += ["--engine", "dask", "--solver", "search", "--time-limit", "2"]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    assert "of 300 training rows" in " ".join(answer.output.split())
