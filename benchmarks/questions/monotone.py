"""Monotone trees on 50,000 rows: their time, and what the rule costs.

``credit`` is a made-up table of 50,000 training and 10,000 test rows: who fails depends
on income, debt and arrears in the directions that anybody expects, with noise; but
those of the lowest incomes fail less, which a tree that follows the rules must not
learn. ``adult`` is a table of ``dev``, 75 % of its rows for training. A tree of depth 2
has 60 s. ``--limit`` gives other limits.

    python benchmarks/run.py monotone --name credit
"""

from __future__ import annotations

import time
from argparse import Namespace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from common import percent
from miptree import OptimalTreeClassifier, datasets
from miptree.bench.markdown import markdown_table
from miptree.bench.measure import split_rows
from miptree.constraints import Monotone

TITLE = "Monotone trees on 50,000 rows"
ABOUT = (
    "Depth 2. `s` is the time of the whole fit, checks and certificate included, on a "
    "shared machine of two cores. `broken` counts test rows whose prediction moves "
    "away from the label as one of the columns rises, or falls where the rule says so, "
    "by 1 %, 10 % or 100 % of its range. The table credit is made up, and a fourth "
    "draft: in the drafts before the rule changed nothing, as it hardly does here."
)
OPTIONS: dict[str, Any] = {
    "name": ("credit", "adult"),
    "rule": ("none", "monotone"),
    "limit": (60,),
    "split": (20,),
}
KEY = ("name", "rule", "limit", "split")


class Rows(NamedTuple):
    """A table, cut into training and test rows, and the directions asked for."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    directions: dict[str, int]
    label: Any


def load(name: str, split: int) -> Rows:
    """Return a table by its name."""
    if name == "adult":
        data = datasets.load("fair-adult", "dev")
        frame, y = data.frame, np.asarray(data.target)
        rows, test, _, _ = split_rows(np.arange(len(y)), y, split)
        directions = {"education_num": 1, "hours_per_week": 1, "capital_gain": 1}
        parts = frame.iloc[rows], y[rows], frame.iloc[test], y[test]
        return Rows(*parts, directions, ">50K")
    rng, n = np.random.default_rng(split), 60_000
    X = pd.DataFrame(
        {
            "income": rng.lognormal(3.4, 0.5, n).round(1),
            "debt": rng.lognormal(2.0, 0.8, n).round(1),
            "arrears": rng.poisson(0.6, n).astype(float),
            "age": rng.integers(18, 80, n).astype(float),
        }
    )
    risk = 3.0 + 0.5 * X["debt"] - 0.25 * X["income"] + 1.5 * X["arrears"]
    risk += 0.03 * np.abs(X["age"] - 45) + rng.logistic(0.0, 2.0, n)
    risk -= 12.0 * (X["income"] < 25)
    y = np.where(risk > 0, "failed", "paid")
    directions = {"income": -1, "debt": 1, "arrears": 1}
    cut = 50_000
    return Rows(X[:cut], y[:cut], X[cut:], y[cut:], directions, "failed")


def run(case: Namespace) -> dict[str, Any]:
    """Fit one tree."""
    rows = load(case.name, case.split)
    rules = [Monotone(rows.directions, rows.label)]
    clf = OptimalTreeClassifier(
        max_depth=2,
        time_limit=float(case.limit),
        random_state=case.split,
        constraints=rules if case.rule == "monotone" else None,
    )
    start = time.perf_counter()
    clf.fit(rows.X, rows.y)
    seconds = time.perf_counter() - start
    return {
        "n": len(rows.X),
        "seconds": round(seconds, 1),
        "status": clf.status_,
        "train": percent(clf.predict(rows.X) == rows.y),
        "test": percent(clf.predict(rows.X_test) == rows.y_test),
        "broken": _broken(clf, rows),
        "n_test": len(rows.X_test),
    }


def _broken(clf: OptimalTreeClassifier, rows: Rows) -> int:
    """Count test rows whose prediction moves away from the label."""
    was = clf.predict(rows.X_test) == rows.label
    broken = np.zeros(len(was), dtype=bool)
    for (column, sign), part in product(rows.directions.items(), (0.01, 0.1, 1.0)):
        moved = rows.X_test.copy()
        step = part * float(np.ptp(rows.X[column].to_numpy(dtype=float)))
        moved[column] = moved[column].astype(float) + sign * step
        broken |= was & (clf.predict(moved) != rows.label)
    return int(broken.sum())


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table of all fits."""
    head = ["table", "rows", "rule", "limit s", "s", "status", "train %", "test %"]
    lines = [
        [
            r["name"],
            r["n"],
            r["rule"],
            r["limit"],
            f"{r['seconds']:.1f}",
            r["status"],
            f"{r['train']:.2f}",
            f"{r['test']:.2f}",
            f"{r['broken']} of {r['n_test']}",
        ]
        for r in records
    ]
    return [markdown_table([*head, "broken"], lines)]
