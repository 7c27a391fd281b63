"""The paper's baselines on its 23 smaller sets at D = 2, beside its own columns.

Integer codes as numbers, string columns one-hot. Nothing is tuned: complexity 0,
defaults otherwise. Develop on split 0; published figures are splits 10 and up.

    python benchmarks/run.py baselines --limit 60 --split 10 --init search
"""

from __future__ import annotations

import time
from argparse import Namespace
from statistics import mean
from typing import Any

import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from common import load, split_of, timed
from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
    GreedySVMTreeClassifier,
    OCTClassifier,
    OCTHClassifier,
)
from miptree.bench.markdown import markdown_table
from miptree.bench.paper import printed
from miptree.bench.suites import SMALL

TITLE = "The paper's baselines"
ABOUT = (
    "Depth 2, 75/25 stratified splits, means over the splits run, training % / test %, "
    "wall seconds on a shared 2-core machine. A star marks a set on which every "
    "split's optimum was proved. The paper's columns: its own implementations with "
    "CPLEX and 900 s, other splits. `cart`: the MIP starts from CART's tree, as in "
    "the paper; `search`: from a local search in the baseline's class of trees."
)
NAMES = tuple(name for name, depth in SMALL if depth == 2)
BASELINES = {
    "CART": DecisionTreeClassifier,
    "greedy SVM": GreedySVMTreeClassifier,
    "OCT-H": OCTHClassifier,
    "Fair": AghaeiTreeClassifier,
    "BinOCT": BinOCTClassifier,
    "OCT": OCTClassifier,
    "FlowOCT": FlowOCTClassifier,
}
OPTIONS = {
    "name": NAMES,
    "baseline": tuple(BASELINES),
    "split": (10,),
    "limit": (60.0,),
    "solver": ("highs",),
    "init": ("cart",),
}
KEY = tuple(OPTIONS)


def classifier(baseline: str, limit: float, solver: str, init: str) -> Any:
    """Return the baseline with the settings of a run."""
    if baseline == "greedy SVM":
        return GreedySVMTreeClassifier(max_depth=2)
    clf = BASELINES[baseline](max_depth=2, random_state=0)
    if baseline == "CART":
        return clf
    return clf.set_params(time_limit=limit, solver=solver, init=init)


def run(case: Namespace) -> dict[str, Any]:
    """Train and test one baseline on one split of one set."""
    rows = split_of(*load(case.name), case.split)
    clf = classifier(case.baseline, case.limit, case.solver, case.init)
    _, seconds = timed(lambda: clf.fit(rows.X, rows.y), time.perf_counter)
    return {
        "seconds": round(seconds, 2),
        "train": round(100 * clf.score(rows.X, rows.y), 2),
        "test": round(100 * clf.score(rows.X_test, rows.y_test), 2),
        "status": getattr(clf, "status_", ""),
        "objective": round(float(getattr(clf, "objective_", 0.0)), 6),
        "bound": round(float(getattr(clf, "bound_", 0.0)), 6),
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each limit, solver and start."""
    blocks = []
    for (limit, solver, init), found in pd.DataFrame(records).groupby([*KEY[3:]]):
        splits = sorted(found["split"].unique().tolist())
        blocks.append(f"## {limit:g} s, {solver}, start: {init}, splits {splits}")
        blocks.append(_table(found))
    return blocks


def _table(found: pd.DataFrame) -> str:
    """Return training and test accuracy of each set, and the means over the sets."""
    columns: dict[str, dict[str, tuple[float, float, str]]] = {}
    for baseline in (b for b in BASELINES if b in set(found["baseline"])):
        columns[baseline] = _measured(found[found["baseline"] == baseline])
        if paper := _printed(baseline):
            columns[f"{baseline}, paper"] = paper
    rows = [
        [name, *(_cell(column.get(name)) for column in columns.values())]
        for name in NAMES
        if name in set(found["name"])
    ]
    means = [_mean(columns, head) for head in columns]
    return markdown_table(["set", *columns], [*rows, ["**mean**", *means]])


def _measured(found: pd.DataFrame) -> dict[str, tuple[float, float, str]]:
    """Return training and test accuracy by set, and a star where all were proved."""
    return {
        name: (
            of_set["train"].mean(),
            of_set["test"].mean(),
            "*" if (of_set["status"] == "optimal").all() else "",
        )
        for name, of_set in found.groupby("name")
    }


def _printed(baseline: str) -> dict[str, tuple[float, float, str]]:
    """Return the accuracies that tables 2-5 print, by set."""
    results = {name: printed(name, 2) for name in NAMES}
    return {
        name: (result.train[baseline], result.test[baseline], "")
        for name, result in results.items()
        if baseline in result.test
    }


def _cell(found: tuple[float, float, str] | None) -> str:
    return "" if found is None else f"{found[0]:.1f}{found[2]} / {found[1]:.1f}"


def _mean(columns: dict[str, dict], head: str) -> str:
    """Return the mean over the sets that were run and, for BinOCT, the paper has."""
    own = head.removesuffix(", paper")
    names = columns[own].keys() & columns.get(f"{own}, paper", columns[own]).keys()
    if not names:
        return ""
    train, test = (mean(columns[head][name][k] for name in names) for k in (0, 1))
    return f"{train:.1f} / {test:.1f} ({len(names)} sets)"
