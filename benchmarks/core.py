"""Figures of the core: prediction, model building, golden proofs, time limits.

Run ``python benchmarks/core.py``; it writes ``benchmarks/results/core.json`` and
``core.md``. Ratios are taken within one run; the golden proofs need the folder of the
paper's data (``$MIPTREE_DATA`` or ``../shared/data``).
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from common import DATA, RESULTS, load
from miptree import OptimalTreeClassifier
from miptree.data.problem import Problem
from miptree.mip.formulations import FORMULATIONS
from miptree.objective import Svm1Objective


def seconds(action: Callable[[], object]) -> float:
    """Wall seconds of an action."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def import_time() -> dict[str, Any]:
    """Wall seconds of ``import miptree`` in a new interpreter, median of 5."""
    command = [sys.executable, "-c", "import miptree"]
    bare = [sys.executable, "-c", "pass"]
    took = [seconds(lambda: subprocess.run(command, check=True)) for _ in range(5)]
    empty = [seconds(lambda: subprocess.run(bare, check=True)) for _ in range(5)]
    net = statistics.median(took) - statistics.median(empty)
    return {"import miptree, s": round(net, 2)}


def labelled(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows labelled by a random oblique tree of depth 2, 5 % noise."""
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
    """Build n=5000, d=20, Y=5 at depth 2 (must be < 1 s) and depth 3 (< 3 s)."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 20)), rng.integers(5, size=5000)
    problem = Problem.from_data(X, y, 5)
    objective = Svm1Objective(1000, 0.1, 0.01)
    took = {}
    for depth in (2, 3):
        for name, formulation in FORMULATIONS.items():
            made = formulation(problem, objective, depth)
            took[f"{name}, depth {depth}, s"] = round(seconds(made.build), 3)
    return took


def golden(name: str) -> dict[str, Any]:
    """Prove a golden objective (1000, .1, .01, depth 2) by two formulations."""
    X, y = load(name)
    X, _, y, _ = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    row: dict[str, Any] = {}
    for formulation in ("compact", "flow"):
        clf = OptimalTreeClassifier(
            slack_penalty=1000,
            l1_penalty=0.1,
            margin=0.01,
            formulation=formulation,
            time_limit=600,
            random_state=0,
        ).fit(X, y)
        row[formulation] = {
            "objective": round(clf.objective_, 6),
            "bound": round(clf.bound_, 6),
            "status": clf.status_,
            "seconds": round(clf.fit_time_, 1),
        }
    return row


def time_limits() -> dict[str, Any]:
    """Wall seconds of fits with a limit; allowed: limit + 10 % + 2 s."""
    row = {}
    for n, limit in ((1000, 10), (5000, 20), (50_000, 10), (50_000, 30)):
        X, y = labelled(n, 20, 4)
        clf = OptimalTreeClassifier(time_limit=limit, random_state=0)
        took = seconds(lambda clf=clf, X=X, y=y: clf.fit(X, y))
        row[f"{n} x 20, limit {limit} s"] = {
            "seconds": round(took, 1),
            "kept": took <= 1.1 * limit + 2,
            "status": clf.status_,
            "training accuracy": round(clf.score(X, y), 4),
        }
    return row


def main() -> None:
    """Run everything and write the results."""
    found = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}",
        "import": import_time(),
        "prediction, 1M x 20, depth 3": prediction(),
        "building, n=5000, d=20, Y=5": building(),
        "time limits": time_limits(),
    }
    if (DATA / "paper").is_dir():
        for name in ("iris", "wine", "seeds"):
            found[f"golden {name}"] = golden(name)
    text = json.dumps(found, indent=2)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "core.json").write_text(text + "\n")
    lines = ["# Core figures", "", f"Machine: {found['machine']}.", ""]
    for title, rows in found.items():
        if isinstance(rows, dict):
            lines += [f"## {title}", "", "| what | value |", "|---|---|"]
            lines += [f"| {key} | {value} |" for key, value in rows.items()]
            lines.append("")
    (RESULTS / "core.md").write_text("\n".join(lines))
    print(text)


if __name__ == "__main__":
    main()
