"""From a CSV of 50,000 rows to model.json by the command line, from a cold start.

Two runs of ``miptree fit --time-limit 60`` in new processes: with an empty cache of
compiled kernels, as after ``pip install``, and with a full one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import timed
from miptree.bench.environment import environment
from miptree.bench.markdown import markdown_table

TITLE = "From a CSV file to a model by the command line"
ABOUT = "50,000 rows, wall seconds of `miptree fit` in a new process."
KEY = ("limit", "features")
OPTIONS = {"limit": (60,), "features": (20,)}
N_ROWS = 50_000


def write_table(path: Path, n_features: int) -> None:
    """Write numbers, one category and missing cells; the classes overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, n_features))
    score = X[:, 0] - 2 * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + rng.normal(size=N_ROWS)
    table = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(n_features)])
    table["region"] = rng.choice(["north", "south", "east", "west"], N_ROWS)
    table.loc[rng.random(N_ROWS) < 0.02, "x5"] = np.nan
    score += np.where(table["region"] == "north", 1.5, 0.0)
    table["label"] = np.where(score > 0.5, "yes", "no")
    table.to_csv(path, index=False)


def run(case: Namespace) -> dict[str, Any]:
    """Fit with an empty cache of kernels, which this fills, and again."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_table(folder / "table.csv", case.features)
        runs = [_fit(folder, case.limit, kernels) for kernels in ("cold", "warm")]
    return {"runs": runs, **environment()}


def _fit(folder: Path, limit: int, kernels: str) -> dict[str, Any]:
    """Return the wall seconds of one command, and what its model says."""
    model = folder / f"{kernels}.json"
    command = [sys.executable, "-m", "miptree", "fit", str(folder / "table.csv"),
               "--target", "label", "--time-limit", str(limit),
               "--out", str(model)]  # fmt: skip
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    _, seconds = timed(
        lambda: subprocess.run(command, env=env, check=True, capture_output=True),
        time.perf_counter,
    )
    found = json.loads(model.read_text())["certificate"]
    return {
        "kernels": kernels,
        "seconds": round(seconds, 1),
        "errors": found["errors"],
        "rows": found["n_rows"],
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table in the order of the journal."""
    rows = [
        [record["limit"], *one.values()] for record in records for one in record["runs"]
    ]
    return [markdown_table(["limit, s", "kernels", "seconds", "errors", "rows"], rows)]
