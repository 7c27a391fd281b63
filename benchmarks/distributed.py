"""10 million rows x 20 features in Parquet on two Dask workers of 1 GB each.

Writes the data once (1.6 GB, by default under /tmp), then fits on two workers, on two
workers of which one is killed half-way, and on threads of this process; the three
trees must be the same. Resumable: ``results/distributed.jsonl``, and a Markdown table.

    python benchmarks/distributed.py                       # the whole run
    python benchmarks/distributed.py --rows 200000 --parts 4 --folder /tmp/small
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

# This file has the name of a package that it needs: let that one come first.
HERE = str(Path(__file__).parent)
sys.path[:] = [*(path for path in sys.path if path != HERE), HERE]

import numpy as np
import pandas as pd

from common import RESULTS, Journal
from distributed import Client, LocalCluster
from miptree import OptimalTreeClassifier
from miptree.certificate.digest import tree_digest
from miptree.distributed import fit
from miptree.search import compile_kernels

JOURNAL = Journal(RESULTS / "distributed.jsonl", ("rows", "parts", "mode"))
MODES = ("workers", "killed", "threads")
FEATURES, DEPTH, NOISE = 20, 3, 0.05


def write_part(folder: Path, number: int, n_rows: int, coef: np.ndarray) -> None:
    """Rows of 4 classes by an oblique tree of depth 3, 5 % of the labels redrawn."""
    path = folder / f"part-{number:04d}.parquet"
    if path.exists():
        return
    rng = np.random.default_rng([1, number])
    X = rng.uniform(-1, 1, size=(n_rows, FEATURES))
    node = np.zeros(n_rows, dtype=np.intp)
    for b in range(2**DEPTH - 1):
        here = node == b
        node[here] = 2 * b + 1 + (X[here] @ coef[b] > 0)
    truth = np.array([0, 1, 2, 3, 1, 0, 3, 2])[node - (2**DEPTH - 1)]
    noisy = rng.random(n_rows) < NOISE
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(FEATURES)])
    table["label"] = np.where(noisy, rng.integers(4, size=n_rows), truth)
    draft = path.with_suffix(".tmp")
    table.to_parquet(draft, index=False)
    draft.rename(path)


def write_data(folder: Path, n_rows: int, parts: int) -> None:
    """Write the files that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    coef = np.random.default_rng(0).normal(size=(2**DEPTH - 1, FEATURES))
    for number in range(parts):
        write_part(folder, number, n_rows // parts, coef)


def kill_a_worker(client: Client, after: float) -> threading.Timer:
    """Kill one worker process after some seconds; Dask starts another."""

    def kill() -> None:
        info = client.scheduler_info()["workers"]
        pids = client.run(os.getpid, workers=[next(iter(info))])
        os.kill(next(iter(pids.values())), 9)

    timer = threading.Timer(after, kill)
    timer.start()
    return timer


def run(mode: str, options: Any) -> dict[str, Any]:
    """Fit once and record what came out."""
    clf = OptimalTreeClassifier(
        max_depth=DEPTH,
        l1_penalty=0.1,
        solver="search",
        time_limit=None,
        max_iter=options.max_iter,
        max_rounds=3,
        random_state=0,
    )
    pattern = str(Path(options.folder) / "*.parquet")
    began = time.monotonic()
    if mode == "threads":
        clf = fit(pattern, "label", classifier=clf)
    else:
        with (
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                memory_limit="1GB",
                dashboard_address=None,
            ) as cluster,
            Client(cluster) as client,
        ):
            timer = kill_a_worker(client, options.kill_after)
            if mode == "workers":
                timer.cancel()
            clf = fit(pattern, "label", client, classifier=clf)
            timer.join()
    found = clf.certificate_
    return {
        "seconds": round(time.monotonic() - began, 1),
        "accuracy": round(100 * (1 - found.errors / found.n_rows), 3),
        "tree": tree_digest(clf.tree_)[:16],
        "max_iter": options.max_iter,
    }


def table() -> str:
    """Markdown of the journal."""
    lines = [
        "# Training beyond memory\n",
        "Written by `benchmarks/distributed.py`. Depth 3, 20 features, 4 classes by an "
        "oblique tree, 5 % of the labels redrawn (the best possible is 96.25 %). Two "
        "workers of 1 GB each; in `killed` one worker is killed on the way.\n",
        "| rows | files | mode | seconds | accuracy on all rows % | tree |",
        "|---|---|---|---|---|---|",
    ]
    for r in JOURNAL.records():
        lines.append(
            f"| {r['rows']:,} | {r['parts']} | {r['mode']} | {r['seconds']} "
            f"| {r['accuracy']} | {r['tree']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", type=int, default=80)
    parser.add_argument("--folder", default="/tmp/miptree-10M")
    parser.add_argument("--max-iter", type=int, default=40)
    parser.add_argument("--kill-after", type=float, default=30.0)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    options = parser.parse_args()
    write_data(Path(options.folder), options.rows, options.parts)
    compile_kernels()
    done = JOURNAL.done()
    for mode in options.modes:
        if (options.rows, options.parts, mode) not in done:
            key = {"rows": options.rows, "parts": options.parts, "mode": mode}
            JOURNAL.append(key | run(mode, options))
            print(JOURNAL.records()[-1], flush=True)
    (RESULTS / "distributed.md").write_text(table())


if __name__ == "__main__":
    main()
