"""From a CSV of 50,000 rows to model.json by the command line, from a cold start.

Two runs of ``miptree fit --time-limit 60`` in new processes: with an empty cache of
compiled kernels, as after ``pip install``, and with a full one.

    python benchmarks/surface.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from common import RESULTS
from miptree.bench.environment import environment

N_ROWS, N_FEATURES, LIMIT = 50_000, 20, 60


def write_table(path: Path) -> None:
    """Numbers, one category and missing cells; the classes overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    score = X[:, 0] - 2 * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + rng.normal(size=N_ROWS)
    table = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(N_FEATURES)])
    table["region"] = rng.choice(["north", "south", "east", "west"], N_ROWS)
    table.loc[rng.random(N_ROWS) < 0.02, "x5"] = np.nan
    score += np.where(table["region"] == "north", 1.5, 0.0)
    table["label"] = np.where(score > 0.5, "yes", "no")
    table.to_csv(path, index=False)


def seconds_of_fit(folder: Path, table: Path, name: str) -> dict[str, object]:
    """Wall seconds of one command, and what its model says."""
    model = folder / f"{name}.json"
    # The folder is the same for both runs: the first one fills it.
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "miptree", "fit", str(table), "--target", "label",
               "--time-limit", str(LIMIT), "--out", str(model)]  # fmt: skip
    began = time.perf_counter()
    subprocess.run(command, env=os.environ | cache, check=True, capture_output=True)
    seconds = time.perf_counter() - began
    found = json.loads(model.read_text())["certificate"]
    return {
        "kernels": name,
        "seconds": round(seconds, 1),
        "errors": found["errors"],
        "rows": found["n_rows"],
    }


def main() -> None:
    """Run both and write the record."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = folder / "table.csv"
        write_table(table)
        runs = [seconds_of_fit(folder, table, name) for name in ("cold", "warm")]
    record = {"limit": LIMIT, "features": N_FEATURES, "runs": runs, **environment()}
    (RESULTS / "surface.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
