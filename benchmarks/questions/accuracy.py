"""Accuracy on new rows: our default and our tuner beside trees and black boxes.

Settings were chosen by inner cross-validation and on splits 0-4, the figures published
are those of splits 10 and up, run once: 10-19 for version 0.1, 20-29 after the tuner's
candidates had changed; `cv` and `auto` of 20-29 again, with logistic trees among the
candidates (older lines of `cv` are called `cv-before`). Parts: ``pairs`` of the paper;
``peers``, the one set more of peers.md; ``seconds``, the tuner on two quiet cores;
``large``, the default path on 48,842 rows of 14 mixed columns.

    python benchmarks/run.py accuracy --split 10 11 12 --jobs 2
    python benchmarks/run.py accuracy --part seconds
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from common import split_of
from miptree import datasets
from miptree.bench.markdown import markdown_table, number
from miptree.bench.measure import measure
from miptree.bench.methods import METHODS as BENCH
from miptree.bench.methods import Method, Setting
from miptree.bench.results import paper_number
from miptree.bench.stats import compare
from miptree.bench.suites import SMALL, Pair
from questions._accuracy_path import common_splits, default_path

TITLE = "Accuracy on new rows"
DEFAULT_SECONDS = 5.0
"""Time limit of the default; most of what it brings to test rows is in the search."""
ABOUT = (
    "Percent of test rows, 75/25 stratified, `random_state` = split. Nothing was "
    "chosen on these splits, but defaults and candidates on others of the same sets; "
    "`cv` and `auto` were run again on splits 20-29 when logistic trees had joined the "
    "candidates. `default` is "
    f"`OptimalTreeClassifier(l1_penalty=8, time_limit={DEFAULT_SECONDS:g})`, a default "
    'of before, where l1_penalty="auto" and 60 s are today\'s, `cv` is '
    '`OptimalTreeClassifierCV(style="oblique", time_limit=None)`, `auto` the same with '
    "all styles; these read categories as such, the "
    "others as code and one-hot, and choose their own settings by 5-fold "
    "cross-validation inside the training rows. Only CART, the SVM tree and ours are "
    "one tree of the depth given."
)
KEY = ("part", "name", "depth", "split", "method")
OPTIONS = {"part": ("pairs",), "split": (0, 1, 2, 3, 4)}
LARGE = Pair("fair-adult", 2)
LARGE_SECONDS = 60.0
PARTS = {
    "pairs": SMALL,
    "peers": [Pair("breast-30", 2)],
    "seconds": SMALL,
    "large": [LARGE],
}
_METHODS_OF = {"seconds": ["cv", "auto"], "large": ["auto", "cart", "logistic"]}
PEERS = ["iris", "wine", "breast-30", "balance-scale", "sonar", "ionosphere",
         "parkinsons", "banknote-authentication"]  # fmt: skip
SPLITS = {
    "": range(20, 30),
    ": `cv` with the candidates of the version before": range(10, 20),
    ": splits used in development": range(10),
}


def tuned(name: str, make: Any, **grid: Sequence[Any]) -> Method:
    """Return a method whose settings are chosen by 5-fold cross-validation."""

    def make_tuned(setting: Setting) -> GridSearchCV:
        folds = StratifiedKFold(5, shuffle=True, random_state=setting.seed)
        return GridSearchCV(make(setting), grid, cv=folds)

    return Method(name, name, make_tuned)


COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
_TUNED = (
    tuned("cart", BENCH["cart"].make, min_samples_leaf=[1, 3, 10, 30]),
    tuned("svm-tree", BENCH["svm-tree"].make, C=COSTS[1:]),
    tuned("logistic", BENCH["logistic"].make, logisticregression__C=COSTS),
    tuned(
        "rbf-svm",
        lambda setting: make_pipeline(StandardScaler(), SVC()),
        svc__C=COSTS[1:],
        svc__gamma=["scale", 0.001, 0.01, 0.1],
    ),
    tuned(
        "forest",
        lambda setting: RandomForestClassifier(200, random_state=setting.seed),
        min_samples_leaf=[1, 3],
        max_features=["sqrt", 0.5],
    ),
)


def _priced(method: Method) -> Method:
    """Return our default with the price of the 1-norm that it had in all runs."""
    make = method.make
    return replace(method, make=lambda s: make(s).set_params(l1_penalty=8.0))


METHODS = {
    "default": _priced(BENCH["miptree"]),
    "cv": BENCH["miptree-tuned"],
    "auto": BENCH["miptree-auto"],
}
METHODS |= {method.name: method for method in _TUNED}


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield fits split by split."""
    for part, split in product(options.part, options.split):
        methods = _METHODS_OF.get(part, METHODS)
        for (name, depth), method in product(PARTS[part], methods):
            yield part, name, depth, split, method


def run(case: Namespace) -> dict[str, Any]:
    """Fit one method to one split."""
    method = METHODS[case.method]
    if case.part == "seconds" or (case.part, case.method) == ("large", "auto"):
        make = method.make
        method = replace(method, make=lambda s: make(s).set_params(n_jobs=2))
    limit = DEFAULT_SECONDS if case.method == "default" else None
    if case.part == "large":
        limit = LARGE_SECONDS
    setting = Setting(case.name, case.depth, limit, case.split)
    model, found = measure(method, setting, split_of(*_frame(case.name), case.split))
    best = getattr(model, "best_estimator_", model)
    return {
        "test": found["test"],
        "train": found["train"],
        "nonzeros": _nonzeros(getattr(best, "tree_", None)),
        "terms": found.get("nonzeros"),
        "style": getattr(model, "style_", None),
        "wall": found["wall"],
        "cpu": found["cpu"],
        "chosen": getattr(model, "best_params_", {}),
    }


