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
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import load, search_for, split_of, timed
from miptree.bench.markdown import markdown_table
from miptree.bench.methods import Setting, hull_selection, paper_parameters, s1o_ds
from miptree.bench.results import paper_number
from miptree.bench.suites import LARGE, Pair
from miptree.data.problem import Problem
from miptree.search.starts import cart_tree
from miptree.selection import (
    AutoSelection,
    BalancedSelection,
    CoverSelection,
    Selection,
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
def run(
    options: Namespace, part: str, name: str, depth: int, split: int, method: str
) -> dict[str, Any]:
    """Run one part of one method."""
    if part == "speed":
        return _hull_speed.run(name, depth, options.sample)
    if part == "printed":
        return _printed(name, depth, split, options.mip_seconds)
    return _accuracy(options, name, depth, split, method)


def _accuracy(
    options: Namespace, name: str, depth: int, split: int, method: str
) -> dict[str, Any]:
    """Search on the subset, then on all rows from its tree and the race's best."""
    rows = split_of(*load(name), split)
    problem = rows.problem
    if method == "all":
        tree = search_for(2 * options.seconds, problem, depth, seed=split).tree
        train, test = rows.accuracies(problem.to_user(tree))
        return {"kept": problem.n_rows, "train": train, "test": test}
    extra = 0.0
    if method == "random":
        kept, extra = _race(options, name, depth, split, problem)
        uniform = UniformSelection(min(kept / problem.n_rows, 0.999), split)
        chosen, seconds = _select(uniform, problem, depth)[0], 0.0
    else:
        limit = 2 * RACE_SHARE * options.seconds
        selector = _selector(method, name, depth, split, limit)
        chosen, seconds = _select(selector, problem, depth)
    subset = problem.subset(chosen.rows, chosen.weight)
    found = search_for(options.seconds, subset, depth, seed=split).tree
    raw = subset.to_user(found)
    starts = [problem.to_scaled(tree, depth) for tree in (raw, *chosen.trees[:1])]
    seconds_on_all = options.seconds + extra
    polished = search_for(seconds_on_all, problem, depth, seed=split, starts=starts)
    raw_train, raw_test = rows.accuracies(raw)
    train, test = rows.accuracies(problem.to_user(polished.tree))
    return {
        "kept": len(chosen),
        "select_seconds": seconds,
        "extra_seconds": extra,
        "raw_train": raw_train,
        "raw_test": raw_test,
        "train": train,
        "test": test,
    }


def _selector(
    method: str, name: str, depth: int, seed: int, seconds: float
) -> Selector:
    """Return the selector of a method, with the paper's parameters for it."""
    if method in ("printed", "capped"):
        return hull_selection(name, depth, cap=method == "capped")
    share = paper_parameters(name, depth)["beta2"]
    made = {
        "balanced": BalancedSelection(seed=seed),
        "cover": CoverSelection(share=share),
        "stratified": StratifiedSelection(share, seed=seed),
        "auto": AutoSelection(share, depth, seconds=seconds, seed=seed),
    }
    return made[method]


def _select(
    selector: Selector, problem: Problem, depth: int
) -> tuple[Selection, float]:
    """Choose rows from CART's tree on; return them and the CPU seconds."""
    start = problem.to_user(cart_tree(problem, depth))
    chosen, seconds = timed(lambda: selector.select(problem, start))
    return chosen, round(seconds, 2)


def _race(
    options: Namespace, name: str, depth: int, split: int, problem: Problem
) -> tuple[int, float]:
    """Return the rows that "auto" keeps and the seconds of its race."""
    for record in options.journal.records():
        if options.journal.key_of(record) == ("accuracy", name, depth, split, "auto"):
            return record["kept"], record["select_seconds"]
    limit = 2 * RACE_SHARE * options.seconds
    selector = _selector("auto", name, depth, split, limit)
    chosen, seconds = _select(selector, problem, depth)
    return len(chosen), seconds


def _printed(name: str, depth: int, split: int, seconds: float) -> dict[str, Any]:
    """Fit S1O-DS as printed: the paper's formulation, parameters and start."""
    rows = split_of(*load(name), split)
    clf = s1o_ds(Setting(name, depth, seconds, split), cap=False).fit(rows.X, rows.y)
    problem = rows.problem
    train, test = rows.accuracies(clf)
    cart = rows.accuracies(problem.to_user(cart_tree(problem, depth)))
    return {
        "kept": clf.n_selected_,
        "train": train,
        "test": test,
        "cart_train": cart[0],
        "cart_test": cart[1],
        "status": clf.status_,
        "mip_seconds": seconds,
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
