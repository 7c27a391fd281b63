"""The paper's rivals on its 23 smaller sets at D = 2, beside the paper's own columns.

Resumable: every finished run is a line of ``results/rivals.jsonl``; the Markdown table
beside it is written afresh. Integer codes as numbers, string columns one-hot, 75/25
stratified splits. Nothing is tuned: complexity 0 and the defaults otherwise. Develop on
split 0; published figures are splits 10 and up.

    python benchmarks/rivals.py --seconds 60 --splits 10
    python benchmarks/rivals.py --seconds 60 --splits 10 --init search
    python benchmarks/rivals.py --proofs --seconds 300 --names iris wine monks-1
    python benchmarks/rivals.py --table
"""

from __future__ import annotations

import argparse
import time
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

NAMES = [name for name, depth in PAIRS if depth == 2]
RIVALS = {
    "OCT-H": OCTHClassifier,
    "Fair": AghaeiTreeClassifier,
    "BinOCT": BinOCTClassifier,
    "OCT": OCTClassifier,
    "FlowOCT": FlowOCTClassifier,
}
WITHOUT_MIP = {"CART": DecisionTreeClassifier, "greedy SVM": GreedySVMTreeClassifier}
KEY = ("name", "rival", "split", "limit", "solver", "init")

# Training and testing accuracy as printed in the paper's tables 1 and 3-5.
PAPER = {
    "OCT-H": {
        "iris": (99.5, 94.4),
        "congressional-voting": (96.2, 94.8),
        "spectf-heart": (92.5, 75.0),
        "breast-cancer-wisconsin": (95.3, 96.1),
        "heart-disease-cleveland": (60.5, 56.7),
        "image-segmentation": (48.0, 49.8),
        "hayes-roth": (77.4, 61.2),
        "banknote-authentication": (87.2, 88.9),
        "echocardiogram": (100.0, 91.1),
        "seeds": (94.2, 88.2),
        "dermatology": (75.9, 74.6),
        "indian-liver": (75.4, 72.3),
        "parkinsons": (92.0, 86.8),
        "sonar": (89.0, 74.6),
        "haberman-survival": (74.7, 73.3),
        "hepatitis": (99.1, 84.2),
        "planning-relax": (77.5, 66.0),
        "balance-scale": (82.9, 85.3),
        "ionosphere": (94.2, 86.4),
        "monks-1": (94.9, 90.6),
        "monks-2": (79.2, 72.2),
        "monks-3": (90.0, 91.8),
        "wine": (97.0, 88.4),
    },
    "Fair": {
        "iris": (100.0, 90.0),
        "congressional-voting": (100.0, 91.4),
        "spectf-heart": (100.0, 57.0),
        "breast-cancer-wisconsin": (99.7, 95.4),
        "heart-disease-cleveland": (68.4, 56.7),
        "image-segmentation": (56.6, 46.9),
        "hayes-roth": (82.8, 72.2),
        "banknote-authentication": (100.0, 100.0),
        "echocardiogram": (100.0, 86.7),
        "seeds": (100.0, 90.2),
        "dermatology": (81.1, 73.9),
        "indian-liver": (81.3, 71.9),
        "parkinsons": (100.0, 81.3),
        "sonar": (100.0, 70.6),
        "haberman-survival": (80.0, 74.1),
        "hepatitis": (100.0, 84.2),
        "planning-relax": (90.5, 73.3),
        "balance-scale": (89.8, 89.2),
        "ionosphere": (100.0, 85.4),
        "monks-1": (100.0, 92.3),
        "monks-2": (96.2, 62.3),
        "monks-3": (97.4, 83.5),
        "wine": (100.0, 93.2),
    },
    "BinOCT": {
        "balance-scale": (73.3, 69.3),
        "ionosphere": (91.1, 88.6),
        "monks-1": (83.5, 80.0),
        "monks-2": (69.8, 58.1),
        "monks-3": (93.8, 93.5),
        "wine": (97.3, 90.7),
    },
    "CART": {
        "iris": (96.4, 92.4),
        "congressional-voting": (96.3, 93.5),
        "spectf-heart": (88.0, 72.0),
        "breast-cancer-wisconsin": (93.4, 91.1),
        "heart-disease-cleveland": (58.8, 57.5),
        "image-segmentation": (42.9, 42.9),
        "hayes-roth": (60.0, 55.8),
        "banknote-authentication": (91.7, 89.9),
        "echocardiogram": (100.0, 91.1),
        "seeds": (92.5, 88.9),
        "dermatology": (67.0, 65.2),
        "indian-liver": (71.4, 71.6),
        "parkinsons": (88.2, 79.9),
        "sonar": (79.4, 69.3),
        "haberman-survival": (77.1, 73.4),
        "hepatitis": (94.5, 80.1),
        "planning-relax": (74.7, 68.2),
        "balance-scale": (71.7, 67.5),
        "ionosphere": (91.0, 87.7),
        "monks-1": (76.8, 68.4),
        "monks-2": (65.2, 54.8),
        "monks-3": (93.5, 94.2),
        "wine": (94.1, 83.7),
    },
}


