"""ConTree on a table whose columns are all directions of a points tree."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

from common import Split
from miptree import PointsTreeClassifier
from miptree.bench.markdown import markdown_table

PATIENCE = 3
"""Wall seconds of ConTree for each CPU second of ours, as the machine is shared."""
SLOW = 1.0
"""CPU seconds of ConTree from which on a set counts in the mean ratio."""


def derived_columns(clf: PointsTreeClassifier, X: Any) -> np.ndarray:
    """Return (n, F): the sums of all directions, each a column of whole numbers."""
    grid, directions = clf.table_.transform(X), clf.family_.directions()
    sums = (grid[:, directions.column] * directions.points).sum(axis=2)
    return np.asarray(sums, dtype=np.float64)


def run(clf: PointsTreeClassifier, rows: Split, limit: float) -> dict[str, Any]:
    """Fit ConTree to the derived columns; count its errors and seconds."""
    from pycontree import ConTree

    X, y = derived_columns(clf, rows.X), np.unique(rows.y, return_inverse=True)[1]
    exact = ConTree(max_depth=2, time_limit=PATIENCE * limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        exact.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "contree_errors": int((exact.predict(X) != y).sum()),
        "contree_ended": not any("time limit" in str(w.message) for w in caught),
        "contree_cpu": round(cpu, 3),
        "contree_wall": round(wall, 3),
    }


def tables(found: pd.DataFrame) -> list[str]:
    """Return errors and seconds side by side, and the mean ratio."""
    ended = found["contree_ended"].astype(bool)
    both = found[ended & (found["status"] == "optimal")]
    slow = found[found["contree_cpu"] > SLOW]
    ratio = slow["contree_cpu"] / slow["cpu"].clip(lower=0.001)
    n_censored = int((~ended.loc[slow.index]).sum())
    same = int((both["errors"] == both["contree_errors"]).sum())
    limits = " or ".join(f"{limit:g}" for limit in sorted(found["limit"].unique()))
    told = (
        f"The same optimum on {same} of {len(both)} sets where both ended. On the "
        f"{len(slow)} sets where ConTree took more than {SLOW:g} CPU s, the geometric "
        f"mean of its CPU seconds over ours is "
        f"**{np.exp(np.log(ratio).mean()) if len(slow) else np.nan:.1f}** "
        f"({n_censored} of them stopped at the time limit and counted with the seconds "
        "until then: there the ratio is a lower bound). Our seconds include reading "
        "the frame, making the grid and recounting; ConTree's only its fit to "
        f"the finished columns. Its limit was {PATIENCE} times {limits} s of wall "
        "time, as it got about a third of a core."
    )
    head = ["set", "rows", "directions", "errors", "ConTree's", "CPU s", "ConTree's"]
    rows = [_row(r) for _, r in found.iterrows()]
    return [
        "## ConTree on all directions as columns, two features a split",
        told,
        markdown_table([*head, "ratio"], rows),
    ]


def _row(r: pd.Series) -> list[object]:
    star = "" if r["status"] == "optimal" else " (open)"
    other = "" if r["contree_ended"] else " (open)"
    return [
        *(r[field] for field in ("name", "rows", "directions")),
        *(f"{r['errors']}{star}", f"{int(r['contree_errors'])}{other}"),
        *(f"{r['cpu']:.2f}", f"{r['contree_cpu']:.2f}"),
        f"{r['contree_cpu'] / max(r['cpu'], 0.001):.1f}",
    ]
