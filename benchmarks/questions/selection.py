"""Data selection on the 17 rows of the paper's tables 6-8.

CPU seconds on one core. Parts:

* speed (minutes): rows kept and seconds on all rows of each set, beside one LP per
  point (a random sample of points, extrapolated) and warm LPs over the extreme points;
* accuracy (hours): search on the subset, then from its tree on all rows. What ``auto``
  spends on its race, ``random`` gets as extra search on all rows;
* printed (17 x 300 s): S1O-DS as printed: CART, Algorithm 1, the MIP by HiGHS.

    python benchmarks/run.py selection --part accuracy --method auto random
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import Split, load, search_for, split_of, timed
from miptree.bench.markdown import markdown_table
from miptree.bench.methods import Setting, hull_selection, paper_parameters, s1o_ds
from miptree.bench.results import paper_number
from miptree.bench.suites import LARGE, Pair
from miptree.search.starts import cart_tree
from miptree.selection import (
    AutoSelection,
    BalancedSelection,
    CoverSelection,
    Selector,
    StratifiedSelection,
    UniformSelection,
)
from questions import _hull_speed

TITLE = "Data selection"
ABOUT = (
    "Robot-2 with slack penalty 1250 and beta2 = .01: as printed (30 and 1.0) it "
    "breaks a1 * eps >= 1 and beta2 < 1."
)
KEY = ("part", "name", "depth", "split", "method")
METHODS = ["all", "printed", "capped", "balanced", "cover", "stratified", "auto",
           "random"]  # fmt: skip
PARTS = {"speed": ["hull"], "accuracy": METHODS, "printed": ["printed"]}
OPTIONS = {
    "part": tuple(PARTS),
    "split": (11, 12, 13),  # not 10: `auto` was changed after a look at it
    "seconds": 5.0,
    "mip_seconds": 300.0,
    "sample": 40,
}
PAIRS = [pair for pair in LARGE if np.isfinite(paper_number(pair, "S1O-DS"))]
FIELDS = ["train", "test", "raw_train", "raw_test", "select_seconds"]
RACE_SHARE = 0.3
"""Part of the time of the searches that the race of "auto" may take beside them."""


def cases(options: Namespace) -> Iterator[tuple]:
    """Yield runs split by split."""
    for part in options.part:
        splits = [0] if part == "speed" else options.split
        for split, pair, method in product(splits, PAIRS, PARTS[part]):
            yield part, *pair, split, method


@threadpool_limits.wrap(limits=1)
def run(case: Namespace) -> dict[str, Any]:
    """Run one part of one method."""
    if case.part == "speed":
        return _hull_speed.run(case.name, case.depth, case.sample)
    rows = split_of(*load(case.name), case.split)
    return _printed(case, rows) if case.part == "printed" else _accuracy(case, rows)


def _accuracy(case: Namespace, rows: Split) -> dict[str, Any]:
    """Search on the subset, then on all rows from its tree and the race's best."""
    problem, depth = rows.problem, case.depth
    if case.method == "all":
        tree = search_for(2 * case.seconds, problem, depth, seed=case.split).tree
        train, test = rows.accuracies(problem.to_user(tree))
        return {"kept": problem.n_rows, "train": train, "test": test}
    start = problem.to_user(cart_tree(problem, depth))
    extra = 0.0
    if case.method == "random":
        race = _race(case, rows)
        extra = race["select_seconds"]
        share = min(race["kept"] / problem.n_rows, 0.999)
        seconds = 0.0
        chosen = UniformSelection(share, case.split).select(problem, start)
    else:
        chosen, seconds = timed(partial(_selector(case).select, problem, start))
    subset = problem.subset(chosen.rows, chosen.weight)
    found = search_for(case.seconds, subset, depth, seed=case.split)
    raw = subset.to_user(found.tree)
    starts = [problem.to_scaled(tree, depth) for tree in (raw, *chosen.trees[:1])]
    longer = case.seconds + extra
    polished = search_for(longer, problem, depth, seed=case.split, starts=starts)
    raw_train, raw_test = rows.accuracies(raw)
    train, test = rows.accuracies(problem.to_user(polished.tree))
    return {
        "kept": len(chosen),
        "select_seconds": round(seconds, 2),
        "extra_seconds": extra,
        "raw_train": raw_train,
        "raw_test": raw_test,
        "train": train,
        "test": test,
    }


def _race(case: Namespace, rows: Split) -> dict[str, Any]:
    """Return the record of "auto" on the same split; run it if there is none."""
    auto = Namespace(**vars(case) | {"method": "auto"})
    key = tuple(getattr(auto, field) for field in KEY)
    return case.journal.last().get(key) or _accuracy(auto, rows)


def _selector(case: Namespace) -> Selector:
    """Return the selector of a method, with the paper's parameters for it."""
    if case.method in ("printed", "capped"):
        return hull_selection(case.name, case.depth, cap=case.method == "capped")
    share = paper_parameters(case.name, case.depth)["beta2"]
    race = 2 * RACE_SHARE * case.seconds
    made = {
        "balanced": BalancedSelection(seed=case.split),
        "cover": CoverSelection(share=share),
        "stratified": StratifiedSelection(share, seed=case.split),
        "auto": AutoSelection(share, case.depth, seconds=race, seed=case.split),
    }
    return made[case.method]


