"""Accuracy on new rows: our default and our tuner beside trees and black boxes.

Resumable: every finished fit is a line of ``results/accuracy.jsonl``; the Markdown
table beside it is written afresh. 75/25 stratified, ``random_state`` = split. Settings
were chosen by inner cross-validation and on splits 0-4, the figures published are those
of splits 10 and up, run once: 10-19 for version 0.1, 20-29 after the tuner's candidates
had changed.

    python benchmarks/accuracy.py --splits 10 11 12 --jobs 2
    python benchmarks/accuracy.py peers            # the one set more of peers.md
    python benchmarks/accuracy.py seconds          # `cv` on two quiet cores
    python benchmarks/accuracy.py --table          # only the table
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from common import PAIRS, RESULTS, Journal
from miptree import OptimalTreeClassifier, OptimalTreeClassifierCV, datasets
from miptree.baselines import GreedySVMTreeClassifier
from miptree.bench.encoding import Encoder
from miptree.bench.results import paper_number
from miptree.bench.stats import compare
from miptree.bench.suites import Pair
from miptree.proof import compile_proof_kernels
from miptree.search import compile_kernels

KEY = ("part", "name", "depth", "split", "method")
JOURNAL = Journal(RESULTS / "accuracy.jsonl", KEY)
DEFAULT_SECONDS = 5.0
"""Time limit of the default; most of what it brings to test rows is in the search."""
PEERS = (
    "iris",
    "wine",
    "breast-30",
    "balance-scale",
    "sonar",
    "ionosphere",
    "parkinsons",
    "banknote-authentication",
)
_SPLITS = {
    "": range(20, 30),
    ": `cv` with the candidates of the version before": range(10, 20),
    ": splits used in development": range(10),
}
PARTS = {
    "pairs": [tuple(pair) for pair in PAIRS],
    "peers": [("breast-30", 2)],
    "seconds": [tuple(pair) for pair in PAIRS],
}


def _grid(model: Any, split: int, **grid: Sequence[Any]) -> GridSearchCV:
    folds = StratifiedKFold(5, shuffle=True, random_state=split)
    return GridSearchCV(model, grid, cv=folds)


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


Maker = Callable[[int, int], Any]
METHODS: dict[str, tuple[str, Maker]] = {
    "default": (
        "frame",
        lambda depth, split: OptimalTreeClassifier(
            max_depth=depth, time_limit=DEFAULT_SECONDS, random_state=split
        ),
    ),
    "cv": (
        "frame",
        lambda depth, split: OptimalTreeClassifierCV(
            max_depth=depth, time_limit=None, random_state=split
        ),
    ),
    "cart": (
        "nominal",
        lambda depth, split: _grid(
            DecisionTreeClassifier(max_depth=depth, random_state=split),
            split,
            min_samples_leaf=[1, 3, 10, 30],
        ),
    ),
    "svm-tree": (
        "nominal",
        lambda depth, split: _grid(
            GreedySVMTreeClassifier(max_depth=depth), split, C=[0.1, 1.0, 10.0, 100.0]
        ),
    ),
    "logistic": (
        "nominal",
        lambda depth, split: _grid(
            _scaled(LogisticRegression(max_iter=2000)),
            split,
            logisticregression__C=[0.01, 0.1, 1.0, 10.0, 100.0],
        ),
    ),
    "rbf-svm": (
        "nominal",
        lambda depth, split: _grid(
            _scaled(SVC()),
            split,
            svc__C=[0.1, 1.0, 10.0, 100.0],
            svc__gamma=["scale", 0.001, 0.01, 0.1],
        ),
    ),
    "forest": (
        "nominal",
        lambda depth, split: _grid(
            RandomForestClassifier(200, random_state=split),
            split,
            min_samples_leaf=[1, 3],
            max_features=["sqrt", 0.5],
        ),
    ),
}
"""Name -> how categories are encoded, and what is made for a depth and a split."""


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and labels."""
    if name == "breast-30":
        found = load_breast_cancer(as_frame=True)
        return found.data, found.target.to_numpy()
    data = datasets.load(name)
    return data.frame, data.target.to_numpy(dtype=str)


