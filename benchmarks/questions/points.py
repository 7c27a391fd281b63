"""Points trees of depth 2: what is proved, in which time, beside ConTree, and growth.

Feature penalty 0, points up to 1, training part of a split. Parts: ``two`` and
``three`` features a split on the paper's small sets, ``large`` sets, ``contree`` on
columns that hold all directions, ``growth`` on made tables (the split is their seed).

    python benchmarks/run.py points --part two three
    python benchmarks/run.py points --part growth --name rows-1000 rows-10000
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from miptree.bench.markdown import markdown_table
from miptree.bench.suites import LARGE
from miptree.datasets._registry import entry
from questions import _points_contree as contree
from questions import _points_growth as growth
from questions._points import measured_fit, proved_fields, rows_of
from questions.baselines import NAMES

TITLE = "Points trees: proofs"
ABOUT = (
    "`PointsTreeClassifier(max_depth=2, max_points=1, feature_penalty=0, n_jobs=1)` on "
    "the training part (75 %, stratified) of a split, one core of a 2-core machine "
    "that other work shared (load 4 to 8): CPU seconds are what the fit itself took, "
    "wall seconds include waiting for the others. Kernels were compiled before, the "
    "time limit is in CPU seconds. 'Roots' are the root splits whose two subtrees were "
    "found exactly; the others are excluded by bounds."
)
KEY = ("part", "name", "split")
WIDEST = 22
"""Columns of a small set up to which splits of three are tried."""
LARGE_SETS = tuple(name for name, depth in LARGE if depth == 2)
SETS = {
    "two": NAMES,
    "three": tuple(n for n in NAMES if len(entry(n, "paper").columns) <= WIDEST),
    "large": LARGE_SETS,
    "contree": (*NAMES, *LARGE_SETS),
    "growth": tuple(growth.CASES),
}
OPTIONS = {"part": tuple(SETS), "split": (20,), "limit": 60.0}
PROMISES = {
    "two": ("two features a split", 10),
    "three": ("three features a split", 20),
    "large": ("two features a split, the larger sets", 60),
}
"""Title of a part, and the seconds in which its proofs should end."""


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield the fits part by part."""
    for part in options.part:
        for split in options.split:
            yield from ((part, name, split) for name in SETS[part])


def run(case: Namespace) -> dict[str, Any]:
    """Prove one tree, or compare it with that of ConTree."""
    if case.part == "growth":
        return growth.run(case)
    rows = rows_of(case.name, case.split)
    found = measured_fit(
        rows.X,
        rows.y,
        case.limit,
        max_features_per_split=3 if case.part == "three" else 2,
        max_points=1,
        feature_penalty=0.0,
    )
    record = {"rows": len(rows.y), **proved_fields(found), "limit": case.limit}
    if case.part == "contree":
        record |= contree.run(found["clf"], rows, case.limit)
    return record


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each part that was run."""
    found = pd.DataFrame(records)
    blocks = []
    for part, (title, seconds) in PROMISES.items():
        if len(here := found[found["part"] == part]):
            blocks += _proofs(here, title, seconds, len(SETS[part]))
    if len(here := found[found["part"] == "contree"]):
        blocks += contree.tables(here)
    if len(here := found[found["part"] == "growth"]):
        blocks += growth.tables(here)
    return blocks


def draw(records: list[dict[str, Any]], folder: Path) -> None:
    """Draw the figure of growth into the folder of the results."""
    growth.draw([r for r in records if r["part"] == "growth"], folder)


def _proofs(found: pd.DataFrame, title: str, seconds: int, n_sets: int) -> list[str]:
    """Return what was proved, and how many within the seconds of the issue."""
    proved = found[(found["status"] == "optimal") & (found["left_out"] == "")]
    told = [
        f"{(proved[clock] <= seconds).sum()} by {word} seconds"
        for clock, word in (("cpu", "CPU"), ("wall", "wall"))
    ]
    splits = sorted(found["split"].unique().tolist())
    summary = (
        f"Splits {splits}. Proved: {len(proved)} of {len(found)} fits; within "
        f"{seconds} s: "
        f"{' and '.join(told)}. Total {found['cpu'].sum():.0f} CPU s. "
        f"Sets run: {found['name'].nunique()} of {n_sets}."
    )
    head = ["set", "rows", "columns", "directions", "errors", "proved"]
    rows = [_row(r) for _, r in found.iterrows()]
    table = markdown_table([*head, "roots", "CPU s", "wall s"], rows)
    return [f"## Proofs: {title}", summary, table, *_left_out(found)]


def _row(r: pd.Series) -> Sequence[object]:
    is_proved = r["status"] == "optimal"
    open_bound = f"no, at least {r['bound']:g}"
    return [
        *(r[field] for field in ("name", "rows", "columns", "directions", "errors")),
        "yes" if is_proved else open_bound,
        *(r["roots"], f"{r['cpu']:.2f}", f"{r['wall']:.2f}"),
    ]


def _left_out(found: pd.DataFrame) -> list[str]:
    """Return which sets were not searched with all of their columns."""
    return [
        f"{r['name']}: {r['left_out']}" for _, r in found.iterrows() if r["left_out"]
    ]