def _frame(name: str) -> tuple[pd.DataFrame, pd.Series]:
    if name == "breast-30":
        found = load_breast_cancer(as_frame=True)
        return found.data, found.target
    data = datasets.load(name, "dev" if name == LARGE.set else "paper")
    return data.frame, data.target


def _nonzeros(tree: Any) -> float | None:
    """Mean number of coefficients of the splits of an oblique tree."""
    if not hasattr(tree, "coef"):
        return None
    used = np.count_nonzero(tree.coef[~tree.is_leaf], axis=1)
    return round(float(used.mean()), 2) if len(used) else 0.0


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return the tables of both lists of sets, and the seconds."""
    found = pd.DataFrame(records)
    pairs, peers, timed, large = (found[found["part"] == part] for part in PARTS)
    shared = pairs[pairs["name"].isin(PEERS) & (pairs["depth"] == 2)]
    both = pd.concat([shared, peers]).drop_duplicates([*KEY[1:]], keep="last")
    both = both.sort_values("name", key=lambda s: s.map(PEERS.index), kind="stable")
    blocks = []
    for title, mine in (
        ("The paper's 26 pairs", pairs),
        ("The sets of `peers.md` at depth 2", both),
    ):
        for kind, splits in SPLITS.items():
            here = mine[mine["split"].isin(splits)]
            blocks += _section(f"{title}{kind}", here) if len(here) else []
            blocks += default_path(common_splits(here)) if mine is pairs else []
    blocks += _seconds(timed) if len(timed) else []
    return blocks + (_large(large) if len(large) else [])


def _section(title: str, found: pd.DataFrame) -> list[str]:
    """Return the means of the methods that were run on all sets."""
    index, found = ["name", "depth"], common_splits(found)
    means = found.pivot_table("test", index, "method", sort=False)
    is_complete = means.count() == means.count().max()
    methods = [m for m in METHODS if is_complete.get(m, False)]
    found = found[found["method"].isin(methods)]
    pairs = found[index].drop_duplicates().itertuples(index=False, name=None)
    means = means.loc[list(pairs), methods]
    printed = [paper_number(Pair(*pair), "S1O") for pair in means.index]
    rows = [
        [*pair, *(f"{mean:.1f}" for mean in means.loc[pair]), number(paper, "g", "")]
        for pair, paper in zip(means.index, printed, strict=True)
    ]
    overall = [f"**{mean:.2f}**" for mean in means.mean()]
    rows.append(["mean", "", *overall, number(pd.Series(printed).mean(), missing="")])
    return [
        f"## {title}",
        f"Splits {', '.join(map(str, sorted(found['split'].unique())))}.",
        markdown_table(["set", "D", *methods, "paper's S1O"], rows),
        _comparison(found, means, methods),
    ]


def _comparison(found: pd.DataFrame, means: pd.DataFrame, methods: list[str]) -> str:
    """Return paired differences, non-zeros and seconds."""
    by_split = found.pivot_table("test", ["name", "depth", "split"], "method")
    rows = []
    for method in methods:
        cells = ["", "", "", ""]
        if "cv" in methods and method != "cv":
            paired = by_split[["cv", method]].dropna()
            over_splits = (paired["cv"] - paired[method]).groupby("split").mean().sem()
            c = compare(means["cv"].to_numpy(), means[method].to_numpy())
            cells = [f"{c.mean:+.2f}", f"{c.error:.2f}", f"{over_splits:.2f}"]
            cells.append(f"{c.wins}/{c.ties}/{c.losses}")
        own = found[found["method"] == method]
        nonzeros = number(own["nonzeros"].astype(float).mean(), missing="")
        cpu = [f"{own['cpu'].mean():.1f}", f"{own['cpu'].max():.1f}"]
        rows.append([method, len(own), *cells, nonzeros, *cpu])
    errors = ["s.e. over pairs", "s.e. over splits", "wins/ties/losses"]
    head = ["method", "fits", "`cv` minus it", *errors, "non-zeros a split"]
    return markdown_table([*head, "CPU s a fit, mean", "largest"], rows)


def _seconds(found: pd.DataFrame) -> list[str]:
    """Return the wall seconds with two jobs, on the newest split of each method."""
    blocks = ["## Seconds on two cores"]
    for method, own in found.groupby("method", sort=False):
        own = own[own["split"] == own["split"].max()]
        slowest = own.sort_values("wall", ascending=False).head(3)
        named = ", ".join(
            f"{r['name']} D={r['depth']} {r['wall']:.1f} s"
            for _, r in slowest.iterrows()
        )
        wall = own["wall"]
        blocks.append(
            f"`{method}` with `n_jobs=2` on {len(own)} fits: wall seconds in the mean "
            f"{wall.mean():.1f}, in the median {wall.median():.1f}, at most {named}."
        )
    return blocks


def _large(found: pd.DataFrame) -> list[str]:
    """Return what the default path makes of a large table."""
    rows = []
    for r in found.itertuples():
        style = r.style if isinstance(r.style, str) else ""
        terms = number(float(r.terms or np.nan), "g", "")
        rows.append([r.method, f"{r.test:.1f}", style, terms, f"{r.wall:.1f}"])
    return [
        f"## A large table on two cores: {LARGE.set}, depth {LARGE.depth}",
        f"Split {', '.join(map(str, sorted(found['split'].unique())))}, at most "
        f"{LARGE_SECONDS:g} s.",
        markdown_table(["method", "test", "style", "terms", "wall s"], rows),
    ]