def classifier(rival: str, limit: float, solver: str, init: str):
    """The rival with the settings of a run."""
    if rival == "CART":
        return DecisionTreeClassifier(max_depth=2, random_state=0)
    if rival in WITHOUT_MIP:
        return WITHOUT_MIP[rival](max_depth=2)
    return RIVALS[rival](
        max_depth=2, time_limit=limit, solver=solver, init=init, random_state=0
    )


def run(
    name: str, rival: str, split: int, limit: float, solver: str, init: str
) -> dict:
    """Train and test one rival on one split of one set."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=split
    )
    began = time.perf_counter()
    clf = classifier(rival, limit, solver, init).fit(X, y)
    return {
        **dict(zip(KEY, (name, rival, split, limit, solver, init), strict=True)),
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
        "# The paper's rivals",
        "",
        "Written by `benchmarks/rivals.py` from `rivals.jsonl`: depth 2, 75/25 "
        "stratified splits, means over the splits run, training % / test %, wall "
        "seconds on a shared 2-core machine. A star marks a set on which every split's "
        "optimum was proved. The paper's columns: its own implementations with CPLEX "
        "and 900 s, other splits. `cart`: the MIP starts from CART's tree, as in the "
        "paper; `search`: from a local search in the rival's class of trees.",
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
    rivals = [
        r for r in (*WITHOUT_MIP, *RIVALS) if any(x["rival"] == r for x in records)
    ]
    heads = [h for r in rivals for h in ([r, f"{r}, paper"] if r in PAPER else [r])]
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
    found = [r for r in records if (r["name"], r["rival"]) == (name, head)]
    if not found:
        return ""
    star = "*" if all(r["status"] == "optimal" for r in found) else ""
    train, test = (mean(r[part] for r in found) for part in ("train", "test"))
    return f"{train:.1f}{star} / {test:.1f}"


def _mean(records: list[dict], head: str) -> str:
    """Mean over the sets that a rival was run on and, for BinOCT, the paper has."""
    rival = head.removesuffix(", paper")
    names = [n for n in NAMES if _cell(records, n, rival)]
    names = [n for n in names if n in PAPER.get(rival, dict.fromkeys(NAMES))]
    if not names:
        return ""
    if head.endswith(", paper"):
        rows = [PAPER[rival][n] for n in names]
    else:
        rows = [
            tuple(
                mean(r[part] for r in records if (r["name"], r["rival"]) == (n, rival))
                for part in ("train", "test")
            )
            for n in names
        ]
    train, test = (mean(row[k] for row in rows) for k in (0, 1))
    return f"{train:.1f} / {test:.1f} ({len(names)} sets)"


def prove(names: list[str], limit: float, solver: str) -> None:
    """Print the univariate rivals' proved errors on whole sets beside ConTree's."""
    from pycontree import ConTree

    for name in names:
        X, y = load(name)
        exact = ConTree(max_depth=2)
        exact.fit(X, y)
        print(f"{name}: ConTree {(exact.predict(X) != y).sum()}", flush=True)
        for rival in ("BinOCT", "OCT", "FlowOCT"):
            clf = classifier(rival, limit, solver, "search")
            if rival == "FlowOCT":
                clf.set_params(n_thresholds=None)
            clf.fit(X, y)
            found = clf.certificate_
            print(
                f"  {rival}: {found.errors}, {clf.status_}, bound "
                f"{clf.bound_ / clf.objective_ * found.cost if found.cost else 0:.3g}, "
                f"{clf.fit_time_:.0f} s",
                flush=True,
            )


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--solver", default="highs")
    parser.add_argument("--init", default="cart", choices=["cart", "search"])
    parser.add_argument("--splits", type=int, nargs="+", default=[10])
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--rivals", nargs="+", default=[*WITHOUT_MIP, *RIVALS])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--proofs", action="store_true")
    asked = parser.parse_args()
    if asked.proofs:
        prove(asked.names, asked.seconds, asked.solver)
        return
    journal = Journal(asked.results / "rivals.jsonl", KEY)
    runs = [(s, n, r) for s in asked.splits for n in asked.names for r in asked.rivals]
    for split, name, rival in () if asked.table else runs:
        key = (name, rival, split, asked.seconds, asked.solver, asked.init)
        if key not in journal.done():
            record = run(*key)
            journal.append(record)
            print(record, flush=True)
    (asked.results / "rivals.md").write_text(table(journal.records()))


if __name__ == "__main__":
    main()
