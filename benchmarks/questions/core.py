"""Figures of the core: prediction, model building, golden proofs, time limits.

Ratios are taken within one run.

    python benchmarks/run.py core --figure import
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from common import load, problem_of, split_of, timed
from miptree import OptimalTreeClassifier
from miptree.bench.environment import environment
from miptree.bench.markdown import markdown_table
from miptree.mip.formulations import FORMULATIONS
from miptree.objective import Svm1Objective

TITLE = "Core figures"
ABOUT = (
    "Allowed are 1 s to build a model at depth 2 and 3 s at depth 3, and the time "
    "limit + 10 % + 2 s to fit."
)
KEY = ("figure",)


def seconds(action: Callable[[], object]) -> float:
    """Return the wall seconds of an action."""
    return timed(action, time.perf_counter)[1]


def import_time() -> dict[str, Any]:
    """Time ``import miptree`` in a new interpreter, median of 5."""

    def median(code: str) -> float:
        start = partial(subprocess.run, [sys.executable, "-c", code], check=True)
        return statistics.median(seconds(start) for _ in range(5))

    return {"import miptree, s": round(median("import miptree") - median("pass"), 2)}


def labelled(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian rows labelled by a random oblique tree of depth 2, 5 % noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    side = X @ rng.normal(size=(d, 3)) > 0
    y = (2 * side[:, 0] + np.where(side[:, 0], side[:, 1], side[:, 2])) % n_classes
    noise = rng.random(n) < 0.05
    return X, np.where(noise, rng.integers(n_classes, size=n), y)


def prediction() -> dict[str, Any]:
    """Predict 1M x 20 rows at depth 3, in turns with scikit-learn's tree."""
    X, y = labelled(1_000_000, 20, 4)
    ours = OptimalTreeClassifier(
        max_depth=3, solver="search", max_iter=30, l1_penalty=0.01, random_state=0
    ).fit(X[:2000], y[:2000])
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:2000], y[:2000])
    pairs = [
        (seconds(lambda: ours.predict(X)), seconds(lambda: theirs.predict(X)))
        for _ in range(15)
    ]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {
        "depth of our tree": ours.get_depth(),
        "miptree, s": round(mine, 4),
        "scikit-learn, s": round(other, 4),
        "scikit-learn / miptree": round(other / mine, 2),
    }


def building() -> dict[str, Any]:
    """Build the models of random rows."""
    rng = np.random.default_rng(0)
    problem = problem_of(rng.normal(size=(5000, 20)), rng.integers(5, size=5000))
    objective = Svm1Objective(1000, 0.1, 0.01)
    return {
        f"{name}, depth {depth}, s": round(
            seconds(formulation(problem, objective, depth).build), 3
        )
        for depth in (2, 3)
        for name, formulation in FORMULATIONS.items()
    }


def golden(name: str) -> dict[str, Any]:
    """Prove a golden objective (1000, .1, .01, depth 2) by two formulations."""
    rows = split_of(*load(name), 0)
    clf = OptimalTreeClassifier(
        slack_penalty=1000, l1_penalty=0.1, margin=0.01, time_limit=600, random_state=0
    )
    found = {}
    for formulation in ("compact", "flow"):
        clf.set_params(formulation=formulation).fit(rows.X, rows.y)
        found[formulation] = {
            "objective": round(clf.objective_, 6),
            "bound": round(clf.bound_, 6),
            "status": clf.status_,
            "seconds": round(clf.fit_time_, 1),
        }
    return found


def time_limits() -> dict[str, Any]:
    """Time fits with a limit, and say whether they kept it."""
    found = {}
    for n, limit in ((1000, 10), (5000, 20), (50_000, 10), (50_000, 30)):
        X, y = labelled(n, 20, 4)
        clf = OptimalTreeClassifier(time_limit=limit, random_state=0)
        took = seconds(partial(clf.fit, X, y))
        found[f"{n} x 20, limit {limit} s"] = {
            "seconds": round(took, 1),
            "kept": took <= 1.1 * limit + 2,
            "status": clf.status_,
            "training accuracy": round(clf.score(X, y), 4),
        }
    return found


FIGURES: dict[str, Callable[[], dict[str, Any]]] = {
    "import": import_time,
    "prediction, 1M x 20, depth 3": prediction,
    "building, n=5000, d=20, Y=5": building,
    "time limits": time_limits,
    **{f"golden {name}": partial(golden, name) for name in ("iris", "wine", "seeds")},
}


OPTIONS = {"figure": tuple(FIGURES)}


def run(case: Namespace) -> dict[str, Any]:
    """Measure a figure."""
    return {"values": FIGURES[case.figure](), **environment()}


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each figure."""
    machines = sorted({record["machine"] for record in records})
    blocks = [f"Machine: {'; '.join(machines)}."]
    for record in records:
        rows = record["values"].items()
        blocks += [f"## {record['figure']}", markdown_table(["what", "value"], rows)]
    return blocks
