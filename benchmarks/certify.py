"""What is proved on the paper's 26 pairs, and how fast, beside its own formulation.

Resumable: every finished run is a line of ``results/certify.jsonl``; the Markdown
table beside it is written afresh. Split 0's training part of each set, integer codes
as numbers, string columns one-hot. Three questions, each with the whole time limit:

* errors: the fewest errors at margin 1e-3 (slack 1000, L1 .001);
* objective: (1a) at (1000, .1, .01) by the compact model;
* paper: the same by the paper's (1a)-(1k) from the same start and solver.

What was proved within a shorter limit is not run again.

    python benchmarks/certify.py --seconds 60 --solver portfolio
    python benchmarks/certify.py --table
"""

from __future__ import annotations

import argparse
import time

from sklearn.model_selection import train_test_split

from common import PAIRS, RESULTS, Journal, load
from miptree.data.problem import Problem
from miptree.fit.plan import Plan
from miptree.fit.train import train
from miptree.objective import Svm1Objective
from miptree.proof import compile_proof_kernels
from miptree.search import compile_kernels

QUESTIONS = {
    "errors": (Svm1Objective(1000, 0.001, 0.001), "errors", "compact"),
    "objective": (Svm1Objective(1000, 0.1, 0.01), "objective", "compact"),
    "paper": (Svm1Objective(1000, 0.1, 0.01), "objective", "paper"),
}
PROVED = {
    "errors": "errors_optimal",
    "objective": "objective_optimal",
    "paper": "objective_optimal",
}
JOURNAL = Journal(
    RESULTS / "certify.jsonl", ("name", "depth", "question", "limit", "solver")
)


def training_part(name: str) -> Problem:
    """Split 0's training rows."""
    X, y = load(name)
    X, _, y, _ = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    return Problem.from_data(X, y, int(y.max()) + 1)


def run(name: str, depth: int, question: str, limit: float, solver: str) -> dict:
    """Answer one question about one pair."""
    objective, proof, formulation = QUESTIONS[question]
    problem = training_part(name)
    plan = Plan(
        objective,
        depth,
        formulation=formulation,
        solver=solver,
        proof=proof,
        time_limit=limit,
    )
    began = time.perf_counter()
    trained = train(problem, plan)
    found = trained.certificate
    return {
        "name": name,
        "depth": depth,
        "question": question,
        "limit": limit,
        "solver": solver,
        "seconds": round(time.perf_counter() - began, 2),
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


def proved_sooner(
    name: str, depth: int, question: str, limit: float, solver: str
) -> bool:
    """Whether a shorter limit sufficed for the proof."""
    flag = PROVED[question]
    return any(
        r[flag]
        and r["limit"] < limit
        and (r["name"], r["depth"], r["question"], r["solver"])
        == (name, depth, question, solver)
        for r in JOURNAL.records()
    )


def table() -> str:
    """Markdown of the journal."""
    lines = [
        "# What is proved",
        "",
        "Written by `benchmarks/certify.py` from `certify.jsonl`: training part of "
        "split 0, wall seconds on a 2-core machine, kernels compiled before. A star "
        "marks a proved optimum. The paper's MIP has the same start, and the bounds "
        "found without a solver count for it, too. An empty cell was proved within a "
        "shorter limit, and so not run again. The runs are of several commits: the "
        "history of `certify.jsonl` has them.",
    ]
    records = JOURNAL.records()
    for limit in sorted({r["limit"] for r in records}):
        for solver in sorted({r["solver"] for r in records}):
            here = [r for r in records if (r["limit"], r["solver"]) == (limit, solver)]
            before = [
                r for r in records if r["solver"] == solver and r["limit"] < limit
            ]
            if here:
                lines += _section(here, before, limit, solver)
    return "\n".join(lines) + "\n"


def _section(
    records: list[dict], before: list[dict], limit: float, solver: str
) -> list[str]:
    """One limit; what was proved within a shorter one was not run again."""
    found = {(r["name"], r["depth"], r["question"]): r for r in records}
    lines = [
        "",
        f"## {limit:g} s, solver {solver}",
        "",
        "| set | D | errors | bound | s | objective | bound | s "
        "| paper's MIP | bound | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, depth in PAIRS:
        if not any((name, depth, question) in found for question in QUESTIONS):
            continue
        cells = [_errors(found.get((name, depth, "errors")))]
        cells += [
            _objective(found.get((name, depth, q))) for q in ("objective", "paper")
        ]
        lines.append(f"| {name} | {depth} | " + " | ".join(cells) + " |")
    for question, flag in PROVED.items():
        asked = [r for r in records + before if r["question"] == question]
        pairs = {(r["name"], r["depth"]) for r in asked}
        proved = {(r["name"], r["depth"]) for r in asked if r[flag]}
        text = f"{question}: proved on {len(proved)} of {len(pairs)} pairs"
        lines += ["", f"{text}, shorter limits included." if before else f"{text} run."]
    return lines


def _errors(record: dict | None) -> str:
    if record is None:
        return " | | "
    star = "*" if record["errors_optimal"] else ""
    return (
        f"{record['cost_at_margin']:g}{star} | "
        f"{max(record['errors_bound'], record['any_tree_bound']):g} | "
        f"{record['seconds']:.1f}"
    )


def _objective(record: dict | None) -> str:
    if record is None:
        return " | | "
    star = "*" if record["objective_optimal"] else ""
    return (
        f"{record['objective']:.4g}{star} | {record['objective_bound']:.4g} | "
        f"{record['seconds']:.1f}"
    )


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--solver", default="portfolio")
    parser.add_argument("--questions", nargs="+", default=list(QUESTIONS))
    parser.add_argument("--names", nargs="+", help="only these data sets")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    compile_kernels()
    compile_proof_kernels()
    for question in () if asked.table else asked.questions:
        for name, depth in PAIRS:
            key = (name, depth, question, asked.seconds, asked.solver)
            wanted = asked.names is None or name in asked.names
            if wanted and key not in JOURNAL.done() and not proved_sooner(*key):
                record = run(*key)
                JOURNAL.append(record)
                print(record, flush=True)
    (RESULTS / "certify.md").write_text(table())


if __name__ == "__main__":
    main()
