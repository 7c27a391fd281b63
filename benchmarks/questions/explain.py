"""Nearest changes of 1,000 rows: which are found, and whether ``predict`` agrees.

A tree of depth 2 is trained on 75 % of a table, and 125 of the other rows are explained
with the training rows as background. Each change is written into its row here, by the
features and values that the explanation names, and predicted.

    python benchmarks/run.py explain --name fair-german
"""

from __future__ import annotations

import time
from argparse import Namespace
from typing import Any

import numpy as np
import pandas as pd

from miptree import (
    OptimalTreeClassifier,
    PointsTreeClassifier,
    datasets,
    explain,
)
from miptree.bench.markdown import markdown_table
from miptree.bench.measure import split_rows

TITLE = "Nearest changes that flip a decision"
ABOUT = (
    "Depth 2, tables of `dev`, 125 rows that were not trained on for each tree. "
    "`none` counts rows for which no change within the ranges of the training rows "
    "leads to another class, or none was found; `flips` the changes after which "
    "`predict` returns the class that the explanation names, of those found; `nearest` "
    "those that are said to be the nearest. `ms` is the time of each row on a shared "
    "machine."
)
OPTIONS: dict[str, Any] = {
    "name": ("fair-german", "hmeq", "vehicle", "contraceptive"),
    "style": ("points", "oblique"),
    "split": (20,),
}
KEY = ("name", "style", "split")
ROWS = 125


def run(case: Namespace) -> dict[str, Any]:
    """Train a tree and explain rows."""
    data = datasets.load(case.name, "dev")
    y = np.asarray(data.target).astype(str)
    train, test, _, _ = split_rows(np.arange(len(y)), y, case.split)
    frame, rows = data.frame.iloc[train], data.frame.iloc[test[:ROWS]]
    clf = _tree(case).fit(frame, y[train])
    start = time.perf_counter()
    found = explain(clf, rows, background=frame)
    seconds = time.perf_counter() - start
    changed = [item for item in found if item.change is not None]
    flipped = [_flips(clf, rows.iloc[[item.row]], item.change) for item in changed]
    return {
        "rows": len(rows),
        "found": len(changed),
        "flips": sum(flipped),
        "nearest": sum(item.change.is_nearest for item in changed),
        "ms": round(1000 * seconds / len(rows), 1),
    }


def _tree(case: Namespace) -> Any:
    if case.style == "points":
        return PointsTreeClassifier(max_depth=2, time_limit=15, random_state=0)
    return OptimalTreeClassifier(
        max_depth=2,
        max_features_per_split=4,
        solver="search",
        max_iter=40,
        time_limit=None,
        random_state=0,
    )


def _flips(clf: Any, row: pd.DataFrame, change: Any) -> bool:
    """Tell whether a row gets another class, that named, with the values named."""
    changed = row.copy()
    for part in change.changes:
        changed[part.feature] = part.after
    before, after = clf.predict(row)[0], clf.predict(changed)[0]
    return bool(after == change.label and after != before)


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table of all trees, and the sums."""
    head = ["table", "tree", "rows", "none", "flips", "nearest", "ms"]
    lines = [
        [
            r["name"],
            r["style"],
            r["rows"],
            r["rows"] - r["found"],
            f"{r['flips']} of {r['found']}",
            f"{r['nearest']} of {r['found']}",
            f"{r['ms']:.1f}",
        ]
        for r in records
    ]
    found = sum(r["found"] for r in records)
    said = (
        f"Of {sum(r['rows'] for r in records)} rows {found} have a change, and "
        f"{sum(r['flips'] for r in records)} of these flip the decision by `predict`."
    )
    return [markdown_table(head, lines), said]