def run(part: str, name: str, depth: int, split: int, method: str) -> dict[str, Any]:
    """Fit one method to one split."""
    X, y = load(name)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=split
    )
    kind, make = METHODS[method]
    encoder = Encoder(kind).fit(X_train)
    A, B = encoder.transform(X_train), encoder.transform(X_test)
    model = make(depth, split)
    if part == "seconds":
        model.set_params(n_jobs=2)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folds that lack a class
        compile_kernels()
        compile_proof_kernels()
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(A, y_train)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    best = getattr(model, "best_estimator_", model)
    return {
        "part": part,
        "name": name,
        "depth": depth,
        "split": split,
        "method": method,
        "test": round(100 * float((model.predict(B) == y_test).mean()), 3),
        "train": round(100 * float((model.predict(A) == y_train).mean()), 3),
        "nonzeros": _nonzeros(best),
        "wall": round(wall, 2),
        "cpu": round(cpu, 2),
        "chosen": _plain(getattr(model, "best_params_", {})),
    }


def _nonzeros(model: Any) -> float | None:
    """Mean number of coefficients of the splits of a tree."""
    if not hasattr(model, "tree_") or not hasattr(model.tree_, "coef"):
        return None
    used = np.count_nonzero(model.tree_.coef[~model.tree_.is_leaf], axis=1)
    return round(float(used.mean()), 2) if len(used) else 0.0


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()}


# ----------------------------------------------------------------------- tables


def table() -> str:
    """Markdown of the journal."""
    lines = [
        "# Accuracy on new rows",
        "",
        "Written by `benchmarks/accuracy.py` from `accuracy.jsonl`: percent of test "
        "rows, 75/25 stratified, `random_state` = split. `default` is "
        f"`OptimalTreeClassifier(time_limit={DEFAULT_SECONDS:g})`, `cv` is "
        "`OptimalTreeClassifierCV(time_limit=None)`; both read categories as such, the "
        "others as code and one-hot, and choose their own settings by 5-fold "
        "cross-validation inside the training rows. Only CART, the SVM tree and ours "
        "are one tree of the depth given.",
    ]
    records = JOURNAL.records()
    for title, mine in _by_title(records).items():
        for kind, splits in _SPLITS.items():
            here = [r for r in mine if r["split"] in splits]
            lines += _section(f"{title}{kind}", _complete(here))
    lines += _seconds([r for r in records if r["part"] == "seconds"])
    return "\n".join(lines) + "\n"