def _printed(case: Namespace, rows: Split) -> dict[str, Any]:
    """Fit S1O-DS as printed: the paper's formulation, parameters and start."""
    setting = Setting(case.name, case.depth, case.mip_seconds, case.split)
    clf = s1o_ds(setting, cap=False).fit(rows.X, rows.y)
    problem = rows.problem
    train, test = rows.accuracies(clf)
    cart = rows.accuracies(problem.to_user(cart_tree(problem, case.depth)))
    return {
        "kept": clf.n_selected_,
        "train": train,
        "test": test,
        "cart_train": cart[0],
        "cart_test": cart[1],
        "status": clf.status_,
        "mip_seconds": case.mip_seconds,
    }


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return the tables of all parts."""
    speed, accuracy, as_printed = (
        [r for r in records if r["part"] == part] for part in PARTS
    )
    speed.sort(key=lambda r: PAIRS.index((r["name"], r["depth"])))
    blocks = _hull_speed.tables(speed, len(PAIRS)) if speed else []
    blocks += _accuracy_tables(accuracy) if accuracy else []
    return blocks + (_printed_table(as_printed) if as_printed else [])


def _accuracy_tables(records: list[dict[str, Any]]) -> list[str]:
    found = pd.DataFrame(records).set_index(["name", "depth", "method", "split"])
    found = found.sort_index().reindex(columns=FIELDS)
    return [
        "## Accuracy",
        "75/25 splits; search for fewest errors on the subset, then polished on all "
        "training rows; `all` searches on all rows for both times together. Means in "
        "percent; before / after the polish.",
        "### All training rows",
        *_accuracy_table(found, "train"),
        "### Test rows",
        *_accuracy_table(found, "test"),
        *_paired(found),
    ]


def _accuracy_table(found: pd.DataFrame, what: str) -> list[str]:
    """Return the means over the splits, and how often "auto" is above the paper."""
    means = found[[what, f"raw_{what}"]].groupby(["name", "depth", "method"]).mean()
    splits = found.groupby(["name", "depth", "method"]).size()
    rows, above = [], []
    for pair in PAIRS:
        if pair not in means.index.droplevel("method"):
            continue
        own, theirs = means.loc[pair], paper_number(pair, "S1O-DS", what)
        cells = [_cell(*own.loc[m]) if m in own.index else "" for m in METHODS]
        rows.append([*pair, splits[pair].max(), *cells, theirs])
        if "auto" in own.index:
            above.append(own.loc["auto", what] > theirs)
    return [
        markdown_table(["set", "D", "splits", *METHODS, "S1O-DS"], rows),
        f"`auto`, polished, above S1O-DS: {sum(above)} of {len(above)} rows.",
    ]


def _cell(after: float, before: float) -> str:
    return f"{after:.1f}" if np.isnan(before) else f"{before:.1f} / {after:.1f}"


def _paired(found: pd.DataFrame) -> list[str]:
    """Return the differences auto - random, split by split."""
    auto, random = (
        found[found.index.get_level_values("method") == method].droplevel("method")
        for method in ("auto", "random")
    )
    gaps = (auto - random).dropna()
    if gaps.empty:
        return []
    rows = []
    for pair in (pair for pair in PAIRS if pair in gaps.index.droplevel("split")):
        own = gaps.loc[pair]
        race = auto.loc[pair].loc[own.index, "select_seconds"].mean()
        shown = [_with_error(own[what]) for what in ("train", "test")]
        rows.append([*pair, len(own), f"{race:.1f}", *shown])
    gap = gaps["train"]
    return [
        "### `auto` less `random`",
        "A random subset of as many rows, and as many CPU seconds in all: what `auto` "
        "spends on its race, `random` searches longer on all rows. Paired differences "
        "in percentage points, mean +- standard error over the splits.",
        markdown_table(["set", "D", "splits", "race, CPU s", "train", "test"], rows),
        f"Training accuracy, {len(gap)} paired runs: better in {(gap > 0).sum()}, "
        f"equal in {(gap == 0).sum()}, worse in {(gap < 0).sum()}; difference "
        f"{_with_error(gap)}, worst {gap.min():+.2f}.",
    ]


def _with_error(gap: pd.Series) -> str:
    """Format the mean and, of more than one run, its standard error."""
    return f"{gap.mean():+.2f}" + (f" +- {gap.sem():.2f}" if len(gap) > 1 else "")


def _printed_table(records: list[dict[str, Any]]) -> list[str]:
    """Return S1O-DS as printed beside the paper's figures."""
    rows = []
    for r in records:
        pair = Pair(r["name"], r["depth"])
        paper = [paper_number(pair, "S1O-DS", what) for what in ("train", "test")]
        rows.append(
            [
                *(*pair, r["split"], f"{r['mip_seconds']:g}", r["kept"]),
                f"{r['cart_train']:.1f} / {r['cart_test']:.1f}",
                f"{r['train']:.1f} / {r['test']:.1f}",
                f"{paper[0]} / {paper[1]}",
            ]
        )
    both = "train / test"
    head = ["set", "D", "split", "MIP s", "rows", f"CART {both}", f"S1O-DS {both}"]
    return [
        "## S1O-DS as printed",
        "CART, Algorithm 1 (not capped), (1a)-(1k) by HiGHS from CART's tree, and "
        "nothing of this package's search. The better of CART's tree and the MIP's, by "
        "(1a) on all training rows, is kept.",
        markdown_table([*head, f"paper {both}"], rows),
    ]
