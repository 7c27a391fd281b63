"""What is proved on the paper's 26 pairs, and how fast, beside its own formulation.

The training part of split 0 of each set, integer codes as numbers, string columns
one-hot. Three questions, each with the whole time limit:

* errors: the fewest errors at margin 1e-3 (slack 1000, L1 .001);
* objective: (1a) at (1000, .1, .01) by the compact model;
* paper: the same by the paper's (1a)-(1k) from the same start and solver.

What was proved within a shorter limit is not run again.

    python benchmarks/run.py certify --limit 60 --solver scip
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from typing import Any

from common import load, split_of, timed
from miptree.bench.markdown import markdown_table
from miptree.bench.suites import SMALL
from miptree.control.clock import Clock
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.objective import Svm1Objective

TITLE = "What is proved"
ABOUT = (
    "Training part of split 0, wall seconds on a 2-core machine, kernels compiled "
    "before. A star marks a proved optimum. The paper's MIP has the same start, and "
    "the bounds found without a solver count for it, too. An empty cell was proved "
    "within a shorter limit, and so not run again. The runs are of several commits, "
    "the errors of balance-scale and monks-2 of the newest on a busy machine: "
    "the history of `certify.jsonl` has them."
)
KEY = ("name", "depth", "question", "limit", "solver")
OPTIONS = {"limit": (60.0,), "solver": ("portfolio",)}
QUESTIONS = {
    "errors": (Svm1Objective(1000, 0.001, 0.001), "errors", "compact"),
    "objective": (Svm1Objective(1000, 0.1, 0.01), "objective", "compact"),
    "paper": (Svm1Objective(1000, 0.1, 0.01), "objective", "paper"),
}


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield the pairs of each question that no shorter limit sufficed for."""
    runs = product(options.limit, options.solver, QUESTIONS, SMALL)
    for limit, solver, question, (name, depth) in runs:
        if not any(
            r["limit"] < limit and _is_proved(r)
            for r in options.journal.records()
            if (r["name"], r["depth"], r["question"], r["solver"])
            == (name, depth, question, solver)
        ):
            yield name, depth, question, limit, solver


def run(case: Namespace) -> dict[str, Any]:
    """Answer one question about one pair."""
    objective, proof, formulation = QUESTIONS[case.question]
    problem = split_of(*load(case.name), 0).problem
    plan = Plan(
        objective,
        case.depth,
        formulation=formulation,
        solver=case.solver,
        proof=proof,
    )
    clock = Clock(case.limit)
    trained, seconds = timed(lambda: train(problem, plan, clock), time.perf_counter)
    found = trained.certificate
    return {
        "seconds": round(seconds, 2),
        "status": trained.status,
        "errors": found.errors,
        "cost_at_margin": found.cost_at_margin,
        "errors_bound": found.errors_bound,
        "any_tree_bound": found.any_tree_bound,
        "errors_optimal": found.errors_optimal,
        "errors_by": found.errors_proved_by,
        "objective": round(found.objective, 6),
        "objective_bound": round(found.objective_bound, 6),
        "objective_optimal": found.objective_optimal,
        "objective_by": found.objective_proved_by,
    }


def _is_proved(record: dict[str, Any]) -> bool:
    of_errors = record["question"] == "errors"
    return record["errors_optimal" if of_errors else "objective_optimal"]


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return a table for each limit and solver, and how many pairs were proved."""
    blocks = []
    for limit, solver in sorted({(r["limit"], r["solver"]) for r in records}):
        mine = [r for r in records if r["solver"] == solver and r["limit"] <= limit]
        here = [r for r in mine if r["limit"] == limit]
        blocks += [f"## {limit:g} s, solver {solver}", _table(here)]
        for question in QUESTIONS:
            asked = [r for r in mine if r["question"] == question]
            pairs = {(r["name"], r["depth"]) for r in asked}
            proved = {(r["name"], r["depth"]) for r in asked if _is_proved(r)}
            text = f"{question}: proved on {len(proved)} of {len(pairs)} pairs"
            end = " run." if mine == here else ", shorter limits included."
            blocks.append(text + end)
    return blocks


def _table(records: list[dict[str, Any]]) -> str:
    found = {(r["name"], r["depth"], r["question"]): r for r in records}
    rows = []
    for pair in SMALL:
        mine = [found.get((*pair, question)) for question in QUESTIONS]
        if any(mine):
            rows.append([*pair, *(cell for record in mine for cell in _cells(record))])
    titles = ("errors", "objective", "paper's MIP")
    return markdown_table(
        ["set", "D", *(h for title in titles for h in (title, "bound", "s"))], rows
    )


def _cells(record: dict[str, Any] | None) -> list[str]:
    """Return what was found, its bound and the seconds."""
    if record is None:
        return ["", "", ""]
    if record["question"] == "errors":
        value = f"{record['cost_at_margin']:g}"
        bound = f"{max(record['errors_bound'], record['any_tree_bound']):g}"
    else:
        value = f"{record['objective']:.4g}"
        bound = f"{record['objective_bound']:.4g}"
    star = "*" if _is_proved(record) else ""
    return [f"{value}{star}", bound, f"{record['seconds']:.1f}"]
