"""Whether a process that fits a thousand trees keeps anything: memory, threads, files.

Fits of all kinds take turns, each on rows of its own; every tree is saved, loaded and
exported.

    python benchmarks/run.py soak --fits 1000
"""

from __future__ import annotations

import ctypes
import gc
import os
import tempfile
import threading
import time
import warnings
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from miptree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    PointsTreeClassifier,
    explain,
    export_c,
    export_onnx,
    export_python,
    export_sql,
    export_text,
    load_json,
    report_html,
    save_json,
)
from miptree.baselines import OCTClassifier
from miptree.bench.markdown import markdown_table
from miptree.constraints import MaxRate, MinLeaf
from miptree.tuning import CartTree, SoftTree

TITLE = "A thousand fits in one process"
ABOUT = (
    "Memory of the process (resident; garbage was collected, and free pages were given "
    "back), its threads, open files, child processes and temporary files after so many "
    "fits. Fits of nine kinds take turns, each on 30 to 150 rows of its own with "
    "numbers, categories and gaps; each tree is saved, loaded, explained and exported, "
    "and every tenth has a report."
)
KEY = ("fits",)
OPTIONS = {"fits": (1000,), "seed": 0, "every": 100}

BUDGET = {"max_iter": 10, "time_limit": None, "random_state": 0}
PROOF = {"max_depth": 1, "node_limit": 20, **BUDGET}
KINDS: dict[str, Callable[[], Any]] = {
    "search": lambda: OptimalTreeClassifier(solver="search", **BUDGET),
    "proof": lambda: OptimalTreeClassifier(**PROOF),
    "proof by SCIP": lambda: OptimalTreeClassifier(solver="scip", **PROOF),
    "proof of errors": lambda: OptimalTreeClassifier(proof="errors", **PROOF),
    "rows": lambda: OptimalTreeClassifier(
        solver="search", selection="hull", max_rounds=1, **BUDGET
    ),
    "rules": lambda: OptimalTreeClassifier(
        solver="search", constraints=[MinLeaf(rows=4), MaxRate("b", 0.9)], **BUDGET
    ),
    "points": lambda: PointsTreeClassifier(time_limit=None, max_iter=50),
    "tuner": lambda: OptimalTreeClassifierCV(
        candidates=[SoftTree(), CartTree()], cv=2, n_repeats=1, time_limit=None
    ),
    "baseline": lambda: OCTClassifier(max_depth=1, node_limit=20, time_limit=None),
}


def run(case: Namespace) -> dict[str, Any]:
    """Fit so often, and look at the process now and then."""
    rng, looks = np.random.default_rng(case.seed), []
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), tempfile.tempdir
        tempfile.tempdir = str(folder)  # what is left by anybody is found there
        try:
            began = time.perf_counter()
            for number in range(case.fits):
                if number % case.every == 0:
                    looks.append(_look(number, folder, time.perf_counter() - began))
                _fit(list(KINDS)[number % len(KINDS)], rng, folder, number % 10 == 0)
            looks.append(_look(case.fits, folder, time.perf_counter() - began))
        finally:
            tempfile.tempdir = before
    return {"seed": case.seed, "looks": looks}


def _rows(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    n = int(rng.integers(30, 151))
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["p", "q", "r"])
    score = table["p"] + 0.5 * table["q"] + 0.5 * rng.normal(size=n)
    table["kind"] = rng.choice(["x", "y", "z"], n)
    table.loc[rng.random(n) < 0.1, "q"] = np.nan
    return table, np.where(score > 0, "a", "b")


def _fit(kind: str, rng: np.random.Generator, folder: Path, has_report: bool) -> None:
    X, y = _rows(rng)
    if kind == "baseline":
        X = X[["p", "r"]]
    clf, path, log = KINDS[kind](), folder / "model.json", folder / "a.proof"
    options = {"proof_log": log, "force": True} if kind in ("proof", "points") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y, **options)
        save_json(clf, path, force=True)
        loaded = load_json(path)
        assert (loaded.predict(X) == clf.predict(X)).all()
        for export in (export_text, export_sql, export_python, export_c, export_onnx):
            assert export(loaded)
        explain(loaded, X[:2])
        if has_report:
            report_html(loaded, X, y)
    path.unlink()
    log.unlink(missing_ok=True)


def _look(number: int, folder: Path, seconds: float) -> dict[str, Any]:
    gc.collect()
    # What malloc keeps for later is no leak, and varies by tens of megabytes.
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {
        "fits": number,
        "mb": round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1),
        "threads": threading.active_count(),
        "open files": len(os.listdir("/proc/self/fd")),
        "processes": len(children),
        "temporary files": len(os.listdir(folder)),
        "seconds": round(seconds),
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each soak, and what it grew by."""
    blocks = []
    for record in records:
        looks = record["looks"]
        head = tuple(looks[0])
        blocks.append(markdown_table(head, [tuple(look.values()) for look in looks]))
        first, last = looks[len(looks) // 5], looks[-1]
        grown = last["mb"] - first["mb"]
        blocks.append(
            f"From fit {first['fits']} to {last['fits']} it grew by {grown:.1f} MB, "
            f"{100 * grown / first['mb']:.1f} %."
        )
    return blocks
