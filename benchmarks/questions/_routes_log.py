"""Proof files of what routes prove: their size, and how long a check takes."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

from common import Split, timed
from miptree import OptimalTreeClassifier
from miptree.bench.markdown import markdown_table
from miptree.bench.suites import SMALL
from miptree.checker import check_proof
from miptree.objective import Svm1Objective

MINUTES = 30.0
"""When a check is given up."""
WALL_SECONDS = 1200.0
"""Limit of a fit, which ends as soon as its tree is proved."""
ROUNDED = 1e-5
"""Part of an optimum that a checked bound may be below it."""


def write_and_check(
    split: Split, objective: Svm1Objective, depth: int
) -> dict[str, Any]:
    """Fit a tree with a proof log, and check it."""
    frame = pd.DataFrame(split.X).add_prefix("x")
    target = pd.Series(split.y, name="target", index=frame.index)
    clf = OptimalTreeClassifier(
        max_depth=depth,
        slack_penalty=objective.slack_penalty,
        l1_penalty=objective.l1_penalty,
        margin=objective.margin,
        time_limit=WALL_SECONDS,
        proof="objective",
        n_jobs=1,
        random_state=0,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, proof = folder / "rows.csv", folder / "tree.proof"
        frame.assign(target=target).to_csv(rows, index=False)
        began = time.process_time()
        clf.fit(frame, target, proof_log=proof)
        seconds = time.process_time() - began
        outcome, checked = timed(lambda: check_proof(proof, rows, minutes=MINUTES))
        megabytes = [size / 1e6 for size in (proof.stat().st_size, _gzipped(proof))]
    # The file rounds its numbers down to whole ones over common denominators.
    is_optimal = float(outcome.bound or 0) >= (1 - ROUNDED) * clf.objective_
    return {
        "seconds": round(seconds, 2),
        "objective": round(clf.objective_, 6),
        "bound": round(float(outcome.bound or 0), 6),
        "is_proved": outcome.exit_code == 0 and is_optimal,
        "megabytes": round(megabytes[0], 2),
        "gzipped": round(megabytes[1], 2),
        "check_seconds": round(checked, 2),
        "sentence": outcome.sentence,
    }


def _gzipped(path: Path) -> int:
    packed = path.with_suffix(".gz")
    with path.open("rb") as plain, gzip.open(packed, "wb", 6) as target:
        shutil.copyfileobj(plain, target)
    return packed.stat().st_size


def log_table(records: list[dict[str, Any]]) -> str:
    """Return the table of the files, in the order of the pairs."""
    rows = [
        [
            *pair,
            f"{r['objective']:.4g}{'*' if r['is_proved'] else ''}",
            f"{r['bound']:.4g}",
            *(f"{r[field]:.1f}" for field in _NUMBERS),
        ]
        for pair in SMALL
        for r in records
        if (r["name"], r["depth"]) == pair
    ]
    head = ["set", "D", "(1a)", "checked bound", "fit s", "MB", "gzipped", "check s"]
    return markdown_table(head, rows)


_NUMBERS = ("seconds", "megabytes", "gzipped", "check_seconds")
