"""How time and memory of a fit grow with rows, columns, classes and depth.

A made table of 10,000 rows, 20 columns and 4 classes, a tree of depth 2, but for the
one size that varies. Labels follow an oblique tree, 10 % of them are drawn anew. Each
case is a process of its own: an oblique tree with three iterations of the search, and
the prediction of all rows. No clock decides anything, so that the work is the same
whatever the machine is doing besides.

    python benchmarks/run.py growth --name rows-1000 rows-10000
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from argparse import Namespace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from common import timed
from miptree.bench.markdown import markdown_table

TITLE = "Growth of time and memory"
ABOUT = (
    "CPU seconds of an oblique tree, three iterations of the search, on one core, "
    "kernels compiled before, and of the prediction of a million rows. MB is what the "
    "process needs at most above the table itself; 0 where loading the package needed "
    "more. `power` is the slope between two lines on logarithmic axes: 1 means twice "
    "the time for twice the size. By Dask 10 million rows are in `distributed.md`."
)


class Shape(NamedTuple):
    """Size of a made table and of the tree."""

    rows: int = 10_000
    columns: int = 20
    classes: int = 4
    depth: int = 2


CASES = {
    **{f"rows-{n}": Shape(rows=n) for n in (10**3, 10**4, 10**5, 10**6, 10**7)},
    **{f"columns-{d}": Shape(columns=d) for d in (5, 10, 20, 40, 80, 160)},
    **{f"classes-{k}": Shape(classes=k) for k in (2, 4, 8, 16, 32)},
    **{f"depth-{d}": Shape(depth=d) for d in (1, 2, 3, 4, 5)},
}
OPTIONS: dict[str, Any] = {"name": tuple(CASES)}
KEY = ("name",)
FIGURE = "growth.svg"


def made_table(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Make normal numbers whose labels follow an oblique tree, but for the noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape.rows, shape.columns))
    leaf = np.zeros(shape.rows, dtype=np.intp)
    for _ in range(max(2, int(np.ceil(np.log2(shape.classes))))):
        leaf = 2 * leaf + (X @ rng.normal(size=shape.columns) > 0)
    noisy = rng.random(shape.rows) < 0.1
    drawn = rng.integers(shape.classes, size=shape.rows)
    return X, np.where(noisy, drawn, leaf % shape.classes)


def run(case: Namespace) -> dict[str, Any]:
    """Measure one size in a process of its own."""
    command = [sys.executable, __file__, case.name]
    paths = {"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=os.environ | paths, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{case.name} ended with {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(name: str) -> dict[str, float]:
    """Fit and predict one made table; return seconds and memory."""
    from miptree import OptimalTreeClassifier

    shape = CASES[name]
    options = {"solver": "search", "time_limit": None, "random_state": 0, "n_jobs": 1}
    ready = OptimalTreeClassifier(max_depth=2, max_iter=1, **options)
    ready.fit(*made_table(Shape(200, 4, 3)))  # loads all that is compiled
    X, y = made_table(shape)
    before = _peak_mb()
    clf = OptimalTreeClassifier(max_depth=shape.depth, max_iter=3, **options)
    _, fit_seconds = timed(lambda: clf.fit(X, y))
    peak = _peak_mb()
    predicted, seconds = timed(lambda: clf.predict(X))
    return {
        "rows": shape.rows,
        "fit": round(fit_seconds, 3),
        "predict": round(1e6 * seconds / shape.rows, 3),
        "mb": round(peak - before, 1),
        "table_mb": round(X.nbytes / 1e6, 1),
        "accuracy": round(100 * float(np.mean(predicted == y)), 2),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each size that varies, and the figure."""
    by_name = {r["name"]: r for r in records}
    blocks = [f"![seconds over each size, on logarithmic axes]({FIGURE})"]
    for size in Shape._fields:
        own = [n for n in CASES if n.startswith(f"{size}-") and n in by_name]
        if not own:
            continue
        powers = [None, *(_power(by_name, size, *two) for two in pairwise(own))]
        lines = [
            [
                f"{getattr(CASES[name], size):,}",
                f"{by_name[name]['fit']:.2f}",
                "" if power is None else f"{power:.2f}",
                f"{by_name[name]['mb']:.0f}",
                f"{by_name[name]['table_mb']:.0f}",
                f"{by_name[name]['predict']:.2f}",
            ]
            for name, power in zip(own, powers, strict=True)
        ]
        head = [size, "fit CPU s", "power", "MB", "table MB", "predict s a million"]
        blocks += [f"## {size.capitalize()}", markdown_table(head, lines)]
    return blocks


def _power(by_name: dict[str, dict[str, Any]], size: str, one: str, two: str) -> float:
    ratio = by_name[two]["fit"] / by_name[one]["fit"]
    return log(ratio) / log(getattr(CASES[two], size) / getattr(CASES[one], size))


def draw(records: list[dict[str, Any]], folder: Path) -> None:
    """Draw CPU seconds over each size on logarithmic axes."""
    if not records:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none"}
    found = pd.DataFrame(records).set_index("name")
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="tight")
    for axis, size in zip(axes, Shape._fields, strict=True):
        own = [n for n in CASES if n.startswith(f"{size}-") and n in found.index]
        sizes = [getattr(CASES[name], size) for name in own]
        axis.loglog(sizes, found.loc[own, "fit"], "o-", color="tab:blue")
        if size != "rows":
            axis.set_xticks(sizes, [str(n) for n in sizes])
        axis.minorticks_off()
        axis.set_xlabel(size)
    axes[0].set_ylabel("CPU seconds")
    figure.savefig(folder / FIGURE, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
