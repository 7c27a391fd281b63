"""Training on 10 million rows x 20 features in Parquet, two Dask workers of 1 GB each.

Writes the data once (1.6 GB, by default under /tmp), then fits on two workers, on two
workers of which one is killed half-way, and on threads of this process; the three
trees must be the same.

    python benchmarks/run.py distributed --rows 200000 --parts 4 --folder /tmp/small
"""

from __future__ import annotations

import os
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import oblique_classes, timed
from miptree import OptimalTreeClassifier
from miptree.bench.markdown import markdown_table
from miptree.certificate.digest import tree_digest

TITLE = "Training beyond memory"
ABOUT = (
    "Depth 3, 20 features, 4 classes by an oblique tree, 5 % of the labels redrawn "
    "(the best possible is 96.25 %). Two workers of 1 GB each; in `killed` one "
    "worker is killed on the way. A million rows ran on a machine that others used, "
    "the rest alone."
)
KEY = ("rows", "parts", "mode")
OPTIONS = {
    "rows": (10_000_000,),
    "parts": (80,),
    "mode": ("workers", "killed", "threads"),
    "folder": "/tmp/miptree-10M",
    "max_iter": 40,
    "kill_after": 30.0,
}
FEATURES, DEPTH = 20, 3


def write_data(folder: Path, n_rows: int, parts: int) -> None:
    """Write the files that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    coef = np.random.default_rng(0).normal(size=(2**DEPTH - 1, FEATURES))
    for number in range(parts):
        path = folder / f"part-{number:04d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng([1, number])
        X = rng.uniform(-1, 1, size=(n_rows // parts, FEATURES))
        table = pd.DataFrame(X, columns=[f"x{k}" for k in range(FEATURES)])
        table["label"], _ = oblique_classes(X, coef, rng)
        draft = path.with_suffix(".tmp")
        table.to_parquet(draft, index=False)
        draft.rename(path)


def kill_a_worker(client: Any, after: float) -> threading.Timer:
    """Kill one worker process after some seconds; Dask starts another."""

    def kill() -> None:
        info = client.scheduler_info()["workers"]
        pids = client.run(os.getpid, workers=[next(iter(info))])
        os.kill(next(iter(pids.values())), 9)

    timer = threading.Timer(after, kill)
    timer.start()
    return timer


def fit_on_workers(pattern: str, clf: Any, kill_after: float | None) -> Any:
    """Fit on two workers, of which one is killed after so many seconds."""
    from distributed import Client, LocalCluster

    from miptree.distributed import fit

    workers = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB"}
    with LocalCluster(dashboard_address=None, **workers) as cluster:
        with Client(cluster) as client:
            if kill_after is None:
                return fit(pattern, "label", client, classifier=clf)
            timer = kill_a_worker(client, kill_after)
            fitted = fit(pattern, "label", client, classifier=clf)
            timer.join()
            return fitted


def run(case: Namespace) -> dict[str, Any]:
    """Fit once."""
    from miptree.distributed import fit

    write_data(Path(case.folder), case.rows, case.parts)
    clf = OptimalTreeClassifier(
        max_depth=DEPTH,
        l1_penalty=0.1,
        solver="search",
        time_limit=None,
        max_iter=case.max_iter,
        max_rounds=3,
        random_state=0,
    )
    pattern = str(Path(case.folder) / "*.parquet")
    kill_after = case.kill_after if case.mode == "killed" else None

    def work() -> Any:
        if case.mode == "threads":
            return fit(pattern, "label", classifier=clf)
        return fit_on_workers(pattern, clf, kill_after)

    clf, seconds = timed(work, time.monotonic)
    found = clf.certificate_
    return {
        "seconds": round(seconds, 1),
        "accuracy": round(100 * (1 - found.errors / found.n_rows), 3),
        "tree": tree_digest(clf.tree_)[:16],
        "max_iter": case.max_iter,
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table in the order of the journal."""
    head = ["rows", "files", "mode", "seconds", "accuracy on all rows %", "tree"]
    fields = ("parts", "mode", "seconds", "accuracy", "tree")
    rows = [[f"{r['rows']:,}", *(r[field] for field in fields)] for r in records]
    return [markdown_table(head, rows)]
