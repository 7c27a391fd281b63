"""When default fits end, and how good their trees are beside those of 60 s.

The training part of split 0 of the paper's 26 pairs, integer codes as numbers, string
columns one-hot; L1 8, margin and slack by rule, as the defaults are.

    python benchmarks/run.py ends --code now
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from statistics import fmean, median
from typing import Any

from common import load, split_of
from miptree.bench.markdown import markdown_table
from miptree.bench.suites import SMALL
from miptree.control.clock import Clock
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.objective.penalties import suited_objective

TITLE = "When fits end"
ABOUT = (
    "Fits of the default classifier (at most 60 s, one core, CPU seconds, kernels "
    "compiled before) on the training part of split 0. `before` is commit 80762fd, "
    "which took its whole time unless it proved the tree optimal; `better at` is the "
    "second of its last better tree. `worse` is what the objective of now lies above "
    "that of before, in percent. The other core of the machine was busy."
)
KEY = ("name", "depth", "code")
OPTIONS = {"code": ("now",), "limit": 60.0}


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield the pairs, for each name of the code that runs."""
    for code in options.code:
        for name, depth in SMALL:
            yield name, depth, code


def run(case: Namespace) -> dict[str, Any]:
    """Fit one pair."""
    problem = split_of(*load(case.name), 0).problem
    plan = Plan(suited_objective("auto", 8.0, "auto", problem), case.depth)
    fitted = train(problem, plan, Clock(case.limit, time_source=time.process_time))
    found, objective = fitted.certificate, fitted.certificate.objective
    better = [s.seconds for s in fitted.trace if s.objective > objective * (1 + 1e-9)]
    return {
        "seconds": round(fitted.seconds, 2),
        "better_at": round(max(better, default=0.0), 2),
        "status": fitted.status,
        "objective": objective,
        "bound": found.objective_bound,
        "gap": round(found.gap, 4),
        "proved_by": found.objective_proved_by,
        "errors_optimal": found.errors_optimal,
        "n_iter": fitted.n_iter,
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one row a pair, and the sums."""
    found = {(r["name"], r["depth"], r["code"]): r for r in records}
    rows, worse, seconds, gaps = [], [], [], []
    for pair in SMALL:
        before, now = (found.get((*pair, code)) for code in ("before", "now"))
        if before is None or now is None:
            continue
        worse.append(100 * (now["objective"] / before["objective"] - 1))
        seconds.append(now["seconds"])
        gaps.append((before["gap"], now["gap"]))
        rows.append(
            [
                *pair,
                f"{before['objective']:.5g}",
                f"{100 * before['gap']:.0f} %",
                f"{before['better_at']:.1f}",
                f"{now['objective']:.5g}",
                f"{100 * now['gap']:.0f} %",
                f"{now['seconds']:.1f}",
                now["status"],
                f"{worse[-1]:.2f}",
            ]
        )
    if not rows:
        return ["No pair has both."]
    head = ["set", "D", "before", "gap", "better at"]
    head += ["now", "gap", "s", "status", "worse"]
    n_optimal = sum(row[8] == "optimal" for row in rows)
    text = (
        f"{len(rows)} pairs: now a fit ends after {median(seconds):.1f} s in the "
        f"median (at most {max(seconds):.1f} s), its objective is "
        f"{fmean(worse):.2f} % above that of 60 s in the mean, {n_optimal} are proved "
        f"optimal; the median gap is {100 * median(g for _, g in gaps):.0f} % "
        f"(before {100 * median(g for g, _ in gaps):.0f} %)."
    )
    return [markdown_table(head, rows), text]
