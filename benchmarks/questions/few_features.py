"""Trees of few features in a split: bounds over routes with and without that limit.

The training part of split 0, depth 2, the penalties of an estimator without any. The
search for a tree with the limit has a tenth of the time; then routes prove a bound with
the rest, by the clock of the CPU, on one core:

* with: of trees with the limit;
* without: of all trees, which is a bound of those with the limit, too.

    python benchmarks/run.py few_features --name iris wine --most 2
"""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import replace
from typing import Any

from common import load, search_for, split_of
from miptree.bench.markdown import markdown_table
from miptree.control.clock import Clock
from miptree.objective.penalties import suited_objective
from miptree.objective.proved import Bounds
from miptree.proof.routes import prove_objective
from questions._routes_provers import Best

TITLE = "Proofs over routes, with few features in a split"
ABOUT = (
    "Training part of split 0, depth 2, default penalties, 60 s of one core, those of "
    "the search (6 s) among them; kernels compiled before. `without` proves a bound of "
    "trees whose splits may use all features, as older versions did; `with` one of "
    "trees that keep the limit. A star marks a tree that is proved optimal; the gap is "
    "that of the bound, in percent of the best tree with the limit."
)
SETS = ("iris", "wine", "breast-cancer-wisconsin", "monks-1", "hepatitis")
OPTIONS: dict[str, Any] = {
    "name": SETS,
    "most": (2, 3),
    "proof": ("without", "with"),
    "limit": (60.0,),
}
KEY = ("name", "most", "proof", "limit")
DEPTH = 2
SEARCH_SHARE = 0.1
"""Part of the limit for the search."""


def run(case: Namespace) -> dict[str, Any]:
    """Search for a tree with the limit, and prove a bound."""
    free = split_of(*load(case.name), 0).problem
    problem = replace(free, max_features=case.most)
    objective = suited_objective("auto", 8.0, "auto", problem)
    clock = Clock(case.limit, time_source=time.process_time)
    best = Best(problem, objective)
    share = SEARCH_SHARE * case.limit
    best.offer(search_for(share, problem, DEPTH, objective, seed=0).tree)
    proof = prove_objective(
        problem if case.proof == "with" else free,
        objective,
        DEPTH,
        best.value,
        clock=clock,
        offer=best.offer,
    )
    leeway = Bounds.without_solver(problem, DEPTH).leeway
    bound = max(0.0, proof.bound.value)
    return {
        "features": problem.n_open,
        "seconds": round(clock.elapsed, 2),
        "objective": round(best.value, 6),
        "bound": round(bound, 6),
        "is_proved": bool(leeway.meets(best.value, bound)),
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return one table: a line for each set and limit, both bounds side by side."""
    found = {(r["name"], r["most"], r["proof"]): r for r in records}
    rows = []
    for name, most in dict.fromkeys(key[:2] for key in found):
        mine = [found.get((name, most, proof)) for proof in OPTIONS["proof"]]
        d = next(r["features"] for r in mine if r is not None)
        cells = [cell for record in mine for cell in _cells(record)]
        rows.append([name, f"{most} of {d}", *cells])
    heads = (h for p in OPTIONS["proof"] for h in (f"{p}: (1a)", "bound", "gap", "s"))
    return [markdown_table(["set", "features", *heads], rows)]


def _cells(record: dict[str, Any] | None) -> list[str]:
    """Return the best tree's objective, its bound, the gap and the seconds."""
    if record is None:
        return [""] * 4
    value, bound = record["objective"], record["bound"]
    star = "*" if record["is_proved"] else ""
    gap = 0.0 if record["is_proved"] else 100 * max(0.0, 1 - bound / value)
    seconds = f"{record['seconds']:.1f}"
    return [f"{value:.5g}{star}", f"{bound:.5g}", f"{gap:.1f} %", seconds]
