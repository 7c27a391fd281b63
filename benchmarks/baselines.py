"""The paper's baselines on its 23 smaller sets at D = 2, beside its own columns.

Resumable: every finished run is a line of ``results/baselines.jsonl``; the Markdown
table beside it is written afresh. Integer codes as numbers, string columns one-hot,
75/25 stratified splits. Nothing is tuned: complexity 0, defaults otherwise. Develop on
split 0; published figures are splits 10 and up.

    python benchmarks/baselines.py --seconds 60 --splits 10
    python benchmarks/baselines.py --seconds 60 --splits 10 --init search
    python benchmarks/baselines.py --proofs --seconds 300 --names iris wine monks-1
    python benchmarks/baselines.py --table
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import mean

from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from common import PAIRS, RESULTS, Journal, load
from miptree.baselines import (
    AghaeiTreeClassifier,
    BinOCTClassifier,
    FlowOCTClassifier,
    GreedySVMTreeClassifier,
    OCTClassifier,
    OCTHClassifier,
)
from miptree.bench.paper import paper_results

NAMES = [name for name, depth in PAIRS if depth == 2]
BASELINES = {
    "OCT-H": OCTHClassifier,
    "Fair": AghaeiTreeClassifier,
    "BinOCT": BinOCTClassifier,
    "OCT": OCTClassifier,
    "FlowOCT": FlowOCTClassifier,
}
WITHOUT_MIP = {"CART": DecisionTreeClassifier, "greedy SVM": GreedySVMTreeClassifier}
UNIVARIATE = ("BinOCT", "OCT", "FlowOCT")
KEY = ("name", "baseline", "split", "limit", "solver", "init")
PROOF_KEY = ("name", "baseline", "limit", "solver")

PAPER = {
    baseline: {
        result.set: (float(result.train[baseline]), float(result.test[baseline]))
        for result in paper_results()
        if result.set in NAMES and result.depth == 2 and baseline in result.test
    }
    for baseline in ("OCT-H", "Fair", "BinOCT", "CART")
}
"""Training and testing accuracy as printed in tables 2-5."""


def classifier(baseline: str, limit: float, solver: str, init: str):
    """The baseline with the settings of a run."""
    if baseline == "CART":
        return DecisionTreeClassifier(max_depth=2, random_state=0)
    if baseline in WITHOUT_MIP:
        return WITHOUT_MIP[baseline](max_depth=2)
    return BASELINES[baseline](
        max_depth=2, time_limit=limit, solver=solver, init=init, random_state=0
    )


def run(
    name: str, baseline: str, split: int, limit: float, solver: str, init: str
) -> dict:
    """Train and test one baseline on one split of one set."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=split
    )
    began = time.perf_counter()
    clf = classifier(baseline, limit, solver, init).fit(X, y)
    return {
        **dict(zip(KEY, (name, baseline, split, limit, solver, init), strict=True)),
        "seconds": round(time.perf_counter() - began, 2),
        "train": round(100 * clf.score(X, y), 2),
        "test": round(100 * clf.score(X_test, y_test), 2),
        "status": getattr(clf, "status_", ""),
        "objective": round(float(getattr(clf, "objective_", 0.0)), 6),
        "bound": round(float(getattr(clf, "bound_", 0.0)), 6),
    }


def table(records: list[dict]) -> str:
    """Markdown of the journal."""
    lines = [
        "# The paper's baselines",
        "",
        "Written by `benchmarks/baselines.py` from `baselines.jsonl`: depth 2, 75/25 "
        "stratified splits, means over the splits run, training % / test %, wall "
        "seconds on a shared 2-core machine. A star marks a set on which every split's "
        "optimum was proved. The paper's columns: its own implementations with CPLEX "
        "and 900 s, other splits. `cart`: the MIP starts from CART's tree, as in the "
        "paper; `search`: from a local search in the baseline's class of trees.",
    ]
    settings = sorted({(r["limit"], r["solver"], r["init"]) for r in records})
    for limit, solver, init in settings:
        here = [
            r
            for r in records
            if (r["limit"], r["solver"], r["init"]) == (limit, solver, init)
        ]
        splits = sorted({r["split"] for r in here})
        lines += ["", f"## {limit:g} s, {solver}, start: {init}, splits {splits}", ""]
        lines += _section(here)
    return "\n".join(lines) + "\n"