def _by_title(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Fits of both lists of sets, which have most of their sets in common."""
    pairs = [r for r in records if r["part"] == "pairs"]
    of_peers = [r for r in pairs if r["name"] in PEERS and r["depth"] == 2]
    of_peers += [r for r in records if r["part"] == "peers"]
    each = {tuple(r[k] for k in KEY[1:]): r for r in of_peers}
    found = sorted(each.values(), key=lambda r: PEERS.index(r["name"]))
    return {
        "The paper's 26 pairs": pairs,
        "The sets of `peers.md` at depth 2": found,
    }


def _complete(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fits of the methods that were run on all sets."""
    sets: dict[str, set[tuple[str, int]]] = {}
    for r in records:
        sets.setdefault(r["method"], set()).add((r["name"], r["depth"]))
    most = max((len(found) for found in sets.values()), default=0)
    return [r for r in records if len(sets[r["method"]]) == most]


def _section(title: str, records: list[dict[str, Any]]) -> list[str]:
    if not records:
        return []
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    pairs = list(dict.fromkeys((r["name"], r["depth"]) for r in records))
    found = pd.DataFrame(records)
    means = found.pivot_table(
        index=["name", "depth"], columns="method", values="test", sort=False
    ).reindex(pairs)
    splits = sorted(found["split"].unique().tolist())
    lines = [
        "",
        f"## {title}",
        "",
        f"Splits {', '.join(map(str, splits))}.",
        "",
        f"| set | D | {' | '.join(methods)} | paper's S1O |",
        "|---|---|" + "---|" * (len(methods) + 1),
    ]
    for name, depth in pairs:
        printed = _printed(name, depth)
        cells = [f"{means.loc[(name, depth), m]:.1f}" for m in methods]
        lines.append(
            f"| {name} | {depth} | {' | '.join(cells)} | "
            f"{'' if np.isnan(printed) else f'{printed:g}'} |"
        )
    paper = np.nanmean([_printed(*pair) for pair in pairs])
    overall = [f"**{means[m].mean():.2f}**" for m in methods]
    lines.append(f"| mean | | {' | '.join(overall)} | {paper:.1f} |")
    return lines + _notes(found, means, methods)


def _seconds(records: list[dict[str, Any]]) -> list[str]:
    """Wall seconds of `cv` with two jobs."""
    if not records:
        return []
    newest = max(r["split"] for r in records)
    records = [r for r in records if r["split"] == newest]
    slowest = sorted(records, key=lambda r: -r["wall"])[:3]
    named = ", ".join(f"{r['name']} D={r['depth']} {r['wall']:.1f} s" for r in slowest)
    return [
        "",
        "## Seconds on two cores",
        "",
        f"`cv` with `n_jobs=2` on {len(records)} fits: wall seconds in the mean "
        f"{np.mean([r['wall'] for r in records]):.1f}, at most {named}.",
    ]


def _printed(name: str, depth: int) -> float:
    try:
        return paper_number(Pair(name, depth), "S1O")
    except (KeyError, AttributeError):
        return float("nan")


def _notes(found: pd.DataFrame, means: pd.DataFrame, methods: list[str]) -> list[str]:
    """Paired differences, non-zeros and seconds."""
    lines = [
        "",
        "| method | fits | `cv` minus it | s.e. over pairs | s.e. over splits "
        "| wins/ties/losses | non-zeros a split | CPU s a fit, mean | largest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    by_split = found.pivot_table(
        index=["name", "depth", "split"], columns="method", values="test"
    )
    for method in methods:
        rows = found[found["method"] == method]
        cells = ["", "", "", ""]
        if "cv" in methods and method != "cv":
            paired = by_split[["cv", method]].dropna()
            difference = (paired["cv"] - paired[method]).groupby("split").mean()
            over_splits = difference.std(ddof=1) / np.sqrt(len(difference))
            c = compare(means["cv"].to_numpy(), means[method].to_numpy())
            cells = [
                f"{c.mean:+.2f}",
                f"{c.error:.2f}",
                f"{over_splits:.2f}",
                f"{c.wins}/{c.ties}/{c.losses}",
            ]
        sparse = rows["nonzeros"].astype(float).mean()
        lines.append(
            f"| {method} | {len(rows)} | {' | '.join(cells)} | "
            f"{'' if np.isnan(sparse) else f'{sparse:.1f}'} | "
            f"{rows['cpu'].mean():.1f} | {rows['cpu'].max():.1f} |"
        )
    return lines


# ---------------------------------------------------------------------- running


def missing(asked: argparse.Namespace) -> Iterator[tuple[str, str, int, int, str]]:
    """Fits that are not in the journal, split by split."""
    done = JOURNAL.done()
    for split in asked.splits:
        for name, depth in PARTS[asked.part]:
            for method in asked.methods:
                key = (asked.part, name, depth, split, method)
                wanted = asked.names is None or name in asked.names
                if wanted and key not in done:
                    yield key


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=list(PARTS), default="pairs")
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--names", nargs="+", help="only these data sets")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only write the table")
    asked = parser.parse_args()
    if asked.part == "seconds":
        asked.methods = ["cv"]
    if not asked.table:
        with JOURNAL.locked():
            fits = (delayed(run)(*key) for key in list(missing(asked)))
            for record in Parallel(asked.jobs, return_as="generator_unordered")(fits):
                JOURNAL.append(record)
                print(record, flush=True)
    (RESULTS / "accuracy.md").write_text(table())


if __name__ == "__main__":
    main()