def _section(records: list[dict]) -> list[str]:
    baselines = [
        r
        for r in (*WITHOUT_MIP, *BASELINES)
        if any(x["baseline"] == r for x in records)
    ]
    heads = [h for r in baselines for h in ([r, f"{r}, paper"] if r in PAPER else [r])]
    lines = ["| set | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in NAMES:
        cells = [_cell(records, name, head) for head in heads]
        if any(
            not head.endswith("paper") and c
            for head, c in zip(heads, cells, strict=True)
        ):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    means = [_mean(records, head) for head in heads]
    return [*lines, "| **mean** | " + " | ".join(means) + " |"]


def _cell(records: list[dict], name: str, head: str) -> str:
    if head.endswith(", paper"):
        printed = PAPER[head.removesuffix(", paper")].get(name)
        return "" if printed is None else f"{printed[0]:.1f} / {printed[1]:.1f}"
    found = [r for r in records if (r["name"], r["baseline"]) == (name, head)]
    if not found:
        return ""
    star = "*" if all(r["status"] == "optimal" for r in found) else ""
    train, test = (mean(r[part] for r in found) for part in ("train", "test"))
    return f"{train:.1f}{star} / {test:.1f}"


def _mean(records: list[dict], head: str) -> str:
    """Mean over the sets that a baseline was run on and, for BinOCT, the paper has."""
    baseline = head.removesuffix(", paper")
    names = [n for n in NAMES if _cell(records, n, baseline)]
    names = [n for n in names if n in PAPER.get(baseline, dict.fromkeys(NAMES))]
    if not names:
        return ""
    if head.endswith(", paper"):
        rows = [PAPER[baseline][n] for n in names]
    else:
        rows = [
            tuple(
                mean(
                    r[part]
                    for r in records
                    if (r["name"], r["baseline"]) == (n, baseline)
                )
                for part in ("train", "test")
            )
            for n in names
        ]
    train, test = (mean(row[k] for row in rows) for k in (0, 1))
    return f"{train:.1f} / {test:.1f} ({len(names)} sets)"


def prove(name: str, baseline: str, limit: float, solver: str) -> dict:
    """Errors of a univariate baseline and their bound on a whole set, and ConTree's."""
    from pycontree import ConTree

    X, y = load(name)
    exact = ConTree(max_depth=2)
    exact.fit(X, y)
    clf = classifier(baseline, limit, solver, "search")
    if baseline == "FlowOCT":
        clf.set_params(n_thresholds=None)
    found = clf.fit(X, y).certificate_
    share = clf.bound_ / clf.objective_ if found.cost else 0.0
    return {
        **dict(zip(PROOF_KEY, (name, baseline, limit, solver), strict=True)),
        "rows": len(y),
        "contree": int((exact.predict(X) != y).sum()),
        "errors": found.errors,
        "bound": round(share * found.cost, 3),
        "status": clf.status_,
        "seconds": round(clf.fit_time_, 1),
    }


def proof_section(records: list[dict]) -> list[str]:
    """Markdown of the proofs."""
    if not records:
        return []
    lines = [
        "",
        "## Univariate baselines on whole sets, depth 2",
        "",
        "Training errors of all rows beside those of ConTree (`pycontree`), an "
        "independent exact program. FlowOCT with every threshold. A star: proved.",
        "",
        "| set | rows | ConTree | baseline | errors | bound | s | limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in records:
        star = "*" if r["status"] == "optimal" else ""
        lines.append(
            f"| {r['name']} | {r['rows']} | {r['contree']} | {r['baseline']} "
            f"| {r['errors']}{star} | {r['bound']:g} | {r['seconds']:g} "
            f"| {r['limit']:g} s, {r['solver']} |"
        )
    return lines


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--solver", default="highs")
    parser.add_argument("--init", default="cart", choices=["cart", "search"])
    parser.add_argument("--splits", type=int, nargs="+", default=[10])
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--baselines", nargs="+", default=[*WITHOUT_MIP, *BASELINES])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--proofs", action="store_true")
    asked = parser.parse_args()
    journal = Journal(asked.results / "baselines.jsonl", KEY)
    proofs = Journal(asked.results / "baselines_proofs.jsonl", PROOF_KEY)
    if asked.proofs:
        pairs = [(n, r) for n in asked.names for r in UNIVARIATE]
        keys = [(*pair, asked.seconds, asked.solver) for pair in pairs]
        fill(proofs, keys, prove)
    elif not asked.table:
        runs = product(asked.names, asked.baselines, asked.splits)
        keys = [(*key, asked.seconds, asked.solver, asked.init) for key in runs]
        fill(journal, keys, run)
    text = table(journal.records())
    text += "".join(f"{line}\n" for line in proof_section(proofs.records()))
    (asked.results / "baselines.md").write_text(text)


def fill(journal: Journal, keys: list[tuple], work: Callable[..., dict]) -> None:
    """Do what is not in a journal."""
    for key in keys:
        if key not in journal.done():
            record = work(*key)
            journal.append(record)
            print(record, flush=True)


if __name__ == "__main__":
    main()
